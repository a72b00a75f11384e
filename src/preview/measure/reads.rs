//! Reads of a pipe that are decoded separately, so that a character split between two of them is lost.

use std::ops::Range;

use crate::preview::input::Totals;
use crate::preview::model::Part;
use crate::text::units::{self, Measure, TotalsMask};

use super::Text;

impl<'a> Text<'a> {
    /// Splits a range where a read splits a character; returns the range itself if none does.
    pub(crate) fn between_reads(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<'a, '_> {
        let mut rest = Some(range);
        std::iter::from_fn(move || {
            let range = rest.take()?;
            let Some(at) = self.next_split(range.clone()) else { return Some(range) };
            rest = Some(at..range.end);
            Some(range.start..at)
        })
    }

    /// Returns the first position inside a range where a read ends within a character.
    fn next_split(&self, range: Range<usize>) -> Option<usize> {
        let reads = self.reads?;
        let mut at = (range.start / reads + 1).saturating_mul(reads);
        while at < range.end {
            if units::element_start(self.bytes, at) < at {
                return Some(at);
            }
            at = at.saturating_add(reads);
        }
        None
    }

    /// Returns the end of the read that contains byte `at`.
    pub(crate) fn read_end(&self, at: usize) -> usize {
        self.reads.map_or(usize::MAX, |reads| (at / reads + 1).saturating_mul(reads))
    }

    /// Returns the start of the read that contains the byte before `at`.
    pub(crate) fn read_start(&self, at: usize) -> usize {
        self.reads.map_or(0, |reads| at.saturating_sub(1) / reads * reads)
    }

    /// Adjusts totals of the body, counted on the bytes as a whole, for its split characters.
    pub(crate) fn with_split_characters(&self, totals: Totals) -> Totals {
        let is_ascii = totals.points == Some(self.len() as u64) && totals.bad_bytes.unwrap_or(0) == 0;
        if self.reads.is_none() || totals.known().without(TotalsMask::LINE_FEEDS).is_empty() || is_ascii {
            return totals;
        }
        let (mut whole, mut apart) = (Measure::default(), Measure::default());
        let mut at = self.body.start;
        while let Some(split) = self.next_split(at..self.body.end) {
            let start = units::element_start(self.bytes, split);
            let end = (start + units::element(self.bytes, start).len).min(self.body.end);
            whole += units::measure_all(&self.bytes[start..end], TotalsMask::ALL);
            apart += self.measure(start..end, TotalsMask::ALL);
            at = end;
        }
        totals.plus(&apart).less(&whole)
    }

    /// Splits the parts at characters that are split between two reads.
    pub(crate) fn apart(&self, parts: Vec<Part>) -> Vec<Part> {
        if self.reads.is_none() {
            return parts;
        }
        let split = |part| match part {
            Part::Kept { range, .. } => {
                self.between_reads(range).filter_map(|range| self.kept(range)).collect()
            }
            part => vec![part],
        };
        parts.into_iter().flat_map(split).collect()
    }
}
