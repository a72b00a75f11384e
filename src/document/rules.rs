//! Where in the file what the model got ends and begins.

use std::ops::Range;

use crate::text::filter::Got;

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
pub(crate) struct Dividers(pub(crate) Vec<(u64, Fate)>);

impl Dividers {
    /// Places rules between kept and lost ranges. A gap of only a line feed gets no rule.
    pub(crate) fn new(bytes: &[u8], kept: &[Range<usize>]) -> Self {
        let line_feed = |at: usize| usize::from(bytes.get(at) == Some(&b'\n'));
        let mut rules = Vec::new();
        for gap in Got(kept).gaps(bytes.len()) {
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
