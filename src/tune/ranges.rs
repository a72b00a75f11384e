//! The stretches of an output that one setting keeps: mostly none or one.

use std::ops::Range;

/// KeptStretches in bytes of the output, in order, disjoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeptStretches {
    Nothing,
    One(Range<usize>),
    Many(Vec<Range<usize>>),
}

impl KeptStretches {
    pub(super) fn one(range: Range<usize>) -> Self {
        if range.is_empty() { KeptStretches::Nothing } else { KeptStretches::One(range) }
    }

    /// Takes stretches that are not empty.
    pub(super) fn many(mut ranges: Vec<Range<usize>>) -> Self {
        match (ranges.pop(), ranges.is_empty()) {
            (None, _) => KeptStretches::Nothing,
            (Some(last), true) => KeptStretches::One(last),
            (Some(last), false) => {
                ranges.push(last);
                KeptStretches::Many(ranges)
            }
        }
    }

    pub(super) fn as_slice(&self) -> &[Range<usize>] {
        match self {
            KeptStretches::Nothing => &[],
            KeptStretches::One(range) => std::slice::from_ref(range),
            KeptStretches::Many(ranges) => ranges,
        }
    }
}
