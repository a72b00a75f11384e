//! Keeps what a reader still holds of a pipe that dropped the oldest chunks, the front of a window, or the middle.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, Part, PlanError, Unit};
use crate::preview::strategy::ends::Middle;
use crate::preview::strategy::one_end::Pieces;
use crate::preview::strategy::{Context, Selection, Strategy, composed};
use crate::preview::template::{Fact, Figure, Template};
use crate::text::units::{self, TotalsMask};

/// Keeps whole pieces of what a reader holds that drops its oldest chunks.
#[derive(Debug, Deserialize)]
pub(crate) struct Held {
    /// Maximum number of bytes that the reader holds.
    pub held: Figure,
    /// Bytes per read, from 1.
    pub chunk: Figure,
    /// Whether raw bytes are held, and decoded at the end.
    pub raw: bool,
    /// If not 0, everything held is kept.
    whole_if: Option<Figure>,
    pub pieces: Pieces,
}

impl Strategy for Held {
    /// Takes whole chunks from the end while they fit, at least one; then whole pieces of those.
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let held = context.scope.figure(&self.held)?;
        let chunk = as_usize(context.scope.positive(&self.chunk)?);
        let size_of = |range: Range<usize>| match self.raw {
            true => range.len() as u64,
            false => text.size_of(range, Unit::Bytes),
        };
        let start = held_start(text, held, chunk, self.raw, size_of);
        if self.keeps_all(context)? {
            let selection = Selection::everything(&text.part(start..text.body.end, None));
            return Ok(selection.with_fact("stop", Fact::Text("end".to_owned())));
        }
        tail_of(text, context, &self.pieces, self.raw, start..text.body.end)
    }
}

impl Held {
    pub(crate) fn keeps_all(&self, context: &Context) -> Result<bool, PlanError> {
        Ok(context.scope.optional(&self.whole_if)?.unwrap_or(0) != 0)
    }
}

/// Returns where the chunks begin that a reader holds: whole ones from the end while they fit, at least one.
pub(crate) fn held_start(
    text: &Text,
    held: u64,
    chunk: usize,
    raw: bool,
    mut size_of: impl FnMut(Range<usize>) -> u64,
) -> usize {
    let (mut start, mut sum) = (text.body.end, 0);
    let count = text.bytes.len().div_ceil(chunk);
    for index in (0..count).rev() {
        let from = if raw { chunk * index } else { chunk_start(text, chunk, index) };
        let is_first = index + 1 == count;
        if !is_first && (start - from) as u64 > held {
            break;
        }
        sum += size_of(from..start);
        if !is_first && sum > held {
            break;
        }
        start = from;
    }
    start
}

/// Returns where the decoding of a chunk begins: with the character that the previous one left unfinished.
fn chunk_start(text: &Text, chunk: usize, index: usize) -> usize {
    let at = chunk.saturating_mul(index);
    units::unfinished(&text.bytes[..at.min(text.bytes.len())]).clamp(text.body.start, text.body.end)
}

/// Returns whole pieces from the end of a range, or all of it if it is within the limits.
fn tail_of(
    text: &Text,
    context: &Context,
    pieces: &Pieces,
    raw: bool,
    range: Range<usize>,
) -> Result<Selection, PlanError> {
    let part = text.part(range, None);
    let over = context.limits.test(&part, context.scope, context.unit)?;
    let is_over = over != Ok(None);
    let mut selection = if is_over { pieces.select(&part, context)? } else { Selection::everything(&part) };
    if raw {
        selection.facts.insert("lines", Fact::from(part.line_count()));
        selection.facts.insert("stop", Fact::Text(if is_over { "cut" } else { "end" }.to_owned()));
    }
    text.absorb(&part);
    Ok(selection)
}

/// Keeps whole pieces of a window that loses its front.
#[derive(Debug, Deserialize)]
pub(crate) struct Rolling {
    /// In bytes, as `held`.
    pub size: Figure,
    /// The window is cut back to this size whenever it exceeds twice that.
    pub held: Figure,
    /// Bytes per read, from 1.
    chunk: Figure,
    pub pieces: Pieces,
}

impl Strategy for Rolling {
    /// Takes the end of a window of decoded text; a partial first line is dropped.
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let held = context.scope.positive(&self.held)?;
        let chunk = as_usize(context.scope.positive(&self.chunk)?);
        let last = |size| text.end(text.body.clone(), Direction::Tail, Unit::Bytes, size).range.start;
        let is_enough = holds_enough(text, size, held, last);
        let start = if is_enough { text.body.start } else { window_start(text, held, chunk) };
        let mut selection = if start == text.body.start {
            self.pieces.select(text, context)?
        } else {
            tail_of(text, context, &self.pieces, false, start..text.body.end)?
        };
        let total = text.line_count();
        let taken = selection.lines.unwrap_or(Ok(0));
        let first = total.and_then(|total| taken.map(|taken| (total + 1).saturating_sub(taken)));
        selection.span = Some((first, total));
        if selection.hit.is_none() {
            let by_size = text.exceeds(Unit::Bytes, size);
            selection.hit = Some(if by_size { context.by_size() } else { LimitHit::Lines });
        }
        if selection.partial {
            let open = if text.final_feed() { Ok(0) } else { text.line_size(text.body.end, Direction::Tail) };
            selection.facts.insert("line_bytes", Fact::from(open));
        }
        Ok(selection)
    }
}

