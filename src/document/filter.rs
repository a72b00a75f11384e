//! The lines of the file that a filter shows: from any position, the next of them and the previous.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex};

use crate::base::human::{lines, thousands};
use crate::base::lock;
use crate::source::{self, MapView, ViewSupply};
use crate::text::filter::index::{BlockLines, FilterIndex, LineCount, LineScan};
use crate::text::filter::{self, Condition, KeptRanges, LineScope};
use crate::text::search::Pattern;
use crate::text::supply::Supply;

use super::Doc;
use super::reader::{Files, Reader};

/// The most ranges of lines kept of blocks seen before.
const MAX_RANGES: usize = 100_000;

/// Bytes that a thread takes at a time, at first and later: each report wakes the thread that draws.
const FIRST_TAKE: usize = 2 << 20;
const MAX_TAKE: usize = 32 << 20;

const MAX_READS: usize = 8;

#[derive(Debug, Default)]
struct ShownCounts {
    blocks: BTreeMap<usize, Arc<[Range<u64>]>>,
    ranges: usize,
}

#[derive(Debug)]
pub struct LineFilter {
    pub(crate) conditions: Arc<[Condition]>,
    pub(crate) scope: LineScope,
    pub(crate) around: u64,
    got: Arc<[Range<usize>]>,
    pub(crate) index: FilterIndex,
    seen: Mutex<ShownCounts>,
}

impl Clone for LineFilter {
    fn clone(&self) -> Self {
        Self {
            conditions: self.conditions.clone(),
            scope: self.scope,
            around: self.around,
            got: self.got.clone(),
            index: self.index.clone(),
            seen: Mutex::default(),
        }
    }
}

impl LineFilter {
    /// Creates a filter of `len` bytes, of which the model got some, with nothing counted.
    pub fn new(conditions: Vec<Condition>, got: &[Range<usize>], len: usize) -> Self {
        Self {
            conditions: conditions.into(),
            scope: LineScope::All,
            around: 0,
            got: got.into(),
            index: FilterIndex::new(len),
            seen: Mutex::default(),
        }
    }

    /// Returns the filter with all lines that meet the conditions, or those that are lost, and this many around.
    pub fn showing(self, scope: LineScope, around: u64) -> Self {
        Self { scope, around, seen: Mutex::default(), ..self }
    }

    pub fn total(&self) -> LineCount {
        self.index.total()
    }

    /// Returns the conditions as typed: `&error &!debug &lost ±3`.
    pub(crate) fn describe_conditions(&self) -> String {
        let mut words: Vec<String> =
            self.conditions.iter().map(|condition| format!("&{}", condition.text())).collect();
        if self.scope == LineScope::Lost {
            words.push("lost lines".into());
        }
        if self.around > 0 {
            words.push(format!("±{}", self.around));
        }
        words.join(" ")
    }

    /// Describes the filter in versions, the longest first: `&error &!debug · 274 lines, model got 3`.
    pub(crate) fn describe(&self, verb: &str) -> Vec<String> {
        let (words, total) = (self.describe_conditions(), self.total());
        let (shown, all) = (thousands(total.shown(self.scope)), total.got + total.lost);
        let count = match (self.index.percent(), self.scope) {
            (None, LineScope::All) => lines(all),
            (Some(percent), LineScope::All) => format!("{shown} lines so far, {percent}%"),
            (None, LineScope::Lost) => format!("{shown} of {}", lines(all)),
            (Some(percent), LineScope::Lost) => {
                format!("{shown} of {} lines so far, {percent}%", thousands(all))
            }
        };
        let got = match self.scope {
            LineScope::All => format!(", model {verb} {}", thousands(total.got)),
            LineScope::Lost => String::new(),
        };
        vec![format!("{words} · {count}{got}"), format!("{words} · {count}"), count]
    }

    pub(crate) fn describe_end(&self) -> String {
        match self.index.percent() {
            Some(percent) => format!("filtering, {percent}%"),
            None => "end of the lines shown".into(),
        }
    }

    pub fn is_blank(&self) -> bool {
        self.total().shown(self.scope) == 0
    }

    /// Returns the pattern whose matches are marked: the last that lines must match.
    pub fn marked(&self) -> Option<&Pattern> {
        self.conditions.iter().rev().find_map(|condition| match condition {
            Condition::With(pattern) => Some(pattern),
            Condition::Without(_) => None,
        })
    }

