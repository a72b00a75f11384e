//! Tests each byte class, by table.

use anstyle::AnsiColor;

use super::*;

pub(super) fn sanitize(bytes: &[u8], show: &Show) -> Vec<Cell> {
    Cells::new(bytes, show).collect()
}

/// Writes out the cells: names of controls in `[]`, sequences as text in `()`, hidden ones as `{}`, the
/// line's end as `$`.
pub(super) fn drawn(bytes: &[u8], show: &Show) -> String {
    let write = |cell: Cell| match cell.kind {
        CellKind::Control => format!("[{}]", cell.text),
        CellKind::Escape => format!("({})", cell.text),
        CellKind::Hidden => "{}".to_owned(),
        CellKind::LineEnd => "$".to_owned(),
        _ => cell.text.to_string(),
    };
    Cells::new(bytes, show).map(write).collect::<String>().replace(")(", "")
}

fn check(show: &Show, table: &[(&[u8], &str)]) {
    for (bytes, expected) in table {
        assert_eq!(drawn(bytes, show), *expected, "{:?}", bytes.escape_ascii().to_string());
    }
}

fn check_text(show: &Show, table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(drawn(text.as_bytes(), show), *expected, "{text:?}");
    }
}

fn widths(text: &str) -> Vec<u8> {
    Cells::new(text.as_bytes(), &Show::PAGER).map(|cell| cell.width).collect()
}

#[test]
fn plain_text_is_shown_unchanged() {
    let same = [
        "",
        "plain ~",
        "é",
        "e\u{301}",
        "日本語",
        "한글",
        "ελληνικά",
        "עברית",
        "⠋⠙ │ ▌",
        "a\u{a0}b\u{3000}c",
        "\u{fffd}",
    ];
    for text in same {
        assert_eq!(drawn(text.as_bytes(), &Show::PAGER), text);
    }
}

#[test]
fn widths_are_those_of_the_one_table() {
    assert_eq!(widths("ae\u{301}日😀"), [1, 1, 2, 2]);
    assert_eq!(widths("👨‍👩‍👧 1️⃣ ❤️ 🇫🇷 👍🏽"), [2, 1, 2, 1, 2, 1, 2, 1, 2]);
}

#[test]
fn line_ends() {
    check(
        &Show::PAGER,
        &[(b"\n", "$"), (b"a\nb", "a$"), (b"a\r\nb", "a$"), (b"a\r", "a[^M]"), (b"a\r\r\n", "a[^M]$")],
    );
    check(&Show::MODEL, &[(b"a\r\n", "a[^M]$"), (b"a\n", "a$")]);
}

#[test]
fn controls_are_named() {
    let table: &[(&[u8], &str)] = &[
        (b"a\rb", "a[^M]b"),
        (b"a\x08b", "a[^H]b"),
        (b"\0\x01\x1f", "[^@][^A][^_]"),
        (b"\x7f", "[^?]"),
        (b"\x07", "[^G]"),
        (b"\x1b", "[^[]"),
        ("\u{80}\u{9b}31m\u{9f}".as_bytes(), "[<80>][<9B>]31m[<9F>]"),
        ("\u{9d}52;c;AA\u{9c}".as_bytes(), "[<9D>]52;c;AA[<9C>]"),
        ("\u{85}\u{2028}\u{2029}".as_bytes(), "[<85>][<2028>][<2029>]"),
    ];
    check(&Show::PAGER, table);
    check(&Show::RAW, table);
}

#[test]
fn bytes_that_are_not_utf_8() {
    let table: &[(&[u8], &str, &str)] = &[
        (b"a\xffb", "a[<FF>]b", "a\u{fffd}b"),
        (b"\xe2\x82", "[<E2>][<82>]", "\u{fffd}"),
        (b"\xe2\x82\x28", "[<E2>][<82>](", "\u{fffd}("),
        (b"\xed\xa0\x80", "[<ED>][<A0>][<80>]", "\u{fffd}\u{fffd}\u{fffd}"),
        (b"\xf4\x90\x80\x80", "[<F4>][<90>][<80>][<80>]", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        (b"\xc0\xaf", "[<C0>][<AF>]", "\u{fffd}\u{fffd}"),
        (b"\xf0\x9f\x98\n", "[<F0>][<9F>][<98>]$", "\u{fffd}$"),
        (b"e\xcc", "e[<CC>]", "e\u{fffd}"),
    ];
    for (bytes, hex, replaced) in table {
        assert_eq!(drawn(bytes, &Show::PAGER), *hex);
        assert_eq!(drawn(bytes, &Show::MODEL), *replaced);
        assert_eq!(drawn(bytes, &Show::MODEL).replace('$', "\n"), String::from_utf8_lossy(bytes));
    }
}

#[test]
fn bidi_and_invisible_characters_are_named() {
    let named = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\
        \u{ad}\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}\u{180e}\u{180f}\u{200b}\u{200c}\u{200d}\u{2060}\
        \u{2064}\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff9}\u{fffb}\u{e0001}\u{e0041}\u{e0100}\u{e0fff}\u{fe00}\u{fe0e}\u{fe0f}";
    for c in named.chars() {
        let name = format!("[<{:02X}>]", c as u32);
        assert_eq!(drawn(format!("a{c}b").as_bytes(), &Show::PAGER), format!("a{name}b"));
        assert_eq!(drawn(format!("中{c}").as_bytes(), &Show::MODEL), format!("中{name}"));
    }
}

