//! Turns bytes into ranges and cells: index, search, units, sanitiser and layout. Pure: knows nothing of files.

#[cfg(feature = "app")]
pub(crate) mod align;
pub mod ansi;
pub mod cells;
pub mod filter;
pub mod index;
pub mod json;
pub mod label;
pub mod layout;
pub mod search;
pub mod supply;
pub mod units;
pub mod utf16;
