//! The rules that Spill draws between what the model got and what it did not.

use std::ops::Range;

/// The places where Spill draws a rule above a row, each with the fate of what follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dividers(Vec<(u64, Fate)>);

/// Whether the model got a part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The model got it.
    Kept,
    /// The model did not get it.
    Lost,
}

/// A rule that Spill draws above a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowRule {
    /// What follows has this fate.
    Fate(Fate),
    /// Lines are left out by the filter.
    Gap,
}

impl Dividers {
    /// Places rules between kept and lost ranges. A gap of only a line feed gets no rule.
    pub(crate) fn of(bytes: &[u8], kept: &[Range<usize>], gaps: &[Range<usize>]) -> Self {
        let line_feed = |at: usize| usize::from(bytes.get(at) == Some(&b'\n'));
        let lost = |gap: &Range<usize>| gap.start + if gap.start > 0 { line_feed(gap.start) } else { 0 };
        let gaps: Vec<_> = gaps.iter().map(|gap| lost(gap)..gap.end).filter(|gap| !gap.is_empty()).collect();
        let again = gaps.iter().filter(|gap| kept.iter().any(|range| range.start == gap.end));
        let mut rules: Vec<_> = gaps.iter().map(|gap| (gap.start as u64, Fate::Lost)).collect();
        rules.extend(again.map(|gap| (gap.end as u64, Fate::Kept)));
        rules.sort_unstable_by_key(|rule| rule.0);
        Self(rules)
    }

    /// Returns the offsets of the rules, in order.
    pub fn places(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|rule| rule.0)
    }

    /// Returns the fate that the rule above the row of bytes `start .. next` announces, if there is one.
    pub fn above(&self, start: u64, next: u64) -> Option<Fate> {
        let first = self.0.partition_point(|rule| rule.0 < start);
        self.0.get(first).filter(|rule| rule.0 < next.max(start + 1)).map(|rule| rule.1)
    }

    /// Returns the fate at the end of `range` if it differs from the one at its start.
    pub fn turned(&self, range: Range<u64>) -> Option<Fate> {
        let first = self.0.partition_point(|rule| rule.0 < range.start);
        let end = self.0.partition_point(|rule| rule.0 < range.end);
        let last = self.0.get(first..end)?.last()?;
        ((end - first) % 2 == 1).then_some(last.1)
    }
}
