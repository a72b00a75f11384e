//! So many pieces from either end, whatever their size.

use crate::preview::measure::Text;
use crate::preview::plan::PlanError;
use crate::preview::template::Fact;

use super::{Chosen, Rule};

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let head_lines = rule.needed(&rule.form.head, "head")?;
    let tail_lines = rule.needed(&rule.form.tail, "tail")?;
    let both = head_lines.saturating_add(tail_lines);
    match text.exceeds_lines(both) {
        Ok(false) => Ok(all(text)),
        Ok(true) => Ok(two(text, rule, head_lines, tail_lines)),
        Err(_) => {
            text.give_up();
            Ok(all(text))
        }
    }
}

fn all(text: &Text) -> Chosen {
    let mut chosen = Chosen {
        slots: vec![
            ("kept", text.kept(text.body.clone()).into_iter().collect()),
            ("head", Vec::new()),
            ("tail", Vec::new()),
        ],
        ranges: vec![text.body.clone()],
        lines: Some(text.line_count()),
        ..Chosen::default()
    };
    chosen.facts.insert("gap", Fact::Flag(false));
    chosen
}

fn two(text: &Text, rule: &Rule, head_lines: u64, tail_lines: u64) -> Chosen {
    let (start, end) = (text.body.start, text.lines_end());
    let head = start..if head_lines == 0 {
        start
    } else {
        text.end_of_pieces(start, end, head_lines).unwrap_or(end)
    };
    let tail_start = match tail_lines {
        0 if rule.form.zero_keeps_all => start,
        0 => end,
        _ => text.start_of_pieces(start, end, tail_lines).unwrap_or(start),
    };
    let parts = |range: std::ops::Range<usize>| text.kept(range).into_iter().collect::<Vec<_>>();
    let kept = head_lines.saturating_add(tail_lines);
    let mut chosen = Chosen {
        slots: vec![("kept", Vec::new()), ("head", parts(head.clone())), ("tail", parts(tail_start..end))],
        ranges: vec![head, tail_start..end],
        lines: Some(Ok(kept)),
        ..Chosen::default()
    };
    chosen.facts.insert("gap", Fact::Flag(true));
    let left_out = text.line_count().map(|lines| lines.saturating_sub(kept));
    chosen.facts.insert("middle_lines", Fact::from(left_out));
    chosen
}
