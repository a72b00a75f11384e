//! The search and count tasks for workers, and the replies.

use std::ops::Range;
use std::sync::Arc;

use crate::source::MapView;
use crate::text::search::{Pattern, Toward};

/// What to search.
#[derive(Debug, Clone)]
pub enum Haystack {
    /// The file.
    File(MapView),
    /// The text of a whole preview.
    Text(Arc<[u8]>),
}

impl Haystack {
    /// Returns the bytes to search.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Haystack::File(view) => view,
            Haystack::Text(text) => text,
        }
    }
}

/// A search task for a worker.
#[derive(Debug, Clone)]
pub struct SearchJob {
    /// The number of the task; replies to older ones are dropped.
    pub number: u64,
    /// What to search for.
    pub pattern: Pattern,
    /// What to search.
    pub haystack: Haystack,
    /// The byte offset to start from.
    pub from: usize,
    /// The direction.
    pub toward: Toward,
}

/// A task for a worker: count all matches in a file.
#[derive(Debug, Clone)]
pub struct CountJob {
    /// The number of the task; replies to older ones are dropped.
    pub number: u64,
    /// What to count.
    pub pattern: Pattern,
    /// The file to count in.
    pub view: MapView,
}

/// A worker's reply.
#[derive(Debug, Clone)]
pub struct Found {
    /// The number of the task.
    pub number: u64,
    /// The reply.
    pub reply: SearchReply,
}

/// The content of a worker's reply.
#[derive(Debug, Clone)]
pub enum SearchReply {
    /// The nearest match, and whether the search wrapped around to find it.
    Match(Range<usize>, Round),
    /// There is no match.
    Nothing,
    /// A chunk has been counted: the offset where it ends, and the number of matches that start in it.
    Counted(usize, u64),
}

/// Whether a search wrapped around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Found without wrapping.
    Straight,
    /// Found after wrapping around.
    Wrapped,
}
