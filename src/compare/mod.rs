//! What the model gets of an output under each policy: ranges, errors that are lost, and a row of figures.

#[cfg(feature = "app")]
mod row;

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memrchr};

use crate::preview::{Fragment, Part, Stream};
use crate::text::ansi;
use crate::text::filter::KeptRanges;
use crate::text::search::{Pattern, each_match};
use crate::text::supply::Supply;

#[cfg(feature = "app")]
pub use row::Comparison;
#[cfg(feature = "app")]
pub(crate) use row::{
    KeptPart, StretchCounts, describe_excess, end_kept, kept_matches, lines_as_numbered, lines_from,
};

/// Returns the ranges of a stream, in bytes, whose text the parts hold, in order. Joins ranges with only a line end or
/// invisible bytes between, unless a notice stands there: the model did not get that in one piece.
pub fn kept_ranges(parts: &[Part], bytes: &[u8], stream: Stream) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut notices = Vec::new();
    for part in parts {
        match part {
            Part::Notice { .. } => notices.extend(all.last().map(|range| range.end)),
            Part::Kept { source, range, .. } if *source == stream => all.push(range.clone()),
            Part::Changed { source, range, fragments, .. } if *source == stream => {
                let is_written_anew = fragments.iter().all(|part| matches!(part, Fragment::Text(_)));
                all.extend(Some(range.clone()).filter(|_| is_written_anew));
                all.extend(fragments.iter().filter_map(|fragment| match fragment {
                    Fragment::Bytes(range) => Some(range.clone()),
                    Fragment::Text(_) | Fragment::Replaced(_) | Fragment::Escapes(_) => None,
                }));
            }
            _ => {}
        }
    }
    notices.sort_unstable();
    join(all, &|gap| notices.binary_search(&gap.start).is_err() && is_unseen(bytes, gap))
}

/// Whether a gap between kept text has nothing that a screen shows: escape sequences, and one end of a line.
fn is_unseen(bytes: &[u8], gap: Range<usize>) -> bool {
    let mut rest = bytes.get(gap.clone()).unwrap_or_default();
    let mut has_ended = false;
    while let [first, ..] = rest {
        let len = match (first, ansi::sequence(rest)) {
            (_, Some(sequence)) => sequence.len,
            (b'\r', None) if rest.get(1).or(bytes.get(gap.end)) == Some(&b'\n') => 1,
            (b'\n', None) if !std::mem::replace(&mut has_ended, true) => 1,
            _ => return false,
        };
        rest = &rest[len..];
    }
    true
}

/// Sorts ranges, and joins those that overlap, and those between which `is_nothing` finds that nothing is left out.
fn join(mut ranges: Vec<Range<usize>>, is_nothing: &dyn Fn(Range<usize>) -> bool) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end || is_nothing(last.end..range.start) => {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    // Until here, kept empty lines join what is around them.
    joined.retain(|range| !range.is_empty());
    joined
}

/// The errors in an output; a line has one at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorsLost {
    pub all: u64,
    /// The number of them that the model did not get whole, from where they begin to the end of their line.
    pub lost: u64,
}

/// Counts the errors in an output of which the model got these ranges, in order ([`kept_ranges`] of a preview). `pattern` is
/// one of [`SeverityPatterns`](crate::text::search::SeverityPatterns), which a line matches once at most. Reads the whole
/// output from `supply`. Returns too the first line with one that the model did not get, in bytes, without its end; it may
/// be the whole output.
pub fn lost_errors(
    bytes: &[u8],
    supply: &mut impl Supply,
    kept: &[Range<usize>],
    pattern: &Pattern,
) -> (ErrorsLost, Option<Range<usize>>) {
    let mut first_lost = None;
    let errors = each_lost(supply, kept, pattern, &mut |found| {
        first_lost.get_or_insert_with(|| line_around(bytes, found));
    });
    (errors, first_lost)
}

/// Hands over where each error begins that the model did not get, in order; else as [`lost_errors`].
pub fn each_lost(
    supply: &mut impl Supply,
    kept: &[Range<usize>],
    pattern: &Pattern,
    take: &mut dyn FnMut(&Range<usize>),
) -> ErrorsLost {
    let mut errors = ErrorsLost::default();
    each_match(supply, pattern, &mut |found| {
        errors.all += 1;
        if !KeptRanges(kept).covers(&found) {
            errors.lost += 1;
            take(&found);
        }
        ControlFlow::Continue(())
    });
    errors
}

