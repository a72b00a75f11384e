//! Two cuts in a row: both ends of the output, then both ends of that, the second notice counted in its limit.

use crate::preview::measure::Text;
use crate::preview::model::Unit;
use crate::preview::plan::PlanError;
use crate::preview::template::{Fact, Facts};
use crate::text::units::Want;

use super::segments::{self, Segment};
use super::{Chosen, Rule, composed};

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let first = rule.needed(&rule.form.held, "held")?;
    let second = rule.needed(&rule.form.size, "size")?;
    let total = text.totals.units;
    let once = first_cut(text, rule, first)?;
    let size = segments::units_known(text, &once, total);
    let Some(size) = size else {
        text.wait_for(Want::UNITS);
        return Ok(composed::chosen(text, rule, vec![("kept", once)]));
    };
    let marker = |removed: u64| words(rule, &rule.form.gap, removed);
    let rough = second.saturating_sub(marker(size.saturating_sub(second))?.len() as u64) / 2;
    let removed = size.saturating_sub(2 * rough);
    let words = marker(removed)?;
    let keep = second.saturating_sub(words.len() as u64) / 2;
    let mut result = segments::prefix(text, &once, Unit::Units, keep);
    result.push(Segment::Words(words));
    result.extend(segments::suffix(text, &once, Unit::Units, keep));
    Ok(composed::chosen(text, rule, vec![("kept", result)]))
}

/// Both ends with a notice between, or all where it fits.
fn first_cut(text: &Text, rule: &Rule, most: u64) -> Result<Vec<Segment>, PlanError> {
    if !text.exceeds(rule.unit, most) {
        return Ok(vec![Segment::Bytes(text.body.clone())]);
    }
    let half = most / 2;
    let mut segments = segments::head(text, text.body.clone(), Unit::Units, half.max(most - half));
    let total = text.size(rule.unit);
    text.wait_for(total.err().unwrap_or_default());
    let words = words(rule, &rule.form.number, total.unwrap_or(0))?;
    segments.push(Segment::Words(words));
    segments.extend(segments::tail(text, text.body.clone(), Unit::Units, half));
    Ok(segments)
}

fn words(rule: &Rule, template: &Option<toml::Spanned<String>>, number: u64) -> Result<String, PlanError> {
    rule.words(template, &Facts::from([("number", Fact::Number(number))]))
}
