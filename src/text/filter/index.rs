//! Counts of the lines that meet conditions, by block, however long the lines are: the next is found without their places.

use std::ops::{ControlFlow, Range};

use crate::text::filter::{Condition, KeptRanges, LineScope, count_lines, join, meeting};
use crate::text::index::block_size;
use crate::text::search::{CHUNK, NEAR, certain_in_line, line_end};
use crate::text::supply::{OwnBytes, Supply};

/// Number of blocks that share one total, so that blocks without a line are skipped together.
const GROUP: usize = 256;

/// What is known of the last line that starts in a block; the line may end far beyond the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLine {
    /// No line starts in the block.
    Absent,
    /// It does not meet the conditions.
    Unmet,
    /// It meets the conditions, and the model got it whole.
    Got,
    /// It meets the conditions, and the model did not get it whole.
    Lost,
}

impl LastLine {
    pub fn is_shown(self, scope: LineScope) -> bool {
        self == LastLine::Lost || self == LastLine::Got && scope == LineScope::All
    }
}

/// The lines that start in a block and meet the conditions, including the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLines {
    /// Those that the model got whole.
    pub got: u32,
    /// Those that it did not get whole.
    pub lost: u32,
    pub last: LastLine,
}

impl BlockLines {
    /// A block in which no line starts.
    pub const NONE: Self = Self { got: 0, lost: 0, last: LastLine::Absent };

    pub(super) fn with_last(self, last: LastLine) -> Self {
        let (got, lost) = (u32::from(last == LastLine::Got), u32::from(last == LastLine::Lost));
        Self { got: self.got + got, lost: self.lost + lost, last }
    }

    fn shown(&self, scope: LineScope) -> u32 {
        self.lost + if scope == LineScope::All { self.got } else { 0 }
    }
}

/// A number of lines that meet the conditions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCount {
    pub got: u64,
    pub lost: u64,
}

impl LineCount {
    pub fn shown(&self, scope: LineScope) -> u64 {
        self.lost + if scope == LineScope::All { self.got } else { 0 }
    }
}

/// Counts by block. Blocks may arrive in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterIndex {
    len: usize,
    block: usize,
    blocks: Vec<Option<BlockLines>>,
    groups: Vec<LineCount>,
    /// The blocks to be counted, or counted again: sorted and disjoint.
    pending: Vec<Range<usize>>,
}

impl FilterIndex {
    pub fn new(len: usize) -> Self {
        Self::with_block(len, block_size(len as u64))
    }

    pub(crate) fn with_block(len: usize, block: usize) -> Self {
        let blocks = len.div_ceil(block);
        let groups = vec![LineCount::default(); blocks.div_ceil(GROUP)];
        let mut index = Self { len, block, blocks: vec![None; blocks], groups, pending: Vec::new() };
        index.want(0..blocks);
        index
    }

    pub fn block(&self) -> usize {
        self.block
    }

    pub fn range(&self, blocks: Range<usize>) -> Range<usize> {
        blocks.start.saturating_mul(self.block).min(self.len)
            ..blocks.end.saturating_mul(self.block).min(self.len)
    }

    pub fn pending(&self) -> &[Range<usize>] {
        &self.pending
    }

    pub fn pending_bytes(&self) -> usize {
        self.pending.iter().map(|blocks| self.range(blocks.clone()).len()).sum()
    }

    /// Returns how much is counted, in percent of the bytes; `None` if all is.
    pub fn percent(&self) -> Option<u64> {
        let left = self.pending_bytes() as u64;
        (!self.pending.is_empty()).then(|| 100 - (left * 100).div_ceil(self.len.max(1) as u64))
    }

    /// Adds blocks to those to be counted.
    fn want(&mut self, blocks: Range<usize>) {
        self.pending.push(blocks.start.min(self.blocks.len())..blocks.end.min(self.blocks.len()));
        self.pending.sort_unstable_by_key(|blocks| blocks.start);
        let mut joined = Vec::new();
        self.pending.drain(..).for_each(|blocks| join(&mut joined, blocks));
        self.pending = joined;
    }

    pub fn insert(&mut self, first: usize, lines: &[BlockLines]) {
        for (block, new) in (first..self.blocks.len()).zip(lines) {
            let old = self.blocks[block].replace(*new).unwrap_or(BlockLines::NONE);
            let group = &mut self.groups[block / GROUP];
            group.got = group.got + u64::from(new.got) - u64::from(old.got);
            group.lost = group.lost + u64::from(new.lost) - u64::from(old.lost);
        }
        let done = first..first + lines.len();
        let rest = |blocks: &Range<usize>| {
            [blocks.start..blocks.end.min(done.start), blocks.start.max(done.end)..blocks.end]
        };
        self.pending = self.pending.iter().flat_map(rest).filter(|blocks| !blocks.is_empty()).collect();
    }

