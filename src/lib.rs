//! overspill shows exactly what a coding agent's model saw of a tool's output, and pages through
//! everything it did not.
//!
//! The house, from the ground up; each storey knows only those below it:
//!
//! * [`text`] is pure: bytes in, ranges out. Block index, search, units, sanitiser, layout.
//! * [`known`] is pure: how sure a fact about an agent is, when it holds, what to warn of.
//! * [`preview`] is pure and the heart: policies (data), [`preview::plan`], windows.
//! * [`source`] opens what is looked at: the memory map with its guard, growth, standard input.
//! * [`store`] knows directories of spills: names, adapters, retention, cleaning.
//! * [`capture`] runs a command, or drains a pipe, into a spill.
//! * `config`, `cli` and `tui` sit on top (feature `app`).
//!
//! `text` and `preview` take `&[u8]`, never a file. `source`, `store` and `capture` know neither
//! `cli` nor `tui`; those two do not know each other, save that `cli` starts `tui`.

pub(crate) mod env;
pub(crate) mod fs;
#[cfg(feature = "app")]
pub(crate) mod human;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("overspill runs on Linux and macOS; other systems are not supported");

pub mod capture;
#[cfg(feature = "app")]
pub mod cli;
pub mod config;
pub mod known;
pub mod preview;
pub mod source;
pub mod store;
pub mod text;
#[cfg(feature = "app")]
pub mod tui;
