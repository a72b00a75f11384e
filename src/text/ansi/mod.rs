//! Parses escape sequences: where each ends, and the style changes of the few that are applied.
//!
//! Only the 7-bit forms are recognized, following ECMA-48 and the private strings of terminals; the 8-bit ones (C1)
//! never count as a sequence here. A sequence must end within its line and within [`MAX_SEQUENCE`] bytes, and contain no
//! other control character; otherwise it is not a sequence, and the sanitiser shows its ESC as text.

mod sgr;

use anstyle::{AnsiColor, Color, RgbColor, Style};

pub use sgr::Sgr;

#[cfg(test)]
mod tests;

/// Maximum length of a sequence in bytes, from its ESC to its last byte.
pub const MAX_SEQUENCE: usize = 4096;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// A complete escape sequence at the start of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence {
    /// Length in bytes, including ESC and terminator.
    pub len: usize,
    /// The style change, if it is plain SGR; no other sequence may reach the terminal.
    pub sgr: Option<Sgr>,
}

/// Parses the sequence that starts with the ESC at the start of `bytes`, if it is well-formed and complete.
pub fn sequence(bytes: &[u8]) -> Option<Sequence> {
    let bytes = &bytes[..bytes.len().min(MAX_SEQUENCE)];
    let (&introducer, body) = bytes.strip_prefix(&[ESC])?.split_first()?;
    let other = |len: usize| Sequence { len: 2 + len, sgr: None };
    match introducer {
        b'[' => control_sequence(body),
        b']' => string(body, true).map(other),
        b'P' | b'X' | b'^' | b'_' | b'k' => string(body, false).map(other),
        b' '..=b'/' => charset(body).map(other),
        b'0'..=b'~' => Some(other(0)),
        _ => None,
    }
}

/// Returns a line without its escape sequences. An ESC that begins none stays.
pub fn stripped(line: &[u8]) -> Vec<u8> {
    let (mut text, mut rest) = (Vec::with_capacity(line.len()), line);
    while let Some(at) = memchr::memchr(ESC, rest) {
        let found = sequence(&rest[at..]);
        text.extend_from_slice(&rest[..at + usize::from(found.is_none())]);
        rest = &rest[at + found.map_or(1, |sequence| sequence.len)..];
    }
    text.extend_from_slice(rest);
    text
}

/// Returns what a terminal would leave of a line: no escape sequences, the last state of a line of progress, and spaces
/// for tabs.
pub fn printed(line: &[u8]) -> Vec<u8> {
    let line = stripped(line);
    let states = line.split(|byte| *byte == b'\r').map(<[u8]>::trim_ascii);
    let last = states.rev().find(|state| !state.is_empty()).unwrap_or_default();
    last.iter().map(|byte| if *byte == b'\t' { b' ' } else { *byte }).collect()
}

fn control_sequence(body: &[u8]) -> Option<Sequence> {
    let parameters = span(body, |byte| matches!(byte, b'0'..=b'?'));
    let intermediates = span(&body[parameters..], |byte| matches!(byte, b' '..=b'/'));
    let end = parameters + intermediates;
    let last = body.get(end).copied().filter(|byte| matches!(byte, b'@'..=b'~'))?;
    let sgr = if last == b'm' && intermediates == 0 { Sgr::parse(&body[..parameters]) } else { None };
    Some(Sequence { len: 2 + end + 1, sgr })
}

/// Returns the length of an OSC, DCS, SOS, PM, APC or title string including its terminator: ESC \, its form U+009C,
/// and BEL if `bell` is set. Any other control character makes it invalid.
fn string(body: &[u8], bell: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        at += span(&body[at..], |byte| byte >= b' ' && byte != 0x7f && byte != 0xc2);
        match (body.get(at).copied()?, body.get(at + 1).copied()) {
            (BEL, _) if bell => return Some(at + 1),
            (ESC, Some(b'\\')) | (0xc2, Some(0x9c)) => return Some(at + 2),
            (0xc2, next) if !matches!(next, Some(0x80..=0x9f)) => at += 1,
            _ => return None,
        }
    }
}

fn charset(body: &[u8]) -> Option<usize> {
    let intermediates = span(body, |byte| matches!(byte, b' '..=b'/'));
    body.get(intermediates).copied().filter(|byte| matches!(byte, b'0'..=b'~')).map(|_| intermediates + 1)
}

fn span(bytes: &[u8], is_inside: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !is_inside(byte)).unwrap_or(bytes.len())
}

/// Returns the style of text after `bytes_before` (of the same line), looking back at most [`MAX_SEQUENCE`] bytes, and not
/// beyond the last line feed.
pub fn style_at(bytes_before: &[u8]) -> Style {
    let recent = &bytes_before[bytes_before.len().saturating_sub(MAX_SEQUENCE)..];
    let line = memchr::memrchr(b'\n', recent).map_or(recent, |at| &recent[at + 1..]);
    let mut style = Style::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(ESC, &line[at..]) {
        let here = at + found;
        let sequence = sequence(&line[here..]);
        style = sequence.and_then(|sequence| sequence.sgr).map_or(style, |sgr| sgr.apply(style));
        at = here + sequence.map_or(1, |sequence| sequence.len);
    }
    style
}

/// Returns the same style, but without colours if text and background would have the same one.
pub fn legible(style: Style) -> Style {
    match (style.get_fg_color(), style.get_bg_color()) {
        (Some(text), Some(ground)) if canonical(text) == canonical(ground) => {
            style.fg_color(None).bg_color(None)
        }
        _ => style,
    }
}

/// Gives each colour a single representation: the 16 by name, the fixed ones of the 256 (cube and greys) by RGB value.
fn canonical(color: Color) -> Color {
    let Color::Ansi256(index) = color else { return color };
    match index.0 {
        0..=15 => index.into_ansi().map_or(color, AnsiColor::into),
        16..=231 => {
            let level = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let cube = index.0 - 16;
            RgbColor(level(cube / 36), level(cube / 6 % 6), level(cube % 6)).into()
        }
        grey @ 232.. => {
            let light = 8 + 10 * (grey - 232);
            RgbColor(light, light, light).into()
        }
    }
}
