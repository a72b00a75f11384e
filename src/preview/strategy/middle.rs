//! So much from either end; the middle is left out.

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::LimitHit;
use crate::preview::plan::PlanError;
use crate::preview::template::Fact;

use super::{Chosen, Rule, feeds_between, lines_in, size};

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let head_size = rule.needed(&rule.form.head, "head")?;
    let tail_size = rule.needed(&rule.form.tail, "tail")?;
    if let Some(words) = rule.form.overlap.as_ref().filter(|_| overlaps(text, head_size, tail_size)) {
        return Ok(Chosen { crash: Some(words.clone()), ..Chosen::default() });
    }
    let head = size::head(text, rule, text.body.clone(), head_size);
    let rest = head.range.end..text.body.end;
    let tail = match tail_size {
        0 if rule.form.zero_keeps_all => size::whole(text),
        _ => size::tail(text, rule, rest, tail_size),
    };
    let between = feeds_between(text, &head.range, &tail.range);
    let is_empty = head.range.end >= tail.range.start;
    let middle = if is_empty { Ok(0) } else { between.map(|feeds| feeds + 1) };
    let both = !head.range.is_empty() && !tail.range.is_empty();
    let lines = lines_in(text, &head.range) + lines_in(text, &tail.range);
    let pieces = |end: &size::End| text.line_feeds_of(end.range.clone()) + 1;
    let (head_lines, tail_lines) = (pieces(&head), pieces(&tail));
    let mut chosen = Chosen {
        lines: Some(between.map(|feeds| lines - u64::from(both && feeds == 0))),
        halves: head.halves + tail.halves,
        slots: vec![("head", head.parts), ("tail", tail.parts)],
        ranges: vec![head.range, tail.range],
        hit: Some(LimitHit::Size(rule.policy.unit())),
        ..Chosen::default()
    };
    chosen.facts.insert("middle_lines", Fact::from(middle));
    chosen.facts.insert("head_lines", Fact::Number(head_lines));
    chosen.facts.insert("tail_lines", Fact::Number(tail_lines));
    Ok(chosen)
}

fn overlaps(text: &Text, head: u64, tail: u64) -> bool {
    as_usize(head.saturating_add(tail)) > text.len()
}
