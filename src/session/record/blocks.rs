//! Blocks of whole lines of a log: read in aligned pieces, and indexed.

use std::fs::File;
use std::io;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use crate::session::json::Tapes;

use super::log::fill;

/// How many bytes are read at once, from a multiple of a page.
const PIECE: usize = 256 << 10;

/// The longest line that is copied into a block, in bytes, or a piece more. Longer ones are looked at through a map.
const LONG_LINE: usize = 2 << 20;

/// The size of a page, in bytes. Some processors copy a page several times slower if either side is off by a byte.
const PAGE: usize = 4 << 10;

/// Some whole lines of a log.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Which block of the pass it is.
    pub number: u64,
    /// Where the lines begin in the log.
    pub start: u64,
    /// Room whose used part is `lines`.
    bytes: Vec<u8>,
    pub lines: Range<usize>,
    pub what: BlockContent,
    /// Whether the log ends with it.
    pub is_last: bool,
    /// The values of its lines.
    pub tapes: Tapes,
}

/// What a block holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockContent {
    /// Whole lines.
    #[default]
    Whole,
    /// The bytes after the last line feed.
    Unfinished,
    /// One line of so many bytes, which is too long to be copied.
    Long(u64),
    /// The same, without a line feed at its end.
    LongUnfinished(u64),
}

impl Block {
    /// Returns the lines.
    pub(super) fn text(&self) -> &[u8] {
        self.bytes.get(self.lines.clone()).unwrap_or_default()
    }

    /// Finds the values of all lines.
    pub(super) fn index(&mut self) {
        let Self { bytes, lines, tapes, what, .. } = self;
        tapes.clear();
        let text = bytes.get(lines.clone()).unwrap_or_default();
        let mut from = 0;
        let ends = memchr_iter(b'\n', text).chain((*what == BlockContent::Unfinished).then_some(text.len()));
        for end in ends {
            let line = &text[from..end];
            let blank = line.len() - line.trim_ascii_start().len();
            let record = line.trim_ascii();
            if !record.is_empty() {
                tapes.add(text, from + blank..from + blank + record.len());
            }
            from = end + 1;
        }
    }
}

/// Whether a block was read.
#[derive(PartialEq, Eq)]
pub(super) enum More {
    Yes,
    No,
}

/// How far a log is read: blocks end where lines end, and what follows is carried over to the next.
pub(super) struct Cursor {
    file: File,
    /// The next byte to read; a multiple of a page, but for the end.
    at: u64,
    end: u64,
    /// The start of a line whose end was not read yet. The bytes before `at`.
    carry: Vec<u8>,
    number: u64,
    is_done: bool,
}

impl Cursor {
    /// Begins with byte `from` of a file, and ends before `end`.
    pub(super) fn new(file: File, from: u64, end: u64) -> Self {
        Self { file, at: from, end, carry: Vec::new(), number: 0, is_done: false }
    }

    /// Reads the next block.
    ///
    /// # Errors
    /// The system's; or the file is shorter by now.
    pub(super) fn read(&mut self, block: &mut Block) -> io::Result<More> {
        if self.is_done {
            return Ok(More::No);
        }
        (block.number, block.start) = (self.number, self.at - self.carry.len() as u64);
        block.what = BlockContent::Whole;
        self.number += 1;
        self.fill(block)?;
        self.is_done = self.at >= self.end && self.carry.is_empty();
        block.is_last = self.is_done;
        Ok(More::Yes)
    }

    /// Reads until a line ends; keeps what comes after the last that does.
    fn fill(&mut self, block: &mut Block) -> io::Result<()> {
        let carried = std::mem::take(&mut self.carry);
        if block.bytes.len() > PIECE * 4 {
            block.bytes = Vec::new();
        }
        // The carried bytes end, and the bytes read begin, at a page's start in memory.
        let page = block.room(carried.len().next_multiple_of(PAGE));
        block.lines = page - carried.len()..page;
        block.bytes[block.lines.clone()].copy_from_slice(&carried);
        drop(carried);
        loop {
            let before = block.lines.end;
            if self.at >= self.end {
                block.what = BlockContent::Unfinished;
                return Ok(());
            }
            self.read_piece(block)?;
            let Some(last) = memrchr(b'\n', &block.bytes[before..block.lines.end]) else {
                if block.lines.len() > LONG_LINE {
                    return self.skip_line(block);
                }
                continue;
            };
            let rest = before + last + 1;
            self.carry.extend_from_slice(&block.bytes[rest..block.lines.end]);
            block.lines.end = rest;
            return Ok(());
        }
    }

    /// Reads up to the next multiple of a piece.
    fn read_piece(&mut self, block: &mut Block) -> io::Result<()> {
        let stop = (self.at + 1).next_multiple_of(PIECE as u64).min(self.end);
        let want = (stop - self.at) as usize;
        let from = block.lines.end;
        block.grow(from + want);
        let read = fill(&self.file, self.at, &mut block.bytes[from..from + want])?;
        if read < want {
            return Err(io::Error::other("the file was cut short while it was read"));
        }
        block.lines.end += want;
        self.at = stop;
        Ok(())
    }

    /// Looks for the end of a line that is too long to be copied.
    fn skip_line(&mut self, block: &mut Block) -> io::Result<()> {
        let first = block.lines.start;
        loop {
            block.lines = first..first;
            if self.at >= self.end {
                block.what = BlockContent::LongUnfinished(self.end - block.start);
                return Ok(());
            }
            self.read_piece(block)?;
            if let Some(end) = memchr(b'\n', block.text()) {
                let rest = first + end + 1;
                let after = (block.lines.end - rest) as u64;
                block.what = BlockContent::Long(self.at - after - 1 - block.start);
                self.carry.extend_from_slice(&block.bytes[rest..block.lines.end]);
                block.lines = first..first;
                return Ok(());
            }
        }
    }
}

impl Block {
    /// Makes room; returns the place `len` bytes after a page's start in memory, or further.
    fn room(&mut self, len: usize) -> usize {
        self.grow(len + PAGE + PIECE);
        let page = self.bytes.as_ptr().align_offset(PAGE);
        if page > PAGE { len } else { page + len }
    }

    fn grow(&mut self, len: usize) {
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
    }
}
