//! An output with the text that the agent adds before cutting: its size, and both ends of the whole.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::{Direction, Part, Unit};
use crate::preview::template::Template;
use crate::preview::template::facts::{Fact, Facts};
use crate::text::units::TotalsMask;

use super::context::Context;
use super::segments::{self, Segment};
use super::selection::{Selection, lines_in};

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
    /// Puts the text, if any, around the output.
    pub(super) fn around(&self, text: &Text, context: &Context) -> Result<Composed, PlanError> {
        let ended = text.bytes[text.body.clone()].last() == Some(&b'\n');
        let facts = Facts::from([("is_empty", Fact::Flag(text.is_empty())), ("ended", Fact::Flag(ended))]);
        let before = context.scope.optional_words(&self.before, facts.clone())?;
        let after = context.scope.optional_words(&self.after, facts)?;
        Ok(Composed { before, body: text.body.clone(), after })
    }
}

impl Composed {
    pub(super) fn added(&self, unit: Unit) -> u64 {
        segments::words_size(&self.before, unit) + segments::words_size(&self.after, unit)
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

    /// Takes an amount from one end; nothing is measured beyond that.
    pub(super) fn end(&self, text: &Text, from: Direction, unit: Unit, size: u64) -> Vec<Segment> {
        let (outer, inner) = match from {
            Direction::Head => (&self.before, &self.after),
            Direction::Tail => (&self.after, &self.before),
        };
        let words =
            |words: &String, size| segments::end(text, &[Segment::Words(words.clone())], from, unit, size);
        let left = size.saturating_sub(segments::words_size(outer, unit));
        let body = segments::cut(text, self.body.clone(), from, unit, left);
        let rest = self.rest(text, &body, unit, left);
        let mut kept = [words(outer, size), body, words(inner, rest)];
        if from == Direction::Tail {
            kept.reverse();
        }
        trimmed(kept.concat())
    }

    /// Returns what remains of a size after a part of the output: something only if that part is all of it.
    fn rest(&self, text: &Text, body: &[Segment], unit: Unit, size: u64) -> u64 {
        let is_whole = matches!(body, [Segment::Bytes(range)] if *range == self.body);
        if is_whole { size - segments::size(text, body, unit) } else { 0 }
    }

    /// Returns everything.
    pub(super) fn parts(&self, text: &Text) -> Vec<Part> {
        let body = Segment::Bytes(self.body.clone());
        parts(text, vec![Segment::Words(self.before.clone()), body, Segment::Words(self.after.clone())])
    }
}

fn trimmed(segments: Vec<Segment>) -> Vec<Segment> {
    let is_empty = |segment: &Segment| match segment {
        Segment::Words(words) => words.is_empty(),
        Segment::Bytes(range) => range.is_empty(),
        Segment::Half(_) => false,
    };
    segments.into_iter().filter(|segment| !is_empty(segment)).collect()
}

pub(crate) fn parts(text: &Text, segments: Vec<Segment>) -> Vec<Part> {
    segments.into_iter().filter_map(|segment| segment.part(text)).collect()
}

/// Counts the lines of the output that segments contain, at least in part.
pub(crate) fn lines(text: &Text, segments: &[Segment]) -> u64 {
    segments.iter().filter_map(Segment::range).map(|range| lines_in(text, &range)).sum()
}

pub(crate) fn halves(segments: &[Segment]) -> u64 {
    segments.iter().filter(|segment| matches!(segment, Segment::Half(_))).count() as u64
}

/// Returns a selection by size: the parts, ranges, halves and lines of segments.
pub(crate) fn selection(
    text: &Text,
    context: &Context,
    slots: Vec<(&'static str, Vec<Segment>)>,
) -> Selection {
    let all: Vec<_> = slots.iter().flat_map(|(_, segments)| segments).cloned().collect();
    Selection {
        lines: Some(Ok(lines(text, &all))),
        halves: halves(&all),
        ranges: all.iter().filter_map(Segment::range).collect(),
        slots: slots.into_iter().map(|(name, segments)| (name, parts(text, segments))).collect(),
        hit: Some(context.by_size()),
        ..Selection::default()
    }
}
