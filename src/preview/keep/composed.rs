//! Both ends of a text that the agent has composed of the output and words of its own around it.

use super::segments::{self, Segment};
use super::{Chosen, Rule, lines_in};
use crate::preview::file::Boundary;
use crate::preview::input::Input;
use crate::preview::notice::{Fact, Facts};
use crate::preview::parts::{LimitHit, Part};
use crate::preview::plan::PlanError;
use crate::preview::text::Text;

pub(super) fn choose(text: &Text, rule: &Rule, input: &Input) -> Result<Chosen, PlanError> {
    let over = rule.needed(&rule.form.over, "over")?;
    let head_size = rule.needed(&rule.form.head, "head")?;
    let tail_size = rule.needed(&rule.form.tail, "tail")?;
    let before = rule.words(&rule.form.before, text, input, Facts::new())?;
    let after = rule.words(&rule.form.after, text, input, Facts::new())?;
    let composed = [Segment::Words(before), Segment::Bytes(text.body.clone()), Segment::Words(after)];
    let size = segments::size(text, &composed, rule.unit);
    if size <= over {
        let chosen = finish(text, rule, vec![("kept", composed.to_vec())]);
        return Ok(Chosen { cut: Some(false), hit: None, ..chosen });
    }
    let is_half = |segment: &Segment| matches!(segment, Segment::Half(_));
    let splits = rule.form.boundary == Boundary::Unit;
    let mut head = segments::prefix(text, &composed, rule.unit, head_size);
    head.retain(|segment| splits || !is_half(segment));
    let mut tail = segments::suffix(text, &composed, rule.unit, tail_size);
    tail.retain(|segment| splits || !is_half(segment));
    let kept = segments::size(text, &head, rule.unit) + segments::size(text, &tail, rule.unit);
    let mut chosen = finish(text, rule, vec![("head", head), ("tail", tail)]);
    chosen.facts.insert("elided", Fact::Number(size.saturating_sub(kept)));
    Ok(Chosen { cut: Some(true), ..chosen })
}

fn finish(text: &Text, rule: &Rule, slots: Vec<(&'static str, Vec<Segment>)>) -> Chosen {
    let all = || slots.iter().flat_map(|(_, segments)| segments);
    let ranges: Vec<_> = all().filter_map(Segment::range).collect();
    let halves = all().filter(|segment| matches!(segment, Segment::Half(_))).count() as u64;
    let parts = |segments: Vec<Segment>| -> Vec<Part> {
        segments.into_iter().filter_map(|segment| segment.part(text)).collect()
    };
    Chosen {
        lines: Some(Ok(ranges.iter().map(|range| lines_in(text, range)).sum())),
        hit: Some(LimitHit::Size(rule.policy.unit())),
        halves,
        ranges,
        slots: slots.into_iter().map(|(name, segments)| (name, parts(segments))).collect(),
        ..Chosen::default()
    }
}
