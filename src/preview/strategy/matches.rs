//! Pieces that are matches or entries: at most a number, each cut to a length, then whole ones up to a size.

use std::ops::Range;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::preview::measure::{Cut, Text, as_usize};
use crate::preview::model::{Direction, LimitHit, PlanError, Unit};
use crate::preview::rewrite::Expression;
use crate::preview::strategy::{Boundary, Context, CutDetails, Selection, Strategy, composed, or_utf16};
use crate::preview::template::{Fact, Figure};
use crate::text::supply::OwnBytes;

/// How far into a row to search for the match's own text: as far as a path and a line number can reach.
const PREFIX: usize = 4096 + 24;
/// What ends a row's path and line number, in a row of a match and in one of its context.
const PREFIX_END: &str = r"(?-u):([0-9]+): |-([0-9]+)- ";
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

struct Item {
    line: Range<usize>,
    /// A byte order mark in the searched file's first line, which the agent's search drops.
    mark: Option<Range<usize>>,
    cut: Option<Cut>,
}

fn prefix_end<'de, D: Deserializer<'de>>(has_prefix: D) -> Result<Option<Expression>, D::Error> {
    bool::deserialize(has_prefix)?.then(|| Expression::new(PREFIX_END)).transpose().map_err(D::Error::custom)
}

/// Returns where a match's own text begins in its row, and a byte order mark before it.
fn split(
    prefix_end: &Expression,
    bytes: &[u8],
    line: &Range<usize>,
) -> Option<(usize, Option<Range<usize>>)> {
    // A path has at least one byte.
    let start = line.end.min(line.start + 1);
    let row = bytes[start..line.end.min(start + PREFIX)].to_vec();
    let found = prefix_end.captures(OwnBytes::from(&row))?;
    let end = start + found.get(0).map_or(0, |whole| whole.end());
    let number = found.get(1).or(found.get(2)).map_or(&b""[..], |number| number.as_bytes());
    let is_marked = number == b"1" && bytes[end..line.end].starts_with(BYTE_ORDER_MARK);
    let after = end + if is_marked { BYTE_ORDER_MARK.len() } else { 0 };
    Some((after, is_marked.then_some(end..after)))
}

#[derive(Debug, Deserialize)]
pub(crate) struct Matches {
    entries: Figure,
    /// Maximum size of all of them in bytes.
    size: Option<Figure>,
    line_size: Option<Figure>,
    #[serde(deserialize_with = "or_utf16")]
    line_unit: Unit,
    boundary: Boundary,
    line_suffix: Option<String>,
    #[serde(rename = "row_prefix", deserialize_with = "prefix_end")]
    prefix_end: Option<Expression>,
}

impl Strategy for Matches {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = context.scope.figure(&self.entries)?;
        let size = context.scope.optional(&self.size)?.unwrap_or(u64::MAX);
        let line_size = context.scope.optional(&self.line_size)?;
        let suffix = self.line_suffix.as_deref().unwrap_or_default();
        let (items, many) = self.items(text, most, size, line_size);
        let clipped = items.iter().any(|item| item.cut.is_some());
        let is_changed = items.iter().any(|item| item.mark.is_some());
        let (shown, full) = fitting(text, &items, size, suffix);
        let is_cut = many || clipped || full;
        let mut selection = if is_cut || is_changed {
            joined(text, context, &items[..shown], suffix)
        } else {
            Selection::everything(text)
        };
        selection.uncut = !is_cut;
        selection.hit = match (full, many) {
            (true, _) => Some(context.by_size()),
            (_, true) => Some(LimitHit::Matches),
            _ => None,
        };
        selection.silent_limit = Some(LimitHit::Size(self.line_unit));
        for (name, flag) in [("many", many), ("full", full), ("clipped", clipped)] {
            selection.facts.insert(name, Fact::Flag(flag));
        }
        let totals = if full { mapped_totals(text, line_size.is_some(), &items, suffix, most) } else { None };
        let sizes = items[..shown].iter().map(|item| item_size(text, item, suffix));
        let output_bytes = is_cut.then(|| sizes.sum::<u64>() + (shown as u64).saturating_sub(1));
        let limited = many.then_some(most);
        let details = CutDetails::new(text, full, full && shown == 0);
        selection.details = Some(CutDetails { output_bytes, totals, limited, clipped, ..details });
        Ok(selection)
    }
}

