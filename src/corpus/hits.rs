//! The lines of one output that match a pattern, with their numbers.

use std::ops::{ControlFlow, Range};

use crate::text::search::Pattern;

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The number of the line, 1-based.
    pub number: u64,
    /// The line in bytes of the output, without its line feed or CR LF.
    pub line: Range<usize>,
}

/// Bytes searched before `take` may stop the search.
const PIECE: usize = 8 << 20;

/// Passes on the matching lines in order until `take` breaks off. `goes_on` is asked every 8 MiB. Line feeds are
/// counted only up to the last match.
pub(crate) fn each_hit(
    bytes: &[u8],
    pattern: &Pattern,
    goes_on: &dyn Fn() -> bool,
    mut take: impl FnMut(Hit) -> ControlFlow<()>,
) {
    let (mut at, mut counted, mut number) = (0, 0, 1);
    while at < bytes.len() && goes_on() {
        let near = at.saturating_add(PIECE).min(bytes.len());
        let rest = bytes.get(near..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |feed| near + feed + 1);
        for whole in pattern.lines_in(bytes, at..end) {
            let before = bytes.get(counted..whole.start).unwrap_or_default();
            number += bytecount::count(before, b'\n') as u64;
            counted = whole.start;
            if take(Hit { number, line: without_end(bytes, whole) }).is_break() {
                return;
            }
        }
        at = end;
    }
}

/// Returns a line without its line feed or CR LF.
fn without_end(bytes: &[u8], line: Range<usize>) -> Range<usize> {
    let text = bytes.get(line.clone()).unwrap_or_default();
    let text = match text.strip_suffix(b"\n") {
        Some(text) => text.strip_suffix(b"\r").unwrap_or(text),
        None => text,
    };
    line.start..line.start + text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hits(bytes: &[u8], pattern: &str) -> Vec<(u64, Range<usize>)> {
        let mut hits = Vec::new();
        each_hit(bytes, &Pattern::new(pattern).unwrap(), &|| true, |hit| {
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

    proptest! {
        #[test]
        fn each_matching_line_is_found_once(lines in proptest::collection::vec("[ab\r\u{e9}]{0,6}", 0..40)) {
            let text = lines.join("\n");
            let expected: Vec<u64> = text.split_inclusive('\n').zip(1..)
                .filter(|(line, _)| line.contains("ab")).map(|(_, number)| number).collect();
            let found: Vec<u64> = hits(text.as_bytes(), "ab").into_iter().map(|(number, _)| number).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
