//! The lines of one output that match a pattern, with their numbers.

use std::ops::{ControlFlow, Range};

use crate::text::search::{OVERLAP, Pattern, SearchPiece, certain_in_line};
use crate::text::supply::{OwnBytes, Supply};

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit<'a> {
    /// The number of the line, 1-based.
    pub number: u64,
    /// The line in bytes of the output, without its line feed or CR LF.
    pub line: Range<usize>,
    /// A copy of the line; of one of many megabytes, of what surrounds the first match.
    pub text: OwnBytes<'a>,
    /// Where the copy begins in the line, in bytes.
    pub text_at: usize,
    /// Whether the line ends with CR LF.
    pub has_return: bool,
}

/// Passes on the matching lines in order until `take` breaks off or `goes_on`, which is asked for each piece, says no.
pub(crate) fn each_hit(
    supply: &mut impl Supply,
    pattern: &Pattern,
    goes_on: &dyn Fn() -> bool,
    mut take: impl FnMut(Hit) -> ControlFlow<()>,
) {
    let (mut at, mut before) = (0, 0);
    while let Some(piece) = SearchPiece::at(supply, at).filter(|_| goes_on()) {
        at = piece.range().end;
        let flow = match piece {
            SearchPiece::Lines(lines) => {
                hits_in_lines(supply.read(lines.clone()), lines.start, pattern, &mut before, &mut take)
            }
            SearchPiece::LongLine(line) => {
                before += 1;
                hit_in_long_line(supply, line, pattern, before, &mut take)
            }
        };
        if flow.is_break() {
            return;
        }
    }
}

/// Passes on the hits in whole lines, which start at `base`. `before` is the number of lines before them, and becomes
/// that of those after them.
fn hits_in_lines(
    lines: OwnBytes,
    base: usize,
    pattern: &Pattern,
    before: &mut u64,
    take: &mut impl FnMut(Hit) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let feeds = |range: Range<usize>| bytecount::count(lines.get(range).unwrap_or_default(), b'\n') as u64;
    let mut counted = 0;
    for whole in pattern.lines_in(lines, 0..lines.len()) {
        *before += feeds(counted..whole.start);
        counted = whole.start;
        let text = lines.part(whole.clone());
        let end = end_of(&text);
        let line = base + whole.start..base + whole.end - end;
        let text = text.part(0..text.len() - end);
        take(Hit { number: *before + 1, line, text, text_at: 0, has_return: end == 2 })?;
    }
    *before += feeds(counted..lines.len());
    ControlFlow::Continue(())
}

/// Passes on a line, with its line feed, if it has a match.
fn hit_in_long_line(
    supply: &mut impl Supply,
    line: Range<usize>,
    pattern: &Pattern,
    number: u64,
    take: &mut impl FnMut(Hit) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(at) = certain_in_line(pattern, supply, line.clone(), &mut || true)? else {
        return ControlFlow::Continue(());
    };
    let end = end_of(&supply.read(line.end - 2..line.end));
    let line = line.start..line.end - end;
    let around = at.saturating_sub(OVERLAP).max(line.start)..(at + OVERLAP).min(line.end);
    let text_at = around.start - line.start;
    take(Hit { number, line, text: supply.read(around), text_at, has_return: end == 2 })
}

/// Returns the length of the line feed or CR LF at the end of a line.
fn end_of(line: &[u8]) -> usize {
    match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hits<'a>(bytes: impl Into<OwnBytes<'a>>, pattern: &str) -> Vec<(u64, Range<usize>)> {
        let mut hits = Vec::new();
        each_hit(&mut bytes.into(), &Pattern::new(pattern).unwrap(), &|| true, |hit| {
            hits.push((hit.number, hit.line));
            ControlFlow::Continue(())
        });
        hits
    }

    #[test]
    fn lines_are_numbered_and_have_no_line_end() {
        assert_eq!(hits(b"ab\r\ncd\nxab", "ab"), [(1, 0..2), (3, 7..10)]);
        assert_eq!(hits(b"a\n\nb\n", "^$"), [(2, 2..2)]);
        assert_eq!(hits(b"", "^$"), []);
    }

    #[test]
    fn of_a_line_of_many_megabytes_what_surrounds_the_match_is_copied() {
        let len = 9 << 20;
        let text = format!("first\n{}needle{}\r\nlast needle\n", "x".repeat(len), "y".repeat(len));
        let mut found = Vec::new();
        each_hit(&mut OwnBytes::from(&*text), &Pattern::new("needle").unwrap(), &|| true, |hit| {
            found.push((hit.number, hit.line.clone(), hit.has_return));
            assert!(hit.text.windows(6).any(|word| word == b"needle") && hit.text.len() <= 2 * OVERLAP);
            assert_eq!(
                hit.text.as_slice(),
                &text.as_bytes()[hit.line.start + hit.text_at..][..hit.text.len()]
            );
            ControlFlow::Continue(())
        });
        let end = 6 + 2 * len + 6;
        assert_eq!(found, [(2, 6..end, true), (3, end + 2..end + 13, false)]);
    }

    proptest! {
        #[test]
        fn each_matching_line_is_found_once(lines in proptest::collection::vec("[ab\r\u{e9}]{0,6}", 0..40)) {
            let text = lines.join("\n");
            let expected: Vec<u64> = text.split_inclusive('\n').zip(1..)
                .filter(|(line, _)| line.contains("ab")).map(|(_, number)| number).collect();
            let found: Vec<u64> = hits(&*text, "ab").into_iter().map(|(number, _)| number).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
