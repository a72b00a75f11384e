//! Counts the lines that meet conditions, block by block, however long the lines are.

use std::ops::{ControlFlow, Range};

use super::index::{BlockLines, LastLine};
use super::{Condition, Got, Shows, count_lines, meeting};
use crate::text::search::{CHUNK, NEAR, certain_in_line, line_end};
use crate::text::supply::{OwnBytes, Supply};

#[derive(Debug, Clone, Copy)]
pub struct LineScan<'a> {
    pub conditions: &'a [Condition],
    pub got: Got<'a>,
    /// The block size in bytes.
    pub block: usize,
}

impl LineScan<'_> {
    /// Counts the lines that start in each of some blocks. `go_on` is called before each read; returns `None` if it
    /// returns false.
    pub fn count(
        &self,
        supply: &mut impl Supply,
        blocks: Range<usize>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<BlockLines>> {
        let at_once = (CHUNK / self.block).max(1);
        let mut counts = Vec::with_capacity(blocks.len());
        for first in blocks.clone().step_by(at_once) {
            if !go_on() {
                return None;
            }
            let piece = first..(first + at_once).min(blocks.end);
            if let Some(start) = self.count_piece(supply, piece, &mut counts) {
                let last = self.long_line(supply, start, go_on)?;
                if let Some(lines) = counts.iter_mut().rev().find(|lines| lines.last != LastLine::Absent) {
                    *lines = lines.with_last(last);
                }
            }
        }
        Some(counts)
    }

    /// Counts the lines that start in blocks read together. Returns the start of the last line if it ends too far away
    /// to be counted.
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
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<LastLine> {
        let (end, is_ended) = line_end(supply, start, go_on)?;
        for condition in self.conditions {
            match certain_in_line(condition.pattern(), supply, start..end, go_on) {
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
    pub fn shown(&self, bytes: OwnBytes, base: usize, last: LastLine, shows: Shows) -> Vec<Range<usize>> {
        let within = usize::from(base > 0).min(bytes.len())..bytes.len();
        let Some((first, last_start)) = starts(&bytes, &within) else { return Vec::new() };
        let mut lines = meeting(self.conditions, bytes, first..last_start);
        if shows == Shows::Lost {
            lines = self.got.lost(&bytes, base, &lines);
        }
        if last.is_shown(shows) {
            super::join(&mut lines, last_start..bytes.len());
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
