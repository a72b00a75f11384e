//! Tests where sequences end, and what SGR does.

use anstyle::{Ansi256Color, Effects};
use proptest::prelude::*;

use super::*;

#[test]
fn only_whole_sequences_are_found() {
    let len = |bytes: &[u8]| sequences(bytes).map(|(sequence, _)| sequence.len()).sum::<usize>();
    assert_eq!(len(b""), 0);
    assert_eq!(len(b"\x1b[31mred\x1b[0m"), 9);
    assert_eq!(len(b"\x1b]0;title\x07x"), 10);
    assert_eq!(len(b"\x1b\x1b[3"), 0);
}

#[test]
fn a_sequence_ends_where_its_grammar_says() {
    let table: &[(&[u8], Option<usize>)] = &[
        (b"\x1b[mx", Some(3)),
        (b"\x1b[1;2 qx", Some(7)),
        (b"\x1b[?25hx", Some(6)),
        (b"\x1b[1", None),
        (b"\x1b[ 1m", None),
        (b"\x1b[1\x7fm", None),
        (b"\x1b(Bx", Some(3)),
        (b"\x1b( #Bx", Some(5)),
        (b"\x1b(", None),
        (b"\x1b(\n", None),
        (b"\x1b=x", Some(2)),
        (b"\x1b~", Some(2)),
        (b"\x1b\x7f", None),
        (b"\x1b", None),
        (b"", None),
        (b"x", None),
        (b"\x1b]0;\x07x", Some(5)),
        (b"\x1b]0;\x1b\\x", Some(6)),
        ("\x1b]0;Âé\u{a0}ĂÂ\x07".as_bytes(), Some(15)),
        (b"\x1b]0;\x1b[", None),
        (b"\x1b]0;\x1b", None),
        (b"\x1b]0;\n\x07", None),
        (b"\x1b]\xc2", None),
        (b"\x1bPq\x07\x1b\\", None),
        (b"\x1bPq\xff\x1b\\", Some(6)),
    ];
    for (bytes, len) in table {
        assert_eq!(sequence(bytes).map(|sequence| sequence.len), *len, "{}", bytes.escape_ascii());
    }
}

#[test]
fn only_plain_sgr_is_obeyed() {
    let is_sgr = |bytes: &[u8]| sequence(bytes).is_some_and(|sequence| sequence.sgr.is_some());
    for yes in ["\x1b[m", "\x1b[0m", "\x1b[38:2::1:2:3m", "\x1b[;;m", "\x1b[99999999999m"] {
        assert!(is_sgr(yes.as_bytes()), "{yes:?}");
    }
    for no in ["\x1b[?1m", "\x1b[>4;2m", "\x1b[1<m", "\x1b[1 m", "\x1b[1M", "\x1bm"] {
        assert!(!is_sgr(no.as_bytes()), "{no:?}");
    }
    assert!(is_sgr(format!("\x1b[{}m", "1;".repeat(31)).as_bytes()));
    assert!(!is_sgr(format!("\x1b[{}m", "1;".repeat(32)).as_bytes()));
}

fn styled(parameters: &str) -> Style {
    Sgr::parse(parameters.as_bytes()).unwrap().apply(Style::new())
}

fn fg(color: impl Into<Color>) -> Style {
    Style::new().fg_color(Some(color.into()))
}

#[test]
fn the_whitelist_is_applied() {
    let effect = |effects: Effects| Style::new().effects(effects);
    let table = [
        ("", Style::new()),
        ("1", effect(Effects::BOLD)),
        ("2;3", effect(Effects::DIMMED | Effects::ITALIC)),
        ("4", effect(Effects::UNDERLINE)),
        ("4:3", effect(Effects::CURLY_UNDERLINE)),
        ("4;4:2", effect(Effects::DOUBLE_UNDERLINE)),
        ("21", effect(Effects::DOUBLE_UNDERLINE)),
        ("4:4;4:5", effect(Effects::DASHED_UNDERLINE)),
        ("4;4:0", Style::new()),
        ("4:3;24", Style::new()),
        ("7;9", effect(Effects::INVERT | Effects::STRIKETHROUGH)),
        ("1;2;3;7;9;22;23;27;29", Style::new()),
        ("31", fg(AnsiColor::Red)),
        ("97", fg(AnsiColor::BrightWhite)),
        ("31;39", Style::new()),
        ("44", Style::new().bg_color(Some(AnsiColor::Blue.into()))),
        ("100;49", Style::new()),
        ("38;5;208", fg(Ansi256Color(208))),
        ("38:5:208", fg(Ansi256Color(208))),
        ("38;2;1;2;3", fg(RgbColor(1, 2, 3))),
        ("38:2:1:2:3", fg(RgbColor(1, 2, 3))),
        ("38:2::1:2:3", fg(RgbColor(1, 2, 3))),
        ("38:2:0:1:2:3:0:0", fg(RgbColor(1, 2, 3))),
        ("48;5;1;1", Style::new().bg_color(Some(Ansi256Color(1).into())).bold()),
        ("58;2;1;2;3", Style::new().underline_color(Some(RgbColor(1, 2, 3).into()))),
        ("58:5:9;59", Style::new()),
        ("1;0", Style::new()),
        ("1;", Style::new()),
    ];
    for (parameters, style) in table {
        assert_eq!(styled(parameters), style, "{parameters}");
    }
}

