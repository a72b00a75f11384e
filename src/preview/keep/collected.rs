//! A middle cut of what a collector kept, which itself holds only so many raw bytes of either end.

use super::segments::{self, Segment};
use super::{Chosen, Rule, lines_in};
use crate::preview::notice::{self, Fact, Facts};
use crate::preview::parts::{LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::text::{Text, as_usize};

pub(super) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let held = as_usize(rule.needed(&rule.form.held, "held")?);
    let budget = rule.needed(&rule.form.size, "size")?;
    let dropped = text.bytes.len().saturating_sub(held);
    if dropped == 0 {
        return match text.exceeds(Unit::Bytes, budget) {
            true => super::middle::choose(text, rule).map(|chosen| with_facts(text, chosen)),
            false => Ok(Chosen { cut: Some(false), ..plan::everything(text) }),
        };
    }
    let marker = marker(rule, dropped as u64)?;
    let (start, end) = (text.body.start, text.body.end);
    let collected = [
        Segment::Bytes(start..start + held / 2),
        Segment::Words(marker.clone()),
        Segment::Bytes(end - (held - held / 2)..end),
    ];
    let size = segments::size(text, &collected, Unit::Bytes);
    if size <= budget {
        return Ok(finish(text, rule, collected.into(), Vec::new(), "held"));
    }
    let head = segments::prefix(text, &collected, Unit::Bytes, budget / 2);
    let tail = segments::suffix(text, &collected, Unit::Bytes, budget - budget / 2);
    let points = |segments: &[Segment]| segments::size(text, segments, Unit::Points);
    let is_whole = |segment: &Segment| matches!(segment, Segment::Words(words) if *words == marker);
    let survives = head.iter().chain(&tail).any(is_whole);
    let removed = points(&collected) - points(&head) - points(&tail);
    let lines = line_count(text, &collected);
    let mut chosen = finish(text, rule, head, tail, "cut");
    chosen.facts.insert("gap", Fact::Flag(!survives));
    chosen.facts.insert("elided", Fact::Number(dropped as u64));
    chosen.facts.insert("count", Fact::Number((text.bytes.len() as u64).div_ceil(4)));
    chosen.facts.insert("lines", Fact::Number(lines));
    chosen.facts.insert("bytes", Fact::Number(size));
    chosen.facts.insert("removed_points", Fact::Number(removed));
    Ok(chosen)
}

/// The figures of an output that the collector held whole.
fn with_facts(text: &Text, mut chosen: Chosen) -> Chosen {
    let tokens = text.size(Unit::Bytes).map(|bytes| bytes.div_ceil(4));
    chosen.facts.insert("count", Fact::from(tokens));
    chosen.facts.insert("gap", Fact::Flag(false));
    chosen.facts.insert("stop", Fact::Text("cut".to_owned()));
    chosen.cut = Some(true);
    chosen
}

fn marker(rule: &Rule, dropped: u64) -> Result<String, PlanError> {
    let template = rule.form.gap.as_ref().map_or("", |gap| gap.get_ref().as_str());
    let facts = Facts::from([("number", Fact::Number(dropped))]);
    let rendered = notice::render_plain(rule.policy, template, &facts);
    rendered.map(|(text, _)| text).map_err(|message| PlanError::policy(rule.policy, message))
}

/// Lines of what was collected; a final line feed makes no more.
fn line_count(text: &Text, collected: &[Segment]) -> u64 {
    let feeds = |segment: &Segment| match segment {
        Segment::Bytes(range) => text.line_feeds_of(range.clone()),
        Segment::Words(words) => words.matches('\n').count() as u64,
        Segment::Half(_) => 0,
    };
    collected.iter().map(feeds).sum::<u64>() + u64::from(text.bytes[text.body.end - 1] != b'\n')
}

fn finish(text: &Text, rule: &Rule, head: Vec<Segment>, tail: Vec<Segment>, stop: &str) -> Chosen {
    let ranges: Vec<_> = head.iter().chain(&tail).filter_map(Segment::range).collect();
    let parts = |segments: Vec<Segment>| -> Vec<Part> {
        segments.into_iter().filter_map(|segment| segment.part(text)).collect()
    };
    let lines = ranges.iter().map(|range| lines_in(text, range)).sum();
    let mut chosen = Chosen {
        slots: vec![("head", parts(head)), ("tail", parts(tail))],
        ranges,
        lines: Some(Ok(lines)),
        hit: Some(LimitHit::Size(rule.policy.unit())),
        cut: Some(true),
        ..Chosen::default()
    };
    chosen.facts.insert("stop", Fact::Text(stop.to_owned()));
    chosen
}
