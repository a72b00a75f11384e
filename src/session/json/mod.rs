//! JSON of agents' records: an index of the values of one record, made in one pass without decoding, and the decoding of
//! its strings on demand.

mod string;
mod tape;

pub use string::{DecodedText, Decoder, JsonText};
pub use tape::{Json, Kind, Tape, TapeError};

#[cfg(test)]
mod tests;
