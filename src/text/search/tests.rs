//! Properties of searching, whole and in stretches.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;
use crate::text::ansi;

fn all<const LEN: usize>(text: &[u8; LEN], pattern: &str) -> Vec<Range<usize>> {
    Pattern::new(pattern).unwrap().in_lines(text).collect()
}

/// Finds the first match that starts in `within`. `is_wanted` is called for each stretch; returns `None` if it returns
/// false.
fn find<'a>(
    bytes: impl Into<OwnBytes<'a>>,
    pattern: &Pattern,
    within: Range<usize>,
    is_wanted: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    seek(bytes.into(), pattern, within, Toward::End, is_wanted)
}

/// Finds the last match that starts in `within`; same as [`find`] otherwise.
fn find_back<'a>(
    bytes: impl Into<OwnBytes<'a>>,
    pattern: &Pattern,
    within: Range<usize>,
    is_wanted: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    seek(bytes.into(), pattern, within, Toward::Start, is_wanted)
}

fn seek(
    mut bytes: OwnBytes,
    pattern: &Pattern,
    within: Range<usize>,
    toward: Toward,
    is_wanted: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    let stretches = Stretches::new(within.start..within.end.min(bytes.len()), toward);
    for number in 0..stretches.count() {
        let window = stretches.window(number, bytes.len());
        if !is_wanted(&window) {
            return None;
        }
        if let Some(found) = stretches.nearest(number, &mut bytes, pattern, |_| true) {
            return Some(found);
        }
    }
    None
}

#[test]
fn search_has_smart_case() {
    assert_eq!(all(b"Error error", "error").len(), 2);
    assert_eq!(all(b"Error error", "Error").len(), 1);
}

#[test]
fn no_match_holds_a_line_feed() {
    assert!(all(b"a\nb", r"a\sb").is_empty());
    assert_eq!(all(b"ab\ncd", r"[^x]+"), [0..2, 3..5]);
    assert_eq!(all(b"x \n y", r"x\s*"), vec![0..2]);
}

#[test]
fn only_literal_capitals_make_a_pattern_case_sensitive() {
    assert_eq!(all(b"ERROR 1", r"error\D\S").len(), 1);
    assert_eq!(all(b"ERROR 1", r"[E]rror").len(), 0);
}

#[test]
fn an_explicit_line_feed_is_refused() {
    let error = Pattern::new(r"ä\nb").unwrap_err();
    assert_eq!((error.why.as_str(), error.at), ("a match cannot span lines", Some(1)));
    assert_eq!(all(b"a\nb", r"[^\n]+"), [0..1, 2..3]);
}

#[test]
fn anchors_match_at_line_boundaries() {
    assert_eq!(all(b"ab\nab\n", "^a"), [0..1, 3..4]);
    assert_eq!(all(b"ab\nab\n", "b$"), [1..2, 4..5]);
    assert_eq!(all(b"ab\nab\n", r"\Aa|b\z"), [0..1, 1..2, 3..4, 4..5]);
    assert_eq!(all(b"ab\r\nab\r\n", "^ab$"), [0..3, 4..7]);
    assert_eq!(all(b"ab\rab\r\n", "b$"), vec![4..6]);
    assert_eq!(all(b"a\x1b[0m\r\n", "a$").len(), 1);
}

#[test]
fn a_bad_pattern_says_where() {
    let error = Pattern::new("ab(c").unwrap_err();
    assert_eq!(error.why, "unclosed group");
    assert_eq!(error.at, Some(2));
}

#[test]
fn backwards_finds_the_last() {
    let text = b"one two\none\ntwo";
    let one = Pattern::new("one").unwrap();
    assert_eq!(find_back(text, &one, 0..text.len(), &|_| true), Some(8..11));
    assert_eq!(find_back(text, &one, 0..8, &|_| true), Some(0..3));
    assert_eq!(find_back(text, &one, 0..8, &|_| false), None);
}

