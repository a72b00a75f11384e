//! The shape of TOML files that people write: which keys there are and what each takes. Every mistake is reported in plain
//! words, with its line, its column and its key.

mod mistake;
mod shape;
mod word;

pub(crate) use mistake::{Mistake, Spot};
pub(crate) use shape::{Field, Shape, check, needed, optional};
pub(crate) use word::{instead, is_word, nearest, one_of};
