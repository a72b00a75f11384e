//! Counts the lines that meet conditions, block by block, however long the lines are.

use std::ops::Range;

use super::index::{BlockLines, LastLine};
use super::{Condition, Got, Shows, count_lines, meeting};
use crate::text::search::Pattern;

/// Bytes read at a time: few enough to stay in a core's own cache.
const PIECE: usize = 512 << 10;

/// Bytes after a piece within which its last line usually ends.
const NEAR: usize = 4 << 10;

/// Length in bytes of the longest match that is certain to be found in a line that is longer than a piece.
const OVERLAP: usize = 64 << 10;

/// Bytes before a part of a long line that decide whether a word starts there.
const LOOK_BEHIND: usize = 4;

/// Where a scan reads from.
pub trait Supply {
    /// Returns the number of bytes.
    fn len(&self) -> usize;

    /// Returns a range of the bytes.
    fn read(&mut self, range: Range<usize>) -> &[u8];

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Supply for &[u8] {
    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn read(&mut self, range: Range<usize>) -> &[u8] {
        &self[range]
    }
}

/// A scan for the lines that meet conditions.
#[derive(Debug, Clone, Copy)]
pub struct LineScan<'a> {
    /// What a line has to meet.
    pub conditions: &'a [Condition],
    /// What the model got.
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
        let at_once = (PIECE / self.block).max(1);
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
            let Some((first, last)) = starts(bytes, &within) else {
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

    fn tally(&self, bytes: &[u8], base: usize, lines: Range<usize>) -> BlockLines {
        let met = meeting(self.conditions, bytes, lines);
        let all = count_lines(bytes, &met);
        let lost = count_lines(bytes, &self.got.lost(bytes, base, &met));
        BlockLines { got: all - lost, lost, last: LastLine::Unmet }
    }

    fn single(&self, bytes: &[u8], base: usize, line: Range<usize>) -> LastLine {
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
            if !condition.admits(is_in(condition.pattern(), supply, start..end, go_on)?) {
                return Some(LastLine::Unmet);
            }
        }
        Some(if self.got.has_line(start..end, is_ended) { LastLine::Got } else { LastLine::Lost })
    }

    /// Returns the lines shown among those that start in a block, as ranges of the file that end with the block at the
    /// latest. `bytes` are the block and, unless it is the first, the byte before it, at `base` in the file; `last` is
    /// what is known of its last line.
    pub fn shown(&self, bytes: &[u8], base: usize, last: LastLine, shows: Shows) -> Vec<Range<usize>> {
        let within = usize::from(base > 0).min(bytes.len())..bytes.len();
        let Some((first, last_start)) = starts(bytes, &within) else { return Vec::new() };
        let mut lines = meeting(self.conditions, bytes, first..last_start);
        if shows == Shows::Lost {
            lines = self.got.lost(bytes, base, &lines);
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

/// Returns the end of a line, including its line feed, and whether it has one.
fn line_end(
    supply: &mut impl Supply,
    start: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<(usize, bool)> {
    let len = supply.len();
    for from in (start..len).step_by(PIECE) {
        if !go_on() {
            return None;
        }
        if let Some(feed) = memchr::memchr(b'\n', supply.read(from..(from + PIECE).min(len))) {
            return Some((from + feed + 1, true));
        }
    }
    Some((len, false))
}

/// Whether a line has a match.
fn is_in(
    pattern: &Pattern,
    supply: &mut impl Supply,
    line: Range<usize>,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<bool> {
    for from in line.clone().step_by(PIECE) {
        if !go_on() {
            return None;
        }
        let window = from.saturating_sub(LOOK_BEHIND).max(line.start)..(from + PIECE + OVERLAP).min(line.end);
        let (at, is_cut) = (from - window.start, window.end < line.end);
        let bytes = supply.read(window);
        // Where the line is cut it seems to end; what seems to match there is found again in the next part.
        if pattern.certain_at(bytes, at).is_some_and(|found| !is_cut || found < bytes.len()) {
            return Some(true);
        }
    }
    Some(false)
}
