//! Properties that hold for every input.

use proptest::prelude::*;

use super::tests::sanitize;
use super::*;

pub(crate) fn any_show() -> impl Strategy<Value = Show> {
    let escapes = prop_oneof![Just(Escapes::Render), Just(Escapes::Visible)];
    let invalid = prop_oneof![Just(Invalid::Hex), Just(Invalid::Replacement)];
    (escapes, invalid, prop_oneof![Just(8), any::<u8>()], any::<bool>())
        .prop_map(|(escapes, invalid, tab, ascii)| Show { escapes, invalid, tab, ascii, utf16: None })
}

/// Generates bytes in which the relevant parts are common.
pub(crate) fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let text = |parts: &'static [&'static str]| {
        prop::sample::select(parts).prop_map(|part| part.as_bytes().to_vec())
    };
    let part = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..4),
        any::<char>().prop_map(|c| c.to_string().into_bytes()),
        text(&[
            "\x1b[31m",
            "\x1b[0;38;5;9m",
            "\x1b]0;",
            "\x1b\\",
            "\x1bP",
            "\x1b[",
            "\x07",
            "\x1b",
            "\u{9b}",
            "m"
        ]),
        text(&[
            "\u{200d}", "\u{fe0f}", "\u{fe0e}", "\u{20e3}", "1", "👨", "🏽", "❤", "🇫", "\u{301}", "\u{903}"
        ]),
        text(&["a", "hello", "日", "क्ष", "\u{1100}", "\u{1161}", "\u{202e}", "\u{e0041}", "\t", "\r", "\n"]),
        ("[\u{300}-\u{30f}]", 1..600_usize).prop_map(|(mark, times)| mark.repeat(times).into_bytes()),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// Whether nothing in `text` acts on a terminal or is invisible.
pub(crate) fn is_safe(text: &str) -> bool {
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let emoji = |c: char| matches!(c as u32, 0xa9..=0xae | 0x203c..=0x3299 | 0x1f000..=0x1faff | 0xfe0f);
        let kept = match c {
            '\u{200d}' => emoji(before) && emoji(next),
            '\u{fe0e}' | '\u{fe0f}' => emoji(before) || next == '\u{20e3}',
            _ => !c.is_control() && grapheme::class(c) == ScalarClass::Plain,
        };
        if !kept {
            return false;
        }
        before = c;
    }
    true
}

fn first_line(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cells_are_safe_and_small(bytes in hostile(), show in any_show()) {
        let cells = sanitize(&bytes, &show);
        for cell in &cells {
            prop_assert!(is_safe(cell.text.as_str()), "{cell:?}");
            prop_assert!(cell.text.len() <= CellText::MAX);
            prop_assert!(cell.text.as_str().chars().count() <= 32);
            prop_assert!(!show.ascii || cell.text.as_str().is_ascii());
            prop_assert_eq!(cell.width > 0, cell.kind.is_drawn());
            prop_assert_eq!(cell.text.as_str().is_empty(), !cell.kind.is_drawn());
        }
        let joined: String = cells.iter().map(|cell| cell.text.as_str()).collect();
        prop_assert!(is_safe(&joined), "{joined:?}");
    }

    #[test]
    fn cells_tile_the_line(bytes in hostile(), show in any_show()) {
        let mut at = 0;
        for cell in Cells::new(&bytes, &show) {
            prop_assert_eq!(cell.start as usize, at);
            prop_assert!(cell.len > 0);
            at = cell.end();
        }
        prop_assert_eq!(at, first_line(&bytes));
    }

    #[test]
    fn the_width_is_that_of_the_text(bytes in hostile(), show in any_show()) {
        for cell in Cells::new(&bytes, &show) {
            prop_assert_eq!(usize::from(cell.width), unicode_width::UnicodeWidthStr::width(cell.text.as_str()));
        }
    }

    #[test]
    fn no_visible_text_is_lost(text in "[ -~é日\u{301}]{0,60}") {
        let cells = sanitize(text.as_bytes(), &Show::MODEL);
        let joined: String = cells.iter().map(|cell| cell.text.as_str()).collect();
        prop_assert_eq!(joined.replace('\u{25cc}', "").len() + cells.iter().map(surplus).sum::<usize>(), text.len());
    }
}

fn surplus(cell: &Cell) -> usize {
    if cell.kind == CellKind::Replaced { cell.len as usize - cell.text.len() } else { 0 }
}
