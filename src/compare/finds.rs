//! Counts which matches of a pattern the model gets under each policy, in one pass for all of them.

use std::ops::Range;

/// Matches seen so far, and for each row those that it keeps entirely. No match is stored, however many there are.
#[derive(Debug)]
pub(crate) struct KeptMatches<'a> {
    rows: Vec<KeptRow<'a>>,
    all: u64,
}

#[derive(Debug)]
struct KeptRow<'a> {
    stretches: &'a [Range<usize>],
    /// The first stretch that may still hold a match.
    at: usize,
    kept: u64,
}

impl<'a> KeptMatches<'a> {
    /// Starts counting for rows that keep these stretches of the output, each in order.
    pub(crate) fn new(rows: impl Iterator<Item = &'a [Range<usize>]>) -> Self {
        Self { rows: rows.map(|stretches| KeptRow { stretches, at: 0, kept: 0 }).collect(), all: 0 }
    }

    /// Counts a match, and returns whether the first row keeps it. Matches come in order.
    pub(crate) fn add(&mut self, found: &Range<usize>) -> bool {
        let before = self.rows.first().map(|row| row.kept);
        self.all += 1;
        for row in &mut self.rows {
            let left = row.stretches.get(row.at..).unwrap_or_default();
            row.at += left.partition_point(|stretch| stretch.end < found.end);
            let next = row.stretches.get(row.at);
            row.kept += u64::from(next.is_some_and(|stretch| stretch.start <= found.start));
        }
        self.rows.first().map(|row| row.kept) > before
    }

    /// Returns the number of matches, and for each row the number that it keeps.
    pub(crate) fn counts(self) -> (u64, Vec<u64>) {
        (self.all, self.rows.iter().map(|row| row.kept).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_kept_if_one_stretch_holds_all_of_it() {
        let one = 5..25;
        let rows: [&[Range<usize>]; 3] = [&[0..10, 20..30], std::slice::from_ref(&one), &[]];
        let mut finds = KeptMatches::new(rows.into_iter());
        for found in [0..3, 8..12, 21..24, 24..26] {
            finds.add(&found);
        }
        assert_eq!(finds.counts(), (4, vec![3, 2, 0]));
    }
}
