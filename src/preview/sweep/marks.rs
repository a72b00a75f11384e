//! Running totals of an output at the ends of its blocks: the measure of any stretch, and where lines and sizes end,
//! cost a block at most.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Decoding, Direction, Unit};
use crate::text::units::{self, Measure, TotalsMask};

const BLOCK: usize = 4 << 10;
/// Maximum number of blocks; those of a larger output are longer.
const MAX_BLOCKS: usize = 8 << 10;
/// What is counted of part of a block: line feeds, and all figures of the text.
const OF_PART: TotalsMask = TotalsMask::LINE_FEEDS.with(TotalsMask::DECODED_BYTES);

#[derive(Debug)]
pub(crate) struct Marks {
    block: usize,
    /// The measure of all bytes before each block, and at last of all.
    before: Vec<Measure>,
}

impl Marks {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let block = BLOCK.max(bytes.len().div_ceil(MAX_BLOCKS));
        let (mut sum, mut before) = (Measure::default(), vec![Measure::default()]);
        for start in (0..bytes.len()).step_by(block) {
            let end = start.saturating_add(block).min(bytes.len());
            sum += units::measure(bytes, start..end, TotalsMask::ALL);
            before.push(sum);
        }
        Self { block, before }
    }

    pub(crate) fn total(&self) -> Measure {
        self.before.last().copied().unwrap_or_default()
    }

    /// Whether every byte is a character.
    pub(super) fn is_ascii(&self, bytes: &[u8]) -> bool {
        let total = self.total();
        total.points == bytes.len() as u64 && total.bad_bytes == 0
    }

    /// Returns the measure of the bytes before `at`; a character that `at` splits counts whole.
    pub(super) fn until(&self, bytes: &[u8], at: usize) -> Measure {
        let number = at / self.block;
        let Some(before) = self.before.get(number) else { return self.total() };
        *before + units::measure(bytes, number * self.block..at.min(bytes.len()), OF_PART)
    }

    /// Returns where line feed `number` (1-based) of the output stands.
    pub(super) fn feed(&self, bytes: &[u8], number: u64) -> Option<usize> {
        let index = self.before.partition_point(|sum| sum.line_feeds < number).checked_sub(1)?;
        let start = index.saturating_mul(self.block);
        let left = number - self.before.get(index)?.line_feeds;
        let rest = bytes.get(start..)?;
        memchr::memchr_iter(b'\n', rest).nth(as_usize(left.saturating_sub(1))).map(|at| start + at)
    }

    /// Returns how much of one end of a range fits a size: where it ends (from the tail: begins). The range starts and
    /// ends between characters.
    pub(super) fn fitting(
        &self,
        text: &Text,
        range: &Range<usize>,
        from: Direction,
        (unit, size): (Unit, u64),
    ) -> usize {
        let is_raw = unit == Unit::Bytes && text.decoding == Decoding::Go;
        if is_raw || self.is_ascii(text.bytes) {
            let part = from.part(range, as_usize(size).min(range.len()));
            return if from == Direction::Head { part.end } else { part.start };
        }
        let figure = |sum: &Measure| match unit {
            Unit::Utf16 => sum.units,
            Unit::Chars => sum.points,
            Unit::Bytes | Unit::Tokens | Unit::Cells => sum.decoded_bytes,
        };
        match from {
            Direction::Head => {
                let most = figure(&self.until(text.bytes, range.start)).saturating_add(size);
                let index = self.before.partition_point(|sum| figure(sum) <= most).saturating_sub(1);
                let near = self.boundary(text.bytes, index);
                let (at, used) = match self.before.get(index) {
                    Some(sum) if near > range.start => (near, figure(sum)),
                    _ => (range.start, most - size),
                };
                if at >= range.end { range.end } else { text.advance(at, range.end, unit, most - used).at }
            }
            Direction::Tail => {
                let all = figure(&self.until(text.bytes, range.end));
                let least = all.saturating_sub(size);
                let index = self.before.partition_point(|sum| figure(sum) < least);
                let near = self.boundary(text.bytes, index);
                let (at, left) = match self.before.get(index) {
                    Some(sum) if near < range.end => (near, size - (all - figure(sum)).min(size)),
                    _ => (range.end, size),
                };
                if at <= range.start { range.start } else { text.retreat(range.start, at, unit, left).at }
            }
        }
    }

    /// Returns the end of the last character that begins before a block.
    fn boundary(&self, bytes: &[u8], index: usize) -> usize {
        units::element_end(bytes, index.saturating_mul(self.block).min(bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_stretch_is_measured_from_the_nearest_block() {
        let text = "one é漢\u{1F600}\n".repeat(3_000);
        let bytes = text.as_bytes();
        let marks = Marks::new(bytes);
        assert_eq!(marks.total(), units::measure_all(bytes, TotalsMask::ALL));
        for at in [0, 1, 4095, 4096, 4097, 8192, 20_000, bytes.len()] {
            let expected = units::measure(bytes, 0..at, OF_PART);
            let found = marks.until(bytes, at);
            assert_eq!((found.line_feeds, found.units), (expected.line_feeds, expected.units), "{at}");
        }
        let feeds: Vec<usize> = memchr::memchr_iter(b'\n', bytes).collect();
        for number in [1, 2, 299, 300, 3_000] {
            assert_eq!(marks.feed(bytes, number), Some(feeds[number as usize - 1]));
        }
        assert_eq!(marks.feed(bytes, 3_001), None);
    }

    #[test]
    fn the_blocks_of_a_large_output_are_longer() {
        let marks = Marks::new(&vec![b'\n'; 64 << 20]);
        assert!(marks.before.len() <= MAX_BLOCKS + 1);
    }
}
