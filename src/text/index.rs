//! Newline counts by block: converts line numbers to byte offsets and back without storing an offset for every line.

use std::ops::Range;

use memchr::memchr_iter;

/// Block size in bytes for files of up to 2^20 blocks (64 GiB).
pub const BLOCK: usize = 64 * 1024;

/// Beyond this many blocks the block size doubles, so that the index of any file fits in 4 MiB.
const MAX_BLOCKS: u64 = 1 << 20;

/// Number of blocks that share one 64-bit running total.
const GROUP: usize = 256;

const UNCOUNTED: u32 = u32::MAX;

/// Newline counts of a file by block. Blocks may arrive in any order and from several threads; exact answers are
/// available as far as the blocks are counted without a gap from the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockIndex {
    len: u64,
    /// Block size in bytes: `BLOCK` times a power of two.
    block: usize,
    /// Line feeds in each block, or `UNCOUNTED`; shorter before a large file is read, so that its index takes no memory.
    counts: Vec<u32>,
    /// Line feeds before each group of `GROUP` blocks, up to `frontier`.
    groups: Vec<u64>,
    /// Number of blocks counted without a gap from the start.
    frontier: usize,
    /// Line feeds in those blocks.
    counted: u64,
}

/// The counts of consecutive whole blocks, from one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockCounts {
    /// Index of the first block, 0-based.
    pub first: usize,
    /// Line feeds in each block from `first`.
    pub counts: Vec<u32>,
}

pub fn block_size(len: u64) -> usize {
    let mut block = BLOCK;
    while len.div_ceil(block as u64) > MAX_BLOCKS {
        block *= 2;
    }
    block
}

impl BlockIndex {
    pub fn new(len: u64) -> Self {
        Self { len, block: block_size(len), counts: Vec::new(), groups: vec![0], frontier: 0, counted: 0 }
    }

    pub fn block(&self) -> usize {
        self.block
    }

    /// Returns the number of blocks; the last may be short.
    pub fn blocks(&self) -> usize {
        self.len.div_ceil(self.block as u64) as usize
    }

    pub fn range(&self, blocks: Range<usize>) -> Range<usize> {
        blocks.start * self.block..(blocks.end as u64 * self.block as u64).min(self.len) as usize
    }

    /// Counts the line feeds of some blocks of `bytes`; pure, to be called by workers.
    pub fn count(bytes: &[u8], block: usize, blocks: Range<usize>) -> BlockCounts {
        let start = (blocks.start * block).min(bytes.len());
        let end = (blocks.end * block).min(bytes.len());
        let counts = bytes[start..end].chunks(block).map(|b| bytecount::count(b, b'\n') as u32).collect();
        BlockCounts { first: blocks.start, counts }
    }

    /// Adds the counts of some blocks. Counts of blocks that do not exist are ignored.
    pub fn insert(&mut self, new: &BlockCounts) {
        let end = self.blocks().min(new.first + new.counts.len());
        if end > self.counts.len() {
            self.counts.resize(end, UNCOUNTED);
        }
        for (slot, count) in self.counts.iter_mut().skip(new.first).zip(&new.counts) {
            *slot = *count;
        }
        self.advance();
    }

    fn advance(&mut self) {
        while self.frontier < self.counts.len() && self.counts[self.frontier] != UNCOUNTED {
            self.counted += u64::from(self.counts[self.frontier]);
            self.frontier += 1;
            if self.frontier.is_multiple_of(GROUP) {
                self.groups.push(self.counted);
            }
        }
    }

    /// Extends the index to `len` bytes. The block that was last must be counted again, and so must those after it.
    pub fn grow(&mut self, len: u64) {
        if len <= self.len {
            return;
        }
        let last_whole = (self.len / self.block as u64) as usize;
        self.len = len;
        self.counts.truncate(last_whole);
        while self.blocks() as u64 > MAX_BLOCKS {
            self.block *= 2;
            let merged = self.counts.chunks(2).map(|pair| match pair {
                [a, b] if *a != UNCOUNTED && *b != UNCOUNTED => a + b,
                _ => UNCOUNTED,
            });
            self.counts = merged.collect();
        }
        self.recount();
    }