    /// Extends the index to `len` bytes. The last line so far may go on, so its block is counted again.
    pub fn grow(&mut self, len: usize) {
        if block_size(len as u64) != block_size(self.len as u64) {
            return *self = Self::new(len);
        }
        let last = self.before_with_start(self.len / self.block + 1).unwrap_or(0);
        self.len = len;
        self.blocks.resize(len.div_ceil(self.block), None);
        self.groups.resize(self.blocks.len().div_ceil(GROUP), LineCount::default());
        self.want(last..self.blocks.len());
    }

    /// Recounts the lines with bytes in these ranges, of which the model may now have got more or less.
    pub fn touch(&mut self, ranges: &[Range<usize>]) {
        for range in ranges {
            let first = self.before_with_start(range.start / self.block).unwrap_or(0);
            self.want(first..range.end.div_ceil(self.block));
        }
    }

    pub fn get(&self, block: usize) -> Option<BlockLines> {
        self.blocks.get(block).copied().flatten()
    }

    pub fn total(&self) -> LineCount {
        let add = |a: LineCount, b: &LineCount| LineCount { got: a.got + b.got, lost: a.lost + b.lost };
        self.groups.iter().fold(LineCount::default(), add)
    }

    fn is_shown(&self, block: usize, scope: LineScope) -> bool {
        self.get(block).is_some_and(|lines| lines.shown(scope) > 0)
    }

    /// Returns the first block from `from` on in which a line is shown.
    pub fn next(&self, from: usize, scope: LineScope) -> Option<usize> {
        let first = from / GROUP;
        let groups = first..self.groups.len();
        groups.filter(|group| self.groups[*group].shown(scope) > 0).find_map(|group| {
            let blocks = from.max(group * GROUP)..((group + 1) * GROUP).min(self.blocks.len());
            blocks.into_iter().find(|block| self.is_shown(*block, scope))
        })
    }

    /// Returns the last block before `to` in which a line is shown.
    pub fn previous(&self, to: usize, scope: LineScope) -> Option<usize> {
        let to = to.min(self.blocks.len());
        let groups = (0..to.div_ceil(GROUP)).rev();
        groups.filter(|group| self.groups[*group].shown(scope) > 0).find_map(|group| {
            let blocks = group * GROUP..((group + 1) * GROUP).min(to);
            blocks.rev().find(|block| self.is_shown(*block, scope))
        })
    }

    /// Whether any line that starts in a range of bytes is shown, as far as whole blocks show.
    pub fn any_in(&self, bytes: &Range<usize>, scope: LineScope) -> bool {
        self.next(bytes.start / self.block, scope).is_some_and(|block| block * self.block < bytes.end)
    }

    /// Returns the last block before `to` that is counted and in which a line starts.
    fn before_with_start(&self, to: usize) -> Option<usize> {
        let has_start = |lines: &Option<BlockLines>| lines.is_some_and(|l| l.last != LastLine::Absent);
        self.blocks[..to.min(self.blocks.len())].iter().rposition(has_start)
    }

    /// Returns the last block before `to` in which a line starts, or that is not counted.
    pub fn previous_start(&self, to: usize) -> Option<usize> {
        let may_start = |lines: &Option<BlockLines>| lines.is_none_or(|l| l.last != LastLine::Absent);
        self.blocks[..to.min(self.blocks.len())].iter().rposition(may_start)
    }

