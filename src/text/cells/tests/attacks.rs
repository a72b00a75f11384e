//! Known attacks on terminals and pagers: none gets a sequence through, and all are visible in the raw view.

use super::tests::{drawn, sanitize};
use super::*;

const ATTACKS: &[(&str, &[u8], &str)] = &[
    ("window title, OSC 0", b"a\x1b]0;rm -rf\x07b", "a{}b"),
    ("title, ended by ST", b"a\x1b]2;x\x1b\\b", "a{}b"),
    ("ended by ST in its 8-bit form", b"a\x1b]2;x\xc2\x9cb", "a{}b"),
    ("link, OSC 8", b"\x1b]8;;https://evil.example/\x1b\\text\x1b]8;;\x1b\\", "{}text{}"),
    ("clipboard, OSC 52", b"\x1b]52;c;cm0gLXJm\x07", "{}"),
    ("clipboard read", b"\x1b]52;c;?\x07", "{}"),
    ("font, OSC 50", b"\x1b]50;?\x07", "{}"),
    ("notification, OSC 777", b"\x1b]777;notify;a;b\x1b\\", "{}"),
    ("iTerm2 file, OSC 1337", b"\x1b]1337;File=name=a:AAAA\x07", "{}"),
    ("shell integration, OSC 133", b"\x1b]133;A\x07", "{}"),
    ("colour query, OSC 11", b"\x1b]11;?\x1b\\", "{}"),
    ("DECRQSS", b"\x1bP$q\"p\x1b\\", "{}"),
    ("DECRQSS with text (CVE-2008-2383, CVE-2022-45872)", b"\x1bP$q;ls;\x1b\\", "{}"),
    ("title report", b"\x1b[21t", "{}"),
    ("device attributes", b"\x1b[c\x1b[>c\x1b[0c\x1bZ", "{}{}{}{}"),
    ("cursor report", b"\x1b[6n", "{}"),
    ("cursor and erase", b"good\x1b[2K\x1b[1Gevil\x1b[5A", "good{}{}evil{}"),
    ("modes", b"\x1b[?1049h\x1b[?1000h\x1b[>4;2m\x1b[?25l", "{}{}{}{}"),
    ("reset and charset", b"\x1bc\x1b(0\x1b)B\x1b#8\x1b%@", "{}{}{}{}{}"),
    ("answer back", b"\x05", "[^E]"),
    ("ESC G Q", b"\x1bGQ", "{}Q"),
    ("screen title", b"\x1bktitle\x1b\\", "{}"),
    ("SOS, PM, APC", b"\x1bXa\x1b\\\x1b^b\x1b\\\x1b_Gi=1;AAAA\x1b\\", "{}{}{}"),
    ("8-bit CSI and OSC in UTF-8", b"\xc2\x9b31m\xc2\x9d0;t\x07", "[<9B>]31m[<9D>]0;t[^G]"),
    ("8-bit CSI, bare", b"\x9b31m", "[<9B>]31m"),
    ("less CVE-2022-46663: OSC 8 that does not end well", b"\x1b]8;;\x1b[31mx", "[^[]]8;;x"),
    ("less#781: never completed for the file", b"\x1b]8;;http://e\n\x1b\\", "[^[]]8;;http://e$"),
    ("CSI cut by the line's end", b"\x1b[31\n", "[^[][31$"),
    ("CSI cut by a control", b"\x1b[3\x081m", "[^[][3[^H]1m"),
    ("CSI cut by a character", "\x1b[3é1m".as_bytes(), "[^[][3é1m"),
    ("ESC ESC", b"\x1b\x1b[31mx", "[^[]x"),
    ("ESC at the end", b"x\x1b", "x[^[]"),
    ("ESC before a character", "\x1bé".as_bytes(), "[^[]é"),
    ("OSC broken by a C1 control", b"\x1b]0;a\xc2\x9bb\x07", "[^[]]0;a[<9B>]b[^G]"),
    ("shift out", b"\x0e\x0f", "[^N][^O]"),
    ("Trojan Source", "/*\u{202e} }\u{2066}if\u{2069} */".as_bytes(), "/*[<202E>] }[<2066>]if[<2069>] */"),
    ("tags (hidden instructions)", "a\u{e0068}\u{e0069}".as_bytes(), "a[<E0068>][<E0069>]"),
];

#[test]
fn the_pager_obeys_no_sequence() {
    for (name, bytes, expected) in ATTACKS {
        assert_eq!(drawn(bytes, &Show::PAGER), *expected, "{name}");
    }
}

#[test]
fn the_raw_view_hides_nothing() {
    for (name, bytes, _) in ATTACKS {
        for show in [Show::RAW, Show::MODEL] {
            let cells = sanitize(bytes, &show);
            let silent = cells.iter().filter(|cell| cell.width == 0 && cell.kind != CellKind::LineEnd);
            assert_eq!(silent.count(), 0, "{name}");
            assert!(cells.iter().all(|cell| cell.look == Style::new()), "{name}");
        }
    }
}

#[test]
fn a_sequence_over_4_kib_is_text() {
    let osc = |len: usize| [b"\x1b]0;", "t".repeat(len - 5).as_bytes(), b"\x07"].concat();
    assert_eq!(drawn(&osc(4096), &Show::PAGER), "{}");
    assert!(drawn(&osc(4097), &Show::PAGER).starts_with("[^[]]0;ttt"));
}

#[test]
fn concealed_and_blinking_text_is_seen() {
    for bytes in [&b"\x1b[8msecret"[..], b"\x1b[5;6msecret", b"\x1b[11msecret"] {
        let cells = sanitize(bytes, &Show::PAGER);
        assert_eq!(cells.iter().filter(|cell| cell.look == Style::new()).count(), 7);
    }
}

#[test]
fn text_in_its_background_colour_stays_visible() {
    let same =
        ["31;41", "97;107", "38;5;1;41", "38;5;196;48;2;255;0;0", "38;2;8;8;8;48;5;232", "38:5:20;48:5:20"];
    for parameters in same {
        let cells = sanitize(format!("\x1b[1;{parameters}mx").as_bytes(), &Show::PAGER);
        assert_eq!(cells[1].look, Style::new().bold(), "{parameters}");
    }
    let again = sanitize(b"\x1b[31;41m\x1b[44mx", &Show::PAGER);
    assert!(again[2].look.get_fg_color().is_some() && again[2].look.get_bg_color().is_some());
}

#[test]
fn ten_thousand_parameters_are_hidden() {
    let many = format!("\x1b[{}mx", "1;".repeat(1_000));
    assert_eq!(drawn(many.as_bytes(), &Show::PAGER), "{}x");
    let too_long = format!("\x1b[{}mx", "1;".repeat(10_000));
    assert!(drawn(too_long.as_bytes(), &Show::PAGER).starts_with("[^[][1;1;"));
}
