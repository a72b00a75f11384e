//! A middle cut of what a collector kept, which itself holds only so many raw bytes of either end.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::strategy::segments::{self, Segment};
use crate::preview::strategy::{Chosen, Rule, lines_in};
use crate::preview::template::{Fact, Facts};
use crate::text::units;

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let held = as_usize(rule.needed(&rule.form.held, "held")?);
    let budget = rule.needed(&rule.form.size, "size")?;
    let dropped = text.bytes.len().saturating_sub(held);
    if dropped == 0 {
        return match text.exceeds(Unit::Bytes, budget) {
            true => {
                crate::preview::strategy::middle::choose(text, rule).map(|chosen| with_facts(text, chosen))
            }
            false => Ok(Chosen { cut: Some(false), ..plan::everything(text) }),
        };
    }
    let marker = marker(rule, dropped as u64)?;
    let (start, end) = (text.body.start, text.body.end);
    let (first, last) = (start..start + held / 2, end - (held - held / 2)..end);
    let collected = match &marker {
        Some(marker) => [Segment::Bytes(first), Segment::Words(marker.clone()), Segment::Bytes(last)],
        None => joined(text, first, last),
    };
    let size = segments::size(text, &collected, Unit::Bytes);
    if size <= budget {
        return Ok(finish(text, rule, collected.into(), Vec::new(), "held"));
    }
    let head = segments::prefix(text, &collected, Unit::Bytes, budget / 2);
    let tail = segments::suffix(text, &collected, Unit::Bytes, budget - budget / 2);
    let points = |segments: &[Segment]| segments::size(text, segments, Unit::Points);
    let is_whole =
        |segment: &Segment| matches!(segment, Segment::Words(words) if Some(words) == marker.as_ref());
    let survives = marker.is_none() || head.iter().chain(&tail).any(is_whole);
    let removed = points(&collected) - points(&head) - points(&tail);
    let lines = line_count(text, &collected);
    let mut chosen = finish(text, rule, head, tail, "cut");
    chosen.facts.insert("gap", Fact::Flag(!survives));
    chosen.facts.insert("elided", Fact::Number(dropped as u64));
    let counted = if marker.is_some() { text.bytes.len() as u64 } else { size };
    chosen.facts.insert("count", Fact::Number(counted.div_ceil(4)));
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

/// What stands for the dropped middle; none where the agent says nothing.
fn marker(rule: &Rule, dropped: u64) -> Result<Option<String>, PlanError> {
    let facts = Facts::from([("number", Fact::Number(dropped))]);
    rule.form.gap.as_ref().map(|_| rule.words(&rule.form.gap, &facts)).transpose()
}

/// Both ends decoded as one text: what is left of a character at the seam is decoded with what follows it.
fn joined(text: &Text, first: Range<usize>, last: Range<usize>) -> [Segment; 3] {
    let seam = first.start + units::unfinished(&text.bytes[first.clone()]);
    let is_rest = |byte: &&u8| **byte & 0xC0 == 0x80;
    let rest = text.bytes[last.clone()].iter().take(3).take_while(is_rest).count();
    let rest = last.start + if seam < first.end { rest } else { 0 };
    let bytes = [&text.bytes[seam..first.end], &text.bytes[last.start..rest]].concat();
    let words = Segment::Words(text.decoding.decode(&bytes));
    [Segment::Bytes(first.start..seam), words, Segment::Bytes(rest..last.end)]
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
