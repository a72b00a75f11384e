//! What workers search and count, and what they answer.

use std::ops::Range;
use std::sync::Arc;

use crate::source::MapView;
use crate::text::search::{Pattern, Toward};

/// What is searched.
#[derive(Debug, Clone)]
pub enum Haystack {
    /// The file.
    File(MapView),
    /// A preview, whole.
    Text(Arc<[u8]>),
}

impl Haystack {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Haystack::File(view) => view,
            Haystack::Text(text) => text,
        }
    }
}

/// A search to be made by a worker.
#[derive(Debug, Clone)]
pub struct SearchJob {
    /// Its number; an answer to an older one is dropped.
    pub number: u64,
    /// What is sought.
    pub pattern: Pattern,
    /// Where.
    pub haystack: Haystack,
    /// From which byte.
    pub from: usize,
    /// Which way.
    pub toward: Toward,
}

/// Matches in a file to be counted by a worker.
#[derive(Debug, Clone)]
pub struct CountJob {
    /// Its number; an answer to an older one is dropped.
    pub number: u64,
    /// What is counted.
    pub pattern: Pattern,
    /// Where.
    pub view: MapView,
}

/// What a worker says of a search.
#[derive(Debug, Clone)]
pub struct Found {
    /// The job's number.
    pub number: u64,
    /// What it says.
    pub reply: SearchReply,
}

/// Something to say of a search.
#[derive(Debug, Clone)]
pub enum SearchReply {
    /// The nearest match, and whether the search wrapped to the top to find it.
    Match(Range<usize>, Round),
    /// There is none.
    Nothing,
    /// So many matches start in the chunk that ends here.
    Counted(usize, u64),
}

/// Whether a search went on from the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// It did not.
    Straight,
    /// It did.
    Wrapped,
}
