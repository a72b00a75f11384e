//! Keeps both ends of a text by terminal cells: control characters in between are removed, escape sequences are kept.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::{Direction, Fragment, LimitHit, Part, Unit};
use crate::preview::strategy::context::{Context, Strategy};
use crate::preview::strategy::selection::{Selection, lines_in};
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;
use crate::text::ansi;

#[derive(Debug, Deserialize)]
pub(crate) struct Celled {
    size: Figure,
    head: Figure,
    tail: Figure,
}

impl Strategy for Celled {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let (first, last) = (context.scope.figure(&self.head)?, context.scope.figure(&self.tail)?);
        text.touch(text.body.clone());
        if !text.exceeds(Unit::Cells, size) {
            return Ok(Selection::uncut(text));
        }
        let (head, _) = text.end(text.body.clone(), Direction::Head, Unit::Cells, first);
        let (tail, _) = text.end(text.body.clone(), Direction::Tail, Unit::Cells, last);
        let kept = |range: &Range<usize>| text.kept(range.clone());
        let escapes = |range: Range<usize>| escapes(text, range);
        let selection = Selection {
            lines: Some(Ok(lines_in(text, &head) + lines_in(text, &tail))),
            hit: Some(LimitHit::Size(Unit::Cells)),
            cut: Some(true),
            slots: vec![
                ("head", kept(&head).into_iter().chain(escapes(head.end..text.body.end)).collect()),
                ("tail", escapes(text.body.start..tail.start).into_iter().chain(kept(&tail)).collect()),
            ],
            ranges: vec![head.clone(), tail.clone()],
            ..Selection::default()
        };
        let feeds = text.line_feeds().unwrap_or_else(|_| text.line_feeds_of(text.body.clone()));
        let kept = text.line_feeds_of(head) + text.line_feeds_of(tail);
        Ok(selection.with_fact("middle_lines", Fact::Number(feeds.saturating_sub(kept))))
    }
}

/// Returns the escape sequences of a range, if it has any.
fn escapes(text: &Text, range: Range<usize>) -> Option<Part> {
    let has_any = memchr::memchr_iter(0x1b, &text.bytes[range.clone()])
        .any(|at| ansi::sequence(&text.bytes[range.start + at..range.end]).is_some());
    has_any.then(|| text.changed(range.clone(), vec![Fragment::Escapes(range)]))
}
