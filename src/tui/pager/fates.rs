//! What the model got of the file, by ranges: how much of a stretch, what lies between, and where Spill says so.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    Whole,
    Some,
    None,
}

/// Returns how much of `stretch` lies in `kept`, which must be sorted and disjoint.
pub(crate) fn share(kept: &[Range<usize>], stretch: &Range<usize>) -> Share {
    let first = kept.partition_point(|range| range.end <= stretch.start);
    let inside: usize = kept[first..]
        .iter()
        .take_while(|range| range.start < stretch.end)
        .map(|range| range.end.min(stretch.end) - range.start.max(stretch.start))
        .sum();
    match inside {
        0 => Share::None,
        n if n >= stretch.len() => Share::Whole,
        _ => Share::Some,
    }
}

/// Whether one of `ranges`, which must be sorted and disjoint, contains all of `stretch`.
pub(crate) fn holds(ranges: &[Range<usize>], stretch: &Range<usize>) -> bool {
    let next = ranges.partition_point(|range| range.end <= stretch.start);
    ranges.get(next).is_some_and(|range| range.start <= stretch.start && stretch.end <= range.end)
}

pub(crate) fn gaps(kept: &[Range<usize>], len: usize) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut at = 0;
    for range in kept.iter().chain([&(len..len)]) {
        if range.start > at {
            gaps.push(at..range.start);
        }
        at = at.max(range.end);
    }
    gaps
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Lost,
}

/// A rule that Spill draws above a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowRule {
    Fate(Fate),
    /// Lines are left out by the filter.
    Gap,
}

/// The places where Spill draws a rule above a row, each with the fate of what follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dividers(pub(super) Vec<(u64, Fate)>);

impl Dividers {
    /// Places rules between kept and lost ranges. A gap of only a line feed gets no rule.
    pub(crate) fn new(bytes: &[u8], kept: &[Range<usize>]) -> Self {
        let line_feed = |at: usize| usize::from(bytes.get(at) == Some(&b'\n'));
        let mut rules = Vec::new();
        for gap in gaps(kept, bytes.len()) {
            let start = gap.start + if gap.start > 0 { line_feed(gap.start) } else { 0 };
            if start < gap.end {
                rules.push((start as u64, Fate::Lost));
                rules.extend(Some((gap.end as u64, Fate::Kept)).filter(|_| gap.end < bytes.len()));
            }
        }
        Self(rules)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|rule| rule.0)
    }

    /// Returns the fate that the rule above the row of bytes `start .. next` announces, if there is one.
    pub(crate) fn above(&self, start: u64, next: u64) -> Option<Fate> {
        let first = self.0.partition_point(|rule| rule.0 < start);
        self.0.get(first).filter(|rule| rule.0 < next.max(start + 1)).map(|rule| rule.1)
    }

    /// Returns the fate at the end of `range` if it differs from the one at its start.
    pub(crate) fn turned(&self, range: Range<u64>) -> Option<Fate> {
        let first = self.0.partition_point(|rule| rule.0 < range.start);
        let end = self.0.partition_point(|rule| rule.0 < range.end);
        let last = self.0.get(first..end)?.last()?;
        ((end - first) % 2 == 1).then_some(last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_some_or_none() {
        let kept = [0..10, 20..30];
        let of = |stretch| share(&kept, &stretch);
        assert_eq!(
            [of(0..10), of(5..12), of(10..20), of(25..26), of(30..40)],
            [Share::Whole, Share::Some, Share::None, Share::Whole, Share::None]
        );
    }
}
