//! Keeps lines from both ends, by the ways in which single agents share a budget among them.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::measure::{Cut, Piece, Text, as_usize};
use crate::preview::model::{Direction, LimitHit, Part, PlanError, Unit};
use crate::preview::strategy::{Context, Selection, Strategy, composed};
use crate::preview::template::{Fact, Facts, Figure, Template};

/// Keeps half the lines from either end; while that is too large, drops the innermost line of the larger side.
#[derive(Debug, Deserialize)]
pub(crate) struct Balanced {
    lines: Figure,
    size: Figure,
}

impl Strategy for Balanced {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (lines, size) = (context.scope.figure(&self.lines)?, context.scope.figure(&self.size)?);
        let (first, last) = halves(text, lines);
        let mut head = growing(text, Direction::Head, first, size);
        let mut tail = growing(text, Direction::Tail, last, size);
        let longest = |sides: &[(Range<usize>, u64)]| sides.last().map_or(0, |(_, size)| *size);
        while longest(&head) + longest(&tail) > size {
            if longest(&head) >= longest(&tail) {
                head.pop()
            } else {
                tail.pop()
            };
        }
        let kept = (head.len() + tail.len()) as u64;
        let (start, end) = (text.body.start, text.body.end);
        let head = head.pop().map_or(start..start, |(range, _)| range);
        let tail = tail.pop().map_or(end..end, |(range, _)| range);
        let by_size = kept < first + last;
        let selection = Selection {
            lines: Some(Ok(kept)),
            hit: Some(if by_size { context.by_size() } else { LimitHit::Lines }),
            ..Selection::ends(text, head, tail)
        };
        let left_out = text.line_count().map(|lines| lines.saturating_sub(kept));
        Ok(selection.with_fact("middle_lines", Fact::from(left_out)))
    }
}

/// Returns how many pieces each side starts with: half the limit each, or half of all pieces.
fn halves(text: &Text, lines: u64) -> (u64, u64) {
    match text.known_or_wait(text.line_count()) {
        Some(count) if count <= lines => (count.div_ceil(2), count / 2),
        _ => (lines / 2, lines / 2),
    }
}

/// Returns one end with 1, 2, .. pieces, at most `most`, while they fit; each with its size.
fn growing(text: &Text, from: Direction, most: u64, size: u64) -> Vec<(Range<usize>, u64)> {
    let mut sides = Vec::new();
    let mut next = Some(text.body.clone());
    while let Some(within) = next.filter(|_| (sides.len() as u64) < most) {
        let passed = text.len() - within.len();
        let reach = as_usize(size.saturating_add(1)).saturating_sub(passed);
        let Some(piece) = text.outer_piece(&within, from, reach) else { break };
        let side = from.up_to(&text.body, &piece.range);
        let total = text.size_of(side.clone(), Unit::Bytes);
        if total > size {
            break;
        }
        sides.push((side, total));
        next = piece.rest;
    }
    sides
}

/// Size of the marker and its blank lines.
const OVERHEAD: u64 = 4;

/// Keeps half the lines from either end; if that is too large, half the bytes of what they joined to.
#[derive(Debug, Deserialize)]
pub(crate) struct Sampled {
    lines: Figure,
    size: Figure,
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
            && sampled.iter().map(|range| text.size_of(range.clone(), Unit::Bytes)).sum::<u64>() <= size;
        let parts =
            |ranges: &[Range<usize>]| ranges.iter().filter_map(|range| text.kept(range.clone())).collect();
        let all: Vec<Part> = parts(&sampled);
        let end = |from, size| composed::end(text, &all, from, Unit::Bytes, size);
        let (head, tail) = match (fits, sampled.as_slice()) {
            (true, [head, tail]) => (parts(&one(head.start..head.end - 1)), parts(&one(tail.clone()))),
            (true, all) => (parts(all), Vec::new()),
            (false, _) => (end(Direction::Head, size.div_ceil(2)), end(Direction::Tail, size / 2)),
        };
        let is_tail_empty = tail.is_empty();
        let slots = vec![("head", head), ("tail", tail)];
        let mut selection = composed::selection(text, context, slots);
        selection.hit = Some(if fits { LimitHit::Lines } else { context.by_size() });
        selection.facts.insert("marker", Fact::Text(marker));
        selection.facts.insert("gap", Fact::Flag(true));
        Ok(selection.with_fact("tail_empty", Fact::Flag(is_tail_empty)))
    }
}

