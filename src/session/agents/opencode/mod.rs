//! opencode, and Kilo, which is built on it: first a tree of JSON files, then a database.

mod history;
mod messages;
mod part;
mod rows;
mod tree;

pub(crate) use messages::OPENCODE_MESSAGES;
pub(crate) use rows::{KILO_ROWS, OPENCODE_ROWS};
pub(crate) use tree::OPENCODE_TREE;
