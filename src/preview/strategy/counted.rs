//! Keeps both ends around a notice that counts towards the limit and says how much it stands for.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::Direction;
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};
use crate::text::units::TotalsMask;

use super::composed::{self, Composed};
use super::context::{Context, Strategy};
use super::segments::{self, Segment};
use super::selection::Selection;

/// Maximum number of times that the agent recomputes the notice until it no longer changes.
const ROUNDS: usize = 4;

#[derive(Debug, Deserialize)]
pub(crate) struct Counted {
    size: Figure,
    /// Percentage of the remaining budget that is taken from the beginning.
    head_percent: Figure,
    /// What the agent puts before the output and cuts with it.
    before: Option<Template>,
    /// Size of what follows the output, counts in the limit, and is taken away after the cut.
    after: Option<Figure>,
    /// The notice; `number` is what is left out, `size` the whole.
    notice: Template,
}

impl Strategy for Counted {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let unit = context.unit;
        let size = context.scope.figure(&self.size)?.max(1);
        let after = self.after.as_ref().map_or(Ok(0), |after| context.scope.figure(after))?;
        let before = context.scope.optional_words(&self.before, Facts::new())?;
        let all = Composed { before, body: text.body.clone(), after: String::new() };
        if size.checked_sub(after).is_some_and(|room| !all.exceeds(text, unit, room)) {
            return Ok(Selection { slots: vec![("kept", all.parts(text))], ..Selection::uncut(text) });
        }
        let percent = context.scope.figure(&self.head_percent)?;
        let total = all.size(text, unit).map(|total| total.saturating_add(after));
        text.wait_for(total.err().unwrap_or_default());
        let room = |words: &str| size.saturating_sub(segments::words_size(words, unit));
        let shares = |room: u64| {
            let first = u64::try_from(u128::from(room) * u128::from(percent) / 100).unwrap_or(room);
            (first, room - first)
        };
        let mut words = String::new();
        for _ in 0..ROUNDS {
            let (first, last) = shares(room(&words));
            let next = self.words(context, total, first + last)?;
            if next == words {
                break;
            }
            words = next;
        }
        let (first, last) = shares(room(&words));
        let last = last.saturating_sub(after);
        let shown = segments::end(text, &[Segment::Words(words)], Direction::Head, unit, size);
        let mut kept = all.end(text, Direction::Head, unit, first);
        kept.extend(shown);
        kept.extend(all.end(text, Direction::Tail, unit, last));
        Ok(Selection { cut: Some(true), ..composed::selection(text, context, vec![("kept", kept)]) })
    }
}

impl Counted {
    fn words(
        &self,
        context: &Context,
        total: Result<u64, TotalsMask>,
        kept: u64,
    ) -> Result<String, PlanError> {
        let left = total.map(|total| total.saturating_sub(kept));
        let facts = Facts::from([("number", Fact::from(left)), ("size", Fact::from(total))]);
        context.scope.words(&self.notice, facts)
    }
}
