//! Blocks of whole lines of a log: read in aligned pieces, and indexed.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use crate::session::json::Tapes;
use crate::source::PAGE;

use super::bytes::after_hole;
use super::long::{Gap, LongCopy, MAX_END};
use super::{MAX_RECORD, fill};

/// How many bytes are read at once, from a multiple of a page.
const PIECE: usize = 256 << 10;

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
    pub gaps: Vec<Gap>,
    pub tapes: Tapes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockContent {
    #[default]
    Whole,
    /// The bytes after the last line feed.
    Unfinished,
    /// A copy of one line of this many bytes, which is too long to be copied as it is, with `gaps`.
    Shortened(u64),
    /// The beginning of such a line, of which no copy is short enough.
    Long(u64),
    /// The same, without a line feed at its end.
    LongUnfinished(u64),
}

impl Block {
    pub(super) fn text(&self) -> &[u8] {
        self.bytes.get(self.lines.clone()).unwrap_or_default()
    }

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

    pub(super) fn index(&mut self) {
        let Self { bytes, lines, tapes, what, .. } = self;
        tapes.clear();
        if !matches!(what, BlockContent::Whole | BlockContent::Unfinished) {
            return;
        }
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

/// How far a log is read: blocks end where lines end, and what follows is carried over to the next.
pub(super) struct Cursor {
    log: Arc<File>,
    /// The next byte to read; a multiple of a page, but for the end.
    at: u64,
    end: u64,
    /// The start of a line whose end was not read yet. The bytes before `at`.
    carry: Vec<u8>,
    number: u64,
    is_done: bool,
}

impl Cursor {
    /// Begins with byte `from` of a log, and ends before `end`.
    pub(super) fn new(log: Arc<File>, from: u64, end: u64) -> Self {
        Self { log, at: from, end, carry: Vec::new(), number: 0, is_done: false }
    }

    /// Reads the next block; false if there is none. Fails if the file is shorter by now.
    pub(super) fn read(&mut self, block: &mut Block) -> io::Result<bool> {
        if self.is_done {
            return Ok(false);
        }
        (block.number, block.start) = (self.number, self.at - self.carry.len() as u64);
        block.what = BlockContent::Whole;
        self.number += 1;
        self.fill(block)?;
        self.is_done = self.at >= self.end && self.carry.is_empty();
        Ok(true)
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
        // After a line that is too long to be copied, they may hold whole lines.
        let mut unsearched = block.lines.start;
        loop {
            if let Some(last) = memrchr(b'\n', &block.bytes[unsearched..block.lines.end]) {
                let rest = unsearched + last + 1;
                self.carry.extend_from_slice(&block.bytes[rest..block.lines.end]);
                block.lines.end = rest;
                return Ok(());
            }
            if block.lines.len() > MAX_RECORD {
                return self.skip_line(block);
            }
            if self.at >= self.end {
                block.what = BlockContent::Unfinished;
                return Ok(());
            }
            unsearched = block.lines.end;
            self.read_piece(block)?;
        }
    }

    /// Reads up to the next multiple of a piece.
    fn read_piece(&mut self, block: &mut Block) -> io::Result<()> {
        let stop = (self.at + 1).next_multiple_of(PIECE as u64).min(self.end);
        let want = (stop - self.at) as usize;
        let from = block.lines.end;
        block.grow(from + want);
        let read = fill(&self.log, self.at, &mut block.bytes[from..from + want])?;
        block.lines.end += read;
        self.at += read as u64;
        if read < want {
            return Err(io::Error::other("the file was cut short while it was read"));
        }
        Ok(())
    }

    /// Goes on to the end of a line that is too long to be copied as it is.
    fn skip_line(&mut self, block: &mut Block) -> io::Result<()> {
        let mut copy = LongCopy::new(&block.bytes, block.lines.start);
        let beginning = copy.bytes.clone();
        copy.take(&mut block.bytes, beginning.end..block.lines.end);
        block.what = loop {
            let next = copy.bytes.end + MAX_END;
            block.lines = next..next;
            let data = after_hole(&self.log, self.at, self.end);
            copy.is_whole &= data == self.at;
            self.at = if data < self.end { data - data % PAGE as u64 } else { data };
            if self.at >= self.end {
                break BlockContent::LongUnfinished(self.end - block.start);
            }
            self.read_piece(block)?;
            let Some(line) = memchr(b'\n', block.text()) else {
                copy.take(&mut block.bytes, block.lines.clone());
                continue;
            };
            let rest = next + line + 1;
            self.carry.extend_from_slice(&block.bytes[rest..block.lines.end]);
            copy.take(&mut block.bytes, next..rest - 1);
            let len = self.at - self.carry.len() as u64 - 1 - block.start;
            break if copy.is_whole { BlockContent::Shortened(len) } else { BlockContent::Long(len) };
        };
        let is_copied = matches!(block.what, BlockContent::Shortened(_));
        (block.lines, block.gaps) = (if is_copied { copy.bytes } else { beginning }, copy.gaps);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::READ;
    use super::*;

    /// Reads all blocks of a file; returns what they hold, and how many bytes were read.
    fn read(file: &File) -> (Vec<(u64, usize, BlockContent)>, usize) {
        let log = Arc::new(file.try_clone().unwrap());
        let mut cursor = Cursor::new(log, 0, file.metadata().unwrap().len());
        let (mut block, mut blocks, before) = (Block::default(), Vec::new(), READ.get());
        while cursor.read(&mut block).unwrap() {
            assert!(block.bytes.len() <= MAX_RECORD + 4 * PIECE);
            blocks.push((block.start, block.lines.len(), block.what));
        }
        (blocks, READ.get() - before)
    }

    #[test]
    fn holes_are_not_read() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"{}\n").unwrap();
        file.set_len(1 << 40).unwrap();
        let (blocks, bytes) = read(&file);
        let long = (3, MAX_RECORD, BlockContent::LongUnfinished((1 << 40) - 3));
        assert_eq!(blocks, [(0, 3, BlockContent::Whole), long]);
        assert!(bytes <= MAX_RECORD + 4 * PIECE, "{bytes} bytes");
        std::os::unix::fs::FileExt::write_all_at(&file, b"x\n{}", 1 << 39).unwrap();
        let (blocks, bytes) = read(&file);
        let long = (3, MAX_RECORD, BlockContent::Long((1 << 39) + 1 - 3));
        let last = ((1 << 39) + 2, MAX_RECORD, BlockContent::LongUnfinished((1 << 39) - 2));
        assert_eq!(blocks, [(0, 3, BlockContent::Whole), long, last]);
        assert!(bytes <= 2 * MAX_RECORD + 8 * PIECE, "{bytes} bytes");
    }
}
