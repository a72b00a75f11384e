//! Text that an agent has put together already and cuts again: ranges of the output and words of its own.

use std::ops::Range;

use crate::preview::measure::Text;
use crate::preview::model::{Bit, Part, Unit};

/// A stretch of composed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Bytes of the output.
    Bytes(Range<usize>),
    /// Half of the character at this range.
    Half(Range<usize>),
    /// The agent's own words.
    Words(String),
}

impl Segment {
    /// Its size; half a character is only left by cuts in UTF-16 units, and is one.
    fn size(&self, text: &Text, unit: Unit) -> u64 {
        match self {
            Self::Bytes(range) => text.size_of(range.clone(), unit),
            Self::Half(_) => 1,
            Self::Words(words) => words_size(words, unit),
        }
    }

    /// The part that it becomes, or none if it is empty.
    pub fn part(self, text: &Text) -> Option<Part> {
        match self {
            Self::Bytes(range) => text.kept(range),
            Self::Half(range) => Some(text.changed(range, vec![Bit::Replaced(1)])),
            Self::Words(words) => (!words.is_empty()).then_some(Part::Notice { text: words }),
        }
    }

    /// The bytes that it keeps whole.
    pub fn range(&self) -> Option<Range<usize>> {
        match self {
            Self::Bytes(range) => Some(range.clone()),
            Self::Half(_) | Self::Words(_) => None,
        }
    }
}

/// Size of composed text.
pub(crate) fn size(text: &Text, segments: &[Segment], unit: Unit) -> u64 {
    segments.iter().map(|segment| segment.size(text, unit)).sum()
}

/// The first `size` of a stretch of the output.
pub(crate) fn head(text: &Text, within: Range<usize>, unit: Unit, size: u64) -> Vec<Segment> {
    let cut = text.advance(within.start, within.end, unit, size);
    let mut segments = vec![Segment::Bytes(within.start..cut.at)];
    segments.extend(cut.half.map(Segment::Half));
    segments
}

/// The last `size` of a stretch of the output.
pub(crate) fn tail(text: &Text, within: Range<usize>, unit: Unit, size: u64) -> Vec<Segment> {
    let cut = text.retreat(within.start, within.end, unit, size);
    let half = cut.half.map(Segment::Half);
    half.into_iter().chain([Segment::Bytes(cut.at..within.end)]).collect()
}

/// The first `size` of composed text.
pub(crate) fn prefix(text: &Text, segments: &[Segment], unit: Unit, size: u64) -> Vec<Segment> {
    let mut left = size;
    let mut kept = Vec::new();
    for segment in segments {
        let size = segment.size(text, unit);
        if size <= left {
            left -= size;
            kept.push(segment.clone());
            continue;
        }
        match segment {
            Segment::Bytes(range) => kept.extend(head(text, range.clone(), unit, left)),
            Segment::Words(words) => {
                kept.push(Segment::Words(words[..words_cut(words, unit, left)].to_owned()))
            }
            Segment::Half(_) => {}
        }
        break;
    }
    kept
}

/// The last `size` of composed text.
pub(crate) fn suffix(text: &Text, segments: &[Segment], unit: Unit, size: u64) -> Vec<Segment> {
    let mut left = size;
    let mut kept: Vec<Segment> = Vec::new();
    for segment in segments.iter().rev() {
        let size = segment.size(text, unit);
        if size <= left {
            left -= size;
            kept.insert(0, segment.clone());
            continue;
        }
        let cut = match segment {
            Segment::Bytes(range) => tail(text, range.clone(), unit, left),
            Segment::Words(words) => vec![Segment::Words(words[words_start(words, unit, left)..].to_owned())],
            Segment::Half(_) => Vec::new(),
        };
        kept.splice(0..0, cut);
        break;
    }
    kept
}

fn char_size(character: char, unit: Unit) -> u64 {
    match unit {
        Unit::Bytes | Unit::Tokens => character.len_utf8() as u64,
        Unit::Units => character.len_utf16() as u64,
        Unit::Points | Unit::Cells => 1,
    }
}

/// Size of an agent's own words.
pub(crate) fn words_size(words: &str, unit: Unit) -> u64 {
    words.chars().map(|character| char_size(character, unit)).sum()
}

/// Where the characters of words end that fit a size.
fn words_cut(words: &str, unit: Unit, size: u64) -> usize {
    let mut left = size;
    for (at, character) in words.char_indices() {
        let Some(rest) = left.checked_sub(char_size(character, unit)) else { return at };
        left = rest;
    }
    words.len()
}

/// Where the last characters of words begin that fit a size.
fn words_start(words: &str, unit: Unit, size: u64) -> usize {
    let mut left = size;
    for (at, character) in words.char_indices().rev() {
        let Some(rest) = left.checked_sub(char_size(character, unit)) else {
            return at + character.len_utf8();
        };
        left = rest;
    }
    0
}

/// UTF-16 units of composed text; the whole output has `total`, if that is known.
pub(crate) fn units_known(text: &Text, segments: &[Segment], total: Option<u64>) -> Option<u64> {
    match segments {
        [Segment::Bytes(range)] if *range == text.body && total.is_some() => total,
        segments => Some(size(text, segments, Unit::Units)),
    }
}