    fn recount(&mut self) {
        (self.frontier, self.counted) = (0, 0);
        self.groups.truncate(1);
        self.advance();
    }

    /// Returns the first block not counted, where a scan continues; `None` if all are counted.
    pub fn uncounted(&self) -> Option<usize> {
        (!self.is_complete()).then_some(self.frontier)
    }

    pub fn is_complete(&self) -> bool {
        self.frontier == self.blocks()
    }

    pub fn counted_bytes(&self) -> u64 {
        (self.frontier as u64 * self.block as u64).min(self.len)
    }

    pub fn line_feeds(&self) -> Option<u64> {
        self.is_complete().then_some(self.counted)
    }

    /// Returns the number of lines; unlike in `wc -l`, a last line without a line feed counts. 0 for no bytes.
    pub fn lines(&self, bytes: &[u8]) -> Option<u64> {
        let open = bytes[..self.within(bytes)].last().is_some_and(|b| *b != b'\n');
        self.line_feeds().map(|n| n + u64::from(open))
    }

    /// Returns the 0-based line that contains a byte; `None` if not all blocks before it are counted. Reads at most one
    /// block. A line feed belongs to the line that it ends.
    pub fn line_at(&self, bytes: &[u8], offset: u64) -> Option<u64> {
        let offset = offset.min(self.within(bytes) as u64) as usize;
        let block = offset / self.block;
        let before = self.before(block)?;
        Some(before + bytecount::count(&bytes[block * self.block..offset], b'\n') as u64)
    }

    /// Estimates the 0-based line that contains a byte, from what is counted so far.
    pub fn about_line_at(&self, offset: u64) -> u64 {
        let known = self.counted_bytes();
        if known == 0 {
            return 0;
        }
        (self.counted as f64 / known as f64 * offset as f64) as u64
    }

    /// Returns the offset at which a line starts (`line` is 0-based); `None` if it does not exist or is not known yet.
    /// A final line feed does not start another line. Reads at most one block.
    pub fn offset_of(&self, bytes: &[u8], line: u64) -> Option<u64> {
        if line == 0 {
            return Some(0);
        }
        if line > self.counted {
            return None;
        }
        let group = self.groups.partition_point(|before| *before < line) - 1;
        let mut before = self.groups[group];
        let blocks = group * GROUP..self.frontier;
        for block in blocks {
            let count = u64::from(self.counts[block]);
            if before + count >= line {
                let range = self.range(block..block + 1);
                let nth = (line - before) as usize - 1;
                let found = memchr_iter(b'\n', bytes.get(range.clone())?).nth(nth)?;
                let start = (range.start + found + 1) as u64;
                return (start < self.len).then_some(start);
            }
            before += count;
        }
        None
    }

    fn before(&self, block: usize) -> Option<u64> {
        if block > self.frontier {
            return None;
        }
        let group = block / GROUP;
        let rest = &self.counts[group * GROUP..block];
        Some(self.groups[group] + rest.iter().map(|c| u64::from(*c)).sum::<u64>())
    }

    fn within(&self, bytes: &[u8]) -> usize {
        bytes.len().min(self.len as usize)
    }

    /// Returns the first block from index `from` that may contain a line feed: it does, or is not counted yet.
    pub fn next_with_line_feed(&self, from: usize) -> Option<usize> {
        let rest = self.counts.get(from..).unwrap_or_default();
        let skipped = rest.iter().position(|count| *count != 0).unwrap_or(rest.len());
        Some(from + skipped).filter(|block| *block < self.blocks())
    }

