//! Text for a terminal that can show nothing but ASCII.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns a similar ASCII character for a sign with which the program writes or draws.
pub fn like(sign: char) -> Option<char> {
    Some(match sign {
        '─' | '·' | '–' | '−' | '‐'..='―' | '━' | '═' => '-',
        '│' | '┊' | '▌' | '┃' | '║' => '|',
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '±' => '+',
        '…' | '░' => '.',
        '‹' | '←' | '◂' => '<',
        '›' | '→' => '>',
        '↑' => '^',
        '↓' => 'v',
        '█' | '▓' | '▇' => '#',
        '≈' => '~',
        '≠' => '!',
        _ => return None,
    })
}

/// Returns safe text in ASCII: signs of the program as similar ones, all else by number, as in `<U+00E9>`. ASCII is
/// unchanged, so styles and line feeds stay.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match like(character) {
            _ if character.is_ascii() => plain.push(character),
            Some(like) => plain.push(like),
            // Writing to a String cannot fail.
            None => drop(write!(plain, "<U+{:04X}>", u32::from(character))),
        }
    }
    plain.into()
}
