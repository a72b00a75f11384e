//! Both ends of an output with the agent's own words around it, under one limit.

use crate::preview::measure::Text;
use crate::preview::plan::PlanError;
use crate::preview::policy::schema::Boundary;
use crate::preview::strategy::composed::{self, Composed};
use crate::preview::strategy::segments::{self, Segment};
use crate::preview::strategy::{Chosen, Rule};
use crate::preview::template::Fact;

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let over = rule.needed(&rule.form.over, "over")?;
    let head = rule.needed(&rule.form.head, "head")?;
    let tail = rule.needed(&rule.form.tail, "tail")?;
    let whole = composed::compose(text, rule)?;
    if !whole.exceeds(text, rule.unit, over) {
        return Ok(uncut(text, &whole));
    }
    let size = whole.size(text, rule.unit);
    text.wait_for(size.err().unwrap_or_default());
    let head = without_halves(rule, whole.head(text, rule.unit, head));
    let tail = without_halves(rule, whole.tail(text, rule.unit, tail));
    let kept = segments::size(text, &head, rule.unit) + segments::size(text, &tail, rule.unit);
    let slots = vec![("head", head), ("tail", tail)];
    let mut chosen = Chosen { cut: Some(true), ..composed::chosen(text, rule, slots) };
    chosen.facts.insert("elided", Fact::from(size.map(|size| size.saturating_sub(kept))));
    Ok(chosen)
}

fn uncut(text: &Text, whole: &Composed) -> Chosen {
    let slots = vec![("kept", whole.parts(text))];
    Chosen { cut: Some(false), slots, ..crate::preview::plan::everything(text) }
}

fn without_halves(rule: &Rule, mut segments: Vec<Segment>) -> Vec<Segment> {
    if rule.form.boundary != Boundary::Unit {
        segments.retain(|segment| !matches!(segment, Segment::Half(_)));
    }
    segments
}
