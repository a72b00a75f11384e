//! Spends a fifth of a budget on lines from the start, the rest on lines from the end; a line that does not fit is cut.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Piece, Text, as_usize};
use crate::preview::model::{Direction, Unit};
use crate::preview::section::or_default;
use crate::preview::strategy::composed::{self, Segment};
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};

/// Size of the line inserted between the sides.
const SEPARATOR: u64 = 39;
/// Marks where a line was cut.
const DOTS: &str = "...";

/// One side while it grows.
#[derive(Default)]
struct Side {
    segments: Vec<Segment>,
    range: Range<usize>,
    lines: u64,
    used: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Shares {
    size: Figure,
    /// Text that begins with one of these has been cut already.
    #[serde(deserialize_with = "or_default")]
    already_cut: Vec<String>,
    /// What the agent puts around the ends: if the whole is no longer than the ends with it, it is left alone.
    wrapper: Template,
}

impl Strategy for Shares {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let is_start = |words: &String| text.bytes[text.body.clone()].starts_with(words.as_bytes());
        if self.already_cut.iter().any(is_start) {
            return Ok(Selection::uncut(text));
        }
        let budget = context.scope.figure(&self.size)?;
        let pieces = text.line_feeds().map(|feeds| feeds + 1);
        text.wait_for(pieces.err().filter(|_| !text.has_feeds(budget)).unwrap_or_default());
        let pieces = pieces.unwrap_or(u64::MAX);
        let most = (pieces / 5).max(1);
        let head = side(text, Direction::Head, most, budget / 5);
        let left = pieces.saturating_sub(most.max(head.lines));
        let tail = side(text, Direction::Tail, left, budget - head.used);
        let shown = [&head, &tail].map(|side| composed::size(text, &side.segments, Unit::Utf16));
        let wrapper = context.scope.render_text(&self.wrapper, Facts::new())?;
        let length = wrapper.encode_utf16().count() as u64 + SEPARATOR + shown.iter().sum::<u64>();
        if !text.exceeds(Unit::Utf16, length) {
            return Ok(Selection::uncut(text));
        }
        let lines = head.lines + tail.lines;
        let slots = vec![("head", head.segments), ("tail", tail.segments)];
        let selection = composed::selection_of_lines(text, context, lines, slots);
        Ok(selection.with_fact("marker", Fact::Text(wrapper)))
    }
}

/// Returns how far to search for a piece: a longer one cannot fit.
fn reach(left: u64) -> usize {
    as_usize(left.saturating_mul(3).saturating_add(1))
}

/// Takes lines from one end, at most `most`, while they fit; of the one that does not, as much as fits.
fn side(text: &Text, from: Direction, most: u64, budget: u64) -> Side {
    let outside = from.edge(&text.body);
    let mut side = Side { range: outside..outside, ..Side::default() };
    let mut next = Some(text.body.clone());
    let mut cut = Vec::new();
    while let Some(within) = next.filter(|_| side.lines < most) {
        let left = budget - side.used;
        let cost = |piece: &Piece| text.size_of(piece.range.clone(), Unit::Utf16) + 1;
        let piece = text.outer_piece(&within, from, reach(left));
        let fitting = piece.map(|piece| (cost(&piece), piece)).filter(|(cost, _)| *cost <= left);
        let Some((cost, piece)) = fitting else {
            cut = side.cut(text, within, from, left);
            side.used = budget;
            break;
        };
        side.reach(from, &piece.range);
        side.used += cost;
        next = piece.rest;
    }
    side.segments = from.join([Segment::Bytes(side.range.clone())], cut);
    side
}

impl Side {
    /// Takes a line, or the nearer end of one.
    fn reach(&mut self, from: Direction, line: &Range<usize>) {
        match from {
            Direction::Head => self.range.end = line.end,
            Direction::Tail => self.range.start = line.start,
        }
        self.lines += 1;
    }

    /// Takes as much as fits of the line that does not. Returns the mark of the cut, and half a character.
    fn cut(&mut self, text: &Text, within: Range<usize>, from: Direction, left: u64) -> Vec<Segment> {
        let Some(room) = left.checked_sub(DOTS.len() as u64) else { return Vec::new() };
        let (range, half) = text.end(within, from, Unit::Utf16, room);
        self.reach(from, &range);
        from.join(half.map(Segment::Half), [Segment::Words(DOTS.to_owned())])
    }
}
