//! Two cuts in a row: keeps both ends of the output, then both ends of that, the second notice included in its limit.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::{Direction, Unit};
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};
use crate::text::units::TotalsMask;

use super::composed;
use super::context::{Context, Strategy};
use super::segments::{self, Segment};
use super::selection::Selection;

#[derive(Debug, Deserialize)]
pub(crate) struct Twice {
    first_size: Figure,
    /// Inserted between the ends of the first cut; `number` is the size of the whole.
    first_notice: Template,
    second_size: Figure,
    /// Inserted between the ends of the second cut; `number` is what it leaves out.
    second_notice: Template,
}

impl Strategy for Twice {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let second = context.scope.figure(&self.second_size)?;
        let once = self.first_cut(text, context)?;
        let size = segments::units_known(text, &once, text.totals.units);
        let Some(size) = size else {
            text.wait_for(TotalsMask::UNITS);
            return Ok(composed::selection(text, context, vec![("kept", once)]));
        };
        let marker = |removed: u64| words(context, &self.second_notice, removed);
        let rough = second.saturating_sub(marker(size.saturating_sub(second))?.len() as u64) / 2;
        let removed = size.saturating_sub(2 * rough);
        let words = marker(removed)?;
        let keep = second.saturating_sub(words.len() as u64) / 2;
        let mut result = segments::end(text, &once, Direction::Head, Unit::Utf16, keep);
        result.push(Segment::Words(words));
        result.extend(segments::end(text, &once, Direction::Tail, Unit::Utf16, keep));
        Ok(composed::selection(text, context, vec![("kept", result)]))
    }
}

impl Twice {
    /// Returns both ends with a notice between them, or everything if it fits.
    fn first_cut(&self, text: &Text, context: &Context) -> Result<Vec<Segment>, PlanError> {
        let most = context.scope.figure(&self.first_size)?;
        if !text.exceeds(context.unit, most) {
            return Ok(vec![Segment::Bytes(text.body.clone())]);
        }
        let half = most / 2;
        let mut segments =
            segments::cut(text, text.body.clone(), Direction::Head, Unit::Utf16, half.max(most - half));
        let total = text.size(context.unit);
        text.wait_for(total.err().unwrap_or_default());
        segments.push(Segment::Words(words(context, &self.first_notice, total.unwrap_or(0))?));
        segments.extend(segments::cut(text, text.body.clone(), Direction::Tail, Unit::Utf16, half));
        Ok(segments)
    }
}

fn words(context: &Context, template: &Template, number: u64) -> Result<String, PlanError> {
    context.scope.words(template, Facts::from([("number", Fact::Number(number))]))
}
