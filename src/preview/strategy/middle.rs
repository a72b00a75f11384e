//! Keeps an amount from either end and leaves out the middle.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::Direction;
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;

use super::context::{Context, Strategy};
use super::selection::{Selection, feeds_between, lines_in};
use super::size::{self, Ruler};

#[derive(Debug, Deserialize)]
pub(crate) struct Middle {
    head: Figure,
    tail: Figure,
    ruler: Ruler,
    /// The agent's message when the two ends would overlap, which makes it crash.
    overlap: Option<String>,
    /// Whether keeping the last 0 keeps everything, like `slice(-0)`.
    zero_keeps_all: bool,
}

impl Strategy for Middle {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (head_size, tail_size) = (context.scope.figure(&self.head)?, context.scope.figure(&self.tail)?);
        let unit = self.ruler.unit(context);
        if let Some(words) = self.overlap.as_ref().filter(|_| overlaps(text, head_size, tail_size)) {
            return Ok(Selection { crash: Some(words.clone()), ..Selection::default() });
        }
        let head = self.ruler.end(text, unit, text.body.clone(), Direction::Head, head_size);
        let rest = head.range.end..text.body.end;
        let tail = match tail_size {
            0 if self.zero_keeps_all => size::whole(text),
            _ => self.ruler.end(text, unit, rest, Direction::Tail, tail_size),
        };
        let between = feeds_between(text, &head.range, &tail.range);
        let is_empty = head.range.end >= tail.range.start;
        let middle = if is_empty { Ok(0) } else { between.map(|feeds| feeds + 1) };
        let both = !head.range.is_empty() && !tail.range.is_empty();
        let lines = lines_in(text, &head.range) + lines_in(text, &tail.range);
        let pieces = |end: &size::End| text.line_feeds_of(end.range.clone()) + 1;
        let (head_lines, tail_lines) = (pieces(&head), pieces(&tail));
        let mut selection = Selection {
            lines: Some(between.map(|feeds| lines - u64::from(both && feeds == 0))),
            halves: head.halves + tail.halves,
            slots: vec![("head", head.parts), ("tail", tail.parts)],
            ranges: vec![head.range, tail.range],
            hit: Some(context.by_size()),
            ..Selection::default()
        };
        selection.facts.insert("middle_lines", Fact::from(middle));
        selection.facts.insert("head_lines", Fact::Number(head_lines));
        selection.facts.insert("tail_lines", Fact::Number(tail_lines));
        Ok(selection)
    }
}

fn overlaps(text: &Text, head: u64, tail: u64) -> bool {
    as_usize(head.saturating_add(tail)) > text.len()
}
