//! How much of a range of the file the model got.

use std::ops::Range;

/// How much of a range of the file the model got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All of it.
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
