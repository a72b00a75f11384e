//! Keeps the end of what a reader still holds after it has read a pipe in chunks and dropped the oldest, or rolled a
//! window.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::limits::Over;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, Unit};
use crate::preview::strategy::pieces::Pieces;
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;
use crate::text::units::{self, TotalsMask};

/// What a reader of chunks holds.
#[cfg(feature = "app")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldReader {
    /// Maximum size in bytes.
    pub held: u64,
    /// Bytes per read, from 1.
    pub chunk: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Held {
    /// Maximum size that the reader holds.
    held: Figure,
    /// Bytes per read.
    chunk: Figure,
    /// Whether raw bytes are held, and decoded at the end.
    raw: bool,
    /// If not 0, everything held is kept.
    whole_if: Option<Figure>,
    /// What is kept of the bytes held.
    pieces: Pieces,
}

impl Strategy for Held {
    /// Takes whole chunks from the end while they fit, at least one; then whole pieces of those.
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let held = context.scope.figure(&self.held)?;
        let chunk = as_usize(context.scope.figure(&self.chunk)?.max(1));
        let mut start = text.body.end;
        let count = text.bytes.len().div_ceil(chunk);
        let mut index = count;
        let mut sum = 0;
        while index > 0 {
            let from = if self.raw { chunk * (index - 1) } else { chunk_start(text, chunk, index - 1) };
            let is_first = index == count;
            if !is_first && (start - from) as u64 > held {
                break;
            }
            sum += if self.raw { (start - from) as u64 } else { text.size_of(from..start, Unit::Bytes) };
            if !is_first && sum > held {
                break;
            }
            start = from;
            index -= 1;
        }
        if context.scope.optional(&self.whole_if)?.unwrap_or(0) != 0 {
            let selection = Selection::everything(&text.part(start..text.body.end, None));
            return Ok(selection.with_fact("stop", Fact::Text("end".to_owned())));
        }
        tail_of(text, context, &self.pieces, self.raw, start..text.body.end)
    }
}

impl Held {
    /// Returns what it holds; none if it holds raw bytes, or keeps all that it holds.
    #[cfg(feature = "app")]
    pub(crate) fn reader(&self, context: &Context) -> Result<Option<(HeldReader, &Pieces)>, PlanError> {
        let held = context.scope.figure(&self.held)?;
        let chunk = context.scope.figure(&self.chunk)?.max(1);
        let is_whole = context.scope.optional(&self.whole_if)?.unwrap_or(0) != 0;
        Ok((!self.raw && !is_whole).then_some((HeldReader { held, chunk }, &self.pieces)))
    }
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
    let is_over = !matches!(over, Ok(Over::Nothing));
    let mut selection = if is_over { pieces.select(&part, context)? } else { Selection::everything(&part) };
    if raw {
        selection.facts.insert("lines", Fact::from(part.line_count()));
        selection.facts.insert("stop", Fact::Text(if is_over { "cut" } else { "end" }.to_owned()));
    }
    text.absorb(&part);
    Ok(selection)
}

#[derive(Debug, Deserialize)]
pub(crate) struct Rolling {
    size: Figure,
    /// The window is cut back to this size whenever it exceeds twice that.
    held: Figure,
    /// Bytes per read.
    chunk: Figure,
    /// What is kept of the window.
    pieces: Pieces,
}

impl Strategy for Rolling {
    /// Takes the end of a window of decoded text; a partial first line is dropped.
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let held = context.scope.figure(&self.held)?.max(1);
        let chunk = as_usize(context.scope.figure(&self.chunk)?.max(1));
        let start =
            if is_plain(text, size, held) { text.body.start } else { window_start(text, held, chunk) };
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

impl Rolling {
    /// Returns the size in bytes that is shown, and the size to which the window is cut back.
    #[cfg(feature = "app")]
    pub(crate) fn window(&self, context: &Context) -> Result<(u64, u64, &Pieces), PlanError> {
        let size = context.scope.figure(&self.size)?;
        Ok((size, context.scope.figure(&self.held)?.max(1), &self.pieces))
    }
}

/// Whether the start of the window cannot matter: nothing was dropped, or a line begins early enough in what remains.
fn is_plain(text: &Text, size: u64, held: u64) -> bool {
    if !text.exceeds(Unit::Bytes, held.saturating_mul(2)) {
        return true;
    }
    let early = text.retreat(text.body.start, text.body.end, Unit::Bytes, held.saturating_sub(3)).at;
    // One byte more than the limit, and one for a final line feed, which does not count towards it.
    let late = text.retreat(text.body.start, text.body.end, Unit::Bytes, size.saturating_add(2)).at;
    early < late && text.feed_before(early, late).is_some()
}

/// Replays the reading in chunks. Needs the decoded size of every chunk, so it waits until the whole has been counted.
fn window_start(text: &Text, held: u64, chunk: usize) -> usize {
    let Some(bad) = text.totals.bad_bytes else {
        text.wait_for(TotalsMask::BAD_BYTES);
        return text.body.start;
    };
    let (mut start, mut from, mut sum, mut index) = (text.body.start, text.body.start, 0, 1);
    let mut is_line_start = true;
    while from < text.body.end {
        let is_last = chunk.saturating_mul(index) >= text.bytes.len();
        let to = if is_last && from >= chunk_start(text, chunk, index) {
            text.body.end
        } else {
            chunk_start(text, chunk, index)
        };
        sum += if bad == 0 { (to - from) as u64 } else { text.size_of(from..to, Unit::Bytes) };
        if sum > held.saturating_mul(2) {
            let cut = text.retreat(start, to, Unit::Bytes, held).at;
            is_line_start = if cut == start { is_line_start } else { text.bytes[cut - 1] == b'\n' };
            start = cut;
            sum = text.size_of(start..to, Unit::Bytes);
        }
        from = to;
        index += 1;
    }
    if is_line_start { start } else { text.feed_after(start, text.body.end).map_or(start, |feed| feed + 1) }
}
