//! Quotes text, whatever it contains: as a word for a shell, so that pasting it runs nothing, and as JSON that is safe to
//! print on a terminal, with invisible, control and reordering characters as `\\uXXXX`.

use std::fmt::Write as _;
use std::io;

use serde_json::ser::{Formatter, Serializer};
use unicode_width::UnicodeWidthChar;

use crate::text::cells::{self, Show};

/// Returns a single word for bash, zsh and ksh that stands for exactly these bytes. Quotes are used only where needed:
/// single quotes, or `$'..'` if something must be escaped. The word never contains a control character.
pub fn word(bytes: &[u8]) -> String {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./,:@%+=-".contains(byte);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && bytes.iter().all(is_bare) => text.to_owned(),
        Ok(text) if text.chars().all(cells::is_plain) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => escaped(bytes),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut word = "$'".to_owned();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\'' | '\\' => word.extend(['\\', character]),
                _ if cells::is_plain(character) => word.push(character),
                _ => octal(&mut word, character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        octal(&mut word, chunk.invalid());
    }
    word + "'"
}

fn octal(word: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(word, "\\{byte:03o}");
    }
}

/// Writes a value as JSON on one line, without a line feed. Escapes controls (including C1 and DEL), and bidirectional,
/// tag and other invisible characters; those beyond the BMP as two surrogates. For a `terminal`, also escapes
/// combining marks that would not fit its cells, or all but ASCII if it shows nothing else.
pub fn write_json(
    out: &mut impl io::Write,
    value: &impl serde::Serialize,
    terminal: Option<&Show>,
) -> io::Result<()> {
    let escaping = Escaping { terminal: terminal.copied() };
    value.serialize(&mut Serializer::with_formatter(out, escaping)).map_err(io::Error::from)
}

/// Maximum number of code points in a cell of a terminal.
const MAX_POINTS: usize = 8;

struct Escaping {
    terminal: Option<Show>,
}

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let (mut from, mut points) = (0, 0);
        for (at, character) in text.char_indices() {
            points = if character.width() == Some(0) { points + 1 } else { 1 };
            // One more than the characters before it that it may share a cell with.
            let fits = |show: Show| !show.ascii && points <= MAX_POINTS || character.is_ascii();
            if cells::is_plain(character) && self.terminal.is_none_or(fits) {
                continue;
            }
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

    #[test]
    fn a_word_is_one_word_and_has_no_controls() {
        let table: &[(&[u8], &str)] = &[
            (b"/tmp/out-1.log", "/tmp/out-1.log"),
            (b"", "''"),
            (b"a b", "'a b'"),
            (b"it's $(x)", r"'it'\''s $(x)'"),
            ("näme 日本".as_bytes(), "'näme 日本'"),
            (b"a\ntouch pwned\n", r"$'a\012touch pwned\012'"),
            (b"it's\x1b[31m\\", r"$'it\'s\033[31m\\'"),
            (b"\xff", r"$'\377'"),
            ("\u{202e}".as_bytes(), r"$'\342\200\256'"),
        ];
        for (bytes, expected) in table {
            assert_eq!(word(bytes), *expected);
        }
    }

    fn written(text: &str) -> String {
        written_for(None, text)
    }

    fn written_for(terminal: Option<Show>, text: &str) -> String {
        let mut out = Vec::new();
        write_json(&mut out, &text, terminal.as_ref()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_output_is_escaped_and_complete() {
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

    #[test]
    fn a_terminal_gets_few_marks_per_cell_and_a_program_gets_all() {
        let marks = format!("e{}b", "\u{301}".repeat(5000));
        assert_eq!(written(&marks), format!("\"{marks}\""));
        let shown = written_for(Some(Show::MODEL), &marks);
        let kept = format!("\"e{}", "\u{301}".repeat(7));
        assert!(
            shown.starts_with(&format!("{kept}\\u0301\\u0301")) && shown.ends_with("\\u0301b\""),
            "{shown}"
        );
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), marks);
        let ascii = Show { ascii: true, ..Show::MODEL };
        assert_eq!(written_for(Some(ascii), "é😀~"), r#""\u00e9\ud83d\ude00~""#);
    }
}
