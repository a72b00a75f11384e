//! Where two texts of one output differ: the one that a model got, and the one that a policy makes.

use std::ops::Range;

use super::align::{PieceOrigin, align};

/// A stretch in which two texts differ, as a range in bytes of each. One of the two may be empty.
pub(crate) type DifferingRanges = [Range<usize>; 2];

/// Returns where two texts differ, in order; of both, what is left of it is the same. `None` if `wanted` says so.
pub(crate) fn differences(one: &str, other: &str, wanted: &dyn Fn() -> bool) -> Option<Vec<DifferingRanges>> {
    let start = common(one.chars(), other.chars());
    let mut found = Vec::new();
    let mut at = [start, start];
    if one.len() > start && other.len() > start {
        for piece in align(&one[start..], &other.as_bytes()[start..], wanted)? {
            let PieceOrigin::Same(range) = piece.origin else { continue };
            push_lines(
                &mut found,
                [one, other],
                [at[0]..start + piece.text.start, at[1]..start + range.start],
            );
            at = [start + piece.text.end, start + range.end];
        }
    }
    push_lines(&mut found, [one, other], [at[0]..one.len(), at[1]..other.len()]);
    Some(found)
}

/// Returns the length in bytes of what two texts begin with, or end with.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// Adds what differs in a stretch: line by line, if it has as many lines in both.
fn push_lines(found: &mut Vec<DifferingRanges>, texts: [&str; 2], stretch: DifferingRanges) {
    let [lines, others] = [0, 1].map(|n| {
        let lines = texts[n][stretch[n].clone()].split_inclusive('\n');
        lines.map(str::len).collect::<Vec<_>>()
    });
    if lines.len() != others.len() {
        return push(found, texts, stretch);
    }
    let mut at = stretch.map(|range| range.start);
    for (line, other) in lines.into_iter().zip(others) {
        let next = [at[0] + line, at[1] + other];
        push(found, texts, [at[0]..next[0], at[1]..next[1]]);
        at = next;
    }
}

/// Adds what differs in a stretch, without its common beginning and end.
fn push(found: &mut Vec<DifferingRanges>, texts: [&str; 2], stretch: DifferingRanges) {
    let [one, other] = [0, 1].map(|n| &texts[n][stretch[n].clone()]);
    let start = common(one.chars(), other.chars());
    let end = common(one[start..].chars().rev(), other[start..].chars().rev());
    let ranges = stretch.map(|range| range.start + start..range.end - end);
    if ranges.iter().any(|range| !range.is_empty()) {
        let back = to_line(found.last(), texts, &ranges);
        found.push(ranges.map(|range| range.start - back..range.end - back));
    }
}

/// Returns by how much what one text alone has goes back to the start of its line, where it reads the same; else 0.
fn to_line(last: Option<&DifferingRanges>, texts: [&str; 2], ranges: &DifferingRanges) -> usize {
    let Some(empty) = ranges.iter().position(Range::is_empty) else { return 0 };
    let (text, alone) = (texts[1 - empty], &ranges[1 - empty]);
    let line = text[..alone.start].rfind('\n').map_or(0, |at| at + 1);
    let back = alone.start - line;
    let is_free = |n: usize| last.map_or(0, |last| last[n].end) + back <= ranges[n].start;
    let reads_same = text[..alone.end].ends_with(&text[line..alone.start]);
    if is_free(0) && is_free(1) && reads_same { back } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn differing(one: &str, other: &str) -> Vec<(String, String)> {
        let found = differences(one, other, &|| true).unwrap();
        found.into_iter().map(|[a, b]| (one[a].to_owned(), other[b].to_owned())).collect()
    }

    fn pair(one: &str, other: &str) -> (String, String) {
        (one.to_owned(), other.to_owned())
    }

    #[test]
    fn figures_of_a_notice_are_set_off_one_by_one() {
        let one = "first line\n[8.7 KB cut, see /s.txt]\n[kept 30 lines]\nlast line\n";
        let other = "first line\n[9 KB cut, see /t.txt]\n[kept 31 lines]\nlast line\n";
        assert_eq!(differing(one, other), [pair("8.7 KB cut, see /s", "9 KB cut, see /t"), pair("0", "1")]);
    }

    #[test]
    fn lines_that_one_alone_has_are_a_difference_with_nothing() {
        let (one, other) =
            ("a line of text\nmore of the text\nthe end of it\n", "a line of text\nthe end of it\n");
        assert_eq!(differing(one, other), [pair("more of the text\n", "")]);
        let (one, other) = ("line 6\nline 7\nline 8\nline 9\n", "line 6\nline 8\nline 9\n");
        assert_eq!(differing(one, other), [pair("line 7\n", "")], "from the start of the line");
        assert_eq!(differing(other, one), [pair("", "line 7\n")]);
        assert_eq!(differing("é", "è"), [pair("é", "è")]);
        assert_eq!(differing(one, one), []);
        assert_eq!(differing("", "x"), [pair("", "x")]);
    }

    #[test]
    fn an_unwanted_comparison_is_not_made() {
        assert_eq!(differences("one text", "an other", &|| false), None);
    }

    proptest! {
        #[test]
        fn either_text_is_the_other_with_what_differs_replaced(
            texts in prop::array::uniform2(prop::collection::vec(
                prop_oneof![
                    Just("a line of some text\n"), Just("another line, longer than that\n"), Just("\n"), Just("é"),
                    Just("[12 lines cut]\n"), Just("\u{1b}[31m"), Just("\r\n"), Just("\u{FFFD}"), Just("x"),
                ],
                0..12,
            )),
        ) {
            let [one, other] = texts.map(|parts| parts.concat());
            let found = differences(&one, &other, &|| true).unwrap();
            let (mut made, mut at) = (String::new(), [0, 0]);
            for [a, b] in &found {
                prop_assert!(at[0] <= a.start && at[1] <= b.start && !(a.is_empty() && b.is_empty()));
                prop_assert_eq!(&one[at[0]..a.start], &other[at[1]..b.start]);
                made += &one[at[0]..a.start];
                made += &other[b.clone()];
                at = [a.end, b.end];
            }
            made += &one[at[0]..];
            prop_assert_eq!(&made, &other);
            let first = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            prop_assert!(found.first().is_none_or(|[a, _]| a.start <= first));
            prop_assert_eq!(found.is_empty(), one == other);
        }
    }
}
