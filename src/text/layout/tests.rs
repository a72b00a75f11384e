//! Tests properties of rows, also at degenerate sizes.

use proptest::prelude::*;

use crate::text::cells::laws::{any_show, hostile};

use super::*;

const PAGER: &Show = &Show::PAGER;

fn text(row: &Row) -> String {
    row.cells.iter().map(|cell| cell.text.as_str()).collect()
}

fn columns(row: &Row) -> usize {
    row.cells.iter().map(|cell| usize::from(cell.width)).sum()
}

fn wrapped(bytes: &[u8], width: u16) -> Vec<String> {
    Rows::new(bytes, PAGER, Wrap::Width(width)).map(|row| text(&row)).collect()
}

fn sideways(bytes: &[u8], from_column: u64, width: u16) -> Row {
    let mut rows = Rows::new(bytes, PAGER, Wrap::Sideways { from_column, width });
    let row = rows.next().unwrap();
    assert_eq!(rows.next(), None);
    row
}

#[test]
fn rows_break_between_cells() {
    assert_eq!(wrapped(b"abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(wrapped(b"abcdef\n", 3), ["abc", "def"]);
    assert_eq!(wrapped("a日本b".as_bytes(), 4), ["a日", "本b"]);
    assert_eq!(wrapped("ab\u{202e}".as_bytes(), 7), ["ab", "<202E>"]);
    assert_eq!(wrapped(b"one two", 5), ["one t", "wo"]);
}

#[test]
fn word_wrap_breaks_after_spaces_and_slashes() {
    let by_words = |bytes: &[u8], width| -> Vec<String> {
        Rows::new(bytes, PAGER, Wrap::Words(width)).map(|row| text(&row)).collect()
    };
    assert_eq!(by_words(b"Saved to: /home/me/build.log\n", 14), ["Saved to: ", "/home/me/", "build.log"]);
    assert_eq!(by_words(b"one two", 5), ["one ", "two"]);
    assert_eq!(by_words(b"longer than a row", 4), ["long", "er ", "than", " a ", "row"]);
    assert_eq!(by_words("日本 語".as_bytes(), 4), ["日本", " 語"]);
    assert_eq!(by_words(b"", 4), [""]);
}

proptest! {
    #[test]
    fn rows_by_words_tile_the_line(line in hostile(), show in any_show(), width in 1u16..20, offset in 0usize..60) {
        let rows = || Rows::new(&line, &show, Wrap::Words(width));
        let mut end = 0;
        for row in rows() {
            prop_assert_eq!(row.start, end);
            prop_assert!(columns(&row) <= usize::from(width));
            end = row.end;
        }
        let mut wanted: Vec<_> = rows().filter(|row| row.end > offset).collect();
        if wanted.is_empty() {
            wanted.extend(rows().last());
        }
        prop_assert_eq!(rows().reaching(offset).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn reaching_yields_the_rows_from_an_offset_on(
        plain in proptest::collection::vec(prop_oneof!["[a-z ]{0,40}".prop_map(String::into_bytes), hostile()], 0..6),
        show in any_show(), width in 1u16..20, offset in 0usize..90,
    ) {
        let line = plain.concat();
        let rows = || Rows::new(&line, &show, Wrap::Width(width));
        let mut wanted: Vec<_> = rows().filter(|row| row.end > offset).collect();
        if wanted.is_empty() {
            wanted.extend(rows().last());
        }
        prop_assert_eq!(rows().reaching(offset).collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn an_empty_line_is_one_empty_row() {
    for (bytes, end) in [(&b""[..], 0), (b"\n", 1), (b"\r\n", 2)] {
        let rows: Vec<_> = Rows::new(bytes, PAGER, Wrap::Width(10)).collect();
        assert_eq!(rows, [Row { start: 0, end, cells: vec![] }]);
        assert_eq!(sideways(bytes, 0, 10), rows[0]);
    }
}

#[test]
fn a_tab_goes_to_the_next_stop_of_its_row() {
    assert_eq!(wrapped(b"abc\td", 20), ["abc     d"]);
    assert_eq!(wrapped(b"0123456789\tx", 12), ["0123456789  ", "x"]);
    assert_eq!(wrapped(b"0123456789\tx", 10), ["0123456789", "        x"]);
    assert_eq!(wrapped(b"\t\t", 3), ["   ", "   "]);
}

#[test]
fn a_character_wider_than_the_row_has_a_stand_in() {
    assert_eq!(wrapped("日本".as_bytes(), 1), [">", ">"]);
    assert_eq!(wrapped("a\u{202e}b".as_bytes(), 2), ["a", ">b"]);
    assert_eq!(wrapped("日\ta".as_bytes(), 0), [">", " ", "a"]);
}

#[test]
fn colour_continues_across_a_wrapped_row() {
    let rows: Vec<_> = Rows::new(b"\x1b[1mabcd\x1b[m", PAGER, Wrap::Width(2)).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].cells[1].look, Style::new().bold());
    assert_eq!((rows[0].start, rows[0].end, rows[1].end), (0, 6, 11));
}

#[test]
fn sideways_shows_columns() {
    let row = sideways(b"abcdefgh\n", 2, 3);
    assert_eq!((text(&row).as_str(), row.start, row.end), ("cde", 2, 5));
    let row = sideways(b"abcd\n", 2, 9);
    assert_eq!((text(&row).as_str(), row.start, row.end), ("cd", 2, 5));
    let row = sideways(b"abc\n", 7, 9);
    assert_eq!((text(&row).as_str(), row.start, row.end), ("", 4, 4));
    assert_eq!(text(&sideways(b"abc", u64::MAX, u16::MAX)), "");
}

#[test]
fn sideways_cuts_what_lies_across_an_edge() {
    assert_eq!(text(&sideways("a日b本c".as_bytes(), 2, 3)), " b ");
    assert_eq!(text(&sideways("\u{202e}\u{2066}".as_bytes(), 2, 6)), "02E><2");
    assert_eq!(text(&sideways(b"\tab", 6, 3)), "  a");
    assert_eq!(text(&sideways(b"ab\tc", 0, 4)), "ab  ");
    let row = sideways("日".as_bytes(), 1, 1);
    assert_eq!((text(&row).as_str(), row.start, row.end), (" ", 0, 3));
}

#[test]
fn sideways_keeps_the_colour_that_began_before() {
    let row = sideways(b"\x1b[1mabcd", 2, 2);
    assert_eq!(row.cells[0].look, Style::new().bold());
    assert_eq!(row.start, 6);
}

#[test]
fn one_row_of_a_long_line_reads_no_more_than_it_shows() {
    let line = vec![b'x'; 10 * ANCHOR];
    let mut rows = Rows::new(&line, PAGER, Wrap::Width(80));
    assert_eq!(rows.next().unwrap().end, 80);
    assert_eq!(rows.cells.clone().next().unwrap().start, 81);
}

#[test]
fn snapping_keeps_characters_and_crlf_whole() {
    let text = "aé日😀\r\n".as_bytes();
    let snapped: Vec<_> = (0..=text.len() + 1).map(|at| snap(text, at)).collect();
    assert_eq!(snapped, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 12, 12]);
    assert_eq!(snap(b"\x80\x80\x80\x80", 2), 2);
    assert_eq!(snap(b"\xe2\x82\xff", 2), 2);
    assert_eq!(snap(b"\xf0\x9f\x98", 3), 3);
    assert_eq!(snap(b"", 5), 0);
    assert_eq!(snap(&"x日".as_bytes()[..3], 2), 1);
    assert_eq!(snap(b"ab\xf0\x9f", 3), 2);
}

/// Returns the ends of all segments of a line.
fn ends(line: &[u8]) -> Vec<usize> {
    let next = |at: usize| (at < line.len()).then(|| segment_end(line, at));
    std::iter::successors(next(0), |at| next(*at)).collect()
}

#[test]
fn segments_are_snapped_anchors() {
    let line = ["x".repeat(ANCHOR - 1), "é".repeat(ANCHOR)].concat().into_bytes();
    assert_eq!(ends(&line), [ANCHOR - 1, 2 * ANCHOR - 1, 3 * ANCHOR - 1]);
    assert_eq!(ends(b""), [0; 0]);
    assert_eq!(ends(b"\n"), [1]);
}

#[test]
fn a_lone_line_end_is_not_a_segment() {
    for (end, content) in [("\n", ANCHOR), ("\r\n", ANCHOR), ("\r\n", ANCHOR - 1), ("\n", 2 * ANCHOR)] {
        let ends = ends(format!("{}{end}", "x".repeat(content)).as_bytes());
        assert_eq!(ends.last(), Some(&(content + end.len())));
        assert_eq!(ends.len(), content.div_ceil(ANCHOR), "{ends:?}");
        assert_eq!(ends[0], content.min(ANCHOR) + if content <= ANCHOR { end.len() } else { 0 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn wrapped_rows_tile_the_line_within_the_width(bytes in hostile(), show in any_show(), width in 0..30_u16) {
        let mut at = 0;
        for row in Rows::new(&bytes, &show, Wrap::Width(width)) {
            prop_assert_eq!(row.start, at);
            prop_assert!(columns(&row) <= usize::from(width.max(1)));
            prop_assert!(row.cells.first().is_none_or(|cell| cell.start as usize == row.start));
            at = row.end;
        }
        let line = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
        prop_assert_eq!(at, line);
    }

    #[test]
    fn only_the_last_row_may_be_empty_of_columns(bytes in hostile(), width in 1..30_u16) {
        let rows: Vec<_> = Rows::new(&bytes, PAGER, Wrap::Width(width)).collect();
        prop_assert!(rows[..rows.len() - 1].iter().all(|row| columns(row) > 0));
        prop_assert!(rows.len() == 1 || columns(&rows[rows.len() - 1]) > 0);
    }

    #[test]
    fn a_wide_row_shows_what_the_cells_are(bytes in hostile(), show in any_show()) {
        let cells = Cells::new(&bytes, &show).filter(|cell| cell.kind != CellKind::LineEnd);
        let cells: Vec<_> = cells.collect();
        let row = Rows::new(&bytes, &show, Wrap::Width(u16::MAX)).next().unwrap();
        prop_assert_eq!(&row.cells, &cells);
    }

    #[test]
    fn sideways_is_a_window_onto_the_whole(bytes in hostile(), from in 0..80_u64, width in 1..40_u16) {
        let row = sideways(&bytes, from, width);
        let all = columns(&sideways(&bytes, 0, u16::MAX));
        prop_assert_eq!(columns(&row), all.saturating_sub(from as usize).min(width.into()));
        prop_assert!(row.start <= row.end && row.end <= bytes.len());
        for cell in &row.cells {
            prop_assert_eq!(usize::from(cell.width), unicode_width::UnicodeWidthStr::width(cell.text.as_str()));
        }
    }

    #[test]
    fn snapping_splits_no_character_and_needs_few_bytes(text in "[a日é😀\r\n\u{301}]{0,12}", at in 0..40_usize) {
        let snapped = snap(text.as_bytes(), at);
        prop_assert!(text.is_char_boundary(snapped) && snapped <= at.min(text.len()));
        prop_assert!(snapped + 3 >= at.min(text.len()));
        if at < text.len() {
            let from = at.saturating_sub(3);
            prop_assert_eq!(from + snap(&text.as_bytes()[from..at + 1], at - from), snapped);
        }
    }

    #[test]
    fn segments_tile(bytes in prop::collection::vec(prop::sample::select(&b"a\xc3\xa9\xe2\x82\xac\r"[..]), 0..9), ends in any::<bool>()) {
        let mut line = vec![b'x'; 2 * ANCHOR - 4];
        line.extend(bytes);
        line.extend(ends.then_some(b'\n'));
        let mut at = 0;
        while at < line.len() {
            let end = segment_end(&line, at);
            prop_assert!(end > at && end - at <= ANCHOR + 5);
            at = end;
        }
    }
}
