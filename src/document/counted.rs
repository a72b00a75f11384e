//! The totals of a file as they are counted: chunk by chunk, in any order, while the file may grow.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::preview::Totals;
use crate::text::units::{Measure, TotalsMask};

/// How far before the end of the file, in bytes, a character that is still incomplete may begin.
const MAX_CHAR: u64 = 4;

/// The first blocks of a file that are not counted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UncountedBlocks {
    /// The first whose line feeds are not counted.
    pub lines: usize,
    /// The first whose other totals are not counted.
    pub totals: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct CountedChunks {
    /// The chunks counted: where each begins and ends, in bytes, and what it holds.
    chunks: BTreeMap<u64, (u64, Measure)>,
    bytes: u64,
}

impl CountedChunks {
    /// Starts a new count, and returns the byte from which to count: a multiple of `block`, or the end. What comes
    /// before it is not counted again.
    pub(crate) fn begin(&mut self, block: u64, len: u64) -> u64 {
        let mut end = 0;
        while let Some((next, _)) = self.chunks.get(&end) {
            end = *next;
        }
        let from = if end == len || end.is_multiple_of(block) { end } else { 0 };
        self.keep(|chunk| chunk.end <= from);
        from
    }

    pub(crate) fn add(&mut self, chunk: Range<u64>, measure: Measure) {
        if chunk.start < chunk.end && self.chunks.insert(chunk.start, (chunk.end, measure)).is_none() {
            self.bytes += chunk.end - chunk.start;
        }
    }

    /// Drops the chunks that the growth of a file of `len` bytes changes.
    pub(crate) fn grow(&mut self, len: u64) {
        self.keep(|chunk| chunk.end + MAX_CHAR <= len);
    }

    pub(crate) fn clear(&mut self) {
        self.keep(|_| false);
    }

    fn keep(&mut self, is_kept: impl Fn(Range<u64>) -> bool) {
        self.chunks.retain(|start, (end, _)| is_kept(*start..*end));
        self.bytes = self.chunks.iter().map(|(start, (end, _))| end - start).sum();
    }

    pub(crate) fn is_whole(&self, len: u64) -> bool {
        self.bytes >= len
    }

    /// Returns the totals of a file of `len` bytes, unknown unless all of it is counted.
    pub(crate) fn totals(&self, len: u64) -> Totals {
        if !self.is_whole(len) {
            return Totals::unknown();
        }
        let sum = self.chunks.values().fold(Measure::default(), |sum, (_, measure)| sum + *measure);
        Totals::from_measure(&sum, TotalsMask::ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::units::{measure, measure_all};

    /// Counts what is not counted yet, in chunks of two blocks of four bytes, the last first.
    fn count(tally: &mut CountedChunks, text: &[u8]) -> u64 {
        let len = text.len() as u64;
        let from = tally.begin(4, len);
        let starts: Vec<u64> = (from..len).step_by(8).collect();
        for start in starts.into_iter().rev() {
            let chunk = start..(start + 8).min(len);
            let bytes = chunk.start as usize..chunk.end as usize;
            tally.add(chunk, measure(text, bytes, TotalsMask::ALL));
        }
        from
    }

    #[test]
    fn a_file_that_grows_is_counted_on_from_where_it_ended() {
        let text = "größer 漢字 \u{1F600}\r\n".repeat(9);
        let text = text.as_bytes();
        for cut in 0..text.len() {
            let mut tally = CountedChunks::default();
            count(&mut tally, &text[..cut]);
            assert_eq!(tally.totals(cut as u64), Totals::count(&text[..cut]));
            tally.grow(cut as u64);
            assert!(!tally.is_whole(text.len() as u64));
            let from = count(&mut tally, text);
            assert!(from + 20 > cut as u64, "{from} of {cut}");
            assert_eq!(
                tally.totals(text.len() as u64),
                Totals::from_measure(&measure_all(text, TotalsMask::ALL), TotalsMask::ALL)
            );
        }
    }

    #[test]
    fn a_count_that_was_abandoned_goes_on_at_its_first_gap() {
        let mut tally = CountedChunks::default();
        assert_eq!(tally.begin(4, 40), 0);
        for start in [0, 8, 24] {
            tally.add(start..start + 8, Measure::zeros(8));
        }
        assert_eq!(tally.begin(4, 40), 16);
        for start in [16, 24, 32] {
            tally.add(start..start + 8, Measure::zeros(8));
        }
        assert_eq!(tally.totals(40).points, Some(40));
        assert_eq!(tally.begin(4, 40), 40, "nothing is counted twice");
        tally.clear();
        assert_eq!(tally.begin(4, 40), 0);
    }

    #[test]
    fn chunks_that_end_within_a_larger_block_are_counted_again() {
        let mut tally = CountedChunks::default();
        tally.begin(4, 40);
        tally.add(0..12, Measure::zeros(12));
        assert_eq!(tally.begin(8, 40), 0);
        assert_eq!(tally.totals(40), Totals::unknown());
    }
}