impl Matches {
    /// Returns the first pieces, and whether there are more. Pieces that stay whole are searched for up to the size alone.
    fn items(&self, text: &Text, most: u64, size: u64, line_size: Option<u64>) -> (Vec<Item>, bool) {
        let end = text.lines_end();
        let far = text.body.start.saturating_add(as_usize(size.saturating_add(1)));
        let bound = if line_size.is_none() { end.min(far) } else { end };
        let mut items = Vec::new();
        let mut next = (!text.is_empty()).then_some(text.body.start);
        while let Some(at) = next.filter(|at| (items.len() as u64) < most && *at <= bound) {
            let (stop, is_known) = text.piece_end(at, bound);
            let found = self.prefix_end.as_ref().and_then(|end| split(end, text.bytes, &(at..stop)));
            let (from, mark) = found.unwrap_or((at, None));
            let mut cut = line_size
                .map(|most| text.end(from..stop, Direction::Head, self.line_unit, most))
                .filter(|cut| cut.range.end < stop);
            if let Some(cut) = cut.as_mut().filter(|_| self.boundary != Boundary::Unit) {
                cut.half = None;
            }
            items.push(Item { line: at..stop, mark, cut });
            next = (is_known && stop < end).then_some(stop + 1);
        }
        let many = text.known_or_wait(text.exceeds_lines(most));
        (items, many.unwrap_or(false))
    }
}

fn item_size(text: &Text, item: &Item, suffix: &str) -> u64 {
    let mark = item.mark.as_ref().map_or(0, |mark| mark.len() as u64);
    let size = match &item.cut {
        None => text.size_of(item.line.clone(), Unit::Bytes),
        Some(cut) => {
            let half = if cut.half.is_some() { 3 } else { 0 };
            text.size_of(item.line.start..cut.range.end, Unit::Bytes) + half + suffix.len() as u64
        }
    };
    size - mark
}

/// Returns how many items fit, and whether there are more.
fn fitting(text: &Text, items: &[Item], size: u64, suffix: &str) -> (usize, bool) {
    let mut sum = 0;
    for (at, item) in items.iter().enumerate() {
        sum += item_size(text, item, suffix) + u64::from(at > 0);
        if sum > size {
            return (at, true);
        }
    }
    (items.len(), false)
}

/// Returns lines and bytes of what the byte limit was applied to, those beyond it, too; none until all is counted.
fn mapped_totals(text: &Text, clips: bool, items: &[Item], suffix: &str, most: u64) -> Option<(u64, u64)> {
    let lines = text.line_count().ok()?.min(most);
    if items.len() as u64 == lines && clips {
        let bytes: u64 = items.iter().map(|item| item_size(text, item, suffix)).sum();
        return Some((lines, bytes + lines.saturating_sub(1)));
    }
    let (start, end) = (text.body.start, text.lines_end());
    let shown = text.outer_pieces(start..end, Direction::Head, most.max(1));
    let whole = text.part(shown.unwrap_or(start..end), None);
    Some((lines, whole.size(Unit::Bytes).ok()?))
}

/// Joins the items by line feeds; runs of whole ones are a single part.
fn joined(text: &Text, context: &Context, items: &[Item], suffix: &str) -> Selection {
    let mut parts = Vec::new();
    let mut run = items.first().map_or(text.body.start, |item| item.line.start);
    for item in items {
        if let Some(mark) = &item.mark {
            parts.extend(text.kept(run..mark.start));
            run = mark.end;
        }
        let Some(cut) = &item.cut else { continue };
        parts.extend(text.kept(run..cut.range.end));
        parts.extend(cut.half.clone().map(|half| text.half(half)));
        parts.extend(composed::notice(suffix));
        run = item.line.end;
    }
    parts.extend(items.last().and_then(|last| text.kept(run..last.line.end)));
    composed::selection_of_lines(context, items.len() as u64, vec![("kept", parts)])
}
