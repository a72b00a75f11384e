//! Strategies that keep both ends of an output under a limit in which the agent's own text counts, too.

use serde::Deserialize;

use crate::preview::measure::{Text, as_usize, breaks};
use crate::preview::model::{Direction, Part, PlanError, Unit};
use crate::preview::strategy::composed::{self, Composed, Envelope};
use crate::preview::strategy::one_end::Ruler;
use crate::preview::strategy::{Context, Selection, Strategy};
use crate::preview::template::{Fact, Facts, Figure, Template};

/// Maximum number of times that the agent recomputes the notice until it no longer changes.
const ROUNDS: usize = 4;

/// Keeps both ends around a notice that counts towards the limit and says how much it stands for.
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
        let size = context.scope.positive(&self.size)?;
        let after = self.after.as_ref().map_or(Ok(0), |after| context.scope.figure(after))?;
        let before = context.scope.render_optional(self.before.as_ref(), Facts::new())?;
        let all = Composed { before, body: text.body.clone(), after: String::new() };
        if size.checked_sub(after).is_some_and(|room| !all.exceeds(text, unit, room)) {
            return Ok(all.uncut(text));
        }
        let percent = context.scope.figure(&self.head_percent)?;
        let total = all.size(text, unit).map(|total| total.saturating_add(after));
        text.wait_for(total.err().unwrap_or_default());
        let room = |words: &str| size.saturating_sub(composed::words_size(words, unit));
        let shares = |room: u64| {
            let first = u64::try_from(u128::from(room) * u128::from(percent) / 100).unwrap_or(room);
            (first, room - first)
        };
        let mut words = String::new();
        for _ in 0..ROUNDS {
            let (first, last) = shares(room(&words));
            let left = total.map(|total| total.saturating_sub(first + last));
            let facts = Facts::from([("number", Fact::from(left)), ("size", Fact::from(total))]);
            let next = context.scope.render_text(&self.notice, facts)?;
            if next == words {
                break;
            }
            words = next;
        }
        let (first, last) = shares(room(&words));
        let last = last.saturating_sub(after);
        let words = Vec::from_iter(composed::notice(words));
        let shown = composed::end(text, &words, Direction::Head, unit, size);
        let mut kept = all.end(text, Direction::Head, unit, first);
        kept.extend(shown);
        kept.extend(all.end(text, Direction::Tail, unit, last));
        Ok(composed::selection(text, context, vec![("kept", kept)]))
    }
}

/// Keeps both ends around a notice, so that the result is exactly as long as the limit.
#[derive(Debug, Deserialize)]
pub(crate) struct Exact {
    size: Figure,
    /// The notice; `number` is the line at which the omitted text begins.
    notice: Template,
    /// A notice without path and number: if the limit has no room for more, only its beginning is shown.
    short_notice: String,
    frame: Envelope,
}

impl Strategy for Exact {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let all = self.frame.around(text, context)?;
        if size == 0 || !all.exceeds(text, Unit::Chars, size) {
            return Ok(all.uncut(text));
        }
        let short = self.short_notice.chars().count() as u64;
        let proposed = size.saturating_sub(short).div_ceil(2);
        let start = all.end(text, Direction::Head, Unit::Chars, proposed);
        let lines = python_lines(&composed::decoded(text, &start));
        let marker = match size <= short {
            true => self.short_notice.clone(),
            false => context.scope.render_number(Some(&self.notice), lines + 1)?,
        };
        let length = marker.chars().count() as u64;
        let room = size.saturating_sub(length);
        let first = proposed.min(room);
        let head = all.end(text, Direction::Head, Unit::Chars, first);
        let tail = all.end(text, Direction::Tail, Unit::Chars, room - first);
        let shown: String = marker.chars().take(as_usize(size)).collect();
        let slots = vec![("head", head), ("tail", tail)];
        let selection = composed::selection(text, context, slots);
        Ok(selection.with_fact("marker", Fact::Text(shown)))
    }
}

fn python_lines(text: &str) -> u64 {
    let (lines, end) = breaks(text.as_bytes()).fold((0, 0), |(lines, _), found| (lines + 1, found.end));
    lines + u64::from(end < text.len())
}

/// Two cuts in a row: keeps both ends of the output, then both ends of that, the second notice included in its limit.
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
        let size = match (&once[..], text.totals.units) {
            ([Part::Kept { range, .. }], Some(total)) if *range == text.body => total,
            _ => composed::size(text, &once, Unit::Utf16),
        };
        let marker = |removed: u64| context.scope.render_number(Some(&self.second_notice), removed);
        let rough = second.saturating_sub(marker(size.saturating_sub(second))?.len() as u64) / 2;
        let removed = size.saturating_sub(2 * rough);
        let words = marker(removed)?;
        let keep = second.saturating_sub(words.len() as u64) / 2;
        let mut result = composed::end(text, &once, Direction::Head, Unit::Utf16, keep);
        result.extend(composed::notice(words));
        result.extend(composed::end(text, &once, Direction::Tail, Unit::Utf16, keep));
        Ok(composed::selection(text, context, vec![("kept", result)]))
    }
}

impl Twice {
    /// Returns both ends with a notice between them, or everything if it fits.
    fn first_cut(&self, text: &Text, context: &Context) -> Result<Vec<Part>, PlanError> {
        let most = context.scope.figure(&self.first_size)?;
        if !text.exceeds(context.unit, most) {
            return Ok(Vec::from_iter(text.kept(text.body.clone())));
        }
        let half = most / 2;
        let mut parts =
            composed::cut(text, text.body.clone(), Direction::Head, Unit::Utf16, half.max(most - half));
        let total = text.known_or_wait(text.size(context.unit)).unwrap_or(0);
        let notice = context.scope.render_number(Some(&self.first_notice), total)?;
        parts.extend(composed::notice(notice));
        parts.extend(composed::cut(text, text.body.clone(), Direction::Tail, Unit::Utf16, half));
        Ok(parts)
    }
}

/// Keeps both ends of an output together with the agent's own text around it.
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
            return Ok(whole.uncut(text));
        }
        let size = whole.size(text, unit);
        text.wait_for(size.err().unwrap_or_default());
        let head = self.end(text, &whole, Direction::Head, unit, context.scope.figure(&self.head)?);
        let tail = self.end(text, &whole, Direction::Tail, unit, context.scope.figure(&self.tail)?);
        let kept = composed::size(text, &head, unit) + composed::size(text, &tail, unit);
        let slots = vec![("head", head), ("tail", tail)];
        let selection = composed::selection(text, context, slots);
        Ok(selection.with_fact("elided", Fact::from(size.map(|size| size.saturating_sub(kept)))))
    }
}

impl Wrapped {
    fn end(&self, text: &Text, whole: &Composed, from: Direction, unit: Unit, size: u64) -> Vec<Part> {
        let mut parts = whole.end(text, from, unit, size);
        if !self.ruler.keeps_halves() {
            parts.retain(|part| !matches!(part, Part::Changed { .. }));
        }
        parts
    }
}