/// Returns the byte offset of the first line that the model did not get whole, line end aside.
pub fn first_lost_line(bytes: &[u8], kept: &[Range<usize>]) -> usize {
    let cut = kept.first().filter(|range| range.start == 0).map_or(0, |range| range.end);
    let rest = bytes.get(cut..).unwrap_or_default();
    let end = [&b"\n"[..], b"\r\n"].into_iter().find(|end| cut > 0 && rest.starts_with(end) && rest != *end);
    match end {
        Some(end) => cut + end.len(),
        None => memrchr(b'\n', bytes.get(..cut).unwrap_or_default()).map_or(0, |feed| feed + 1),
    }
}

/// Returns the line that contains `found`, without its line feed or CR LF. Ranges are in bytes.
pub fn line_around(bytes: &[u8], found: &Range<usize>) -> Range<usize> {
    let before = bytes.get(..found.start).unwrap_or_default();
    let start = memrchr(b'\n', before).map_or(0, |feed| feed + 1);
    let rest = bytes.get(found.end..).unwrap_or_default();
    let end = memchr(b'\n', rest).map_or(bytes.len(), |feed| found.end + feed + 1);
    start..end - line_end(bytes.get(start..end).unwrap_or_default())
}

/// Returns the length of the line feed or CR LF at the end of a line.
pub(crate) fn line_end(line: &[u8]) -> usize {
    match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::text::search::Severity;
    use crate::text::supply::OwnBytes;
    use crate::text::units::Decoding;

    use super::*;

    #[test]
    fn the_first_lost_error_is_given_as_its_line() {
        let bytes = b"error: one\nfine\n  x.c:1: error: two\r\nfatal: three!!";
        let pattern = Severity::Error.built_in().unwrap();
        let lost = |kept: &[Range<usize>]| {
            let (errors, first) = lost_errors(bytes, &mut OwnBytes::from(bytes), kept, pattern);
            (errors.all, errors.lost, first.map(|line| &bytes[line]))
        };
        let all = 0..bytes.len();
        assert_eq!(lost(std::slice::from_ref(&all)), (3, 0, None));
        assert_eq!(lost(&[0..16, 37..51]), (3, 1, Some(&b"  x.c:1: error: two"[..])));
        assert_eq!(lost(&[0..9, 16..51]), (3, 1, Some(&b"error: one"[..])));
        assert_eq!(lost(&[]), (3, 3, Some(&b"error: one"[..])));
        assert_eq!(lost_errors(b"", &mut OwnBytes::default(), &[], pattern), Default::default());
    }

    #[test]
    fn invisible_bytes_do_not_split_kept_ranges() {
        let bytes = b"one\x1b[1m two\x1b[0m\r\nthree\n\nfour\n";
        let kept = |ranges: &[Range<usize>], notice: Option<usize>| {
            let (source, decoding) = (Stream::Stdout, Decoding::Lossy);
            let kept = |range: &Range<usize>| Part::Kept { source, range: range.clone(), decoding };
            let mut parts: Vec<Part> = ranges.iter().map(kept).collect();
            notice.into_iter().for_each(|at| parts.insert(at, Part::Notice { text: "cut".into() }));
            kept_ranges(&parts, bytes, Stream::Stdout)
        };
        let lines = [0..3, 7..11, 17..22, 24..29];
        assert_eq!(kept(&lines, None), [0..22, 24..29], "an empty line is lost");
        let with_empty = kept(&[0..22, 23..23, 24..29], None);
        assert_eq!(with_empty.first(), Some(&(0..29)), "an empty line is kept");
        assert_eq!(kept(&lines, Some(1)), [0..3, 7..22, 24..29], "a notice stands there");
        assert_eq!(kept(&[0..3, 8..11], None), [0..3, 8..11], "a blank is lost");
        assert_eq!(kept(&[0..11, 16..22, 24..29], None), [0..22, 24..29]);
        let replaced = |fragments| {
            let (source, decoding) = (Stream::Stdout, Decoding::Lossy);
            let part = Part::Changed { source, range: 0..3, fragments, decoding };
            kept_ranges(&[part], bytes, Stream::Stdout)
        };
        assert_eq!(replaced(vec![Fragment::Text("\\u006fne".into())]).len(), 1, "written in another way");
        assert_eq!(replaced(vec![Fragment::Replaced(1)]).len(), 0, "half a character");
    }

    #[test]
    fn the_first_lost_line_follows_the_kept_text() {
        let bytes = b"one\ntwo\r\nthree\n";
        let first = |kept: &[Range<usize>]| first_lost_line(bytes, kept);
        for (end, expected) in [(0, 0), (2, 0), (3, 4), (4, 4), (5, 4), (7, 9), (8, 9), (9, 9), (14, 9)] {
            assert_eq!(first(std::slice::from_ref(&(0..end))), expected, "{end}");
        }
        assert_eq!(first(&[]), 0);
        assert_eq!(first(std::slice::from_ref(&(4..15))), 0);
        assert_eq!(first_lost_line(b"", &[]), 0);
    }
}
