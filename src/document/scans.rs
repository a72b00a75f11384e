//! Scans of a whole file: they count its lines and totals, find the nearest match and count all matches.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::lock;
use crate::preview::Totals;
use crate::source::{self, Buffer, MapView, ViewSupply};
use crate::text::filter::KeptRanges;
use crate::text::index::{BlockCounts, BlockIndex};
use crate::text::search::{self, Pattern, Stretches, Toward};
use crate::text::supply::OwnBytes;
use crate::text::units::{Measure, TotalsMask};

use super::Doc;
use super::filter::LineFilter;
use super::reader::{Files, Reader};

/// A counting worker takes one part in this many of a file at a time.
const SHARE: usize = 64;

/// The smallest and largest part taken at a time, in bytes: each report wakes the thread that draws the screen.
const MIN_TAKE: usize = 4 << 20;
const MAX_TAKE: usize = 32 << 20;

/// Files up to this many bytes are counted by one thread.
const NOT_WORTH_THREADS: usize = 32 << 20;

/// Matches are counted in about this many chunks, so that the map can show in which row they are.
const MAP_CHUNKS: usize = 1024;

/// As much is read at once, in bytes, however short the chunks are.
const MIN_READ: usize = 16 << 10;

/// The longest chunk counted together, in bytes: finding the number of one match means searching its chunk.
const MAX_CHUNK: usize = 1 << 20;

/// A chunk with this many matches ends early, for the same reason.
const MAX_MATCHES: u64 = 4096;

/// What the model got of the matches is counted at once in up to this many kept bytes.
const MAX_KEPT: usize = 2 << 20;

/// A chunk never ends early before this many bytes, to keep the list of chunks small.
const MIN_CHUNK: usize = 64 << 10;

/// How far before the end of the file, in bytes, a character that is still incomplete may begin.
const MAX_CHAR: u64 = 4;

#[derive(Debug, Clone)]
pub(crate) struct Search {
    pub(crate) pattern: Pattern,
    pub(crate) view: MapView,
    /// Matches that lie wholly in one of these ranges are passed over; sorted and disjoint.
    pub(crate) skip: Arc<[Range<usize>]>,
    pub(crate) from: usize,
    pub(crate) toward: Toward,
    pub(crate) times: u64,
    pub(crate) within: Option<LineFilter>,
}

type IsWanted<'a> = dyn Fn() -> bool + Sync + 'a;

/// Counts the line feeds first, because the line numbers on the screen wait for them; then the other totals.
pub(crate) fn count(
    view: &MapView,
    from: UncountedBlocks,
    is_wanted: impl Fn() -> bool + Sync,
    report: impl Fn(BlockCounts, (Range<u64>, Measure)) -> ControlFlow<()> + Sync,
) {
    let index = BlockIndex::new(view.len() as u64);
    go_through(&index, from.lines..index.blocks(), &is_wanted, |buffer, blocks| {
        let counts = source::line_feeds(view, index.range(blocks.clone()), index.block(), buffer);
        report(BlockCounts { first: blocks.start, counts }, (0..0, Measure::default()))
    });
    go_through(&index, from.totals..index.blocks(), &is_wanted, |buffer, blocks| {
        let range = index.range(blocks);
        let measured = range.start as u64..range.end as u64;
        let measure = source::measure(view, range, TotalsMask::ALL, buffer);
        report(BlockCounts { first: 0, counts: Vec::new() }, (measured, measure))
    });
}

fn go_through(
    index: &BlockIndex,
    blocks: Range<usize>,
    is_wanted: &(impl Fn() -> bool + Sync),
    work: impl Fn(&mut Buffer, Range<usize>) -> ControlFlow<()> + Sync,
) {
    let bytes = index.range(blocks.clone()).len();
    let take = ((bytes / SHARE).clamp(MIN_TAKE, MAX_TAKE) / index.block()).max(1);
    let takes = blocks.len().div_ceil(take);
    let work = |buffer: &mut Buffer, number: usize| {
        if !is_wanted() {
            return ControlFlow::Break(());
        }
        let start = blocks.start + number * take;
        work(buffer, start..(start + take).min(blocks.end))
    };
    match bytes {
        0..=NOT_WORTH_THREADS => {
            let mut buffer = Buffer::default();
            let _ = (0..takes).try_for_each(|number| work(&mut buffer, number));
        }
        _ => source::share_out(takes, Buffer::default, work),
    }
}

