//! The names of keys: as help shows them, and as the configuration writes them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_width::UnicodeWidthChar;

const ALT: &str = "Alt-";

/// Returns the name of a key press: `n`, `^D`, `PgDn`, `Alt-v`.
pub fn name(key: KeyEvent) -> Option<String> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = if key.modifiers.contains(KeyModifiers::ALT) { ALT } else { "" };
    let name = match key.code {
        KeyCode::Char(c) if control => format!("^{}", c.to_ascii_uppercase()),
        KeyCode::F(n) => format!("F{n}"),
        KeyCode::BackTab => "Tab".to_owned(),
        code => match (NAMED.iter().find(|(named, ..)| *named == code), code) {
            (Some((.., shown)), _) => (*shown).to_owned(),
            (None, KeyCode::Char(c)) => c.to_string(),
            _ => return None,
        },
    };
    Some(format!("{alt}{name}"))
}

/// Keys with names: as the configuration writes them, in lower case, and as help shows them.
const NAMED: [(KeyCode, &str, &str); 15] = [
    (KeyCode::Char(' '), "space", "Space"),
    (KeyCode::Enter, "enter", "Enter"),
    (KeyCode::Esc, "esc", "Esc"),
    (KeyCode::Tab, "tab", "Tab"),
    (KeyCode::Backspace, "backspace", "Backspace"),
    (KeyCode::Up, "up", "↑"),
    (KeyCode::Down, "down", "↓"),
    (KeyCode::Left, "left", "←"),
    (KeyCode::Right, "right", "→"),
    (KeyCode::Home, "home", "Home"),
    (KeyCode::End, "end", "End"),
    (KeyCode::PageUp, "pgup", "PgUp"),
    (KeyCode::PageDown, "pgdn", "PgDn"),
    (KeyCode::Insert, "ins", "Ins"),
    (KeyCode::Delete, "del", "Del"),
];

const LAST_FUNCTION: u8 = 12;

/// Reads a key of the configuration: `n`, `ctrl-d`, `pgdn`, `alt-v`, also as help shows it: `^D`. Returns its name as
/// help shows it, or which keys there are.
pub(super) fn parse(text: &str) -> Result<String, String> {
    match text.split_at_checked(ALT.len()) {
        Some((alt, key)) if alt.eq_ignore_ascii_case(ALT) => Ok(format!("{ALT}{}", without_alt(key)?)),
        _ => without_alt(text),
    }
}

fn without_alt(text: &str) -> Result<String, String> {
    let low = text.to_lowercase();
    if let Some((.., shown)) = NAMED.iter().find(|(_, name, shown)| *name == low || *shown == text) {
        return Ok((*shown).to_owned());
    }
    let number = low.strip_prefix('f').and_then(|number| number.parse().ok());
    if let Some(number) = number.filter(|number| (1..=LAST_FUNCTION).contains(number)) {
        return Ok(format!("F{number}"));
    }
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) => single(c),
        _ => {
            let letter = low.strip_prefix("ctrl-").or_else(|| low.strip_prefix('^')).unwrap_or_default();
            control(letter).unwrap_or_else(|| Err(not_a_key(text)))
        }
    }
}

fn single(c: char) -> Result<String, String> {
    if c.is_ascii_digit() {
        Err(format!("\"{c}\" begins a count; choose another key"))
    } else if c.is_whitespace() || c.width().unwrap_or(0) == 0 {
        Err(not_a_key(&c.escape_default().to_string()))
    } else {
        Ok(c.to_string())
    }
}

fn control(letter: &str) -> Option<Result<String, String>> {
    let &[byte @ b'a'..=b'z'] = letter.as_bytes() else { return None };
    let taken = match byte {
        b'i' => Some("terminals send Tab for it; write \"tab\""),
        b'm' => Some("terminals send Enter for it; write \"enter\""),
        b'z' => Some("it suspends overspill; choose another key"),
        _ => None,
    };
    Some(match taken {
        Some(why) => Err(format!("\"ctrl-{letter}\" cannot be used: {why}")),
        None => Ok(format!("^{}", char::from(byte.to_ascii_uppercase()))),
    })
}

fn not_a_key(text: &str) -> String {
    let text = crate::base::fs::plain_file::ellipsize(text);
    let named: Vec<&str> = NAMED.iter().map(|(_, name, _)| *name).collect();
    let named = named.join(", ");
    format!(
        "{text:?} is not a key; keys are single characters, ctrl-a to ctrl-z, f1 to f{LAST_FUNCTION}, {named}, \
         and each of them with alt- before it"
    )
}

/// Returns the character that a key press types, if it types one.
pub(in crate::tui) fn character(key: KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(c) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => Some(c),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_help_shows_it_or_as_words() {
        let cases = [
            ("n", "n"),
            ("N", "N"),
            ("^", "^"),
            ("ö", "ö"),
            ("ctrl-n", "^N"),
            ("Ctrl-N", "^N"),
            ("^N", "^N"),
            ("Space", "Space"),
            ("PgDn", "PgDn"),
            ("up", "↑"),
            ("↑", "↑"),
            ("f10", "F10"),
            ("F1", "F1"),
            ("alt-v", "Alt-v"),
            ("Alt-V", "Alt-V"),
            ("alt-ctrl-d", "Alt-^D"),
            ("alt-up", "Alt-↑"),
        ];
        for (text, name) in cases {
            assert_eq!(parse(text).as_deref(), Ok(name));
        }
    }

    #[test]
    fn every_key_of_the_table_can_be_written_as_it_is_shown() {
        for row in super::super::table::TABLE.iter().filter(|row| !row.name.is_empty()) {
            for key in row.keys.split(' ') {
                assert_eq!(parse(key).as_deref(), Ok(key));
            }
        }
    }

    #[test]
    fn a_word_that_is_no_key_is_reported_with_the_keys() {
        let all = "keys are single characters, ctrl-a to ctrl-z, f1 to f12, space, enter, esc, tab, backspace, up, \
                   down, left, right, home, end, pgup, pgdn, ins, del, and each of them with alt- before it";
        for text in ["ctl-n", "", "f13", "f0", "ctrl-é", "alt", "nn", "0-9"] {
            assert_eq!(parse(text), Err(format!("{text:?} is not a key; {all}")));
        }
        assert!(parse(" ").is_err() && parse("\u{301}").is_err() && parse("\u{202e}").is_err());
        assert_eq!(parse("5"), Err("\"5\" begins a count; choose another key".into()));
        let cannot = |key, why| Err(format!("\"{key}\" cannot be used: {why}"));
        assert_eq!(parse("^I"), cannot("ctrl-i", "terminals send Tab for it; write \"tab\""));
        assert_eq!(parse("ctrl-z"), cannot("ctrl-z", "it suspends overspill; choose another key"));
    }
}