fn one(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

fn marker_only(context: &Context, marker: &str, size: u64) -> Selection {
    let shown = composed::fitting(marker, Direction::Head, size, |character| character.len_utf8() as u64);
    let slots = vec![("head", Vec::new()), ("tail", Vec::new())];
    let selection = composed::selection_of_lines(context, 0, slots);
    selection.with_fact("marker", Fact::Text(shown.to_owned())).with_fact("gap", Fact::Flag(false))
}

/// Returns the sampled lines, one range or two, followed only as far as the cut can reach; a line feed ends the first of two.
fn sample(text: &Text, lines: u64, size: u64) -> Vec<Range<usize>> {
    let (start, end) = (text.body.start, text.body.end);
    if text.known_or_wait(text.exceeds_lines(lines)) == Some(false) {
        return one(start..end);
    }
    let reach = as_usize(size.saturating_add(OVERHEAD));
    let (low, high) = (start.saturating_add(reach).min(end), end.saturating_sub(reach).max(start));
    let head_end = |to| text.outer_pieces(start..to, Direction::Head, lines.div_ceil(2)).map(|head| head.end);
    let tail_start = |from| text.outer_pieces(from..end, Direction::Tail, lines / 2).map(|tail| tail.start);
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

/// Size of the line inserted between the sides.
const SEPARATOR: u64 = 39;
/// Marks where a line was cut.
const DOTS: &str = "...";

/// Spends a fifth of a budget on lines from the start, the rest on lines from the end; a line that does not fit is cut.
#[derive(Debug, Deserialize)]
pub(crate) struct Shares {
    size: Figure,
    /// Text that begins with one of these has been cut already.
    already_cut: Option<Vec<String>>,
    /// What the agent puts around the ends: if the whole is no longer than the ends with it, it is left alone.
    wrapper: Template,
}

impl Strategy for Shares {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let is_start = |words: &String| text.bytes[text.body.clone()].starts_with(words.as_bytes());
        if self.already_cut.iter().flatten().any(is_start) {
            return Ok(Selection::uncut(text));
        }
        let budget = context.scope.figure(&self.size)?;
        let pieces = text.line_feeds().map(|feeds| feeds + 1);
        text.wait_for(pieces.err().filter(|_| text.exceeds_lines(budget) != Ok(true)).unwrap_or_default());
        let pieces = pieces.unwrap_or(u64::MAX);
        let most = (pieces / 5).max(1);
        let head = share(text, Direction::Head, most, budget / 5);
        let left = pieces.saturating_sub(most.max(head.lines));
        let tail = share(text, Direction::Tail, left, budget - head.used);
        let shown = [&head, &tail].map(|side| composed::size(text, &side.parts, Unit::Utf16));
        let wrapper = context.scope.render_text(&self.wrapper, Facts::new())?;
        let length = wrapper.encode_utf16().count() as u64 + SEPARATOR + shown.iter().sum::<u64>();
        if !text.exceeds(Unit::Utf16, length) {
            return Ok(Selection::uncut(text));
        }
        let slots = vec![("head", head.parts), ("tail", tail.parts)];
        let selection = composed::selection(text, context, slots);
        Ok(selection.with_fact("marker", Fact::Text(wrapper)))
    }
}

#[derive(Default)]
struct Side {
    parts: Vec<Part>,
    lines: u64,
    used: u64,
}

/// Takes lines from one end, at most `most`, while they fit, and as much of the next as fits.
fn share(text: &Text, from: Direction, most: u64, budget: u64) -> Side {
    let mut side = Side::default();
    let outside = from.edge(&text.body);
    let mut range = outside..outside;
    let mut next = Some(text.body.clone());
    let mut cut = Vec::new();
    while let Some(within) = next.filter(|_| side.lines < most) {
        let left = budget - side.used;
        // A longer one cannot fit.
        let reach = as_usize(left.saturating_mul(3).saturating_add(1));
        let cost = |piece: &Piece| text.size_of(piece.range.clone(), Unit::Utf16) + 1;
        let piece = text.outer_piece(&within, from, reach);
        if let Some((cost, piece)) =
            piece.map(|piece| (cost(&piece), piece)).filter(|(cost, _)| *cost <= left)
        {
            range = from.up_to(&text.body, &piece.range);
            side.lines += 1;
            side.used += cost;
            next = piece.rest;
            continue;
        }
        if let Some(room) = left.checked_sub(DOTS.len() as u64) {
            let Cut { range: part, half } = text.end(within, from, Unit::Utf16, room);
            range = from.up_to(&text.body, &part);
            side.lines += 1;
            cut = from.join(half.map(|half| text.half(half)), composed::notice(DOTS));
        }
        side.used = budget;
        break;
    }
    side.parts = from.join(text.kept(range), cut);
    side
}