#[test]
fn private_unassigned_and_nonexistent_characters_are_named() {
    check_text(
        &Show::PAGER,
        &[
            ("\u{e000}\u{f8ff}", "[<E000>][<F8FF>]"),
            ("\u{378}\u{fdd0}\u{ffff}", "[<378>][<FDD0>][<FFFF>]"),
            ("\u{f0000}\u{10ffff}", "[<F0000>][<10FFFF>]"),
        ],
    );
}

#[test]
fn joiners_and_selectors_are_kept_only_in_emoji() {
    check_text(
        &Show::PAGER,
        &[
            ("👨‍👩‍👧", "👨‍👩‍👧"),
            ("🏳️‍🌈", "🏳️‍🌈"),
            ("👩🏽‍🚀", "👩🏽‍🚀"),
            ("❤️", "❤️"),
            ("©\u{fe0e}", "©\u{fe0e}"),
            ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
            ("1\u{fe0f}x", "1[<FE0F>]x"),
            ("👨\u{200d}", "👨[<200D>]"),
            ("👨\u{fe0e}\u{200d}👩", "👨\u{fe0e}[<200D>]👩"),
            ("👨\u{200d}\u{1ff12}", "👨[<200D>][<1FF12>]"),
            ("👨\u{200d}a", "👨[<200D>]a"),
            ("a\u{200d}👨", "a[<200D>]👨"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}[<FE0F>]"),
            ("क्\u{200d}ष", "क्[<200D>]ष"),
            ("👨\u{301}\u{200d}👩", "👨\u{301}[<200D>]👩"),
        ],
    );
}

#[test]
fn a_mark_without_a_letter_stands_on_a_dotted_circle() {
    check_text(
        &Show::PAGER,
        &[
            ("\u{301}a", "\u{25cc}\u{301}a"),
            ("\t\u{301}", "        \u{25cc}\u{301}"),
            ("\u{202e}\u{301}", "[<202E>]\u{25cc}\u{301}"),
            ("\u{903}", "\u{25cc}\u{903}"),
            ("🏽", "[<1F3FD>]"),
            ("👍\u{1b}[m🏽 🏽", "👍[<1F3FD>] 🏽"),
            ("\u{1175}", "[<1175>]"),
        ],
    );
    assert_eq!(widths("\u{301}"), [1]);
}

#[test]
fn a_grapheme_has_8_points_and_32_bytes_at_most() {
    let stacked = |marks: usize| format!("a{}", "\u{301}".repeat(marks));
    assert_eq!(drawn(stacked(7).as_bytes(), &Show::PAGER), stacked(7));
    assert_eq!(drawn(stacked(8).as_bytes(), &Show::PAGER), stacked(7) + "\u{fffd}");
    assert_eq!(drawn((stacked(500) + "b").as_bytes(), &Show::PAGER), stacked(7) + "\u{fffd}b");
    let chain = ["👨"; 9].join("\u{200d}");
    let cells = sanitize(chain.as_bytes(), &Show::PAGER);
    assert_eq!(cells[0].text.as_str(), "👨\u{200d}👨\u{200d}👨\u{200d}👨");
    assert_eq!(cells[1].text.as_str(), "\u{fffd}");
    assert_eq!((cells.len(), cells[1].end()), (2, chain.len()));
}

#[test]
fn a_million_marks_are_one_letter_and_one_mark() {
    let bomb = format!("x{}y", "\u{301}\u{fe20}".repeat(500_000));
    let cells = sanitize(bomb.as_bytes(), &Show::PAGER);
    let kinds: Vec<_> = cells.iter().map(|cell| cell.kind).collect();
    assert_eq!(kinds, [CellKind::Text, CellKind::Replaced, CellKind::Text]);
    assert_eq!(cells[2].start as usize, bomb.len() - 1);
    let jamo = "\u{1100}".repeat(100_000);
    assert_eq!(sanitize(jamo.as_bytes(), &Show::PAGER).len(), 2);
}

#[test]
fn tabs_reach_their_stop() {
    check(
        &Show::PAGER,
        &[(b"\tx", "        x"), (b"ab\tc\td", "ab      c       d"), (b"12345678\tx", "12345678        x")],
    );
    let four = Show { tab: 4, ..Show::PAGER };
    check_text(&four, &[("日\tx", "日  x"), ("\u{1b}[1ma\tx", "a   x")]);
    check(&Show { tab: 0, ..Show::PAGER }, &[(b"a\tb", "a[^I]b")]);
    assert_eq!(sanitize(b"\t", &Show { tab: 255, ..Show::PAGER })[0].width, 32);
}

