//! Reads a document: the only way for panes to get bytes. Also measures the cost of reading, and counts windows of lines.

use std::cell::{Cell as Count, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;

use crate::preview::Stream;
use crate::text::index::{BLOCK, BlockIndex};
use crate::text::layout::{ANCHOR, snap};
use crate::text::search::{Pattern, Severity, SeverityPatterns};

use super::{Body, Chunk, Doc};

/// How far to search for the start or end of a line in blocks that are not counted yet, in bytes.
const FAR: u64 = 4 << 20;

#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    pub out: &'a [u8],
    /// Standard error, if it is separate; otherwise empty.
    pub err: &'a [u8],
    /// The index of the line feeds in `out`, as far as they are counted.
    pub index: Option<&'a BlockIndex>,
}

/// A line, or the part of a long line between two anchors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSegment {
    pub start: u64,
    /// The offset past the last byte, excluding the line feed.
    pub end: u64,
    pub opens: bool,
    /// Whether the line ends here, with a line feed or with the document.
    pub closes: bool,
    /// The offset of the next segment; the document's length after the last.
    pub next: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    pub doc: &'a Doc,
    pub files: Files<'a>,
    pub cost: Option<&'a Cost>,
}

impl<'a> Reader<'a> {
    pub(crate) fn count_rows(&self, count: usize) {
        if let Some(cost) = self.cost {
            cost.count_rows(count);
        }
    }

    /// Copies a range of bytes. Returns fewer if the file has been truncated.
    pub fn copy(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((range.end - range.start) as usize);
        self.pieces(range).for_each(|(_, piece)| bytes.extend_from_slice(piece));
        bytes
    }

    /// Iterates over the bytes of a range as they lie in chunks, each piece with its offset, reading it only then.
    fn pieces(&self, range: Range<u64>) -> impl Iterator<Item = (u64, &[u8])> {
        let first = self.doc.chunk_at(range.start);
        let chunks = self.doc.chunks.iter().enumerate().skip(first);
        chunks.take_while(move |(_, chunk)| chunk.start < range.end).map(move |(n, chunk)| {
            let from = range.start.max(chunk.start);
            (from, self.slice(chunk, from, range.end.min(self.doc.end_of(n))))
        })
    }