    /// Returns the last block before index `to` that may contain a line feed.
    pub fn last_with_line_feed(&self, to: usize) -> Option<usize> {
        let to = to.min(self.blocks());
        if to > self.counts.len() {
            return to.checked_sub(1);
        }
        self.counts[..to].iter().rposition(|count| *count != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn indexed(bytes: &[u8], block: usize) -> BlockIndex {
        let mut index = BlockIndex::new(bytes.len() as u64);
        index.block = block;
        let all = BlockIndex::count(bytes, block, 0..index.blocks());
        index.insert(&all);
        index
    }

    #[test]
    fn an_empty_file_has_no_lines() {
        let index = BlockIndex::new(0);
        assert!(index.is_complete());
        assert_eq!(index.lines(b""), Some(0));
        assert_eq!(index.offset_of(b"", 0), Some(0));
        assert_eq!(index.offset_of(b"", 1), None);
    }

    #[test]
    fn a_final_line_feed_starts_no_line() {
        let index = indexed(b"a\nb\n", 2);
        assert_eq!(index.lines(b"a\nb\n"), Some(2));
        assert_eq!(index.offset_of(b"a\nb\n", 1), Some(2));
        assert_eq!(index.offset_of(b"a\nb\n", 2), None);
    }

    #[test]
    fn blocks_may_come_in_any_order() {
        let bytes = b"a\nb\nc\nd\ne\n";
        let whole = indexed(bytes, 3);
        let mut index = whole.clone();
        index.counts.fill(UNCOUNTED);
        index.recount();
        for block in [3, 1, 0, 2] {
            assert!(!index.is_complete());
            index.insert(&BlockIndex::count(bytes, 3, block..block + 1));
        }
        assert_eq!(index, whole);
    }

    #[test]
    fn reports_no_lines_past_an_uncounted_block() {
        let bytes = b"a\nb\nc\nd\ne\n";
        let mut index = indexed(bytes, 2);
        index.counts[2] = UNCOUNTED;
        index.recount();
        assert_eq!(index.line_at(bytes, 4), Some(2));
        assert_eq!(index.line_at(bytes, 6), None);
        assert_eq!(index.offset_of(bytes, 4), None);
        assert_eq!(index.line_feeds(), None);
        assert_eq!(index.uncounted(), Some(2));
    }

    #[test]
    fn an_index_takes_no_memory_before_a_block_is_counted() {
        let mut index = BlockIndex::new(8_000_000_000);
        assert_eq!((index.counts.capacity(), index.uncounted()), (0, Some(0)));
        assert_eq!((index.next_with_line_feed(7), index.last_with_line_feed(9)), (Some(7), Some(8)));
        index.insert(&BlockCounts { first: 2, counts: vec![0, 0] });
        assert_eq!(
            (index.counts.len(), index.next_with_line_feed(2), index.last_with_line_feed(4)),
            (4, Some(4), Some(1))
        );
    }

    #[test]
    fn the_block_doubles_past_a_million_blocks() {
        let index = BlockIndex::new(1 << 40);
        assert_eq!(index.block(), 1 << 20);
        assert!(index.blocks() <= 1 << 20);
    }

    proptest! {
        #[test]
        fn lines_and_offsets_agree(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'x')], 0..700), block in 1usize..9) {
            let index = indexed(&bytes, block);
            let mut starts = vec![0u64];
            starts.extend(memchr_iter(b'\n', &bytes).map(|at| at as u64 + 1).filter(|at| *at < bytes.len() as u64));
            for (line, start) in starts.iter().enumerate() {
                prop_assert_eq!(index.offset_of(&bytes, line as u64), Some(*start));
                if (*start as usize) < bytes.len() {
                    prop_assert_eq!(index.line_at(&bytes, *start), Some(line as u64));
                }
            }
            prop_assert_eq!(index.offset_of(&bytes, starts.len() as u64), None);
        }

        #[test]
        fn growing_equals_indexing_anew(a in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'x')], 0..50), b in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'x')], 0..50)) {
            let mut index = indexed(&a, 4);
            let all = [a.clone(), b].concat();
            index.grow(all.len() as u64);
            if let Some(from) = index.uncounted() {
                index.insert(&BlockIndex::count(&all, 4, from..index.blocks()));
            }
            prop_assert_eq!(index, indexed(&all, 4));
        }
    }
}
