//! How many matches the file has, as far as they are counted, and how many of them the model got.

use std::ops::Range;

use crate::source::{MapView, ViewSupply};
use crate::text::search::{MatchCounts, Pattern, read_starting_in};

use super::job::{CountJob, Counting, holds_all};

/// What the model got of the matches is counted at once in up to this many kept bytes.
const MOST_KEPT: usize = 2 << 20;

/// The matches of a pattern in a file.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// The matches in the file, as far as they are counted.
    pub counts: MatchCounts,
    /// The number of matches of which the model got every byte; `None` if that is too much to search at once.
    pub kept: Option<u64>,
    /// The number of the count. Chunks of an older count are dropped.
    number: u64,
}

impl Tally {
    /// Drops all counts. Chunks of the count in progress will be dropped.
    pub(crate) fn forget(&mut self) {
        *self = Self { number: self.number + 1, ..Self::default() };
    }

    /// Drops what may change as the file, of `len` bytes until now, grows, and the chunks of the count in progress.
    pub(crate) fn forget_end(&mut self, len: usize) {
        self.number += 1;
        self.counts.forget_end(len);
    }

    /// Continues the numbers of another tally, so that chunks meant for that one are dropped.
    pub(crate) fn follow_on(&mut self, other: &Tally) {
        self.number = self.number.max(other.number) + 1;
    }

    /// Creates the task that counts what is not counted yet.
    pub(crate) fn job(&mut self, what: Counting, pattern: &Pattern, view: &MapView) -> CountJob {
        self.number += 1;
        CountJob {
            what,
            number: self.number,
            pattern: pattern.clone(),
            view: view.clone(),
            from: self.counts.counted_bytes(),
        }
    }

    /// Adds a chunk that the task of this number has counted.
    pub(crate) fn counted(&mut self, number: u64, end: usize, count: u64) {
        if number == self.number {
            self.counts.push(end, count);
        }
    }

    /// Whether all of a file of `len` bytes is counted.
    pub fn is_whole(&self, len: usize) -> bool {
        self.counts.counted_bytes() >= len
    }

    /// Counts the matches of which the model got every byte: those inside the ranges `kept`.
    pub(crate) fn count_kept(&mut self, pattern: &Pattern, view: &MapView, kept: &[Range<usize>]) {
        let bytes: usize = kept.iter().map(Range::len).sum();
        let mut supply = ViewSupply::from(view);
        let mut in_range = |range: &Range<usize>| {
            read_starting_in(&mut supply, pattern, range.clone())
                .filter(|found| holds_all(kept, found))
                .count() as u64
        };
        self.kept = (bytes <= MOST_KEPT).then(|| kept.iter().map(&mut in_range).sum());
    }

    /// Returns the number of matches of which the model got every byte, if it is known, in a file of `len` bytes.
    pub fn got(&self, kept: &[Range<usize>], len: usize) -> Option<u64> {
        let is_all = matches!(kept, [all] if all.start == 0 && all.end >= len);
        if is_all { Some(self.counts.total()) } else { self.kept }
    }
}
