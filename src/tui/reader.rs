//! Reading a document: the one road by which panes get at bytes, and what it costs.

use std::cell::{Cell as Count, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;

use crate::preview::Stream;
use crate::text::index::{BLOCK, BlockIndex};
use crate::text::layout::{ANCHOR, snap};

use super::doc::{Body, Chunk, Doc};

/// What reading a frame has cost; asserted in tests, so that a slow path fails without a clock.
#[derive(Debug, Default)]
pub struct Cost {
    blocks: RefCell<BTreeSet<(bool, usize)>>,
    rows: Count<usize>,
}

impl Cost {
    /// Distinct blocks of 64 KiB of the output that were read.
    pub fn blocks(&self) -> usize {
        self.blocks.borrow().len()
    }

    /// Rows laid out.
    pub fn rows(&self) -> usize {
        self.rows.get()
    }

    pub(super) fn count_row(&self) {
        self.rows.set(self.rows.get() + 1);
    }

    fn read(&self, stream: Stream, range: &Range<usize>) {
        if !range.is_empty() {
            let blocks = range.start / BLOCK..=(range.end - 1) / BLOCK;
            self.blocks.borrow_mut().extend(blocks.map(|block| (stream == Stream::Stderr, block)));
        }
    }
}

/// The outputs behind a document, as they are mapped at this moment.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// Standard output, or the only output.
    pub out: &'a [u8],
    /// Standard error, where it is apart.
    pub err: &'a [u8],
    /// What is known of the line feeds in `out`.
    pub index: Option<&'a BlockIndex>,
}

impl<'a> Files<'a> {
    fn of(&self, stream: Stream) -> &'a [u8] {
        match stream {
            Stream::Stdout => self.out,
            Stream::Stderr => self.err,
        }
    }
}

/// A line, or the stretch of a long line between two anchors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where its first byte lies.
    pub start: u64,
    /// Past its last byte, without a line feed.
    pub end: u64,
    /// Whether a line starts here.
    pub opens: bool,
    /// Whether the line ends here, by a line feed or the document's end.
    pub closes: bool,
    /// Where the next segment starts; the document's length after the last.
    pub next: u64,
}

/// A document with the bytes behind it: the one road by which panes read.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The document.
    pub doc: &'a Doc,
    /// Its outputs.
    pub files: Files<'a>,
    /// What is read is counted here.
    pub cost: &'a Cost,
}

