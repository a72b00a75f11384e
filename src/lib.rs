//! overspill cuts a tool's long output exactly as a coding agent does before its model reads it, and saves the whole.
//! This is the library, for the authors of agents; the program of the same name shows what a model saw, and everything
//! it did not. Leave the program out: `overspill = { version = "0.1", default-features = false }`.
//!
//! An output that is complete is truncated in one call. What is cut is saved first, and the text says where:
//!
//! ```
//! use overspill::capture::{Location, Truncator};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let store = tempfile::tempdir()?;
//! # let directory = store.path();
//! let truncator = Truncator::new("basic/shell")?.save_in(Location::dir(directory));
//! let output = "one line of many\n".repeat(5000) + "error: the last one\n";
//! let outcome = truncator.truncate(&output, "shell")?;
//!
//! // What the model gets: both ends, and between them where the rest is.
//! let saved_to = outcome.saved_to.expect("what is cut is saved");
//! assert!(outcome.text.contains(&saved_to.display().to_string()));
//! assert_eq!(std::fs::read_to_string(saved_to)?, output);
//!
//! // How much that is.
//! assert!(outcome.truncated && outcome.lines.kept < 2000);
//! assert_eq!(outcome.lines.total, 5002);
//! assert_eq!(outcome.errors.map(|errors| errors.lost()), Some(0));
//! # Ok(())
//! # }
//! ```
//!
//! One that still arrives is taken chunk by chunk, with [`Truncator::writer`](capture::Truncator::writer). A command is
//! run as an agent's shell tool runs it; it can be [given input](capture::Capture::stdin),
//! [watched](capture::Capture::on_output), [limited in time](capture::Capture::timeout) and
//! [cancelled](capture::Control::cancel):
//!
//! ```
//! use std::process::Command;
//!
//! use overspill::capture::{Capture, Location, Truncator};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let store = tempfile::tempdir()?;
//! # let directory = store.path();
//! let truncator = Truncator::new("basic/shell")?.save_in(Location::dir(directory));
//! let mut command = Command::new("seq");
//! command.arg("50000");
//! let outcome = Capture::new(truncator).run(command)?;
//!
//! assert!(outcome.truncated && outcome.text.ends_with("\n50000\n"));
//! assert_eq!(outcome.ended.map(|ended| ended.exit_code()), Some(0));
//! # Ok(())
//! # }
//! ```
//!
//! A policy says what is cut and what the text says of it. The policy `basic/shell` speaks of no agent's tools; others are
//! those of real agents (`pi/bash`, `claude-code/bash`; [`Catalog`](preview::Catalog) lists them), and one of your own is a few
//! lines of TOML. [`preview`] applies a policy without running or saving anything:
//!
//! ```
//! use overspill::preview::{Input, Part, Policy, plan_counted};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::parse(
//!     r#"
//!     agent = "mine"
//!     tool = "log"
//!
//!     [when]
//!     lines = 2
//!
//!     [keep]
//!     strategy = "pieces"
//!     from = "tail"
//!     lines = 2
//!
//!     [text]
//!     cut = "[{{ removed_lines }} lines are in {{ path }}]\n{{ kept }}"
//!     "#,
//! )?;
//! let input = Input::from_bytes(b"one\ntwo\nthree", "/tmp/log");
//! let preview = plan_counted(&input, &policy)?;
//! assert_eq!(preview.text(&input), "[1 lines are in /tmp/log]\ntwo\nthree");
//! assert_eq!((preview.kept.lines, preview.removed().bytes), (Some(2), Some(4)));
//! assert!(matches!(&preview.parts[..], [Part::Notice { .. }, Part::Kept { range, .. }] if *range == (4..13)));
//! # Ok(())
//! # }
//! ```
//!
//! * [`capture`]: truncates a complete output ([`Truncator`](capture::Truncator)), one that is still arriving
//!   ([`Writer`](capture::Writer)), or that of a command ([`Capture`](capture::Capture)); each returns an
//!   [`Outcome`](capture::Outcome).
//! * [`preview`]: the plan alone, without files: a [`Policy`](preview::Policy), and the [`Preview`](preview::Preview)
//!   part by part.
//!
//! With the feature `app` (on by default) the crate is the program, too; all that needs is internal.

#![warn(unreachable_pub)]
#![warn(clippy::too_many_lines)]
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

/// Defines an enum of which each variant has a word, as it stands in JSON and files.
macro_rules! words {
    ($(#[$of:meta])* $vis:vis enum $name:ident { $($(#[$about:meta])* $variant:ident => $word:literal,)* }) => {
        $(#[$of])*
        $vis enum $name { $($(#[$about])* $variant,)* }

        impl $name {
            /// All, in the order of their definition.
            #[allow(dead_code)]
            $vis const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// Returns its word.
            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

pub mod capture;
pub mod preview;

mod base;
#[cfg(feature = "app")]
mod cli;
mod compare;
#[cfg(feature = "app")]
mod config;
#[cfg(feature = "app")]
mod corpus;
#[cfg(feature = "app")]
mod document;
#[cfg(feature = "app")]
mod hook;
#[cfg(feature = "app")]
mod output;
#[cfg(feature = "app")]
mod rows;
#[cfg(feature = "records")]
mod session;
mod source;
mod store;
mod text;
#[cfg(feature = "app")]
mod tui;

macro_rules! expose {
    ($($(#[$condition:meta])? $name:ident = $module:path;)*) => {
        $($(#[$condition])? pub mod $name { pub use $module::*; })*
    };
}

/// What the program and its tests use besides. It changes without notice.
#[doc(hidden)]
pub mod internals {
    #[cfg(feature = "app")]
    pub use crate::base::fs::blocking::CLOSED;

    expose! {
        #[cfg(feature = "app")] cli = crate::cli;
        compare = crate::compare;
        #[cfg(feature = "app")] config = crate::config;
        #[cfg(feature = "app")] corpus = crate::corpus;
        #[cfg(feature = "app")] document = crate::document;
        human = crate::base::human;
        provenance = crate::base::provenance;
        #[cfg(feature = "app")] output = crate::output;
        #[cfg(feature = "app")] rows = crate::rows;
        #[cfg(feature = "records")] session = crate::session;
        source = crate::source;
        store = crate::store;
        text = crate::text;
        #[cfg(feature = "app")] tui = crate::tui;
    }
}