impl Search {
    /// Searches for one match after the other, whole laps left out. Returns the match, and whether the search wrapped.
    pub(crate) fn find(&self, is_wanted: &IsWanted) -> Option<(Range<usize>, bool)> {
        let (mut from, mut wrapped, mut last, mut first) = (self.from, false, None, None);
        let (mut left, mut passed) = (self.times, 0);
        while left > 0 {
            let Some((found, has_wrapped)) = self.find_once(from, is_wanted).filter(|_| is_wanted()) else {
                break;
            };
            wrapped |= has_wrapped;
            from = match self.toward {
                Toward::End => found.end,
                Toward::Start => found.start,
            };
            left -= 1;
            if first.as_ref() == Some(&found) {
                left %= passed;
            }
            passed += 1;
            first.get_or_insert_with(|| found.clone());
            last = Some(found);
        }
        Some((last?, wrapped))
    }

    /// Searches from `from` to the end, then wraps around and searches the rest.
    fn find_once(&self, from: usize, is_wanted: &IsWanted) -> Option<(Range<usize>, bool)> {
        let len = self.view.len();
        let from = from.min(len);
        let (ahead, behind) = match self.toward {
            Toward::End => (from..len, 0..from),
            Toward::Start => (0..from, from..len),
        };
        let straight = self.find_within(ahead, is_wanted).map(|found| (found, false));
        straight.or_else(|| self.find_within(behind, is_wanted).map(|found| (found, true)))
    }

    /// Returns the nearest match within a range that does not lie in what is to be skipped.
    fn find_within(&self, within: Range<usize>, is_wanted: &IsWanted) -> Option<Range<usize>> {
        if self.skip.is_empty() {
            return self.nearest(within, is_wanted);
        }
        let mut parts = unskipped(&self.view, &self.skip);
        if self.toward == Toward::Start {
            parts.reverse();
        }
        let parts = parts.into_iter().map(|part| part.start.max(within.start)..part.end.min(within.end));
        parts.filter(|part| !part.is_empty()).find_map(|part| self.nearest(part, is_wanted))
    }

    /// Returns the nearest match within a range. Stretches are handed out nearest first.
    fn nearest(&self, within: Range<usize>, is_wanted: &IsWanted) -> Option<Range<usize>> {
        let stretches = Stretches::new(within, self.toward);
        let best: Mutex<Option<(usize, Range<usize>)>> = Mutex::new(None);
        // Each thread gets its own pattern: threads that share one wait for each other.
        let state = || (ViewSupply::from(&self.view), self.pattern.clone());
        source::share_out(stretches.count(), state, |(supply, pattern), number| {
            if !is_wanted() {
                return ControlFlow::Break(());
            }
            let found = stretches.nearest(number, supply, pattern, |found| self.is_found(found));
            let Some(found) = found else { return ControlFlow::Continue(()) };
            let mut best = lock(&best);
            if best.as_ref().is_none_or(|(nearest, _)| number < *nearest) {
                *best = Some((number, found));
            }
            ControlFlow::Break(())
        });
        best.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(_, found)| found)
    }

    /// Whether a match counts: it lies neither wholly in a range to skip nor in a line that is not shown.
    fn is_found(&self, found: &Range<usize>) -> bool {
        let is_shown = |filter: &LineFilter| {
            let doc = Doc::file(self.view.len());
            let files = Files { out: &self.view, err: &[], index: None };
            filter.is_shown(&Reader { doc: &doc, files, cost: None }, found.start as u64)
        };
        !KeptRanges(&self.skip).covers(found) && self.within.as_ref().is_none_or(is_shown)
    }
}

/// Returns the ranges in which matches that are not skipped start, from the start of a line on; close ones are joined.
fn unskipped(bytes: &[u8], skip: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for gap in KeptRanges(skip).gaps(bytes.len()) {
        let far = gap.start.saturating_sub(search::OVERLAP);
        let start = far + memchr::memrchr(b'\n', &bytes[far..gap.start]).map_or(0, |feed| feed + 1);
        match parts.last_mut() {
            Some(last) if last.end + search::CHUNK >= start => last.end = gap.end,
            _ => parts.push(start..gap.end),
        }
    }
    parts
}

