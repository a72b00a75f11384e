//! Text that an agent composes and cuts again: ranges of the output, and text of its own around and between them.

use std::ops::Range;

use serde::Deserialize;
use unicode_width::UnicodeWidthChar;

use crate::preview::measure::{Cut, Text};
use crate::preview::model::{Direction, Fragment, Part, PlanError, Unit};
use crate::preview::strategy::{Context, Selection, lines_in};
use crate::preview::template::{Fact, Facts, Template};
use crate::text::units::TotalsMask;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Bytes(Range<usize>),
    /// Half of the character at this range.
    Half(Range<usize>),
    /// Text of the agent, as in a [`Part::Notice`].
    Notice(String),
}

impl Segment {
    /// Returns its size; half a character occurs only with cuts in UTF-16 units, and is one unit.
    fn size(&self, text: &Text, unit: Unit) -> u64 {
        match self {
            Self::Bytes(range) => text.size_of(range.clone(), unit),
            Self::Half(_) => 1,
            Self::Notice(words) => words_size(words, unit),
        }
    }

    /// Converts it to a part; none if it is empty.
    pub(super) fn part(self, text: &Text) -> Option<Part> {
        match self {
            Self::Bytes(range) => text.kept(range),
            Self::Half(range) => Some(text.changed(range, vec![Fragment::Replaced(1)])),
            Self::Notice(words) => (!words.is_empty()).then_some(Part::Notice { text: words }),
        }
    }

    /// Returns the bytes that it keeps entirely.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        match self {
            Self::Bytes(range) => Some(range.clone()),
            Self::Half(_) | Self::Notice(_) => None,
        }
    }
}

pub(crate) fn size(text: &Text, segments: &[Segment], unit: Unit) -> u64 {
    segments.iter().map(|segment| segment.size(text, unit)).sum()
}

pub(crate) fn decoded(text: &Text, segments: &[Segment]) -> String {
    let decoded = segments.iter().map(|segment| match segment {
        Segment::Bytes(range) => text.decoding.decode(&text.bytes[range.clone()]),
        Segment::Notice(words) => words.clone(),
        Segment::Half(_) => "\u{FFFD}".to_owned(),
    });
    decoded.collect()
}

/// Takes an amount from one end of a range of the output.
pub(crate) fn cut(text: &Text, within: Range<usize>, from: Direction, unit: Unit, size: u64) -> Vec<Segment> {
    let Cut { range, half } = text.end(within, from, unit, size);
    from.join([Segment::Bytes(range)], half.map(Segment::Half))
}

/// Takes an amount from one end of composed text; nothing is measured beyond that.
pub(crate) fn end(text: &Text, segments: &[Segment], from: Direction, unit: Unit, size: u64) -> Vec<Segment> {
    let mut left = size;
    // Outermost first.
    let mut kept: Vec<Vec<Segment>> = Vec::new();
    for segment in from.ordered(segments.iter().collect()) {
        let part = match segment {
            Segment::Bytes(range) => cut(text, range.clone(), from, unit, left),
            Segment::Notice(words) => {
                let shown = fitting(words, from, left, |character| char_size(character, unit));
                vec![Segment::Notice(shown.to_owned())]
            }
            Segment::Half(_) if left == 0 => Vec::new(),
            Segment::Half(_) => vec![segment.clone()],
        };
        let is_whole = part == std::slice::from_ref(segment);
        kept.push(part);
        if !is_whole {
            break;
        }
        // The file may have changed since the end was taken.
        left = left.saturating_sub(segment.size(text, unit));
    }
    from.ordered(kept).concat()
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

/// The added text, and the output in between.
pub(crate) struct Composed {
    pub before: String,
    pub body: Range<usize>,
    pub after: String,
}

/// What the agent puts around the output and cuts with it.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope {
    before: Option<Template>,
    after: Option<Template>,
}

impl Envelope {
    pub(super) fn around(&self, text: &Text, context: &Context) -> Result<Composed, PlanError> {
        let ended = text.bytes[text.body.clone()].last() == Some(&b'\n');
        let facts = Facts::from([("is_empty", Fact::Flag(text.is_empty())), ("ended", Fact::Flag(ended))]);
        let before = context.scope.render_optional(self.before.as_ref(), facts.clone())?;
        let after = context.scope.render_optional(self.after.as_ref(), facts)?;
        Ok(Composed { before, body: text.body.clone(), after })
    }
}

impl Composed {
    pub(super) fn added(&self, unit: Unit) -> u64 {
        words_size(&self.before, unit) + words_size(&self.after, unit)
    }

    /// Returns the size of everything, or the total needed for it.
    pub(super) fn size(&self, text: &Text, unit: Unit) -> Result<u64, TotalsMask> {
        Ok(text.size(unit)? + self.added(unit))
    }

    /// Whether everything is larger than `max`. Reads no further than `max` can reach.
    pub(super) fn exceeds(&self, text: &Text, unit: Unit, max: u64) -> bool {
        let added = self.added(unit);
        added > max || text.exceeds(unit, max - added)
    }

    fn segments(&self) -> [Segment; 3] {
        let [before, after] = [&self.before, &self.after].map(|words| Segment::Notice(words.clone()));
        [before, Segment::Bytes(self.body.clone()), after]
    }

    /// Takes an amount from one end; nothing is measured beyond that.
    pub(super) fn end(&self, text: &Text, from: Direction, unit: Unit, size: u64) -> Vec<Segment> {
        let mut kept = end(text, &self.segments(), from, unit, size);
        kept.retain(|segment| match segment {
            Segment::Notice(words) => !words.is_empty(),
            Segment::Bytes(range) => !range.is_empty(),
            Segment::Half(_) => true,
        });
        kept
    }

    pub(super) fn uncut(&self, text: &Text) -> Selection {
        let kept = parts(text, self.segments().into());
        Selection { slots: vec![("kept", kept)], ..Selection::uncut(text) }
    }
}

pub(crate) fn parts(text: &Text, segments: Vec<Segment>) -> Vec<Part> {
    segments.into_iter().filter_map(|segment| segment.part(text)).collect()
}

/// The segments for each slot of the template.
type Slots = Vec<(&'static str, Vec<Segment>)>;

/// Returns a selection by size: the parts, ranges, halves and lines of segments, also of lines that they hold in part.
pub(crate) fn selection(text: &Text, context: &Context, slots: Slots) -> Selection {
    let selection = selection_of_lines(text, context, 0, slots);
    let lines = selection.ranges.iter().map(|range| lines_in(text, range)).sum();
    Selection { lines: Some(Ok(lines)), ..selection }
}

/// The same where the agent counts the lines.
pub(crate) fn selection_of_lines(text: &Text, context: &Context, lines: u64, slots: Slots) -> Selection {
    let all = || slots.iter().flat_map(|(_, segments)| segments);
    Selection {
        lines: Some(Ok(lines)),
        halves: all().filter(|segment| matches!(segment, Segment::Half(_))).count() as u64,
        ranges: all().filter_map(Segment::range).collect(),
        slots: slots.into_iter().map(|(name, segments)| (name, parts(text, segments))).collect(),
        hit: Some(context.by_size()),
        ..Selection::default()
    }
}