impl Reader<'_> {
    /// A copy of some bytes; fewer if the file has been cut.
    pub fn copy(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((range.end - range.start) as usize);
        self.each(range, |_, piece| {
            bytes.extend_from_slice(piece);
            true
        });
        bytes
    }

    /// Hands out the slices that make up `range`, in order, until `take` says no.
    fn each(&self, range: Range<u64>, mut take: impl FnMut(u64, &[u8]) -> bool) {
        let first = self.doc.chunk_at(range.start);
        for (n, chunk) in self.doc.chunks.iter().enumerate().skip(first) {
            if chunk.start >= range.end {
                break;
            }
            let from = range.start.max(chunk.start);
            let to = range.end.min(self.doc.end_of(n));
            if !take(from, self.slice(chunk, from, to)) {
                break;
            }
        }
    }

    fn slice<'b>(&'b self, chunk: &'b Chunk, from: u64, to: u64) -> &'b [u8] {
        let (from, to) = ((from - chunk.start) as usize, (to - chunk.start) as usize);
        match &chunk.body {
            Body::Text(text) => &text[from..to],
            Body::Range(stream, range) => {
                let file = self.files.of(*stream);
                let read = (range.start + from).min(file.len())..(range.start + to).min(file.len());
                self.cost.read(*stream, &read);
                &file[read]
            }
        }
    }

    /// The first line feed in `range`.
    fn line_feed_in(&self, range: Range<u64>) -> Option<u64> {
        let mut found = None;
        self.each(range, |at, piece| {
            found = memchr::memchr(b'\n', piece).map(|n| at + n as u64);
            found.is_none()
        });
        found
    }

    /// The last line feed in `range`.
    fn last_line_feed_in(&self, range: Range<u64>) -> Option<u64> {
        let mut found = None;
        self.each(range, |at, piece| {
            found = memchr::memrchr(b'\n', piece).map(|n| at + n as u64).or(found);
            true
        });
        found
    }

    /// Looking near first keeps a frame of short lines within the blocks that it shows.
    fn last_line_feed_near(&self, to: u64, floor: u64) -> Option<u64> {
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

    fn line_feed_near(&self, from: u64, limit: u64) -> Option<u64> {
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

    /// The start of the segment in which `at` lies. Looks back 128 KiB at most.
    pub fn segment_start(&self, at: u64) -> u64 {
        let at = at.min(self.doc.len().saturating_sub(1));
        let floor = at.saturating_sub(2 * ANCHOR as u64);
        let found = self.last_line_feed_near(at, floor).map(|found| found + 1);
        let line = if floor == 0 { found.or(Some(0)) } else { found };
        let anchor = self.anchor_before(at);
        match line {
            Some(line) if anchor < line + ANCHOR as u64 => line,
            _ => self.snapped(anchor),
        }
    }

    /// The last anchor whose segment, cut between characters, starts at or before `at`. A line that
    /// ends just at an anchor needs no segment there.
    fn anchor_before(&self, at: u64) -> u64 {
        let anchor = (at + 3) / ANCHOR as u64 * ANCHOR as u64;
        let usable =
            self.snapped(anchor) <= at && self.copy(anchor..(anchor + 1).min(self.doc.len())) != b"\n";
        if usable || anchor == 0 { anchor } else { anchor - ANCHOR as u64 }
    }

    /// `at`, moved back to the start of the character in which it falls.
    pub fn snapped(&self, at: u64) -> u64 {
        let from = at.saturating_sub(3);
        let to = (at + 1).min(self.doc.len());
        if at == 0 || to <= from {
            return at;
        }
        from + snap(&self.copy(from..to), (at - from) as usize) as u64
    }

    /// The segment that starts at `start`, which must be the start of one.
    pub fn segment(&self, start: u64) -> Segment {
        let anchor = ANCHOR as u64;
        let len = self.doc.len();
        let opens = start == 0 || self.copy(start - 1..start) == b"\n";
        let first = if opens { (start + anchor).div_ceil(anchor) } else { start.div_ceil(anchor) + 1 };
        let limit = first * anchor;
        match self.line_feed_near(start, (limit + 1).min(len)) {
            Some(end) => Segment { start, end, opens, closes: true, next: end + 1 },
            None if limit >= len => Segment { start, end: len, opens, closes: true, next: len },
            None => {
                let end = self.snapped(limit);
                Segment { start, end, opens, closes: false, next: end }
            }
        }
    }

    /// Where the line that holds `at` starts. In a long line of the output this can read far back.
    pub fn line_start(&self, at: u64) -> u64 {
        let near = self.segment_start(at);
        if near == 0 || self.copy(near - 1..near) == b"\n" {
            return near;
        }
        match (&self.files.index, self.doc.chunks.as_slice()) {
            (Some(index), [Chunk { body: Body::Range(Stream::Stdout, range), .. }]) if range.start == 0 => {
                index.last_line_feed(self.files.out, near as usize).map_or(0, |found| found as u64 + 1)
            }
            _ => self.last_line_feed_near(near, 0).map_or(0, |found| found + 1),
        }
    }

    /// Where the line that holds `at` ends: at its line feed, or the document's end.
    pub fn line_end(&self, at: u64) -> u64 {
        match (&self.files.index, self.doc.chunks.as_slice()) {
            (Some(index), [Chunk { body: Body::Range(Stream::Stdout, range), .. }]) if range.start == 0 => {
                let near = (at + ANCHOR as u64).min(self.doc.len());
                self.line_feed_near(at, near).unwrap_or_else(|| {
                    let found = index.next_line_feed(self.files.out, near as usize);
                    found.map_or(self.doc.len(), |found| found as u64).min(self.doc.len())
                })
            }
            _ => self.line_feed_near(at, self.doc.len()).unwrap_or(self.doc.len()),
        }
    }
}