/// Counts the matches from an offset on, chunk by chunk; reports where each chunk ends, and how many start in it.
pub(crate) fn count_matches(
    view: &MapView,
    pattern: &Pattern,
    from: usize,
    is_wanted: impl Fn() -> bool,
    report: impl Fn(usize, u64) -> ControlFlow<()>,
) {
    let len = view.len();
    let chunk = len.div_ceil(MAP_CHUNKS).min(MAX_CHUNK);
    let mut buffer = Buffer::default();
    let mut start = from;
    while start < len && is_wanted() {
        let stop = (start + chunk.max(MIN_READ)).min(len);
        let window = search::window(&(start..stop), len);
        let bytes = buffer.read(view, window.clone());
        while start < stop {
            let inside = start - window.start..(start + chunk).min(stop) - window.start;
            let (end, count) = count_dense(bytes, pattern, inside);
            start = window.start + end;
            if report(start, count).is_break() {
                return;
            }
        }
    }
}

/// Counts the matches inside the ranges `kept`, which the model got; `None` if that is too much to search at once.
pub(crate) fn count_kept(pattern: &Pattern, view: &MapView, kept: &[Range<usize>]) -> Option<u64> {
    let bytes: usize = kept.iter().map(Range::len).sum();
    let mut supply = ViewSupply::from(view);
    let mut in_range = |range: &Range<usize>| {
        let found = search::read_starting_in(&mut supply, pattern, range.clone());
        found.filter(|found| KeptRanges(kept).covers(found)).count() as u64
    };
    (bytes <= MAX_KEPT).then(|| kept.iter().map(&mut in_range).sum())
}

/// Counts the matches until there are [`MAX_MATCHES`], or all is searched. Returns where that ended, and the count.
fn count_dense(bytes: OwnBytes, pattern: &Pattern, within: Range<usize>) -> (usize, u64) {
    let (mut end, mut count) = (within.start, 0);
    while end < within.end && count < MAX_MATCHES {
        let piece = end..(end + MIN_CHUNK).min(within.end);
        end = piece.end;
        for found in search::starting_in(bytes, pattern, piece) {
            count += 1;
            end = end.max(found.end);
        }
    }
    (end, count)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UncountedBlocks {
    pub lines: usize,
    pub totals: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct CountedChunks {
    /// The chunks counted: where each begins and ends, in bytes, and what it holds.
    chunks: BTreeMap<u64, (u64, Measure)>,
    bytes: u64,
}

impl CountedChunks {
    /// Starts a new count, and returns the byte from which to count on: a multiple of `block`, or the end.
    pub(crate) fn begin(&mut self, block: u64, len: u64) -> u64 {
        let mut end = 0;
        while let Some((next, _)) = self.chunks.get(&end) {
            end = *next;
        }
        let from = if end == len || end.is_multiple_of(block) { end } else { 0 };
        self.keep(|chunk| chunk.end <= from);
        from
    }

    pub(crate) fn add(&mut self, chunk: Range<u64>, measure: Measure) {
        if chunk.start < chunk.end && self.chunks.insert(chunk.start, (chunk.end, measure)).is_none() {
            self.bytes += chunk.end - chunk.start;
        }
    }

    /// Drops the chunks that the growth of a file of `len` bytes changes.
    pub(crate) fn grow(&mut self, len: u64) {
        self.keep(|chunk| chunk.end + MAX_CHAR <= len);
    }

    fn keep(&mut self, is_kept: impl Fn(Range<u64>) -> bool) {
        self.chunks.retain(|start, (end, _)| is_kept(*start..*end));
        self.bytes = self.chunks.iter().map(|(start, (end, _))| end - start).sum();
    }

    pub(crate) fn is_whole(&self, len: u64) -> bool {
        self.bytes >= len
    }

    /// Returns the totals of a file of `len` bytes, unknown unless all of it is counted.
    pub(crate) fn totals(&self, len: u64) -> Totals {
        if !self.is_whole(len) {
            return Totals::unknown();
        }
        let sum = self.chunks.values().fold(Measure::default(), |sum, (_, measure)| sum + *measure);
        Totals::from_measure(&sum, TotalsMask::ALL)
    }
}

#[cfg(test)]
mod tests;
