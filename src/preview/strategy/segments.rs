//! Text that an agent has composed and cuts again: ranges of the output and text of its own.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::preview::measure::Text;
use crate::preview::model::{Direction, Fragment, Part, Unit};

/// A segment of composed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Bytes(Range<usize>),
    /// Half of the character at this range.
    Half(Range<usize>),
    /// The agent's own text.
    Words(String),
}

impl Segment {
    /// Returns its size; half a character occurs only with cuts in UTF-16 units, and is one unit.
    fn size(&self, text: &Text, unit: Unit) -> u64 {
        match self {
            Self::Bytes(range) => text.size_of(range.clone(), unit),
            Self::Half(_) => 1,
            Self::Words(words) => words_size(words, unit),
        }
    }

    /// Converts it to a part; none if it is empty.
    pub(super) fn part(self, text: &Text) -> Option<Part> {
        match self {
            Self::Bytes(range) => text.kept(range),
            Self::Half(range) => Some(text.changed(range, vec![Fragment::Replaced(1)])),
            Self::Words(words) => (!words.is_empty()).then_some(Part::Notice { text: words }),
        }
    }

    /// Returns the bytes that it keeps entirely.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        match self {
            Self::Bytes(range) => Some(range.clone()),
            Self::Half(_) | Self::Words(_) => None,
        }
    }
}

pub(crate) fn size(text: &Text, segments: &[Segment], unit: Unit) -> u64 {
    segments.iter().map(|segment| segment.size(text, unit)).sum()
}

/// Takes an amount from one end of a range of the output.
pub(crate) fn cut(text: &Text, within: Range<usize>, from: Direction, unit: Unit, size: u64) -> Vec<Segment> {
    let (range, half) = text.end(within, from, unit, size);
    from.join([Segment::Bytes(range)], half.map(Segment::Half))
}

/// Takes an amount from one end of composed text.
pub(crate) fn end(text: &Text, segments: &[Segment], from: Direction, unit: Unit, size: u64) -> Vec<Segment> {
    let mut left = size;
    // Outermost first.
    let mut kept: Vec<Vec<Segment>> = Vec::new();
    for at in 0..segments.len() {
        let segment = match from {
            Direction::Head => &segments[at],
            Direction::Tail => &segments[segments.len() - 1 - at],
        };
        let size = segment.size(text, unit);
        if size <= left {
            left -= size;
            kept.push(vec![segment.clone()]);
            continue;
        }
        kept.push(match segment {
            Segment::Bytes(range) => cut(text, range.clone(), from, unit, left),
            Segment::Words(words) => vec![Segment::Words(
                fitting(words, from, left, |character| char_size(character, unit)).to_owned(),
            )],
            Segment::Half(_) => Vec::new(),
        });
        break;
    }
    if from == Direction::Tail {
        kept.reverse();
    }
    kept.concat()
}

fn char_size(character: char, unit: Unit) -> u64 {
    match unit {
        Unit::Bytes | Unit::Tokens => character.len_utf8() as u64,
        Unit::Utf16 => character.len_utf16() as u64,
        Unit::Chars => 1,
        Unit::Cells => character.width().unwrap_or(0) as u64,
    }
}

pub(crate) fn words_size(words: &str, unit: Unit) -> u64 {
    words.chars().map(|character| char_size(character, unit)).sum()
}

/// Returns the characters at one end of a text that fit a size, where `size_of` is the size of each.
pub(crate) fn fitting(words: &str, from: Direction, size: u64, size_of: impl Fn(char) -> u64) -> &str {
    let mut left = size;
    let mut fits = |character: char| {
        let rest = left.checked_sub(size_of(character));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    match from {
        Direction::Head => {
            let end = words.char_indices().find(|(_, character)| !fits(*character));
            end.map_or(words, |(at, _)| &words[..at])
        }
        Direction::Tail => {
            let end = words.char_indices().rev().find(|(_, character)| !fits(*character));
            end.map_or(words, |(at, character)| &words[at + character.len_utf8()..])
        }
    }
}

/// Returns the UTF-16 units of composed text, if known; `total` is that of the whole output.
pub(crate) fn units_known(text: &Text, segments: &[Segment], total: Option<u64>) -> Option<u64> {
    match segments {
        [Segment::Bytes(range)] if *range == text.body && total.is_some() => total,
        segments => Some(size(text, segments, Unit::Utf16)),
    }
}
