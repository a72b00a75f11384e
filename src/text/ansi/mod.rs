//! Parses escape sequences: where each ends, and the style changes of the few that are applied.
//!
//! Only the 7-bit forms are recognized, following ECMA-48 and the private strings of terminals; the 8-bit ones (C1)
//! never count as a sequence here. A sequence must end within its line and within [`MAX_SEQUENCE`] bytes, and contain no
//! other control character; otherwise it is not a sequence, and the sanitiser shows its ESC as text.

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style};

#[cfg(test)]
mod tests;

/// Maximum length of a sequence in bytes, from its ESC to its last byte.
pub const MAX_SEQUENCE: usize = 4096;

pub(crate) const ESC: u8 = 0x1b;
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
        b' '..=b'/' => final_end(body, 0, b'0').map(other),
        b'0'..=b'~' => Some(other(0)),
        _ => None,
    }
}

/// Returns the bytes of each sequence, in order, with the style change if it is plain SGR.
pub(crate) fn sequences(bytes: &[u8]) -> impl Iterator<Item = (&[u8], Option<Sgr>)> {
    let mut past = 0;
    memchr::memchr_iter(ESC, bytes).filter_map(move |at| {
        let found = if at < past { None } else { sequence(&bytes[at..]) }?;
        past = at + found.len;
        Some((&bytes[at..past], found.sgr))
    })
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

/// Returns what a terminal would leave of a line: no escape sequences, the last state of progress, spaces for tabs.
pub fn printed(line: &[u8]) -> Vec<u8> {
    let line = stripped(line);
    let states = line.split(|byte| *byte == b'\r').map(<[u8]>::trim_ascii);
    let last = states.rev().find(|state| !state.is_empty()).unwrap_or_default();
    last.iter().map(|byte| if *byte == b'\t' { b' ' } else { *byte }).collect()
}

fn control_sequence(body: &[u8]) -> Option<Sequence> {
    let parameters = skip(body, 0, |byte| matches!(byte, b'0'..=b'?'));
    let end = final_end(body, parameters, b'@')?;
    let sgr = if body[parameters] == b'm' { Sgr::parse(&body[..parameters]) } else { None };
    Some(Sequence { len: 2 + end, sgr })
}

/// Returns the length of an OSC, DCS, SOS, PM, APC or title string including its terminator: ESC \, its form U+009C,
/// and BEL if `bell` is set. Any other control character makes it invalid.
fn string(body: &[u8], bell: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        at = skip(body, at, |byte| byte >= b' ' && byte != 0x7f && byte != 0xc2);
        match (body.get(at).copied()?, body.get(at + 1).copied()) {
            (BEL, _) if bell => return Some(at + 1),
            (ESC, Some(b'\\')) | (0xc2, Some(0x9c)) => return Some(at + 2),
            (0xc2, next) if !matches!(next, Some(0x80..=0x9f)) => at += 1,
            _ => return None,
        }
    }
}

/// Returns the end of what may have intermediate bytes at `at`, and then a final byte from `first` to `~`.
pub(crate) fn final_end(bytes: &[u8], at: usize, first: u8) -> Option<usize> {
    let at = skip(bytes, at, |byte| matches!(byte, b' '..=b'/'));
    (first..=b'~').contains(bytes.get(at)?).then_some(at + 1)
}

/// Returns the first position from `at` at which a byte is not as asked for.
pub(crate) fn skip(bytes: &[u8], at: usize, is_so: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_so(*byte)).unwrap_or(rest.len())
}

