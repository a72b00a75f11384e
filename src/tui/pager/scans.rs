//! The workers that read a whole file: they count its lines and totals, find the nearest match and count all matches.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

use crate::source::{self, Buffer, MapView};
use crate::text::index::{BlockCounts, BlockIndex};
use crate::text::search::{self, Pattern, Stretches, Toward};
use crate::text::supply::OwnBytes;
use crate::text::units::{Measure, Want};
use crate::tui::job::JobContext;

use super::counted::Uncounted;
use super::doc::Doc;
use super::event::{Counting, OutputEvent, SearchReply};
use super::fates::{gaps, holds};
use super::filter::sift::Sift;
use super::reader::{Files, Reader};

/// A counting worker takes one part in this many of a file at a time.
const SHARE: usize = 64;

/// The smallest and largest part taken at a time, in bytes. They are limited because each report wakes the thread that
/// draws the screen.
const MIN_TAKE: usize = 4 << 20;
const MAX_TAKE: usize = 32 << 20;

/// Files up to this many bytes are counted by one thread.
const NOT_WORTH_THREADS: usize = 32 << 20;

/// Matches are counted in about this many chunks, so that the map can show in which row they are.
const MAP_CHUNKS: usize = 1024;

/// As much is read at once, in bytes, however short the chunks are.
const MIN_READ: usize = 16 << 10;

/// The longest chunk whose matches are counted together, in bytes. It is limited because finding the number of one
/// match means searching its chunk.
const MAX_CHUNK: usize = 1 << 20;

/// A chunk with this many matches ends early, for the same reason.
const MAX_MATCHES: u64 = 4096;

/// A chunk never ends early before this many bytes, to keep the list of chunks small.
const MIN_CHUNK: usize = 64 << 10;

#[derive(Debug, Clone)]
pub(crate) enum Haystack {
    File(MapView),
    Text(Arc<Vec<u8>>),
}

