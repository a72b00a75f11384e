//! overspill cuts a tool's long output exactly as a coding agent does before its model reads it, and saves the whole.
//! This is the library, for the authors of agents; the program of the same name shows what a model saw, and everything
//! it did not. Leave the program out: `overspill = { version = "0.1", default-features = false }`.
//!
//! ```
//! use overspill::capture::{Location, Truncator};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let store = tempfile::tempdir()?;
//! # let directory = store.path();
//! // As opencode cuts; `Policy::parse` reads a policy of your own.
//! let truncator = Truncator::new("opencode/output")?.save_in(Location::dir(directory));
//! let output = "one line of many\n".repeat(5000);
//! let outcome = truncator.truncate(&output, "shell")?;
//!
//! // What the model gets: the first 2000 lines, and where the rest is.
//! assert!(outcome.truncated && outcome.text.contains("...3001 lines truncated..."));
//! let saved_to = outcome.saved_to.expect("what is cut is saved");
//! assert!(outcome.text.contains(&saved_to.display().to_string()));
//! assert_eq!(std::fs::read_to_string(saved_to)?, output);
//! # Ok(())
//! # }
//! ```
//!
//! A tool whose output still arrives is taken chunk by chunk, with [`Truncator::writer`](capture::Truncator::writer). A
//! command is run as an agent's shell tool runs it:
//!
//! ```
//! use std::process::Command;
//!
//! use overspill::capture::{Capture, Location, Truncator};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let store = tempfile::tempdir()?;
//! # let directory = store.path();
//! let truncator = Truncator::new("pi/bash")?.save_in(Location::dir(directory));
//! let mut command = Command::new("seq");
//! command.arg("5000");
//! let outcome = Capture::with(truncator).run(command)?;
//!
//! // What the model gets: the last 2000 lines.
//! assert!(outcome.truncated && outcome.text.contains("\n5000\n"));
//! assert_eq!(outcome.ended.map(|ended| ended.exit_code()), Some(0));
//! # Ok(())
//! # }
//! ```
//!
//! * [`capture`]: truncates a complete output ([`Truncator`](capture::Truncator)), one that is still arriving
//!   ([`Writer`](capture::Writer)), or that of a command ([`Capture`](capture::Capture)); each returns an
//!   [`Outcome`](capture::Outcome).
//! * [`preview`]: the plan alone, without files: a [`Policy`](preview::Policy), the
//!   [`Preview`](preview::Preview) part by part, a [`Report`](preview::Report) for JSON.
//!
//! All other modules are internal to the program and change without notice.

#![warn(unreachable_pub)]
// Errors are reported by a `Result`, and everything printed goes through one writer.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::print_stdout,
        clippy::print_stderr,
        clippy::exit,
        clippy::todo,
        clippy::unimplemented
    )
)]

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("overspill runs on Linux and macOS; other systems are not supported");

pub(crate) mod env;
#[allow(dead_code)]
pub(crate) mod form;
pub(crate) mod fs;

pub mod capture;
pub mod preview;

#[cfg(feature = "app")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod cli;
#[cfg(feature = "app")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod compare;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod config;
#[cfg(feature = "app")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod corpus;
#[cfg(feature = "app")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod document;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod human;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod known;
#[cfg(feature = "app")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod output;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod session;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod source;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod store;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod text;
#[cfg(feature = "app")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod tui;
#[cfg(feature = "app")]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod tune;
