//! Cuts the middle of what a collector kept, which itself holds only a number of raw bytes from either end.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, Unit};
use crate::preview::strategy::composed::{self, Segment};
use crate::preview::strategy::ends::Middle;
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};
use crate::text::units;

#[derive(Debug, Deserialize)]
pub(crate) struct Collected {
    /// Raw bytes that the collector holds, half from either end.
    held: Figure,
    /// Maximum number of bytes kept.
    size: Figure,
    /// What the collector inserts for the `number` bytes that it drops; without it, both ends are decoded as one text.
    marker: Option<Template>,
    /// The cut of an output that fits in the collector.
    middle: Middle,
}

impl Strategy for Collected {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let held = as_usize(context.scope.figure(&self.held)?);
        let budget = context.scope.figure(&self.size)?;
        let dropped = text.bytes.len().saturating_sub(held);
        if dropped == 0 {
            return if text.exceeds(Unit::Bytes, budget) {
                self.middle.select(text, context).map(|selection| with_facts(text, selection))
            } else {
                Ok(Selection::uncut(text))
            };
        }
        let facts = Facts::from([("number", Fact::Number(dropped as u64))]);
        let marker =
            self.marker.as_ref().map(|marker| context.scope.render_text(marker, facts)).transpose()?;
        let (start, end) = (text.body.start, text.body.end);
        let (first, last) = (start..start + held / 2, end - (held - held / 2)..end);
        let collected = match &marker {
            Some(marker) => [Segment::Bytes(first), Segment::Words(marker.clone()), Segment::Bytes(last)],
            None => joined(text, first, last),
        };
        let size = composed::size(text, &collected, Unit::Bytes);
        if size <= budget {
            return Ok(finish(text, context, collected.into(), Vec::new(), "held"));
        }
        let head = composed::end(text, &collected, Direction::Head, Unit::Bytes, budget / 2);
        let tail = composed::end(text, &collected, Direction::Tail, Unit::Bytes, budget - budget / 2);
        let points = |segments: &[Segment]| composed::size(text, segments, Unit::Chars);
        let is_whole =
            |segment: &Segment| matches!(segment, Segment::Words(words) if Some(words) == marker.as_ref());
        let survives = marker.is_none() || head.iter().chain(&tail).any(is_whole);
        let removed = points(&collected) - points(&head) - points(&tail);
        let lines = line_count(text, &collected);
        let mut selection = finish(text, context, head, tail, "cut");
        selection.facts.insert("gap", Fact::Flag(!survives));
        selection.facts.insert("elided", Fact::Number(dropped as u64));
        let counted = if marker.is_some() { text.bytes.len() as u64 } else { size };
        selection.facts.insert("count", Fact::Number(counted.div_ceil(4)));
        selection.facts.insert("lines", Fact::Number(lines));
        selection.facts.insert("bytes", Fact::Number(size));
        selection.facts.insert("removed_points", Fact::Number(removed));
        Ok(selection)
    }
}

/// Adds the figures for an output that fit in the collector.
fn with_facts(text: &Text, mut selection: Selection) -> Selection {
    let tokens = text.size(Unit::Bytes).map(|bytes| bytes.div_ceil(4));
    selection.facts.insert("count", Fact::from(tokens));
    selection.facts.insert("gap", Fact::Flag(false));
    selection.facts.insert("elided", Fact::Number(0));
    selection.facts.insert("stop", Fact::Text("cut".to_owned()));
    selection.cut = Some(true);
    selection
}

/// Joins both ends decoded as one text: the rest of a character at the seam is decoded with what follows it.
fn joined(text: &Text, first: Range<usize>, last: Range<usize>) -> [Segment; 3] {
    let seam = first.start + units::unfinished(&text.bytes[first.clone()]);
    let is_rest = |byte: &&u8| **byte & 0xC0 == 0x80;
    let rest = text.bytes[last.clone()].iter().take(3).take_while(is_rest).count();
    let rest = last.start + if seam < first.end { rest } else { 0 };
    let bytes = [&text.bytes[seam..first.end], &text.bytes[last.start..rest]].concat();
    let words = Segment::Words(text.decoding.decode(&bytes));
    [Segment::Bytes(first.start..seam), words, Segment::Bytes(rest..last.end)]
}

/// Counts the lines of what was collected; a final line feed does not start another.
fn line_count(text: &Text, collected: &[Segment]) -> u64 {
    let feeds = |segment: &Segment| match segment {
        Segment::Bytes(range) => text.line_feeds_of(range.clone()),
        Segment::Words(words) => words.matches('\n').count() as u64,
        Segment::Half(_) => 0,
    };
    collected.iter().map(feeds).sum::<u64>() + u64::from(text.bytes[text.body.end - 1] != b'\n')
}

fn finish(text: &Text, context: &Context, head: Vec<Segment>, tail: Vec<Segment>, stop: &str) -> Selection {
    let selection = composed::selection(text, context, vec![("head", head), ("tail", tail)]);
    Selection { cut: Some(true), ..selection }.with_fact("stop", Fact::Text(stop.to_owned()))
}
