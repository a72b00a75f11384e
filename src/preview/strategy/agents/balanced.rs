//! Keeps half the lines from either end; while that is too large, drops the innermost line of the larger side.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, Unit};
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;

/// One side: where each of its pieces ends (from the end: begins), innermost last, with the size up to there.
struct Side {
    edges: Vec<(usize, u64)>,
}

impl Side {
    fn size(&self) -> u64 {
        self.edges.last().map_or(0, |(_, size)| *size)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Balanced {
    lines: Figure,
    size: Figure,
}

impl Strategy for Balanced {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (lines, size) = (context.scope.figure(&self.lines)?, context.scope.figure(&self.size)?);
        let (first, last) = halves(text, lines);
        let mut head = side(text, Direction::Head, first, size);
        let mut tail = side(text, Direction::Tail, last, size);
        while head.size() + tail.size() > size {
            if head.size() >= tail.size() {
                head.edges.pop()
            } else {
                tail.edges.pop()
            };
        }
        let head_range = text.body.start..head.edges.last().map_or(text.body.start, |(end, _)| *end);
        let tail_range = tail.edges.last().map_or(text.body.end, |(start, _)| *start)..text.body.end;
        let kept = (head.edges.len() + tail.edges.len()) as u64;
        let by_size = kept < first + last;
        let selection = Selection {
            lines: Some(Ok(kept)),
            hit: Some(if by_size { context.by_size() } else { LimitHit::Lines }),
            ..Selection::ends(text, head_range, tail_range)
        };
        let left_out = text.line_count().map(|lines| lines.saturating_sub(kept));
        Ok(selection.with_fact("middle_lines", Fact::from(left_out)))
    }
}

/// Returns how many pieces each side starts with: half the limit each, or half of all pieces.
fn halves(text: &Text, lines: u64) -> (u64, u64) {
    match text.line_count() {
        Ok(count) if count <= lines => (count.div_ceil(2), count / 2),
        Ok(_) => (lines / 2, lines / 2),
        Err(_) => {
            text.give_up();
            (lines / 2, lines / 2)
        }
    }
}

/// Returns the pieces at one end, at most `most`, while they fit.
fn side(text: &Text, from: Direction, most: u64, size: u64) -> Side {
    let body = text.body.clone();
    let mut side = Side { edges: Vec::new() };
    let mut next = Some(body.clone());
    while let Some(within) = next.filter(|_| (side.edges.len() as u64) < most) {
        let passed = body.len() - within.len();
        let reach = as_usize(size.saturating_add(1)).saturating_sub(passed);
        let Some(piece) = text.outer_piece(&within, from, reach) else { break };
        let (edge, taken) = match from {
            Direction::Head => (piece.range.end, body.start..piece.range.end),
            Direction::Tail => (piece.range.start, piece.range.start..body.end),
        };
        let total = text.size_of(taken, Unit::Bytes);
        if total > size {
            break;
        }
        side.edges.push((edge, total));
        next = piece.rest;
    }
    side
}