impl Haystack {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Haystack::File(view) => view,
            Haystack::Text(text) => text,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SearchJob {
    pub(crate) pattern: Pattern,
    pub(crate) haystack: Haystack,
    /// Matches that lie wholly in one of these ranges are passed over; sorted and disjoint.
    pub(crate) skip: Arc<[Range<usize>]>,
    pub(crate) from: usize,
    pub(crate) toward: Toward,
    /// Which match to find: 1 is the nearest.
    pub(crate) times: u64,
    /// The filter whose lines alone are searched, if there is one.
    pub(crate) within: Option<Sift>,
}

impl SearchJob {
    /// Whether a match is to be found: not one that lies wholly in a range to skip, nor one in a line that is not shown.
    pub(crate) fn is_wanted(&self, found: &Range<usize>) -> bool {
        let is_shown = || match (&self.within, &self.haystack) {
            (Some(sift), Haystack::File(view)) => {
                let doc = Doc::file(view.len());
                let files = Files { out: view, err: &[], index: None };
                sift.is_shown(&Reader { doc: &doc, files, cost: None }, found.start as u64)
            }
            _ => true,
        };
        !holds(&self.skip, found) && is_shown()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct CountJob {
    pub(crate) what: Counting,
    pub(crate) pattern: Pattern,
    pub(crate) view: MapView,
    pub(crate) from: usize,
}

/// Counts the line feeds from a block on first, because the line numbers on the screen wait for them; then the other
/// totals.
pub(crate) fn count(view: &MapView, from: Uncounted, context: &JobContext) {
    let index = BlockIndex::new(view.len() as u64);
    go_through(&index, from.lines..index.blocks(), context, |buffer, blocks| {
        let bytes = index.range(blocks.clone());
        let counts = source::line_feeds(view, bytes, index.block(), buffer);
        let counts = BlockCounts { first: blocks.start, counts };
        OutputEvent::Counted { counts, measure: Measure::default(), measured: 0..0 }
    });
    go_through(&index, from.totals..index.blocks(), context, |buffer, blocks| {
        let range = index.range(blocks);
        let measured = range.start as u64..range.end as u64;
        let measure = source::measure(view, range, Want::ALL, buffer);
        let counts = BlockCounts { first: 0, counts: Vec::new() };
        OutputEvent::Counted { counts, measure, measured }
    });
}

/// Reports on the blocks in order, from several threads if the file is large enough.
fn go_through(
    index: &BlockIndex,
    blocks: Range<usize>,
    context: &JobContext,
    report: impl Fn(&mut Buffer, Range<usize>) -> OutputEvent + Sync,
) {
    let take = (index.range(blocks.clone()).len() / SHARE).clamp(MIN_TAKE, MAX_TAKE);
    let take = (take / index.block()).max(1);
    let work = |buffer: &mut Buffer, number: usize| {
        if !context.go_on() {
            return ControlFlow::Break(());
        }
        let start = blocks.start + number * take;
        context.report(report(buffer, start..(start + take).min(blocks.end)))
    };
    let takes = blocks.len().div_ceil(take);
    match index.range(blocks.clone()).len() {
        0..=NOT_WORTH_THREADS => {
            let mut buffer = Buffer::default();
            let _ = (0..takes).try_for_each(|number| work(&mut buffer, number));
        }
        _ => source::share_out(takes, Buffer::default, work),
    }
}

/// Searches for a match, and reports it.
pub(crate) fn search_for(job: &SearchJob, context: &JobContext) {
    context.send(OutputEvent::Found(seek(job, context)));
}

/// Searches for one match after the other until the one that the job asks for; whole laps are left out.
pub(crate) fn seek(job: &SearchJob, context: &JobContext) -> SearchReply {
    let (mut from, mut wrapped, mut last, mut first) = (job.from, false, None, None);
    let (mut left, mut passed) = (job.times, 0);
    while left > 0 {
        let Some((found, way)) = seek_once(job, from, context).filter(|_| context.is_wanted()) else { break };
        if way {
            wrapped = way;
        }
        from = match job.toward {
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
    last.map_or(SearchReply::Nothing, |found| SearchReply::Match(found, wrapped))
}

/// Searches from `from` to the end, then wraps around and searches the rest.
fn seek_once(job: &SearchJob, from: usize, context: &JobContext) -> Option<(Range<usize>, bool)> {
    let len = job.haystack.bytes().len();
    let from = from.min(len);
    let (ahead, behind) = match job.toward {
        Toward::End => (from..len, 0..from),
        Toward::Start => (0..from, from..len),
    };
    let straight = nearest_wanted(job, ahead, context).map(|found| (found, false));
    straight.or_else(|| nearest_wanted(job, behind, context).map(|found| (found, true)))
}

/// Returns the nearest match within a range that does not lie in what the job skips.
fn nearest_wanted(job: &SearchJob, within: Range<usize>, context: &JobContext) -> Option<Range<usize>> {
    if job.skip.is_empty() {
        return nearest(job, within, context);
    }
    let mut parts = unskipped(job.haystack.bytes(), &job.skip);
    if job.toward == Toward::Start {
        parts.reverse();
    }
    let parts = parts.into_iter().map(|part| part.start.max(within.start)..part.end.min(within.end));
    parts.filter(|part| !part.is_empty()).find_map(|part| nearest(job, part, context))
}

/// Returns the ranges in which the matches that are not skipped start, in order: what is not skipped, from the start of
/// its first line on. Close ones are joined.
fn unskipped(bytes: &[u8], skip: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for gap in gaps(skip, bytes.len()) {
        let far = gap.start.saturating_sub(search::OVERLAP);
        let start = far + memchr::memrchr(b'\n', &bytes[far..gap.start]).map_or(0, |feed| feed + 1);
        match parts.last_mut() {
            Some(last) if last.end + search::CHUNK >= start => last.end = gap.end,
            _ => parts.push(start..gap.end),
        }
    }
    parts
}

/// Returns the nearest match within a range. Stretches are handed out nearest first: once one has a match, only those
/// handed out before it, which are already being searched, can have a nearer one.
fn nearest(job: &SearchJob, within: Range<usize>, context: &JobContext) -> Option<Range<usize>> {
    let stretches = Stretches::new(within, job.toward);
    let best: Mutex<Option<(usize, Range<usize>)>> = Mutex::new(None);
    // Each thread gets its own pattern: threads that share one wait for each other.
    let state = || (Buffer::default(), job.pattern.clone());
    source::share_out(stretches.count(), state, |(buffer, pattern), number| {
        if !context.is_wanted() {
            return ControlFlow::Break(());
        }
        let bytes = match &job.haystack {
            Haystack::File(view) => {
                let mut seen = buffer.read(view, stretches.near_window(number, view.len()));
                if !stretches.is_enough(number, &seen) {
                    seen = buffer.read(view, stretches.window(number, view.len()));
                }
                seen
            }
            Haystack::Text(text) => OwnBytes::from(&**text).part(stretches.window(number, text.len())),
        };
        let found = stretches.nearest(number, bytes, pattern, |found| job.is_wanted(found));
        let Some(found) = found else { return ControlFlow::Continue(()) };
        let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
        if best.as_ref().is_none_or(|(nearest, _)| number < *nearest) {
            *best = Some((number, found));
        }
        ControlFlow::Break(())
    });
    best.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(_, found)| found)
}

pub(crate) fn tally(job: &CountJob, context: &JobContext) {
    let len = job.view.len();
    let chunk = len.div_ceil(MAP_CHUNKS).min(MAX_CHUNK);
    let mut buffer = Buffer::default();
    let mut start = job.from;
    while start < len && context.go_on() {
        let stop = (start + chunk.max(MIN_READ)).min(len);
        let window = search::window(&(start..stop), len);
        let bytes = buffer.read(&job.view, window.clone());
        while start < stop {
            let inside = start - window.start..(start + chunk).min(stop) - window.start;
            let (end, count) = dense(bytes, &job.pattern, inside);
            start = window.start + end;
            let reply = SearchReply::Counted(job.what, start, count);
            if context.report(OutputEvent::Found(reply)).is_break() {
                return;
            }
        }
    }
}

/// Counts the matches from the start of `within` until there are [`MAX_MATCHES`] or all of it is searched. Returns
/// where counting ended, and the count.
fn dense(bytes: OwnBytes, pattern: &Pattern, within: Range<usize>) -> (usize, u64) {
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

#[cfg(test)]
mod tests;
