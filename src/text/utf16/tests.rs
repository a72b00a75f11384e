use proptest::prelude::*;

use super::*;
use crate::text::cells::Show;
use crate::text::layout::{Rows, Wrap};
use crate::text::search::Pattern;
use crate::text::supply::OwnBytes;

use ByteOrder::{Big, Little};

fn bytes_of(text: &str, order: ByteOrder) -> Vec<u8> {
    text.encode_utf16().flat_map(|unit| order.bytes(unit)).collect()
}

/// Returns the lines of a file with their offsets, as the index of line feeds sees them.
fn lines(file: &[u8]) -> Vec<(usize, &[u8])> {
    let mut at = 0;
    file.split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            at += line.len();
            (at - line.len(), line)
        })
        .collect()
}

fn text_of(line: &[u8], order: ByteOrder, at: u64) -> String {
    String::from_utf8(LineText::new(line, Some(order), at).into_bytes()).unwrap()
}

/// Returns the text of a file, decoded line by line.
fn decoded(file: &[u8], order: ByteOrder) -> Vec<String> {
    lines(file).into_iter().map(|(at, line)| text_of(line, order, at as u64)).collect()
}

/// Returns the matches in a file, decoded.
fn found(pattern: &str, text: &str, order: ByteOrder) -> Vec<String> {
    let file = bytes_of(text, order);
    let pattern = Pattern::in_text(pattern, Some(order)).unwrap();
    let text = |found: std::ops::Range<usize>| text_of(&file[found.clone()], order, found.start as u64);
    let found: Vec<_> = pattern.in_lines(OwnBytes::from(&file).at(0)).collect();
    // `lines_in` finds the same lines.
    let whole: Vec<_> = pattern.lines_in(OwnBytes::from(&file).at(0), 0..file.len()).collect();
    assert!(found.iter().all(|found| whole.iter().any(|line| line.contains(&found.start))));
    assert!(
        whole.iter().all(|line| found.iter().any(|found| line.contains(&found.start))),
        "{whole:?} {found:?}"
    );
    found.into_iter().map(text).collect()
}

#[test]
fn detects_utf16_by_its_mark_or_by_nuls_between_letters() {
    for order in [Little, Big] {
        assert_eq!(ByteOrder::detect(&bytes_of("\u{feff}", order)), Some(order));
        assert_eq!(ByteOrder::detect(&bytes_of("\u{feff}日本", order)), Some(order));
        assert_eq!(ByteOrder::detect(&bytes_of("eight le\r\n\tters", order)), Some(order));
        assert_eq!(ByteOrder::detect(&bytes_of("seven l", order)), None, "too little to tell");
        assert_eq!(ByteOrder::detect(&bytes_of("with one \u{1} control", order)), None);
    }
    let utf32: Vec<u8> = "\u{feff}ab".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    for other in
        [&b""[..], b"\xff", b"plain text, and more", &[0; 64], &utf32, b"a\0b\0c\0d\0e\0f\0g\0hij\0k\0l\0"]
    {
        assert_eq!(ByteOrder::detect(other), None, "{other:?}");
    }
}

#[test]
fn decodes_utf16_by_the_lines_of_the_index() {
    let text = "\u{feff}one\r\n\r\ntwo 日本 🎉 e\u{301}\n";
    let expected = ["one\r\n", "\r\n", "two 日本 🎉 e\u{301}\n"];
    assert_eq!(decoded(&bytes_of(text, Big), Big), expected);
    // The second half of the last line feed is a line of its own, without text.
    assert_eq!(decoded(&bytes_of(text, Little), Little), [&expected[..], &[""]].concat());
}

#[test]
fn invalid_units_are_replaced() {
    assert_eq!(text_of(b"a\0\x00\xd8b\0", Little, 0), "a\u{fffd}b", "half of a pair");
    assert_eq!(text_of(b"a\0b", Little, 0), "a\u{fffd}", "half of a unit");
    assert_eq!(text_of(b"\x01a\0", Little, 7), "\u{fffd}a", "the other half");
    // U+010A has the byte of a line feed: it ends the line.
    assert_eq!(decoded(&bytes_of("aĊb", Little), Little), ["a\n", "\u{fffd}b"]);
    assert_eq!(decoded(&bytes_of("aĊb", Big), Big), ["aĊ", "b"]);
}

#[test]
fn searches_utf16_as_decoded_text() {
    let text = "\u{feff}Error: žluť 日本 🎉🎊\r\nno error\r\nwarning [12]\r\n";
    for order in [Little, Big] {
        let found = |pattern| found(pattern, text, order);
        assert_eq!(found("error"), ["Error", "error"], "{order:?}");
        assert_eq!(found("Error"), ["Error"]);
        assert_eq!(found("ž.*?ť|[日-本]+"), ["žluť", "日本"]);
        assert_eq!(found("[🎊-🎤]|\\[\\d+\\]"), ["🎊", "[12]"]);
        assert_eq!(found("^(no|warning) e?"), ["no e", "warning "], "at the start of lines");
        assert_eq!(found("^Err"), ["Err"], "behind the mark");
        assert_eq!(found("\\]$"), ["]\r"]);
        assert_eq!(found("[\u{6700}-\u{6710}]"), [""; 0], "half of two letters");
        assert_eq!(found("nothing"), [""; 0]);
    }
    for (pattern, what) in [("\\berror", "word boundaries"), ("(?-u:\\xff)", "single bytes")] {
        let error = Pattern::in_text(pattern, Some(Little)).unwrap_err();
        assert_eq!(error.why, format!("no search for {what} in UTF-16"));
    }
}

proptest! {
    #[test]
    fn a_class_matches_its_characters_and_no_others(range: (char, char), c: char, big: bool) {
        let order = if big { Big } else { Little };
        let (start, end) = (range.0.min(range.1), range.0.max(range.1));
        let bytes = bytes_of(&c.to_string(), order);
        prop_assume!(!bytes.contains(&b'\n'));
        let pattern = format!("(?-i)^[\\x{{{:x}}}-\\x{{{:x}}}]$", u32::from(start), u32::from(end));
        let pattern = Pattern::in_text(&pattern, Some(order)).unwrap();
        prop_assert_eq!(pattern.in_lines(&bytes).next().is_some(), (start..=end).contains(&c));
    }

    #[test]
    fn rows_and_cells_tile_the_bytes_whatever_they_are(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(b'a'), Just(b'\n')], 1..200),
        at in 0..4u64,
        big: bool,
        width in 1..20u16,
    ) {
        let order = if big { Big } else { Little };
        let decoded = LineText::new(&bytes, Some(order), at);
        let rows = Rows::new(decoded.bytes(), &Show::PAGER, Wrap::Width(width));
        let mut end = 0;
        for row in rows.map(|row| decoded.in_source(row)) {
            prop_assert_eq!(row.start, end);
            for pair in row.cells.windows(2) {
                prop_assert_eq!(pair[0].end(), pair[1].start as usize);
            }
            prop_assert!(row.cells.last().is_none_or(|cell| cell.end() <= row.end));
            end = row.end;
        }
        prop_assert!(end <= bytes.len());
        for source in 0..bytes.len() {
            let index = decoded.index_of(source);
            prop_assert!(str::from_utf8(decoded.bytes()).unwrap().is_char_boundary(index));
        }
    }
}
