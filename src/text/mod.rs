//! Bytes in, ranges and cells out: index, search, units, sanitiser and layout. Pure: no file is known here.

pub mod units;