    pub fn scan(&self) -> LineScan<'_> {
        LineScan { conditions: &self.conditions, got: KeptRanges(&self.got), block: self.index.block() }
    }

    pub(crate) fn insert(&mut self, first: usize, lines: &[BlockLines]) {
        self.index.insert(first, lines);
        let mut seen = lock(&self.seen);
        for block in first..first + lines.len() {
            if let Some(ranges) = seen.blocks.remove(&block) {
                seen.ranges -= ranges.len();
            }
        }
    }

    pub(crate) fn grow(&mut self, len: usize) {
        self.index.grow(len);
        *lock(&self.seen) = ShownCounts::default();
    }

    pub(crate) fn reset(&mut self, len: usize) {
        self.index = FilterIndex::new(len);
        *lock(&self.seen) = ShownCounts::default();
    }

    /// Sets what the model got; lines of which it got more or less are counted again.
    pub(crate) fn set_got(&mut self, got: &[Range<usize>]) {
        let difference = filter::difference(&self.got, got);
        if !difference.is_empty() {
            self.index.touch(&difference);
            self.got = got.into();
            *lock(&self.seen) = ShownCounts::default();
        }
    }

    /// Counts what is not counted yet on this thread. Returns false if that would take long, because of a long line.
    pub(crate) fn count_now(&mut self, supply: &mut impl Supply) -> bool {
        let mut reads = 0;
        let mut may_read = || {
            reads += 1;
            reads <= MAX_READS
        };
        for blocks in self.index.pending().to_vec() {
            let first = blocks.start;
            let Some(lines) = self.scan().count(supply, blocks, &mut may_read) else { return false };
            self.insert(first, &lines);
        }
        true
    }

    /// Counts what is not counted yet, from several threads, first what comes after an offset; reports block by block.
    pub(crate) fn count(
        &self,
        view: &MapView,
        from: usize,
        is_wanted: &(dyn Fn() -> bool + Sync),
        report: impl Fn(usize, Vec<BlockLines>) -> ControlFlow<()> + Sync,
    ) {
        let takes = self.takes(from / self.index.block());
        // Each thread gets its own patterns: threads that share one wait for each other.
        let state = || (ViewSupply::from(view), self.conditions.to_vec());
        source::share_out(takes.len(), state, |(supply, conditions), n| {
            let scan = LineScan { conditions, ..self.scan() };
            match scan.count(supply, takes[n].clone(), &mut || is_wanted()) {
                Some(lines) => report(takes[n].start, lines),
                None => ControlFlow::Break(()),
            }
        });
    }

    fn takes(&self, at: usize) -> Vec<Range<usize>> {
        let pending = self.index.pending();
        let after = pending.iter().map(|blocks| blocks.start.max(at)..blocks.end.max(at));
        let before = pending.iter().map(|blocks| blocks.start.min(at)..blocks.end.min(at));
        let mut takes = Vec::new();
        let mut bytes = FIRST_TAKE;
        for Range { mut start, end } in after.chain(before) {
            while start < end {
                let next = (start + (bytes / self.index.block()).max(1)).min(end);
                takes.push(start..next);
                start = next;
                bytes = (bytes * 2).min(MAX_TAKE);
            }
        }
        takes
    }

    /// Returns the lines shown that start in a block, each range ending with the block at the latest.
    fn lines_of(&self, reader: &Reader, block: usize) -> Arc<[Range<u64>]> {
        if let Some(lines) = lock(&self.seen).blocks.get(&block) {
            return lines.clone();
        }
        let Some(counted) = self.index.get(block) else { return Arc::default() };
        let range = self.index.range(block..block + 1);
        let base = range.start.saturating_sub(1);
        let bytes = reader.copy(base as u64..range.end as u64);
        let lines = self.scan().shown((&bytes).into(), base, counted.last, self.scope);
        let lines: Arc<[_]> = lines.into_iter().map(|run| run.start as u64..run.end as u64).collect();
        let mut seen = lock(&self.seen);
        if seen.ranges + lines.len() > MAX_RANGES {
            *seen = ShownCounts::default();
        }
        seen.ranges += lines.len();
        seen.blocks.insert(block, lines.clone());
        lines
    }

    fn block_of(&self, at: u64) -> usize {
        at as usize / self.index.block()
    }

    fn is_met(&self, reader: &Reader, line: u64) -> bool {
        let lines = self.lines_of(reader, self.block_of(line));
        let next = lines.partition_point(|run| run.end <= line);
        lines.get(next).is_some_and(|run| run.start <= line)
    }

    /// Returns the first line that meets the conditions and starts at or after `line`, which is the start of a line.
    fn next_met(&self, reader: &Reader, line: u64) -> Option<u64> {
        let mut block = self.block_of(line);
        loop {
            block = self.index.next(block, self.scope)?;
            let lines = self.lines_of(reader, block);
            let next = lines.partition_point(|run| run.end <= line);
            if let Some(run) = lines.get(next) {
                return Some(run.start.max(line));
            }
            block += 1;
        }
    }

    /// Returns the last line that meets the conditions and starts before `line`, which is the start of a line.
    fn last_met(&self, reader: &Reader, line: u64) -> Option<u64> {
        let mut to = (line as usize).div_ceil(self.index.block());
        loop {
            to = self.index.previous(to, self.scope)?;
            let lines = self.lines_of(reader, to);
            let before = lines.partition_point(|run| run.start < line);
            if let Some(run) = before.checked_sub(1).and_then(|last| lines.get(last)) {
                let end = run.end.min(line).saturating_sub(1);
                let feed = reader.last_line_feed_near(end, run.start);
                return Some(feed.map_or(run.start, |feed| feed + 1));
            }
        }
    }

    /// Returns the start of the line that contains `at`. In a long line, skips blocks in which no line starts.
    fn line_start(&self, reader: &Reader, at: u64) -> u64 {
        let near = reader.segment_start(at);
        let mut to = self.block_of(near) + 1;
        let mut end = near;
        if reader.opens_line(near) {
            return near;
        }
        while let Some(block) = self.index.previous_start(to) {
            if self.index.get(block).is_none() {
                return reader.line_start(end);
            }
            let start = self.index.range(block..block + 1).start as u64;
            end = end.min(start + self.index.block() as u64 - 1);
            if let Some(feed) = reader.last_line_feed_near(end, start.saturating_sub(1)) {
                return feed + 1;
            }
            to = block;
        }
        0
    }

    fn next_line(&self, reader: &Reader, line: u64) -> u64 {
        let segment = reader.segment(line);
        if segment.closes {
            return segment.next;
        }
        let Some(block) = self.index.next_start(self.block_of(line) + 1) else { return reader.doc.len() };
        if self.index.get(block).is_none() {
            return (reader.line_end(segment.end) + 1).min(reader.doc.len());
        }
        let range = self.index.range(block..block + 1);
        let feed = reader.line_feed_near(range.start as u64 - 1, range.end as u64);
        feed.map_or(reader.doc.len(), |feed| feed + 1)
    }

    fn first_around(&self, reader: &Reader, line: u64) -> u64 {
        (0..self.around).fold(line, |first, _| match first {
            0 => 0,
            _ => self.line_start(reader, first - 1),
        })
    }

    fn end_around(&self, reader: &Reader, line: u64) -> u64 {
        (0..self.around).fold(self.next_line(reader, line), |end, _| match end {
            end if end >= reader.doc.len() => end,
            _ => self.next_line(reader, end),
        })
    }

    pub fn is_shown(&self, reader: &Reader, at: u64) -> bool {
        at < reader.doc.len() && self.onward(reader, at) == at
    }

    /// Whether a line that meets the conditions starts in a range; of several blocks, as far as whole ones tell.
    pub fn any_in(&self, files: Files, bytes: &Range<usize>) -> bool {
        let is_near = self.index.any_in(bytes, self.scope);
        if !is_near || bytes.len() > 2 * self.index.block() {
            return is_near;
        }
        let doc = Doc::file(files.out.len());
        let reader = Reader { doc: &doc, files, cost: None };
        let line = self.line_start(&reader, bytes.start as u64);
        let line = if line < bytes.start as u64 { self.next_line(&reader, line) } else { line };
        self.next_met(&reader, line).is_some_and(|next| next < bytes.end as u64)
    }

    /// Returns `at` if its line is shown, otherwise the start of the next line shown, or the document's end.
    pub fn onward(&self, reader: &Reader, at: u64) -> u64 {
        let len = reader.doc.len();
        if at >= len {
            return len;
        }
        let line = self.line_start(reader, at);
        if self.is_met(reader, line) {
            return at;
        }
        let next = self.next_met(reader, line);
        if self.around == 0 {
            return next.unwrap_or(len);
        }
        let first = next.map_or(len, |next| self.first_around(reader, next));
        let last = self.last_met(reader, line);
        let is_shown = first <= line || last.is_some_and(|last| self.end_around(reader, last) > line);
        if is_shown { at } else { first }
    }

    /// Returns `at` if the byte before it is in a line that is shown, otherwise the end of the last line shown before.
    pub fn backward(&self, reader: &Reader, at: u64) -> u64 {
        if at == 0 {
            return 0;
        }
        let line = self.line_start(reader, at - 1);
        if self.is_met(reader, line) {
            return at;
        }
        let last = self.last_met(reader, line);
        let end = last.map_or(0, |last| self.end_around(reader, last));
        let reaches = |next: u64| self.first_around(reader, next) <= line;
        let is_shown = end > line || self.around > 0 && self.next_met(reader, line).is_some_and(reaches);
        if is_shown { at } else { end }
    }
}

#[cfg(test)]
mod tests;