    /// Returns the first block from `from` on in which a line starts, or that is not counted.
    pub fn next_start(&self, from: usize) -> Option<usize> {
        let may_start = |lines: &Option<BlockLines>| lines.is_none_or(|l| l.last != LastLine::Absent);
        self.blocks.get(from..)?.iter().position(may_start).map(|skipped| from + skipped)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct LineScan<'a> {
    pub conditions: &'a [Condition],
    pub got: KeptRanges<'a>,
    /// Length of a block in bytes.
    pub block: usize,
}

impl LineScan<'_> {
    /// Counts the lines that start in each of some blocks; `None` once `is_wanted`, asked before each read, is false.
    pub fn count(
        &self,
        supply: &mut impl Supply,
        blocks: Range<usize>,
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<BlockLines>> {
        let at_once = (CHUNK / self.block).max(1);
        let mut counts = Vec::with_capacity(blocks.len());
        for first in blocks.clone().step_by(at_once) {
            if !is_wanted() {
                return None;
            }
            let piece = first..(first + at_once).min(blocks.end);
            if let Some(start) = self.count_piece(supply, piece, &mut counts) {
                let last = self.long_line(supply, start, is_wanted)?;
                if let Some(lines) = counts.iter_mut().rev().find(|lines| lines.last != LastLine::Absent) {
                    *lines = lines.with_last(last);
                }
            }
        }
        Some(counts)
    }

    /// Counts the lines that start in blocks read together. Returns the start of the last line if it ends too far away.
    fn count_piece(
        &self,
        supply: &mut impl Supply,
        blocks: Range<usize>,
        counts: &mut Vec<BlockLines>,
    ) -> Option<usize> {
        let len = supply.len();
        let base = (blocks.start * self.block).saturating_sub(1);
        let window = base..(blocks.end * self.block + NEAR).min(len);
        let reaches_end = window.end == len;
        let bytes = supply.read(window);
        let mut long = None;
        for block in blocks {
            let within = block * self.block - base..((block + 1) * self.block).min(len) - base;
            let Some((first, last)) = starts(&bytes, &within) else {
                counts.push(BlockLines::NONE);
                continue;
            };
            let lines = self.tally(bytes, base, first..last);
            let feed = memchr::memchr(b'\n', &bytes[last..]).map(|feed| last + feed + 1);
            let end = feed.or(reaches_end.then_some(bytes.len()));
            long = if end.is_none() { Some(base + last) } else { None };
            counts.push(match end {
                Some(end) => lines.with_last(self.single(bytes, base, last..end)),
                None => BlockLines { last: LastLine::Unmet, ..lines },
            });
        }
        long
    }

    fn tally(&self, bytes: OwnBytes, base: usize, lines: Range<usize>) -> BlockLines {
        let met = meeting(self.conditions, bytes, lines);
        let all = count_lines(&bytes, &met);
        let lost = count_lines(&bytes, &self.got.lost(&bytes, base, &met));
        BlockLines { got: all - lost, lost, last: LastLine::Unmet }
    }

    fn single(&self, bytes: OwnBytes, base: usize, line: Range<usize>) -> LastLine {
        match self.tally(bytes, base, line) {
            BlockLines { got: 0, lost: 0, .. } => LastLine::Unmet,
            BlockLines { lost: 0, .. } => LastLine::Got,
            _ => LastLine::Lost,
        }
    }

    /// Judges a line that is read piece by piece.
    fn long_line(
        &self,
        supply: &mut impl Supply,
        start: usize,
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> Option<LastLine> {
        let (end, is_ended) = line_end(supply, start, is_wanted)?;
        for condition in self.conditions {
            match certain_in_line(condition.pattern(), supply, start..end, is_wanted) {
                ControlFlow::Break(()) => return None,
                ControlFlow::Continue(found) if condition.admits(found.is_some()) => {}
                ControlFlow::Continue(_) => return Some(LastLine::Unmet),
            }
        }
        Some(if self.got.has_line(start..end, is_ended) { LastLine::Got } else { LastLine::Lost })
    }

    /// Returns the lines shown among those that start in a block, as ranges of the file that end with the block at the
    /// latest. `bytes` are the block and, unless it is the first, the byte before it, at `base` in the file; `last` is
    /// what is known of its last line.
    pub fn shown(&self, bytes: OwnBytes, base: usize, last: LastLine, scope: LineScope) -> Vec<Range<usize>> {
        let within = usize::from(base > 0).min(bytes.len())..bytes.len();
        let Some((first, last_start)) = starts(&bytes, &within) else { return Vec::new() };
        let mut lines = meeting(self.conditions, bytes, first..last_start);
        if scope == LineScope::Lost {
            lines = self.got.lost(&bytes, base, &lines);
        }
        if last.is_shown(scope) {
            join(&mut lines, last_start..bytes.len());
        }
        lines.into_iter().map(|lines| base + lines.start..base + lines.end).collect()
    }
}

/// Returns the starts of the first and last line that start in a block; `within` is the block's range in `bytes`, which
/// have the byte before it, unless it is the first.
fn starts(bytes: &[u8], within: &Range<usize>) -> Option<(usize, usize)> {
    let block = bytes.get(within.clone()).filter(|block| !block.is_empty())?;
    let is_start = within.start == 0 || bytes[within.start - 1] == b'\n';
    let first = if is_start { Some(0) } else { memchr::memchr(b'\n', block).map(|feed| feed + 1) };
    let first = first.filter(|first| *first < block.len())?;
    let feed = memchr::memrchr(b'\n', &block[first..block.len() - 1]);
    let last = feed.map_or(first, |feed| first + feed + 1);
    Some((within.start + first, within.start + last))
}
