//! Counts which matches of a pattern the model gets under each policy, in one pass for all of them.

use std::ops::Range;

use crate::text::search::{self, Pattern};
use crate::text::supply::Supply;

use super::joined;

/// How far back the start of a line is looked for, in bytes.
const LOOK_BACK: usize = 64 << 10;

/// Matches seen so far, and for each row those that it keeps entirely. No match is stored, however many there are.
#[derive(Debug)]
pub(crate) struct KeptFinds<'a> {
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

impl<'a> KeptFinds<'a> {
    /// Starts counting for rows that keep these stretches of the output, each in order.
    pub(crate) fn new(rows: impl Iterator<Item = &'a [Range<usize>]>) -> Self {
        Self { rows: rows.map(|stretches| KeptRow { stretches, at: 0, kept: 0 }).collect(), all: 0 }
    }

    /// Counts a match. Matches come in order.
    pub(crate) fn found(&mut self, found: &Range<usize>) {
        self.found_first(found);
    }

    /// Counts a match, and returns whether the first row keeps it. Matches come in order.
    pub(crate) fn found_first(&mut self, found: &Range<usize>) -> bool {
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

/// Counts the matches of a pattern of which each of these rows keeps all, in order. `kept` are the stretches of the output
/// that a row keeps, in order. Returns `None` as soon as `go_on`, which is called from time to time, returns false.
pub(crate) fn kept_matches(
    bytes: &[u8],
    supply: &mut impl Supply,
    pattern: &Pattern,
    kept: &[Vec<Range<usize>>],
    go_on: impl Fn() -> bool,
) -> Option<Vec<u64>> {
    let mut finds = KeptFinds::new(kept.iter().map(Vec::as_slice));
    for lines in lines_of(bytes, kept) {
        let mut start = lines.start;
        while start < lines.end {
            if !go_on() {
                return None;
            }
            let stop = (start + search::CHUNK).min(lines.end);
            let found = search::read_starting_in(supply, pattern, start..stop);
            start = stop;
            for found in found {
                start = start.max(found.end);
                finds.found(&found);
            }
        }
    }
    Some(finds.counts().1)
}

/// Returns the parts of an output that have to be searched to count the matches that these rows keep: the lines that
/// any of them keeps something of.
fn lines_of(bytes: &[u8], kept: &[Vec<Range<usize>>]) -> Vec<Range<usize>> {
    let from_line_start = |stretch: &Range<usize>| {
        let near = stretch.start.saturating_sub(LOOK_BACK);
        let before = bytes.get(near..stretch.start).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map(|at| near + at + 1);
        start.or((near == 0).then_some(0)).unwrap_or(stretch.start)..stretch.end
    };
    joined(kept.iter().flatten().map(from_line_start).collect(), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_kept_if_one_stretch_holds_all_of_it() {
        let one = 5..25;
        let rows: [&[Range<usize>]; 3] = [&[0..10, 20..30], std::slice::from_ref(&one), &[]];
        let mut finds = KeptFinds::new(rows.into_iter());
        for found in [0..3, 8..12, 21..24, 24..26] {
            finds.found(&found);
        }
        assert_eq!(finds.counts(), (4, vec![3, 2, 0]));
    }

    #[test]
    fn whole_lines_are_searched() {
        let bytes = b"one\ntwo\nthree\n";
        let rows = [vec![1..2, 9..11], std::iter::once(5..8).collect()];
        assert_eq!(lines_of(bytes, &rows), [0..2, 4..11]);
    }
}