    fn slice(&self, chunk: &'a Chunk, from: u64, to: u64) -> &'a [u8] {
        let (from, to) = ((from - chunk.start) as usize, (to - chunk.start) as usize);
        match &chunk.body {
            Body::Text(text, _) => &text[from..to],
            Body::Range(stream, range) => {
                let file = match stream {
                    Stream::Stdout => self.files.out,
                    Stream::Stderr => self.files.err,
                };
                let read = (range.start + from).min(file.len())..(range.start + to).min(file.len());
                if let Some(cost) = self.cost {
                    cost.read(*stream, &read);
                }
                &file[read]
            }
        }
    }

    fn line_feed_in(&self, range: Range<u64>) -> Option<u64> {
        self.pieces(range).find_map(|(at, piece)| Some(at + memchr::memchr(b'\n', piece)? as u64))
    }

    fn last_line_feed_in(&self, range: Range<u64>) -> Option<u64> {
        self.pieces(range).filter_map(|(at, piece)| Some(at + memchr::memrchr(b'\n', piece)? as u64)).last()
    }

    /// Returns the last line feed before `to`, not before `floor`. Searches nearby bytes first: lines are mostly short.
    pub(crate) fn last_line_feed_near(&self, to: u64, floor: u64) -> Option<u64> {
        let mut end = to;
        let mut step = 1024;
        while end > floor {
            let start = end.saturating_sub(step).max(floor);
            if let Some(found) = self.last_line_feed_in(start..end) {
                return Some(found);
            }
            (end, step) = (start, step * 8);
        }
        None
    }

    pub(crate) fn line_feed_near(&self, from: u64, limit: u64) -> Option<u64> {
        let mut start = from;
        let mut step = 1024;
        while start < limit {
            let end = (start + step).min(limit);
            if let Some(found) = self.line_feed_in(start..end) {
                return Some(found);
            }
            (start, step) = (end, step * 8);
        }
        None
    }

    pub(crate) fn severity_of(&self, start: u64, patterns: &SeverityPatterns) -> Option<Severity> {
        let line = self.copy(start..self.segment(start).end);
        let matches = |pattern: &Pattern| pattern.in_lines(&line).next().is_some();
        Severity::ALL.into_iter().find(|severity| patterns.get(*severity).is_some_and(matches))
    }

    /// Returns the start of the segment that contains `at`. Looks back 128 KiB at most.
    pub fn segment_start(&self, at: u64) -> u64 {
        let at = at.min(self.doc.len().saturating_sub(1));
        let floor = at.saturating_sub(2 * ANCHOR as u64);
        let found = self.last_line_feed_near(at, floor).map(|found| found + 1);
        let line = if floor == 0 { found.or(Some(0)) } else { found };
        let anchor = self.anchor_before(at);
        match line {
            Some(line) if anchor < line + ANCHOR as u64 => line,
            _ => self.char_start(anchor),
        }
    }

    /// Returns the last anchor at which a segment starts at or before `at`; there is none where a line ends.
    fn anchor_before(&self, at: u64) -> u64 {
        let anchor = (at + 3) / ANCHOR as u64 * ANCHOR as u64;
        let usable =
            self.char_start(anchor) <= at && self.copy(anchor..(anchor + 1).min(self.doc.len())) != b"\n";
        if usable || anchor == 0 { anchor } else { anchor - ANCHOR as u64 }
    }

    /// Returns `at`, moved back to the start of the character that contains it.
    pub fn char_start(&self, at: u64) -> u64 {
        let from = at.saturating_sub(3);
        let to = (at + 1).min(self.doc.len());
        if at == 0 || to <= from {
            return at;
        }
        from + snap(&self.copy(from..to), (at - from) as usize) as u64
    }

    /// Returns the segment that starts at `start`, which must be the start of a segment.
    pub fn segment(&self, start: u64) -> LineSegment {
        let anchor = ANCHOR as u64;
        let len = self.doc.len();
        let opens = self.opens_line(start);
        let first = if opens { (start + anchor).div_ceil(anchor) } else { start.div_ceil(anchor) + 1 };
        let limit = first * anchor;
        match self.line_feed_near(start, (limit + 1).min(len)) {
            Some(end) => LineSegment { start, end, opens, closes: true, next: end + 1 },
            None if limit >= len => LineSegment { start, end: len, opens, closes: true, next: len },
            None => {
                let end = self.char_start(limit);
                LineSegment { start, end, opens, closes: false, next: end }
            }
        }
    }

    /// Whether the line of a segment may be at most `most` bytes long. Asks only the index; false if that is silent.
    pub(crate) fn may_be_short(&self, segment: &LineSegment, most: u64) -> bool {
        let Some(index) = self.index().filter(|index| index.is_complete()) else { return false };
        let size = index.block() as u64;
        let before = index.last_with_line_feed(segment.start.div_ceil(size) as usize);
        let start = before.map_or(0, |block| (block as u64 + 1) * size).min(segment.start);
        let after = index.next_with_line_feed((segment.end / size) as usize);
        let end = after.map_or(self.doc.len(), |block| block as u64 * size).max(segment.end);
        end - start <= most
    }

    fn index(&self) -> Option<&BlockIndex> {
        match self.doc.chunks.as_slice() {
            [Chunk { body: Body::Range(Stream::Stdout, range), .. }] if range.start == 0 => self.files.index,
            _ => None,
        }
    }

    /// Returns the start of the line that contains `at`; of a long one not counted yet, the limit of the search.
    pub fn line_start(&self, at: u64) -> u64 {
        let near = self.segment_start(at);
        if self.opens_line(near) {
            return near;
        }
        let (mut end, mut patience) = (near, FAR);
        while end > 0 && patience > 0 {
            let start = match self.index() {
                Some(index) => {
                    let size = index.block() as u64;
                    let Some(block) = index.last_with_line_feed(end.div_ceil(size) as usize) else {
                        return 0;
                    };
                    end = end.min((block as u64 + 1) * size);
                    block as u64 * size
                }
                None => end.saturating_sub(BLOCK as u64),
            };
            if let Some(found) = self.last_line_feed_in(start..end) {
                return found + 1;
            }
            patience = patience.saturating_sub(end - start);
            end = start;
        }
        self.char_start(end)
    }

    pub fn opens_line(&self, at: u64) -> bool {
        at == 0 || self.copy(at - 1..at) == b"\n"
    }

    /// Whether a line ends at `at`, with a line feed or with the document.
    pub fn ends_line(&self, at: u64) -> bool {
        at >= self.doc.len() || self.copy(at..at + 1) == b"\n"
    }

    /// Returns the end of the line that contains `at`, its line feed or the document's end; or the limit of the search.
    pub fn line_end(&self, at: u64) -> u64 {
        let len = self.doc.len();
        let (mut start, mut patience) = (at, FAR);
        while start < len && patience > 0 {
            let end = match self.index() {
                Some(index) => {
                    let size = index.block() as u64;
                    let Some(block) = index.next_with_line_feed((start / size) as usize) else { return len };
                    start = start.max(block as u64 * size);
                    ((block as u64 + 1) * size).min(len)
                }
                None => (start + BLOCK as u64).min(len),
            };
            if let Some(found) = self.line_feed_near(start, end) {
                return found;
            }
            patience = patience.saturating_sub(end - start);
            start = end;
        }
        self.char_start(start.min(len))
    }
}

/// The default limit of a window, in lines, as read tools use it.
const WINDOW: u64 = 2000;

/// A window: the lines `offset .. offset + limit` of the file, 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadWindow {
    pub offset: u64,
    pub limit: u64,
}

