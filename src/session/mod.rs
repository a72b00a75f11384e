//! Agents' own records: sessions, calls, and what the model got. Reads only, by place: texts stay there until needed.

pub mod agents;
pub mod body;
pub mod branch;
#[cfg(feature = "app")]
pub mod call_details;
pub mod command;
pub mod content;
pub mod copies;
pub mod counterpart;
pub mod database;
pub mod entry;
pub mod examine;
pub mod fate;
pub mod find;
pub mod format;
pub mod id;
pub mod json;
pub mod list;
pub mod model;
pub mod reader;
pub mod record;
pub mod sent;
pub mod spill;
pub mod tally;
pub mod text;
pub mod transcript;
pub mod verdict;
pub mod verify;
pub mod watch;

pub use agents::FORMATS;
