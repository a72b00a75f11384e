//! Names every escape sequence and control character in a stream of bytes.

use std::collections::BTreeSet;

/// Returns the kinds of sequences and controls in `raw`: `CSI m`, `CSI ?1049h`, `OSC`, `^G`, `U+009B` and so on.
/// Numbers are left out except in modes.
pub fn kinds(raw: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(raw);
    let mut kinds = BTreeSet::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => {
                let kind = match chars.next() {
                    Some('[') => csi(&mut chars),
                    Some(']') => "OSC".into(),
                    Some('P') => "DCS".into(),
                    Some(other) => format!("ESC {other}"),
                    None => "ESC".into(),
                };
                kinds.insert(kind);
            }
            '\0'..='\x1f' => drop(kinds.insert(format!("^{}", char::from(c as u8 + b'@')))),
            '\x7f'..='\u{9f}' => drop(kinds.insert(format!("U+{:04X}", c as u32))),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' => {
                kinds.insert(format!("U+{:04X}", c as u32));
            }
            _ => {}
        }
    }
    kinds
}

fn csi(chars: &mut impl Iterator<Item = char>) -> String {
    let mut figures = String::new();
    for c in chars {
        match c {
            '\x40'..='\x7e' if figures.starts_with(['?', '>', '=', '<']) => {
                return format!("CSI {figures}{c}");
            }
            '\x40'..='\x7e' => return format!("CSI {c}"),
            _ => figures.push(c),
        }
    }
    "CSI".into()
}

#[test]
fn sequences_are_named() {
    let names = kinds(b"a\x1b[1;31mb\x1b[?25l\x1b]0;x\x07\r\n\x1bPq\x1b\\\xc2\x9b");
    let expected = ["CSI ?25l", "CSI m", "DCS", "ESC \\", "OSC", "U+009B", "^G", "^J", "^M"];
    assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
}