#[test]
fn other_parameters_change_nothing() {
    for parameters in
        ["5", "6", "8", "10", "11", "20", "26", "28", "50", "51", "53", "73", "256", "65535", "1:2", "4:9"]
    {
        assert_eq!(styled(parameters), Style::new(), "{parameters}");
    }
}

#[test]
fn an_invalid_colour_consumes_its_parameters() {
    for parameters in
        ["38;5;256", "38;2;1;2;999", "38;5", "38;2;1;2", "38", "38:5", "38:2:1:2", "38:7:1", "38;5:1"]
    {
        assert_eq!(styled(parameters), Style::new(), "{parameters}");
    }
    assert_eq!(styled("38;5;256;1"), Style::new().bold());
    assert_eq!(styled("38;2;1;4;999;1"), Style::new().bold());
    assert_eq!(styled("38;9;1"), Style::new().effects(Effects::BOLD | Effects::STRIKETHROUGH));
}

#[test]
fn style_at_follows_the_escapes_earlier_in_the_line() {
    let bold_red = fg(AnsiColor::Red).bold();
    assert_eq!(style_at(b""), Style::new());
    assert_eq!(style_at(b"\x1b[1mx\x1b[31my"), bold_red);
    assert_eq!(style_at(b"\x1b[1m\nx"), Style::new());
    assert_eq!(style_at(b"\x1b[1m\n\x1b[31m"), fg(AnsiColor::Red));
    assert_eq!(style_at(b"\x1b[1m\x1b[31"), Style::new().bold());
    assert_eq!(style_at(b"\x1b]0;\x1b[1m"), Style::new().bold());
    let long = |distance: usize| [&b"\x1b[1m"[..], &vec![b'x'; distance - 4]].concat();
    assert_eq!(style_at(&long(MAX_SEQUENCE)), Style::new().bold());
    assert_eq!(style_at(&long(MAX_SEQUENCE + 1)), Style::new());
}

#[test]
fn legible_leaves_other_colours_alone() {
    let style = fg(Ansi256Color(16)).bg_color(Some(RgbColor(0, 0, 1).into()));
    assert_eq!(legible(style), style);
    assert_eq!(legible(fg(Ansi256Color(16)).bg_color(Some(RgbColor(0, 0, 0).into()))), Style::new());
    assert_eq!(canonical(Ansi256Color(255).into()), RgbColor(238, 238, 238).into());
    assert_eq!(canonical(Ansi256Color(231).into()), RgbColor(255, 255, 255).into());
    assert_eq!(canonical(Ansi256Color(9).into()), AnsiColor::BrightRed.into());
}

proptest! {
    #[test]
    fn a_sequence_stays_in_its_line_and_its_length(body in prop::collection::vec(any::<u8>(), 0..40)) {
        let bytes = [b"\x1b", &body[..]].concat();
        if let Some(found) = sequence(&bytes) {
            prop_assert!((2..=bytes.len()).contains(&found.len));
            prop_assert!(!bytes[..found.len].contains(&b'\n'));
        }
    }

    #[test]
    fn styles_can_be_written_and_read_back(parameters in "[0-9;:]{0,30}") {
        if let Some(sgr) = Sgr::parse(parameters.as_bytes()) {
            let style = sgr.apply(Style::new());
            prop_assert_eq!(style_at(style.render().to_string().as_bytes()), style);
        }
    }
}

#[test]
fn printed_gives_a_line_as_a_terminal_leaves_it() {
    let table: [(&[u8], &[u8]); 6] = [
        (b"  plain ", b"plain"),
        (b"\x1b[1mbold\x1b[0m \x1b]0;title\x07end", b"bold end"),
        (b"10%\r50%\r100%\r", b"100%"),
        (b"a\tb", b"a b"),
        (b"\x1b", b"\x1b"),
        (b"\r\r", b""),
    ];
    for (line, left) in table {
        assert_eq!(printed(line).escape_ascii().to_string(), left.escape_ascii().to_string());
    }
}
