//! PURE: the lines by which two texts differ, with some around them.

use similar::{ChangeTag, TextDiff};

/// How many lines are shown around a change.
const AROUND: usize = 3;

/// A line of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffLine<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// Lines that are the same are left out.
    Gap,
}

/// Returns the lines that differ.
pub(super) fn difference<'a>(old: &'a str, new: &'a str) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    let (mut shown, mut end) = (Vec::new(), 0);
    for group in diff.grouped_ops(AROUND) {
        let lines = group.iter().flat_map(|op| diff.iter_changes(op)).map(|change| match change.tag() {
            ChangeTag::Equal => DiffLine::Same(change.value()),
            ChangeTag::Delete => DiffLine::Removed(change.value()),
            ChangeTag::Insert => DiffLine::Added(change.value()),
        });
        let is_gap = group.first().is_some_and(|op| op.old_range().start > end);
        shown.extend(is_gap.then_some(DiffLine::Gap));
        shown.extend(lines);
        end = group.last().map_or(end, |op| op.old_range().end);
    }
    shown.extend((end < old.len()).then_some(DiffLine::Gap));
    shown
}