impl ReadWindow {
    /// Returns the window that contains `line` (1-based) and lies a whole number of windows away from this one.
    pub fn holding(self, line: u64) -> Self {
        let limit = self.limit.max(1);
        if line >= self.offset {
            return Self { offset: self.offset + (line - self.offset) / limit * limit, ..self };
        }
        let back = (self.offset - line).div_ceil(limit) * limit;
        Self { offset: self.offset.saturating_sub(back).max(1), ..self }
    }

    /// Returns the window that goes on after this many lines of this one.
    pub(crate) fn after(self, lines: u64) -> Self {
        Self { offset: self.offset.saturating_add(lines), ..self }
    }

    /// Describes it in a file of this many lines, if `given` of its lines are read at once: `offset 2001 limit 2000 · next
    /// 4001`; and without what comes next.
    pub(crate) fn describe(self, given: u64, lines: Option<u64>) -> [String; 2] {
        let next = self.after(given).offset;
        let is_last = lines.is_some_and(|lines| next > lines);
        let next = if is_last { "the last window".to_owned() } else { format!("next {next}") };
        let call = format!("offset {} limit {}", self.offset, self.limit);
        [format!("{call} · {next}"), call]
    }
}

impl Default for ReadWindow {
    fn default() -> Self {
        Self { offset: 1, limit: WINDOW }
    }
}

/// The cost of drawing a frame. Tests assert it, so that a slow path fails without timing.
#[derive(Debug, Default)]
pub struct Cost {
    blocks: RefCell<BTreeSet<(bool, usize)>>,
    rows: Count<usize>,
}

impl Cost {
    /// Returns the number of distinct 64 KiB blocks of the output that were read.
    pub fn blocks(&self) -> usize {
        self.blocks.borrow().len()
    }

    pub fn rows(&self) -> usize {
        self.rows.get()
    }

    pub(crate) fn count_rows(&self, count: usize) {
        self.rows.set(self.rows.get() + count);
    }

    pub(crate) fn read(&self, stream: Stream, range: &Range<usize>) {
        if !range.is_empty() {
            let blocks = range.start / BLOCK..=(range.end - 1) / BLOCK;
            self.blocks.borrow_mut().extend(blocks.map(|block| (stream == Stream::Stderr, block)));
        }
    }
}