/// Returns the style after `bytes_before`, looking back at most [`MAX_SEQUENCE`] bytes, and not beyond the last line feed.
pub fn style_at(bytes_before: &[u8]) -> Style {
    let recent = &bytes_before[bytes_before.len().saturating_sub(MAX_SEQUENCE)..];
    let line = memchr::memrchr(b'\n', recent).map_or(recent, |at| &recent[at + 1..]);
    sequences(line).filter_map(|(_, sgr)| sgr).fold(Style::new(), |style, sgr| sgr.apply(style))
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

/// Maximum number of parameters, including sub-parameters, of a sequence that is applied.
const MAX_PARAMETERS: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sgr {
    values: [u16; MAX_PARAMETERS],
    /// Bit `n` is set if value `n` is attached to the previous one by a colon.
    colons: u32,
    len: usize,
}

impl Sgr {
    /// Parses the text between `ESC [` and `m`. None if it is private or has over 32 parameters.
    pub fn parse(parameters: &[u8]) -> Option<Self> {
        let mut sgr = Self { values: [0; MAX_PARAMETERS], colons: 0, len: 1 };
        for &byte in parameters {
            match byte {
                b'0'..=b'9' => sgr.digit(byte - b'0'),
                b';' => sgr.separate(0)?,
                b':' => sgr.separate(1)?,
                _ => return None,
            }
        }
        Some(sgr)
    }

    fn digit(&mut self, digit: u8) {
        let value = &mut self.values[self.len - 1];
        *value = value.saturating_mul(10).saturating_add(digit.into());
    }

    fn separate(&mut self, colon: u32) -> Option<()> {
        if self.len == MAX_PARAMETERS {
            return None;
        }
        self.colons |= colon << self.len;
        self.len += 1;
        Some(())
    }

    /// Applies the sequence to `style`. Conceal, blink, fonts and everything unknown change nothing.
    #[must_use]
    pub fn apply(&self, mut style: Style) -> Style {
        let mut at = 0;
        while at < self.len {
            let group = self.group(at);
            let (next, used) = match (group, &self.values[at + group.len()..self.len]) {
                ([code @ (38 | 48 | 58)], after) => self.semicolons(*code, after, at + 1, style),
                (group, _) => (grouped(group, style), group.len()),
            };
            style = next;
            at += used;
        }
        style
    }

    /// Returns the value at `at` with its sub-parameters.
    fn group(&self, at: usize) -> &[u16] {
        let hanging = (at + 1..self.len).take_while(|&n| self.colons >> n & 1 == 1).count();
        &self.values[at..=at + hanging]
    }

    /// Reads `38;5;n` or `38;2;r;g;b`: returns the style, and how many values follow the 38. Sub-parameters make it invalid.
    fn semicolons(&self, code: u16, after: &[u16], at: usize, style: Style) -> (Style, usize) {
        let count = match after.first() {
            Some(5) => 2,
            Some(2) => 4,
            _ => 0,
        }
        .min(after.len());
        let spoilt = (at..at + count).any(|n| self.colons >> n & 1 == 1);
        let color = if spoilt { None } else { color(&after[..count]) };
        (paint(code, color, style), 1 + count)
    }
}

fn grouped(group: &[u16], style: Style) -> Style {
    match *group {
        [code] => single(code, style),
        [4, kind] => underlined(kind, style),
        [code @ (38 | 48 | 58), 2, _, red, green, blue, ..] => {
            paint(code, color(&[2, red, green, blue]), style)
        }
        [code @ (38 | 48 | 58), ref rest @ ..] => paint(code, color(rest), style),
        _ => style,
    }
}

fn color(values: &[u16]) -> Option<Color> {
    let byte = |value: u16| u8::try_from(value).ok();
    match *values {
        [5, index] => Some(Ansi256Color(byte(index)?).into()),
        [2, red, green, blue] => Some(RgbColor(byte(red)?, byte(green)?, byte(blue)?).into()),
        _ => None,
    }
}

fn paint(code: u16, color: Option<Color>, style: Style) -> Style {
    match (code, color) {
        (_, None) => style,
        (38, color) => style.fg_color(color),
        (48, color) => style.bg_color(color),
        (_, color) => style.underline_color(color),
    }
}

fn single(code: u16, style: Style) -> Style {
    let add = |effect| style.effects(style.get_effects().insert(effect));
    let drop = |effect| style.effects(style.get_effects().remove(effect));
    match code {
        0 => Style::new(),
        1 => add(Effects::BOLD),
        2 => add(Effects::DIMMED),
        3 => add(Effects::ITALIC),
        4 => underlined(1, style),
        7 => add(Effects::INVERT),
        9 => add(Effects::STRIKETHROUGH),
        21 => underlined(2, style),
        22 => drop(Effects::BOLD.insert(Effects::DIMMED)),
        23 => drop(Effects::ITALIC),
        24 => underlined(0, style),
        27 => drop(Effects::INVERT),
        29 => drop(Effects::STRIKETHROUGH),
        30..=37 => style.fg_color(base_color(code - 30)),
        39 => style.fg_color(None),
        40..=47 => style.bg_color(base_color(code - 40)),
        49 => style.bg_color(None),
        59 => style.underline_color(None),
        90..=97 => style.fg_color(base_color(code - 90 + 8)),
        100..=107 => style.bg_color(base_color(code - 100 + 8)),
        _ => style,
    }
}

/// What `4:0` to `4:5` draw: nothing, or a single, double, curly, dotted or dashed line.
const UNDERLINES: [Effects; 6] = [
    Effects::new(),
    Effects::UNDERLINE,
    Effects::DOUBLE_UNDERLINE,
    Effects::CURLY_UNDERLINE,
    Effects::DOTTED_UNDERLINE,
    Effects::DASHED_UNDERLINE,
];

fn underlined(kind: u16, style: Style) -> Style {
    let without = UNDERLINES.into_iter().fold(style.get_effects(), Effects::remove);
    UNDERLINES.get(usize::from(kind)).map_or(style, |line| style.effects(without.insert(*line)))
}

fn base_color(index: u16) -> Option<Color> {
    let color: Option<AnsiColor> = u8::try_from(index).ok().and_then(|index| Ansi256Color(index).into_ansi());
    color.map(Color::from)
}
