//! Which errors of an output the model did not get: how many, and the first of them.

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memrchr};

use crate::text::search::{Pattern, each_match};
use crate::text::supply::Supply;

use super::finds::KeptMatches;

/// The errors, or the warnings, in an output, and what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LostErrors {
    /// The number of them in the whole output; a line has one at most.
    pub all: u64,
    /// The number of them that the model got whole, from where they begin to the end of their line.
    pub kept: u64,
    /// The line of the first one that the model did not get, in bytes of the output, without its line end. It may be
    /// as long as the output.
    pub first_lost: Option<Range<usize>>,
}

impl LostErrors {
    pub fn lost(&self) -> u64 {
        self.all.saturating_sub(self.kept)
    }
}

/// Counts the errors in an output of which the model got these ranges, in order ([`kept_ranges`](super::kept_ranges) of
/// a preview). `pattern` is one of [`SeverityPatterns`](crate::text::search::SeverityPatterns), which a line matches once
/// at most. Reads the whole output from `supply`.
pub fn lost_errors(
    bytes: &[u8],
    supply: &mut impl Supply,
    kept: &[Range<usize>],
    pattern: &Pattern,
) -> LostErrors {
    let mut first_lost = None;
    let [all, kept] = each_lost(supply, kept, pattern, &mut |found| {
        first_lost.get_or_insert_with(|| line_around(bytes, found));
    });
    LostErrors { all, kept, first_lost }
}

/// Hands over where each error begins that the model did not get, in order. Returns the number of errors, and of those that
/// it got; else as [`lost_errors`].
pub fn each_lost(
    supply: &mut impl Supply,
    kept: &[Range<usize>],
    pattern: &Pattern,
    take: &mut dyn FnMut(&Range<usize>),
) -> [u64; 2] {
    let mut finds = KeptMatches::new(std::iter::once(kept));
    each_match(supply, pattern, &mut |found| {
        if !finds.add(&found) {
            take(&found);
        }
        ControlFlow::Continue(())
    });
    let (all, kept) = finds.counts();
    [all, kept.first().copied().unwrap_or_default()]
}

/// Returns where the first line begins that the model did not get whole, in bytes of an output that was cut. `kept` are
/// ranges in order. A line of which only the line end is lost was got.
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
    let end = memchr(b'\n', rest).map_or(bytes.len(), |feed| found.end + feed);
    start..without_return(bytes, start..end)
}

/// Returns the end of a line that ends with a line feed, without the carriage return before it.
fn without_return(bytes: &[u8], line: Range<usize>) -> usize {
    let is_fed = bytes.get(line.end) == Some(&b'\n');
    let ends_so = is_fed && bytes.get(line.clone()).is_some_and(|line| line.ends_with(b"\r"));
    line.end - usize::from(ends_so)
}

/// Whether the model got a whole line (bytes, without its line end) in one piece; `kept` are ranges in order. The model
/// got an empty line if a range holds the position at which the line stands.
pub fn is_kept(line: &Range<usize>, kept: &[Range<usize>]) -> bool {
    let next = kept.partition_point(|range| range.end < line.end);
    kept.get(next..).unwrap_or_default().iter().take(2).any(|range| {
        let holds = range.start <= line.start && line.end <= range.end;
        holds && (!line.is_empty() || range.contains(&line.start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::search::Severity;
    use crate::text::supply::OwnBytes;

    #[test]
    fn the_first_lost_error_is_given_as_its_line() {
        let bytes = b"error: one\nfine\n  x.c:1: error: two\r\nfatal: three!!";
        let pattern = Severity::Error.built_in().unwrap();
        let lost = |kept: &[Range<usize>]| {
            let lost = lost_errors(bytes, &mut OwnBytes::from(bytes), kept, pattern);
            (lost.all, lost.lost(), lost.first_lost.map(|line| &bytes[line]))
        };
        let all = 0..bytes.len();
        assert_eq!(lost(std::slice::from_ref(&all)), (3, 0, None));
        assert_eq!(lost(&[0..16, 37..51]), (3, 1, Some(&b"  x.c:1: error: two"[..])));
        assert_eq!(lost(&[0..9, 16..51]), (3, 1, Some(&b"error: one"[..])));
        assert_eq!(lost(&[]), (3, 3, Some(&b"error: one"[..])));
        assert_eq!(lost_errors(b"", &mut OwnBytes::default(), &[], pattern), LostErrors::default());
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

    #[test]
    fn a_line_is_kept_if_one_range_holds_all_of_it() {
        let kept = [0..10, 20..30];
        for (line, expected) in [
            (0..10, true),
            (3..5, true),
            (9..11, false),
            (10..10, false),
            (20..20, true),
            (30..30, false),
            (19..21, false),
            (20..30, true),
            (12..12, false),
        ] {
            assert_eq!(is_kept(&line, &kept), expected, "{line:?}");
        }
        assert!(!is_kept(&(0..0), &[]));
    }
}
