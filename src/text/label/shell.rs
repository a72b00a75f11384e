//! Quotes words for a shell: whatever a name contains, pasting it runs nothing.

use std::fmt::Write as _;

use crate::text::cells;

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
}
