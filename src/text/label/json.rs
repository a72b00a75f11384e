//! JSON that is safe to print on a terminal: invisible, control and reordering characters are written as `\\uXXXX`.

use std::io;

use serde_json::ser::{Formatter, Serializer};

use crate::text::cells;

/// Writes a value as JSON on one line, without a line feed. Escapes controls (including C1 and DEL), and bidirectional,
/// tag and other invisible characters; those beyond the BMP as two surrogates.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl io::Write, value: &impl serde::Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Escaping)).map_err(io::Error::from)
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut from = 0;
        for (at, character) in text.char_indices().filter(|(_, character)| !cells::is_plain(*character)) {
            out.write_all(&text.as_bytes()[from..at])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            from = at + character.len_utf8();
        }
        out.write_all(&text.as_bytes()[from..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write(&mut out, &text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_obeys_and_hides_nothing() {
        let table = [
            ("plain ä 日本 😀\u{301}", "plain ä 日本 😀\u{301}"),
            ("\u{7f}\u{9b}31m\u{85}", r"\u007f\u009b31m\u0085"),
            ("txt.\u{202e}exe\u{2066}\u{200b}", r"txt.\u202eexe\u2066\u200b"),
            ("a\u{e0068}\u{2028}b", r"a\udb40\udc68\u2028b"),
            ("\n\u{1b}\"", r#"\n\u001b\""#),
        ];
        for (text, expected) in table {
            assert_eq!(written(text), format!("\"{expected}\""));
            assert_eq!(serde_json::from_str::<String>(&written(text)).unwrap(), text);
        }
    }
}
