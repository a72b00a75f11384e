//! The search and count tasks for workers, and the replies.

use std::ops::Range;
use std::sync::Arc;

use crate::source::MapView;
use crate::text::search::{Pattern, Severity, Toward};
use crate::tui::pager::doc::Doc;
use crate::tui::pager::filter::sift::Sift;
use crate::tui::pager::reader::{Files, Reader};
use crate::tui::widget::cost::Cost;

/// What to search.
#[derive(Debug, Clone)]
pub enum Haystack {
    File(MapView),
    /// The text of a whole preview.
    Text(Arc<Vec<u8>>),
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
    /// Matches that lie wholly in one of these ranges are passed over; sorted and disjoint.
    pub skip: Arc<[Range<usize>]>,
    /// The byte offset to start from.
    pub from: usize,
    pub toward: Toward,
    /// Which match to find: 1 is the nearest.
    pub times: u64,
    /// The filter whose lines alone are searched, if there is one.
    pub within: Option<Sift>,
}

impl SearchJob {
    /// Whether a match is to be found: not one that lies wholly in a range to skip, nor one in a line that is not shown.
    pub fn is_wanted(&self, found: &Range<usize>) -> bool {
        !holds_all(&self.skip, found) && self.is_shown(found.start as u64)
    }

    fn is_shown(&self, offset: u64) -> bool {
        let (Some(sift), Haystack::File(view)) = (&self.within, &self.haystack) else { return true };
        let doc = Doc::file(view.len());
        let files = Files { out: view, err: &[], index: None };
        sift.is_shown(&Reader { doc: &doc, files, cost: &Cost::default() }, offset)
    }
}

/// Whether one of `ranges`, which must be sorted and disjoint, contains all of `found`.
pub(crate) fn holds_all(ranges: &[Range<usize>], found: &Range<usize>) -> bool {
    let next = ranges.partition_point(|range| range.end <= found.start);
    ranges.get(next).is_some_and(|range| range.start <= found.start && found.end <= range.end)
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counting {
    /// The matches of the search.
    #[default]
    Matches,
    /// Errors, or warnings.
    Severity(Severity),
}

/// A task for a worker: count the matches in a file.
#[derive(Debug, Clone)]
pub struct CountJob {
    pub what: Counting,
    /// The number of the task; replies to older ones are dropped.
    pub number: u64,
    /// What to count.
    pub pattern: Pattern,
    /// The file to count in.
    pub view: MapView,
    /// The byte offset to count from: what precedes it is counted already.
    pub from: usize,
}

/// A worker's reply.
#[derive(Debug, Clone)]
pub struct Found {
    /// The number of the task.
    pub number: u64,
    pub reply: SearchReply,
}

/// The content of a worker's reply.
#[derive(Debug, Clone)]
pub enum SearchReply {
    /// The match, and whether the search wrapped around to find it.
    Match(Range<usize>, bool),
    /// There is no match.
    Nothing,
    /// A chunk has been counted: the offset where it ends, and the number of matches that start in it.
    Counted(Counting, usize, u64),
}
