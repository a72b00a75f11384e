//! JSON of agents' records: an index of one record's values, made without decoding, and strings decoded on demand.

mod quote;
mod string;
mod tape;
mod value;

pub use string::{Decoder, JsonText};
pub use tape::{Tape, TapeError, Tapes};
pub use value::{Json, Kind};

pub(crate) use quote::end_of_string;
pub(super) use string::char_len;

#[cfg(test)]
mod tests;