/// Whether the start of the window cannot matter. `last` returns where the last bytes of a size begin.
pub(crate) fn holds_enough(text: &Text, size: u64, held: u64, last: impl Fn(u64) -> usize) -> bool {
    if !text.exceeds(Unit::Bytes, held.saturating_mul(2)) {
        return true;
    }
    // One byte more than the limit, and one for a final line feed, which does not count towards it.
    let (early, late) = (last(held.saturating_sub(3)), last(size.saturating_add(2)));
    early < late && text.feed_before(early, late).is_some()
}

/// Replays the reading in chunks. Needs the decoded size of every chunk, so it waits until the whole has been counted.
fn window_start(text: &Text, held: u64, chunk: usize) -> usize {
    let bad = text.totals.bad_bytes.ok_or(TotalsMask::BAD_BYTES);
    let Some(bad) = text.known_or_wait(bad) else { return text.body.start };
    let (mut start, mut from, mut sum, mut index) = (text.body.start, text.body.start, 0, 1);
    let mut is_line_start = true;
    while from < text.body.end {
        let is_last = chunk.saturating_mul(index) >= text.bytes.len();
        let next = chunk_start(text, chunk, index);
        let to = if is_last && from >= next { text.body.end } else { next };
        sum += if bad == 0 { (to - from) as u64 } else { text.size_of(from..to, Unit::Bytes) };
        if sum > held.saturating_mul(2) {
            let cut = text.end(start..to, Direction::Tail, Unit::Bytes, held).range.start;
            is_line_start = if cut == start { is_line_start } else { text.bytes[cut - 1] == b'\n' };
            start = cut;
            sum = text.size_of(start..to, Unit::Bytes);
        }
        from = to;
        index += 1;
    }
    if is_line_start { start } else { text.feed_after(start, text.body.end).map_or(start, |feed| feed + 1) }
}

/// Cuts the middle of what a collector holds.
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
            if !text.exceeds(Unit::Bytes, budget) {
                return Ok(Selection::uncut(text));
            }
            let mut selection = self.middle.select(text, context)?;
            let tokens = text.size(Unit::Bytes).map(|bytes| bytes.div_ceil(4));
            selection.facts.insert("count", Fact::from(tokens));
            selection.facts.insert("gap", Fact::Flag(false));
            selection.facts.insert("elided", Fact::Number(0));
            return Ok(selection.with_fact("stop", Fact::Text("cut".to_owned())));
        }
        let render = |marker| context.scope.render_number(Some(marker), dropped as u64);
        let marker = self.marker.as_ref().map(render).transpose()?;
        let Range { start, end } = text.body;
        let (first, last) = (start..start + held / 2, end - (held - held / 2)..end);
        let collected = match &marker {
            Some(marker) => around(text, first, marker.clone(), last),
            None => joined(text, first, last),
        };
        let size = composed::size(text, &collected, Unit::Bytes);
        if size <= budget {
            return Ok(finish(text, context, collected, Vec::new(), "held"));
        }
        let head = composed::end(text, &collected, Direction::Head, Unit::Bytes, budget / 2);
        let tail = composed::end(text, &collected, Direction::Tail, Unit::Bytes, budget - budget / 2);
        let points = |parts: &[Part]| composed::size(text, parts, Unit::Chars);
        let is_whole = |part: &Part| matches!(part, Part::Notice { text } if Some(text) == marker.as_ref());
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

/// Joins both ends decoded as one text: the rest of a character at the seam is decoded with what follows it.
fn joined(text: &Text, first: Range<usize>, last: Range<usize>) -> Vec<Part> {
    let seam = first.start + units::unfinished(&text.bytes[first.clone()]);
    let is_rest = |byte: &&u8| **byte & 0xC0 == 0x80;
    let rest = text.bytes[last.clone()].iter().take(3).take_while(is_rest).count();
    let rest = last.start + if seam < first.end { rest } else { 0 };
    let bytes = [&text.bytes[seam..first.end], &text.bytes[last.start..rest]].concat();
    around(text, first.start..seam, text.decoding.decode(&bytes), rest..last.end)
}

/// Joins two ranges with words between them.
fn around(text: &Text, first: Range<usize>, words: String, last: Range<usize>) -> Vec<Part> {
    [text.kept(first), composed::notice(words), text.kept(last)].into_iter().flatten().collect()
}

/// Counts the lines of what was collected; a final line feed does not start another.
fn line_count(text: &Text, collected: &[Part]) -> u64 {
    let feeds = |part: &Part| match part {
        Part::Kept { range, .. } => text.line_feeds_of(range.clone()),
        Part::Notice { text: words } => words.matches('\n').count() as u64,
        Part::Changed { .. } | Part::Counting => 0,
    };
    collected.iter().map(feeds).sum::<u64>() + u64::from(text.bytes[text.body.end - 1] != b'\n')
}

fn finish(text: &Text, context: &Context, head: Vec<Part>, tail: Vec<Part>, stop: &str) -> Selection {
    composed::selection(text, context, vec![("head", head), ("tail", tail)])
        .with_fact("stop", Fact::Text(stop.to_owned()))
}
