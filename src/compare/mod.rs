//! What each policy does to one output: a row per policy, which the command line and the policy picker both show.

pub(crate) mod finds;
pub(crate) mod lost;
#[cfg(feature = "app")]
mod row;

use std::ops::Range;

use crate::preview::{Fragment, Part, Stream};

#[cfg(feature = "app")]
pub(crate) use finds::KeptMatches;
pub use lost::{LostErrors, each_lost, first_lost_line, is_kept, line_around, lost_errors};
#[cfg(feature = "app")]
pub use row::Comparison;
#[cfg(feature = "app")]
pub(crate) use row::{Keeps, end_kept, kept_matches, over};

/// Returns the ranges of a stream, in bytes, that the parts keep unchanged, in order. Adjacent ones are joined, unless a
/// notice stands between them: what spans it was not got in one piece.
pub fn kept_ranges(parts: &[Part], stream: Stream) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut notices = Vec::new();
    for part in parts {
        match part {
            Part::Notice { .. } => notices.extend(all.last().map(|range| range.end)),
            Part::Kept { source, range, .. } if *source == stream => all.push(range.clone()),
            Part::Changed { source, fragments, .. } if *source == stream => {
                all.extend(fragments.iter().filter_map(|fragment| match fragment {
                    Fragment::Bytes(range) => Some(range.clone()),
                    Fragment::Text(_) | Fragment::Replaced(_) | Fragment::Escapes(_) => None,
                }));
            }
            _ => {}
        }
    }
    join(all, &notices)
}

/// Sorts ranges, and joins those that overlap, or that touch elsewhere than at `notices`.
fn join(mut ranges: Vec<Range<usize>>, notices: &[usize]) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        let is_apart = |last: &Range<usize>| {
            range.start > last.end || range.start == last.end && notices.contains(&range.start)
        };
        match joined.last_mut() {
            Some(last) if !is_apart(last) => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
