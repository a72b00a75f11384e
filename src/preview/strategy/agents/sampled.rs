//! Keeps half the lines from either end; if that is too large, half the bytes of what they joined to.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, Unit};
use crate::preview::strategy::composed::{self, Segment};
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};

/// Size of the marker and its blank lines.
const OVERHEAD: u64 = 4;

#[derive(Debug, Deserialize)]
pub(crate) struct Sampled {
    lines: Figure,
    size: Figure,
    /// Inserted between the ends.
    marker: Template,
}

impl Strategy for Sampled {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (lines, size) = (context.scope.figure(&self.lines)?, context.scope.figure(&self.size)?);
        let marker = context.scope.render_text(&self.marker, Facts::new())?;
        let room = (marker.len() as u64).saturating_add(OVERHEAD);
        if lines <= OVERHEAD || size <= room {
            return Ok(marker_only(context, &marker, size));
        }
        let (lines, size) = (lines - OVERHEAD, size - room);
        let sampled = sample(text, lines, size);
        let fits = sampled.iter().map(|range| range.len() as u64).sum::<u64>() <= size
            && joined_size(text, &sampled) <= size;
        let end = |from, all: &[Range<usize>], size| text.end_of_stretches(all, from, Unit::Bytes, size);
        let (head, tail) = match (fits, sampled.as_slice()) {
            (true, [head, tail]) => (one(head.start..head.end - 1), one(tail.clone())),
            (true, all) => (all.to_vec(), Vec::new()),
            (false, all) => {
                (end(Direction::Head, all, size.div_ceil(2)), end(Direction::Tail, all, size / 2))
            }
        };
        Ok(finish(text, context, marker, head, tail, fits))
    }
}

fn one(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

fn marker_only(context: &Context, marker: &str, size: u64) -> Selection {
    let end =
        (0..=marker.len()).rev().find(|at| *at as u64 <= size && marker.is_char_boundary(*at)).unwrap_or(0);
    let facts = [("marker", Fact::Text(marker[..end].to_owned())), ("gap", Fact::Flag(false))];
    Selection {
        slots: vec![("head", Vec::new()), ("tail", Vec::new())],
        lines: Some(Ok(0)),
        hit: Some(context.by_size()),
        facts: Facts::from(facts),
        ..Selection::default()
    }
}

/// Returns the sampled lines: one range, or two, the first with the line feed that joins them. A range over `size` is
/// followed only as far as the cut can reach.
fn sample(text: &Text, lines: u64, size: u64) -> Vec<Range<usize>> {
    let (start, end) = (text.body.start, text.body.end);
    match text.exceeds_lines(lines) {
        Ok(false) => return one(start..end),
        Ok(true) => {}
        Err(_) => text.give_up(),
    }
    let reach = as_usize(size.saturating_add(OVERHEAD));
    let (low, high) = (start.saturating_add(reach).min(end), end.saturating_sub(reach).max(start));
    let head_end = |to: usize| {
        let head = text.outer_pieces(start..to, Direction::Head, lines.div_ceil(2));
        head.map(|head| head.end)
    };
    let tail_start = |from: usize| {
        let tail = text.outer_pieces(from..end, Direction::Tail, lines / 2);
        tail.map(|tail| tail.start)
    };
    let near = head_end(low);
    if lines < 2 {
        let end = near.or_else(|| head_end(end));
        return one(start..end.unwrap_or(low));
    }
    let far = tail_start(high);
    let is_short = |from: usize, to: usize| ((to - from) as u64) < size / 2 + OVERHEAD;
    let head = match (near, far) {
        (Some(head), _) => head,
        (None, Some(far)) if is_short(far, end) => head_end(end).unwrap_or(low),
        _ => low,
    };
    let tail = match (far, near) {
        (Some(tail), _) => tail,
        (None, Some(near)) if is_short(start, near) => tail_start(start).unwrap_or(high),
        _ => high,
    };
    vec![start..(head + 1).min(end), tail.max(head + 1).min(end)..end]
}

fn joined_size(text: &Text, sampled: &[Range<usize>]) -> u64 {
    sampled.iter().map(|range| text.size_of(range.clone(), Unit::Bytes)).sum()
}

fn finish(
    text: &Text,
    context: &Context,
    marker: String,
    head: Vec<Range<usize>>,
    tail: Vec<Range<usize>>,
    fits: bool,
) -> Selection {
    let is_tail_empty = tail.iter().all(Range::is_empty);
    let segments = |ranges: Vec<Range<usize>>| ranges.into_iter().map(Segment::Bytes).collect();
    let slots = vec![("head", segments(head)), ("tail", segments(tail))];
    let hit = Some(if fits { LimitHit::Lines } else { context.by_size() });
    let selection = Selection { hit, ..composed::selection(text, context, slots) };
    let selection = selection.with_fact("marker", Fact::Text(marker)).with_fact("gap", Fact::Flag(true));
    selection.with_fact("tail_empty", Fact::Flag(is_tail_empty))
}
