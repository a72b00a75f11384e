//! Counts the matches of a pattern that stretches of an output hold.

use std::ops::Range;

/// Matches seen so far; the memory is that of the stretches, however many matches there are.
#[derive(Debug)]
pub(crate) struct StretchCounts {
    starts: Edges,
    ends: Edges,
    all: u64,
}

/// Positions in order, each with the number of matches before it.
#[derive(Debug)]
struct Edges {
    edges: Vec<(usize, u64)>,
    /// The first edge that is not passed yet.
    next: usize,
}

impl StretchCounts {
    /// Starts counting for these stretches, in any order.
    pub(crate) fn new<'a>(stretches: impl Iterator<Item = &'a Range<usize>> + Clone) -> Self {
        let starts = Edges::new(stretches.clone().map(|stretch| stretch.start));
        let ends = Edges::new(stretches.map(|stretch| stretch.end));
        Self { starts, ends, all: 0 }
    }

    /// Counts a match; matches come in order, disjoint.
    pub(crate) fn add(&mut self, found: &Range<usize>) {
        self.starts.pass(self.all, |edge| edge <= found.start);
        self.ends.pass(self.all, |edge| edge < found.end);
        self.all += 1;
    }

    /// Ends the counting; returns the number of matches.
    pub(crate) fn end(&mut self) -> u64 {
        self.starts.pass(self.all, |_| true);
        self.ends.pass(self.all, |_| true);
        self.all
    }

    /// Returns how many matches stretches hold entirely, of which no two overlap.
    pub(crate) fn within(&self, stretches: &[Range<usize>]) -> u64 {
        let within = |stretch: &Range<usize>| {
            self.ends.before(stretch.end).saturating_sub(self.starts.before(stretch.start))
        };
        stretches.iter().map(within).sum()
    }
}

impl Edges {
    fn new(edges: impl Iterator<Item = usize>) -> Self {
        let mut edges: Vec<usize> = edges.collect();
        edges.sort_unstable();
        edges.dedup();
        Self { edges: edges.into_iter().map(|edge| (edge, 0)).collect(), next: 0 }
    }

    fn pass(&mut self, count: u64, is_passed: impl Fn(usize) -> bool) {
        while let Some((edge, before)) = self.edges.get_mut(self.next) {
            if !is_passed(*edge) {
                return;
            }
            *before = count;
            self.next += 1;
        }
    }

    fn before(&self, edge: usize) -> u64 {
        let found = self.edges.binary_search_by_key(&edge, |(edge, _)| *edge);
        found.ok().and_then(|at| self.edges.get(at)).map_or(0, |(_, before)| *before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn matches_are_counted_as_one_by_one(
            gaps in prop::collection::vec((0usize..5, 1usize..5), 0..30),
            stretches in prop::collection::vec((0usize..150, 0usize..80), 0..12),
        ) {
            let mut at = 0;
            let matches: Vec<Range<usize>> = gaps.iter().map(|(gap, len)| {
                let start = at + gap;
                at = start + len;
                start..at
            }).collect();
            let stretches: Vec<Range<usize>> = stretches.iter().map(|(start, len)| *start..start + len).collect();
            let mut counts = StretchCounts::new(stretches.iter());
            matches.iter().for_each(|found| counts.add(found));
            prop_assert_eq!(counts.end(), matches.len() as u64);
            for stretch in &stretches {
                let inside = |found: &&Range<usize>| stretch.start <= found.start && found.end <= stretch.end;
                prop_assert_eq!(counts.within(std::slice::from_ref(stretch)), matches.iter().filter(inside).count() as u64);
            }
        }
    }
}
