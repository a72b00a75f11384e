//! opencode, and Kilo, which is built on it: first a tree of JSON files, then a database.

mod history;
#[cfg(feature = "sqlite")]
mod messages;
mod part;
#[cfg(feature = "sqlite")]
mod rows;
mod tree;

#[cfg(feature = "sqlite")]
pub(crate) use messages::OpencodeMessages;
#[cfg(feature = "sqlite")]
pub(crate) use rows::{KiloRows, OpencodeRows};
pub(crate) use tree::OpencodeTree;
