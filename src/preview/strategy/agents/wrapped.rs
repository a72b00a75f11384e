//! Keeps both ends of an output together with the agent's own text around it, under one limit.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::{Direction, Unit};
use crate::preview::strategy::composed::{self, Composed, Envelope};
use crate::preview::strategy::context::{Context, Strategy};
use crate::preview::strategy::segments::{self, Segment};
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::size::Ruler;
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;

#[derive(Debug, Deserialize)]
pub(crate) struct Wrapped {
    frame: Envelope,
    /// Beyond this size the output and the text around it are cut together.
    over: Figure,
    head: Figure,
    tail: Figure,
    ruler: Ruler,
}

impl Strategy for Wrapped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let unit = self.ruler.unit(context);
        let whole = self.frame.around(text, context)?;
        if !whole.exceeds(text, unit, context.scope.figure(&self.over)?) {
            return Ok(Selection { slots: vec![("kept", whole.parts(text))], ..Selection::uncut(text) });
        }
        let size = whole.size(text, unit);
        text.wait_for(size.err().unwrap_or_default());
        let head = self.end(text, &whole, Direction::Head, unit, context.scope.figure(&self.head)?);
        let tail = self.end(text, &whole, Direction::Tail, unit, context.scope.figure(&self.tail)?);
        let kept = segments::size(text, &head, unit) + segments::size(text, &tail, unit);
        let slots = vec![("head", head), ("tail", tail)];
        let selection = Selection { cut: Some(true), ..composed::selection(text, context, slots) };
        Ok(selection.with_fact("elided", Fact::from(size.map(|size| size.saturating_sub(kept)))))
    }
}

impl Wrapped {
    fn end(&self, text: &Text, whole: &Composed, from: Direction, unit: Unit, size: u64) -> Vec<Segment> {
        let mut segments = whole.end(text, from, unit, size);
        if !self.ruler.keeps_halves() {
            segments.retain(|segment| !matches!(segment, Segment::Half(_)));
        }
        segments
    }
}
