//! Select Graphic Rendition: the allowed parameters that may change a style.

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style};

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

    /// Handles `38;5;n` and `38;2;r;g;b`: returns the style, and how many values after the 38 were used. Sub-parameters
    /// of any of them invalidate the colour.
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

const UNDERLINES: Effects = Effects::UNDERLINE
    .insert(Effects::DOUBLE_UNDERLINE)
    .insert(Effects::CURLY_UNDERLINE)
    .insert(Effects::DOTTED_UNDERLINE)
    .insert(Effects::DASHED_UNDERLINE);

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
        24 => drop(UNDERLINES),
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

/// Handles `4:0` to `4:5`: none, single, double, curly, dotted, dashed.
fn underlined(kind: u16, style: Style) -> Style {
    let without = style.get_effects().remove(UNDERLINES);
    match kind {
        0 => style.effects(without),
        1 => style.effects(without.insert(Effects::UNDERLINE)),
        2 => style.effects(without.insert(Effects::DOUBLE_UNDERLINE)),
        3 => style.effects(without.insert(Effects::CURLY_UNDERLINE)),
        4 => style.effects(without.insert(Effects::DOTTED_UNDERLINE)),
        5 => style.effects(without.insert(Effects::DASHED_UNDERLINE)),
        _ => style,
    }
}

fn base_color(index: u16) -> Option<Color> {
    let color: Option<AnsiColor> = u8::try_from(index).ok().and_then(|index| Ansi256Color(index).into_ansi());
    color.map(Color::from)
}
