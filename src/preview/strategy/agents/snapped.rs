//! Half the bytes from either end, drawn in to character starts and then, where one is near, to line feeds.

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::LimitHit;
use crate::preview::plan::PlanError;
use crate::preview::strategy::{Chosen, Rule, lines_in};
use crate::preview::template::Fact;

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let size = as_usize(rule.needed(&rule.form.size, "size")?).min(text.len());
    let (start, end) = (text.body.start, text.body.end);
    let (first, last) = (size / 2, size - size / 2);
    let inside = |at: usize| at < end && text.bytes[at] & 0xC0 == 0x80;
    let mut head = start + first;
    while head > start && inside(head) {
        head -= 1;
    }
    if let Some(feed) = text.feed_before(start, head).filter(|feed| feed - start > first / 2) {
        head = feed;
    }
    let mut tail = end - last;
    while inside(tail) {
        tail += 1;
    }
    if let Some(feed) = text.feed_after(tail, end).filter(|feed| feed - tail < last / 2) {
        tail = feed + 1;
    }
    let (head, tail) = (start..head, tail..end);
    let mut chosen = Chosen {
        lines: Some(Ok(lines_in(text, &head) + lines_in(text, &tail))),
        hit: Some(LimitHit::Size(rule.policy.unit())),
        slots: vec![
            ("head", text.kept(head.clone()).into_iter().collect()),
            ("tail", text.kept(tail.clone()).into_iter().collect()),
        ],
        ..Chosen::default()
    };
    chosen.facts.insert("elided", Fact::Number((tail.start - head.end) as u64));
    chosen.ranges = vec![head, tail];
    Ok(chosen)
}
