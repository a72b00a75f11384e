//! opencode, and Kilo, which is built on it: first a tree of JSON files, then a database.

mod history;
mod messages;
mod part;
mod rows;
mod tree;

pub(crate) use messages::OpencodeMessages;
pub(crate) use rows::{KiloRows, OpencodeRows};
pub(crate) use tree::OpencodeTree;
