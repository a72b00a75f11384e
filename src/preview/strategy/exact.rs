//! Both ends around a notice that counts in the limit, so that the whole is exactly as long as the limit.

use crate::preview::measure::Text;
use crate::preview::model::{LimitHit, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::template::{Fact, Facts};

use super::segments::Segment;
use super::{Chosen, Rule, composed};

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let size = rule.needed(&rule.form.size, "size")?;
    let all = composed::compose(text, rule)?;
    if size == 0 || !all.exceeds(text, Unit::Points, size) {
        let everything = plan::everything(text);
        return Ok(Chosen { slots: vec![("kept", all.parts(text))], cut: Some(false), ..everything });
    }
    let short = rule.needed(&rule.form.head, "head")?;
    let proposed = size.saturating_sub(short).div_ceil(2);
    let lines = python_lines(text, all.head(text, Unit::Points, proposed));
    let facts = Facts::from([("number", Fact::Number(lines + 1))]);
    let marker = rule.words(&rule.form.gap, &facts)?;
    // A limit that leaves room for nothing else shows as much of a shorter notice as fits.
    let marker = rule.form.between.clone().filter(|_| size <= short).unwrap_or(marker);
    let length = marker.chars().count() as u64;
    let room = size.saturating_sub(length);
    let first = proposed.min(room);
    let head = all.head(text, Unit::Points, first);
    let tail = all.tail(text, Unit::Points, room - first);
    let ranges = head.iter().chain(&tail).filter_map(Segment::range).collect();
    let shown: String = marker.chars().take(size.try_into().unwrap_or(usize::MAX)).collect();
    let mut chosen = Chosen {
        cut: Some(true),
        lines: Some(Ok(composed::lines(text, &head) + composed::lines(text, &tail))),
        hit: Some(LimitHit::Size(rule.policy.unit())),
        slots: vec![("head", composed::parts(text, head)), ("tail", composed::parts(text, tail))],
        ranges,
        ..Chosen::default()
    };
    chosen.facts.insert("marker", Fact::Text(shown));
    Ok(chosen)
}

/// Lines of some text, as Python's `splitlines` counts them.
fn python_lines(text: &Text, segments: Vec<Segment>) -> u64 {
    let decoded: String = segments
        .into_iter()
        .map(|segment| match segment {
            Segment::Bytes(range) => text.decoding.decode(&text.bytes[range]),
            Segment::Words(words) => words,
            Segment::Half(_) => String::new(),
        })
        .collect();
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
