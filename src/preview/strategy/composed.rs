//! Text that an agent composes and cuts again: ranges of the output, and text of its own around and between them.

use std::ops::Range;

use serde::Deserialize;
use unicode_width::UnicodeWidthChar;

use crate::preview::measure::{Cut, Text};
use crate::preview::model::{Direction, Part, PlanError, Unit};
use crate::preview::strategy::{Context, Selection, lines_in_all};
use crate::preview::template::{Fact, Facts, Template};
use crate::text::units::TotalsMask;

/// Returns the size of a part; half a character, the only change here, occurs only with cuts in UTF-16 units, and is one unit.
fn part_size(text: &Text, part: &Part, unit: Unit) -> u64 {
    match part {
        Part::Kept { range, .. } => text.size_of(range.clone(), unit),
        Part::Notice { text: words } => words_size(words, unit),
        Part::Changed { .. } | Part::Counting => 1,
    }
}

/// Returns text of the agent as a part; none if it is empty.
pub(super) fn notice(words: impl Into<String>) -> Option<Part> {
    let text = words.into();
    (!text.is_empty()).then_some(Part::Notice { text })
}

pub(crate) fn size(text: &Text, parts: &[Part], unit: Unit) -> u64 {
    parts.iter().map(|part| part_size(text, part, unit)).sum()
}

pub(crate) fn decoded(text: &Text, parts: &[Part]) -> String {
    let decoded = parts.iter().map(|part| match part {
        Part::Kept { range, .. } => text.decoding.decode(&text.bytes[range.clone()]),
        Part::Notice { text: words } => words.clone(),
        Part::Changed { .. } | Part::Counting => "\u{FFFD}".to_owned(),
    });
    decoded.collect()
}

/// Takes an amount from one end of a range of the output.
pub(crate) fn cut(text: &Text, within: Range<usize>, from: Direction, unit: Unit, size: u64) -> Vec<Part> {
    let Cut { range, half } = text.end(within, from, unit, size);
    from.join(text.kept(range), half.map(|half| text.half(half)))
}

/// Takes an amount from one end of composed text; nothing is measured beyond that.
pub(crate) fn end(text: &Text, parts: &[Part], from: Direction, unit: Unit, size: u64) -> Vec<Part> {
    let mut left = size;
    // Outermost first.
    let mut kept: Vec<Vec<Part>> = Vec::new();
    for part in from.ordered(parts.iter().collect()) {
        let shown = match part {
            Part::Kept { range, .. } => cut(text, range.clone(), from, unit, left),
            Part::Notice { text: words } => {
                let shown = fitting(words, from, left, |character| char_size(character, unit));
                notice(shown).into_iter().collect()
            }
            Part::Changed { .. } | Part::Counting if left == 0 => Vec::new(),
            Part::Changed { .. } | Part::Counting => vec![part.clone()],
        };
        let is_whole = shown == std::slice::from_ref(part);
        kept.push(shown);
        if !is_whole {
            break;
        }
        // The file may have changed since the end was taken.
        left = left.saturating_sub(part_size(text, part, unit));
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

    fn parts(&self, text: &Text) -> Vec<Part> {
        let [before, after] = [&self.before, &self.after].map(notice);
        [before, text.kept(self.body.clone()), after].into_iter().flatten().collect()
    }

    /// Takes an amount from one end; nothing is measured beyond that.
    pub(super) fn end(&self, text: &Text, from: Direction, unit: Unit, size: u64) -> Vec<Part> {
        end(text, &self.parts(text), from, unit, size)
    }

    pub(super) fn uncut(&self, text: &Text) -> Selection {
        Selection { slots: vec![("kept", self.parts(text))], ..Selection::uncut(text) }
    }
}

/// The parts for each slot of the template.
type Slots = Vec<(&'static str, Vec<Part>)>;

/// Returns a selection by size: the ranges, halves and lines of parts, also of lines that they hold in part.
pub(crate) fn selection(text: &Text, context: &Context, slots: Slots) -> Selection {
    let selection = selection_of_lines(context, 0, slots);
    Selection { lines: Some(lines_in_all(text, &selection.ranges)), ..selection }
}

/// The same where the agent counts the lines.
pub(crate) fn selection_of_lines(context: &Context, lines: u64, slots: Slots) -> Selection {
    let all = || slots.iter().flat_map(|(_, parts)| parts);
    let kept = all().filter(|part| matches!(part, Part::Kept { .. }));
    Selection {
        lines: Some(Ok(lines)),
        halves: all().filter(|part| matches!(part, Part::Changed { .. })).count() as u64,
        ranges: kept.filter_map(Part::range).map(|(_, range)| range).collect(),
        slots,
        hit: Some(context.by_size()),
        ..Selection::default()
    }
}