#[test]
fn a_match_longer_than_a_byte_has_its_number() {
    let text = b"one two one";
    let mut counts = MatchCounts::default();
    counts.push(11, 2);
    let one = Pattern::new("one").unwrap();
    assert_eq!(
        [
            counts.number(&mut OwnBytes::from(text), &one, 0),
            counts.number(&mut OwnBytes::from(text), &one, 8)
        ],
        [Some(1), Some(2)]
    );
}

#[test]
fn stretches_cover_the_text_and_end_at_lines() {
    let mut text = vec![b'x'; 3 * CHUNK];
    text[CHUNK + 5] = b'\n';
    for toward in [Toward::End, Toward::Start] {
        let stretches = Stretches::new(7..text.len() - 7, toward);
        let whole = |at| stretches.cut(&text, 0, at);
        let one = |n| whole(stretches.raw(n).start)..whole(stretches.raw(n).end);
        let mut all: Vec<_> = (0..stretches.count()).map(one).collect();
        all.sort_by_key(|stretch| stretch.start);
        assert_eq!((all[0].start, all[all.len() - 1].end), (7, text.len() - 7));
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
    let stretches = Stretches::new(0..text.len(), Toward::End);
    let ends = [1, 2].map(|n| stretches.cut(&text, 0, stretches.raw(n).start));
    assert_eq!(ends, [CHUNK + 6, 2 * CHUNK]);
}

#[test]
fn a_match_across_stretches_is_found_both_ways() {
    let mut text = vec![b'x'; 2 * CHUNK];
    text[CHUNK - 3..CHUNK + 3].copy_from_slice(b"needle");
    let needle = Pattern::new("needle").unwrap();
    let there = Some(CHUNK - 3..CHUNK + 3);
    assert_eq!(find(&text, &needle, 0..text.len(), &|_| true), there);
    assert_eq!(find_back(&text, &needle, 0..text.len(), &|_| true), there);
    assert_eq!(find(&text, &needle, 0..CHUNK, &|_| true), there);
    assert_eq!(find(&text, &needle, CHUNK..text.len(), &|_| true), None);
}

#[test]
fn matches_are_numbered_across_chunks() {
    let text = b"aXaXa\naX";
    let x = Pattern::new("X").unwrap();
    let mut counts = MatchCounts::default();
    counts.push(6, 2);
    assert_eq!(counts.number(&mut OwnBytes::from(text), &x, 3), Some(2));
    assert_eq!(counts.number(&mut OwnBytes::from(text), &x, 7), None);
    counts.push(8, 1);
    assert_eq!(counts.number(&mut OwnBytes::from(text), &x, 7), Some(3));
    assert_eq!(counts.total(), 3);
}

#[test]
fn a_long_match_counts_itself() {
    let text = b"an error, an error\n";
    let mut counts = MatchCounts::default();
    counts.push(text.len(), 2);
    let error = Pattern::new("error").unwrap();
    assert_eq!([3, 13].map(|at| counts.number(&mut OwnBytes::from(text), &error, at)), [Some(1), Some(2)]);
}

const PATTERNS: &[&str] = &[
    "a+",
    r"b\s",
    r"\s",
    "[^a]+",
    "^b",
    "a$",
    r"\bb",
    "a*",
    r"a\sb|b",
    "(?s)a.",
    "^ *b",
    r"(a|\W)*?b",
    r"\Ab",
    r"(?-u)[^b]{2,}",
    "(?i)A[ B]",
];

proptest! {
    #[test]
    fn searching_whole_equals_searching_each_line(text in "[ab \n]{0,60}", pattern in proptest::sample::select(PATTERNS)) {
        let pattern = Pattern::new(pattern).unwrap();
        let mut expected = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            expected.extend(pattern.in_lines(line).map(|m| start + m.start..start + m.end));
            start += line.len() + 1;
        }
        let found: Vec<_> = pattern.in_lines(&*text).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_match_passes_over_escape_sequences() {
    let cargo = b"\x1b[1m\x1b[33mwarning\x1b[0m\x1b[1m: unused variable\x1b[0m";
    for pattern in ["warning: unused", "^warning", r"\bwarning\b", "g:", "variable$", r"w\w+: u.*e$"] {
        assert_eq!((pattern, all(cargo, &format!("(?i){pattern}")).len()), (pattern, 1));
    }
    assert_eq!(all(cargo, "ning: u"), vec![12..27]);
    assert!(all(b"a\x1b[1mb", r"\bb").is_empty());
    assert!(all(b"a\x1b[mb\x1b[ma", r"\bab\b").is_empty());
    assert_eq!(Pattern::new(r"\Ba").unwrap().find_from("aaa\u{1b}[m", 2).next(), Some(2..3));
    assert_eq!(all(b"\x1b]8;;http://a\x1b\\li\x1b]8;;\x07nk", "link").len(), 1);
    assert_eq!(Pattern::new("größe").unwrap().in_lines("gr\u{1b}(Bö\u{1b}[mße").count(), 1);
    // What a terminal shows as text is text.
    assert!(all(b"a\x1b[1\x01b", "ab").is_empty());
}

/// Returns whether each line has a match, of what it is.
fn found_in_lines(text: &str, pattern: &Pattern, line: impl Fn(&str) -> Vec<u8>) -> Vec<bool> {
    text.split('\n').map(|text| pattern.certain_at((&line(text)).into(), 0).is_some()).collect()
}

proptest! {
    #[test]
    fn a_line_matches_with_or_without_its_escape_sequences(
        words in proptest::collection::vec(
            prop_oneof![4 => "[ab \n]{1,3}", 2 => "\u{1b}\\[(0;1)?m", 1 => "\u{1b}\\(0|\u{1b}7"],
            0..30,
        ),
        pattern in proptest::sample::select([PATTERNS, &["ab", "a b|ba", "b+a$", "^ab", r"\Bb", r"\bab\b"]].concat()),
    ) {
        let text = words.concat();
        let pattern = Pattern::new(pattern).unwrap();
        let found = found_in_lines(&text, &pattern, |line| line.into());
        let as_it_is = text.split('\n').map(|line| pattern.regex.is_match(line.as_bytes()));
        let without = found_in_lines(&text, &pattern, |line| ansi::stripped(line.as_bytes()));
        let expected: Vec<_> = as_it_is.zip(without).map(|(is, without)| is || without).collect();
        prop_assert_eq!(found, expected);
        let bytes = text.clone().into_bytes();
        let lines: Vec<_> = pattern.lines_in(OwnBytes::from(&bytes), 0..bytes.len()).collect();
        let of_matches = pattern.in_lines(&*text).map(|found| found.start);
        let mut of_matches = of_matches.map(|at| lines.iter().position(|line| line.contains(&at)));
        prop_assert!(of_matches.all(|line| line.is_some()));
    }
}

#[test]
fn a_pattern_with_a_required_literal_has_a_needle() {
    for pattern in [
        "the needle",
        r"\d+ms",
        r"\w+: Error",
        r"(?i)(x|ab+c)Long",
        r"[a-z]+\b Needle$",
        r"(?i)12 foo",
        "(abc){2}[xy]",
    ] {
        assert_eq!(
            (pattern, Pattern::new(pattern).unwrap().needle.is_some()),
            (pattern, pattern != r"\d+ms")
        );
    }
    for pattern in ["Needle", "Needle is [a-z]+", "a|b", "a*", "ask", "(?:abc)?d", r"[^x]+"] {
        assert_eq!((pattern, Pattern::new(pattern).unwrap().needle.is_some()), (pattern, false));
    }
}

/// Patterns with a needle: in either case, after classes, between repetitions.
const WITH_NEEDLE: &[&str] = &[
    "ab b",
    "bab",
    "aab$",
    "^ab b",
    r"\bab b\b",
    "[ab]+ab B",
    r"\S+ ABa",
    "(?:aBa)+ (?:aba)?",
    "(?R)(?i)bab$",
    "(?i)(a|b)*? [ab]ab ",
];

proptest! {
    #[test]
    fn searching_by_needle_finds_the_same_matches(
        words in proptest::collection::vec(prop_oneof![4 => "[abAB \n\r]{1,9}", 1 => " {60,200}", 1 => "(ab b|bab |aab B\r\n){1,30}"], 0..60),
        pattern in proptest::sample::select(WITH_NEEDLE),
        at in 0usize..40,
    ) {
        let text = words.concat().into_bytes();
        let pattern = Pattern::new(pattern).unwrap();
        prop_assert!(pattern.needle.is_some());
        let found: Vec<_> = pattern.in_lines(&text).collect();
        let expected: Vec<_> = pattern.regex.find_iter(&text).map(|found| found.range()).collect();
        prop_assert_eq!(found, expected);
        let at = at.min(text.len());
        prop_assert_eq!(pattern.find_from(&text, at).next(), pattern.regex.find_at(&text, at).map(|found| found.range()));
    }
}

/// Returns all matches of a pass.
fn passed(text: &[u8], pattern: &Pattern) -> Vec<Range<usize>> {
    passed_with_largest(text, pattern).0
}

/// Bytes, and the most of them that were read at once.
struct Largest<'a>(&'a Vec<u8>, usize);

impl Supply for Largest<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&mut self, range: Range<usize>) -> OwnBytes<'_> {
        self.1 = self.1.max(range.len());
        OwnBytes::from(self.0).part(range)
    }
}