#[test]
fn an_ascii_terminal_gets_ascii() {
    let ascii = Show { ascii: true, ..Show::PAGER };
    check_text(
        &ascii,
        &[
            ("aé", "a[<U+00E9>]"),
            ("e\u{301}", "e[<U+0301>]"),
            ("😀", "[<U+1F600>]"),
            ("\u{202e}", "[<202E>]"),
            ("~\u{7f}", "~[^?]"),
        ],
    );
    check(&Show { ascii: true, ..Show::MODEL }, &[(b"\xff", "?")]);
}

#[test]
fn colours_become_styles_and_marks_stay_plain() {
    let cells = sanitize(b"a\x1b[31mb\x07\x1b[mc", &Show::PAGER);
    let kinds: Vec<_> = cells.iter().map(|cell| cell.kind).collect();
    assert_eq!(
        kinds,
        [CellKind::Text, CellKind::Style, CellKind::Text, CellKind::Control, CellKind::Style, CellKind::Text]
    );
    assert_eq!(cells[0].look, Style::new());
    assert_eq!(cells[2].look, AnsiColor::Red.on_default());
    assert_eq!(cells[3].look, Style::new());
    assert_eq!(cells[5].look, Style::new());
}

#[test]
fn a_sequence_as_text_is_one_run() {
    let table: &[(&[u8], &str)] = &[
        (b"a\x1b[31mb", "a(^[[31m)b"),
        (b"\x1b[1m\x1b[0mx\x1b", "(^[[1m^[[0m)x[^[]"),
        (b"\x1b]0;t\x1b\\x", "(^[]0;t^[\\)x"),
        (b"\x1b]0;t\x07x\x07", "(^[]0;t^G)x[^G]"),
        ("\x1b]0;é日\x07x".as_bytes(), "(^[]0;é日^G)x"),
        (b"\x1b[31\nm", "[^[][31$"),
    ];
    check(&Show::MODEL, table);
    check(&Show::RAW, table);
    let look = Style::new().bold();
    let cells: Vec<_> = Cells::new(b"x", &Show::RAW).with_style(look).collect();
    assert_eq!(cells[0].look, Style::new(), "where sequences are text they style nothing");
}

#[test]
fn a_style_is_carried_only_where_it_is_asked_for() {
    let mut cells = Cells::new(b"\x1b[1;44m", &Show::PAGER);
    assert_eq!(cells.by_ref().count(), 1);
    let style = cells.state;
    assert_eq!(style, Style::new().bold().bg_color(Some(AnsiColor::Blue.into())));
    assert_eq!(Cells::new(b"x", &Show::PAGER).with_style(style).next().unwrap().look, style);
    assert_eq!(Cells::new(b"x", &Show::PAGER).next().unwrap().look, Style::new());
}

#[test]
fn cell_ranges_index_the_given_slice() {
    let ranges: Vec<_> = Cells::new("é\x1b]0;t\x07\u{200b}😀\r\n".as_bytes(), &Show::PAGER)
        .map(|cell| cell.start as usize..cell.end())
        .collect();
    assert_eq!(ranges, [0..2, 2..8, 8..11, 11..15, 15..17]);
}

#[test]
fn no_text_is_copied_more_than_a_few_times() {
    let family = "👨\u{200d}👩\u{200d}👧 ";
    let stack = format!("a{}", "\u{301}".repeat(200));
    let reph = format!("{}क्ष", "\u{d4e}".repeat(20));
    let parts =
        ["\u{1161}", "\u{1100}", "\u{d4e}", "\u{301}", "👨\u{200d}", "🇫", "🇫a", "ก็", "1\u{fe0f}\u{20e3}"];
    for part in parts.into_iter().chain([family, &stack, &reph]) {
        let text = part.repeat(65536 / part.len());
        grapheme::COPIED.set(0);
        let cells = Cells::new(text.as_bytes(), &Show::PAGER).count();
        let copied = grapheme::COPIED.get();
        assert!(cells > 0 && copied <= 4 * text.len(), "{part:?}: {copied} bytes");
    }
}

#[test]
fn the_first_cell_costs_a_window() {
    let text = "👨\u{200d}👩 ".repeat(6000);
    grapheme::COPIED.set(0);
    Cells::new(text.as_bytes(), &Show::PAGER).next();
    assert!((1..600).contains(&grapheme::COPIED.get()));
}

#[test]
fn common_text_is_not_copied_at_all() {
    grapheme::COPIED.set(0);
    assert_eq!(Cells::new("plain, héllo, текст, 日本語、한글 ✓ ─│".as_bytes(), &Show::PAGER).count(), 32);
    assert_eq!(grapheme::COPIED.get(), 0);
}
