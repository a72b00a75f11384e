//! UTF-16 in a file of bytes: whether a file is, its text with the place of each character, and patterns that match it.
//!
//! A line ends with the byte of a line feed, as in all other files: the other half of the line feed, where it comes second,
//! is the first byte of the next line.

mod decoded;

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind, Look, Repetition};

pub use decoded::LineText;

#[cfg(test)]
mod tests;

/// How much of a file is looked at to identify it, in bytes.
const LOOK: usize = 4096;

/// A file without a mark is not taken for UTF-16 below this many bytes.
const MIN_UNMARKED: usize = 16;

words! {
    /// Which half of a unit comes first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ByteOrder {
        Little => "UTF-16, little-endian",
        Big => "UTF-16, big-endian",
    }
}

impl ByteOrder {
    /// Returns the order of a file with a byte-order mark, or at whose start every other byte is NUL, and the rest is text.
    pub fn detect(file: &[u8]) -> Option<Self> {
        let start = &file[..file.len().min(LOOK)];
        let [first, second, ..] = *start else { return None };
        match [first, second] {
            // The same bytes begin the mark of UTF-32.
            [0xff, 0xfe] => return (start.get(2..4) != Some(&[0, 0])).then_some(Self::Little),
            [0xfe, 0xff] => return Some(Self::Big),
            [0, 0] => return None,
            [_, 0] | [0, _] if start.len() >= MIN_UNMARKED => {}
            _ => return None,
        }
        let order = if first == 0 { Self::Big } else { Self::Little };
        let is_text = |byte: u8| matches!(byte, b'\t'..=b'\r' | 0x1b | b' '..=b'~');
        let is_ascii = |unit: &[u8; 2]| {
            let [high, low] = order.unit(*unit).to_be_bytes();
            high == 0 && is_text(low)
        };
        start.as_chunks().0.iter().all(is_ascii).then_some(order)
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }
}

/// Returns the bytes of a file without the second half of a line feed at its end, which is no line.
pub fn without_half(file: &[u8]) -> &[u8] {
    match file {
        [lines @ .., 0] if lines.ends_with(b"\n") && ByteOrder::detect(file) == Some(ByteOrder::Little) => {
            lines
        }
        _ => file,
    }
}

/// Returns the pattern that matches the bytes of what `pattern` matches as text.
///
/// # Errors
/// It has something without such a form, which the message names.
pub(super) fn encoded(pattern: Hir, order: ByteOrder) -> Result<Hir, &'static str> {
    let all = |subs: Vec<Hir>| subs.into_iter().map(|sub| encoded(sub, order)).collect::<Result<_, _>>();
    Ok(match pattern.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => {
            let text = str::from_utf8(&literal.0).map_err(|_| "single bytes")?;
            let bytes: Vec<u8> = text.encode_utf16().flat_map(|unit| order.bytes(unit)).collect();
            if bytes.contains(&b'\n') { Hir::fail() } else { Hir::literal(bytes) }
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.iter().flat_map(|range| char_range(range.start(), range.end(), order));
            Hir::alternation(ranges.collect())
        }
        HirKind::Class(Class::Bytes(class)) if class.is_ascii() => {
            let ranges =
                class.iter().flat_map(|range| units(range.start().into(), range.end().into(), order));
            Hir::alternation(ranges.collect())
        }
        HirKind::Class(Class::Bytes(_)) => return Err("single bytes"),
        // A line begins behind the second half of a line feed, and the first one behind the mark.
        HirKind::Look(Look::StartLF) => {
            let before = match order {
                ByteOrder::Little => vec![Hir::literal([0]), Hir::literal([0xff, 0xfe])],
                ByteOrder::Big => vec![Hir::literal([0xfe, 0xff])],
            };
            Hir::concat(vec![Hir::look(Look::StartLF), optional(Hir::alternation(before))])
        }
        HirKind::Look(Look::EndLF) => match order {
            ByteOrder::Little => Hir::look(Look::EndLF),
            ByteOrder::Big => Hir::concat(vec![optional(Hir::literal([0])), Hir::look(Look::EndLF)]),
        },
        HirKind::Look(_) => return Err("word boundaries"),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(encoded(*repetition.sub, order)?);
            Hir::repetition(Repetition { sub, ..repetition })
        }
        HirKind::Capture(capture) => encoded(*capture.sub, order)?,
        HirKind::Concat(subs) => Hir::concat(all(subs)?),
        HirKind::Alternation(subs) => Hir::alternation(all(subs)?),
    })
}

pub(super) fn optional(sub: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(sub) })
}

/// Returns patterns for the characters of a range: up to U+FFFF a unit each, beyond in pairs.
fn char_range(start: char, end: char, order: ByteOrder) -> Vec<Hir> {
    let (start, end) = (u32::from(start), u32::from(end));
    let mut patterns = Vec::new();
    // Between the two lie surrogates, which are not characters.
    for (from, to) in [(start, end.min(0xd7ff)), (start.max(0xe000), end.min(0xffff))] {
        if from <= to {
            patterns.extend(units(from as u16, to as u16, order));
        }
    }
    if end >= 0x1_0000 {
        let pair = |point: u32| {
            let [high, low] = [(point - 0x1_0000) >> 10, (point - 0x1_0000) & 0x3ff];
            (0xd800 + high as u16, 0xdc00 + low as u16)
        };
        let parts = split(pair(start.max(0x1_0000)), pair(end), (0xdc00, 0xdfff));
        let both = |highs, lows| Hir::concat(vec![any_of(highs, order), any_of(lows, order)]);
        patterns.extend(parts.into_iter().map(|(highs, lows)| both(highs, lows)));
    }
    patterns
}

fn any_of((from, to): (u16, u16), order: ByteOrder) -> Hir {
    Hir::alternation(units(from, to, order))
}

/// Returns patterns for the units of a range. The byte of a line feed ends a line wherever it stands: none matches it.
fn units(from: u16, to: u16, order: ByteOrder) -> Vec<Hir> {
    let halves = |unit: u16| (unit >> 8, unit & 0xff);
    let class = |(from, to): UnitRange| {
        let mut bytes = ClassBytes::new([ClassBytesRange::new(from as u8, to as u8)]);
        bytes.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
        Hir::class(Class::Bytes(bytes))
    };
    let parts = split(halves(from), halves(to), (0, 0xff));
    let bytes = |(high, low): (UnitRange, UnitRange)| match order {
        ByteOrder::Little => Hir::concat(vec![class(low), class(high)]),
        ByteOrder::Big => Hir::concat(vec![class(high), class(low)]),
    };
    parts.into_iter().map(bytes).collect()
}

/// The first and the last of a range.
type UnitRange = (u16, u16);

/// Splits a range of numbers of two digits into ranges in which both digits go over a range of their own.
fn split(from: UnitRange, to: UnitRange, (least, most): UnitRange) -> Vec<(UnitRange, UnitRange)> {
    if from.0 == to.0 {
        return vec![((from.0, to.0), (from.1, to.1))];
    }
    let mut parts = vec![((from.0, from.0), (from.1, most))];
    if from.0 + 1 < to.0 {
        parts.push(((from.0 + 1, to.0 - 1), (least, most)));
    }
    parts.push(((to.0, to.0), (least, to.1)));
    parts
}
