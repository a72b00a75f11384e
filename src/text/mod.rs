//! Bytes in, ranges and cells out: index, search, units, sanitiser and layout. Pure: no file is known here.

pub mod ansi;
pub mod cells;
pub mod index;
pub mod json;
pub mod label;
pub mod layout;
pub mod search;
pub mod units;