/// Returns all matches of a pass, and the most bytes that it read at once.
fn passed_with_largest(text: &[u8], pattern: &Pattern) -> (Vec<Range<usize>>, usize) {
    let (text, mut found) = (text.to_vec(), Vec::new());
    let mut supply = Largest(&text, 0);
    each_match(&mut supply, pattern, &mut |range| {
        found.push(range);
        ControlFlow::Continue(())
    });
    (found, supply.1)
}

#[test]
fn a_pass_finds_the_same_matches_as_one_search() {
    let line = |n: usize| format!("{n} {} ab\n", "x".repeat(n * 37 % 900));
    let short: String = (0..4_000).map(line).collect();
    let near: String = [CHUNK - 2, CHUNK - 1, CHUNK, 5 * CHUNK].map(|n| "ab ".repeat(n / 3) + "\n").concat();
    for text in [short, near, String::new(), "ab".to_owned(), "\n\nab\n".to_owned()] {
        for pattern in ["ab", "^ab", "ab$", "[0-9]+ x*", r"\bab\b.*", "x{900}|a"] {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(passed(text.as_bytes(), &pattern), pattern.in_lines(&*text).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_line_of_many_megabytes_is_searched_in_parts() {
    let len = 20 << 20;
    let mut text = vec![b'x'; len];
    text[0] = b'a';
    for at in [CHUNK - 2, CHUNK + OVERLAP - 3, 9 << 20, len - 6] {
        text[at..at + 6].copy_from_slice(b"needle");
    }
    let text = [b"needle\n".to_vec(), text, b"\nneedle".to_vec()].concat();
    for pattern in ["needle", "needle$", "^needle", "^a", r"\bneedle", "needle.*", "ax+n", "x{9}needle"] {
        let pattern = Pattern::new(pattern).unwrap();
        let expected: Vec<_> = pattern.in_lines(&text).collect();
        assert_eq!(passed(&text, &pattern), expected, "{}", pattern.text());
    }
    let (_, largest) = passed_with_largest(&text, &Pattern::new("needle").unwrap());
    assert!(largest <= LOOK_BEHIND + CHUNK + OVERLAP, "{largest}");
    // A match that takes more than is read of a line goes on to the end of it.
    let all = Pattern::new("[^y]+$|q").unwrap();
    assert_eq!(passed(&text, &all), [0..6, 7..len + 7, len + 8..len + 14]);
}
