//! Both ends around a notice that counts in the limit, so that the whole is exactly as long as the limit.

use super::{Chosen, Rule, lines_in};
use crate::preview::notice::{self, Fact, Facts};
use crate::preview::parts::{LimitHit, Unit};
use crate::preview::plan::PlanError;
use crate::preview::text::Text;

pub(super) fn choose(text: &Text, rule: &Rule, path: &str) -> Result<Chosen, PlanError> {
    let size = rule.needed(&rule.form.size, "size")?;
    let short = rule.needed(&rule.form.head, "head")?;
    let proposed = size.saturating_sub(short).div_ceil(2);
    let (start, end) = (text.body.start, text.body.end);
    let lines = python_lines(text, start, proposed);
    let facts = Facts::from([("path", Fact::Text(path.to_owned())), ("number", Fact::Number(lines + 1))]);
    let template = rule.form.gap.as_ref().map_or("", |gap| gap.get_ref().as_str());
    let marker = notice::render_plain(rule.policy, template, &facts);
    let (marker, _) = marker.map_err(|message| PlanError::policy(rule.policy, message))?;
    let length = marker.chars().count() as u64;
    let room = size.saturating_sub(length);
    let first = proposed.min(room);
    let head = start..text.advance(start, end, Unit::Points, first).at;
    let tail = text.retreat(start, end, Unit::Points, room - first).at..end;
    let mut chosen = Chosen {
        lines: Some(Ok(lines_in(text, &head) + lines_in(text, &tail))),
        hit: Some(LimitHit::Size(rule.policy.unit())),
        slots: vec![
            ("head", text.kept(head.clone()).into_iter().collect()),
            ("tail", text.kept(tail.clone()).into_iter().collect()),
        ],
        ..Chosen::default()
    };
    let shown: String = marker.chars().take(size.try_into().unwrap_or(usize::MAX)).collect();
    chosen.facts.insert("marker", Fact::Text(shown));
    chosen.ranges = vec![head, tail];
    Ok(chosen)
}

/// Lines of the first `size` code points, as Python's `splitlines` counts them.
fn python_lines(text: &Text, start: usize, size: u64) -> u64 {
    let end = text.advance(start, text.body.end, Unit::Points, size).at;
    let decoded = text.decoding.decode(&text.bytes[start..end]);
    let mut lines = 0;
    let mut rest = decoded.as_str();
    while !rest.is_empty() {
        lines += 1;
        let Some(at) = rest.find(is_break) else { break };
        let width = if rest[at..].starts_with("\r\n") {
            2
        } else {
            rest[at..].chars().next().map_or(1, char::len_utf8)
        };
        rest = &rest[at + width..];
    }
    lines
}

fn is_break(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
