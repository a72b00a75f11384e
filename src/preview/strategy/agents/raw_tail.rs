//! The last raw bytes, wherever they begin, without the line feeds at the end.

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::LimitHit;
use crate::preview::plan::PlanError;
use crate::preview::strategy::{Chosen, Rule, lines_in, size};

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let most = as_usize(rule.needed(&rule.form.size, "size")?);
    let is_cut = text.bytes.len() > most;
    let start = text.bytes.len().saturating_sub(most);
    let mut end = text.body.end;
    while end > start && text.bytes[end - 1] == b'\n' {
        end -= 1;
    }
    let kept = size::raw(text, start..end);
    Ok(Chosen {
        lines: Some(Ok(lines_in(text, &kept.range))),
        slots: vec![("kept", kept.parts)],
        ranges: vec![kept.range],
        hit: is_cut.then_some(LimitHit::Size(rule.policy.unit())),
        cut: Some(is_cut),
        ..Chosen::default()
    })
}
