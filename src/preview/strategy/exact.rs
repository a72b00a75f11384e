//! Keeps both ends around a notice that counts towards the limit, so that the result is exactly as long as the limit.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, Unit};
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};

use super::composed::{self, Envelope};
use super::context::{Context, Strategy};
use super::segments::Segment;
use super::selection::Selection;

#[derive(Debug, Deserialize)]
pub(crate) struct Exact {
    size: Figure,
    /// The notice; `number` is the line at which the omitted text begins.
    notice: Template,
    /// A notice without path and number: if the limit has no room for more, only its beginning is shown.
    short_notice: String,
    frame: Envelope,
}

impl Strategy for Exact {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let all = self.frame.around(text, context)?;
        if size == 0 || !all.exceeds(text, Unit::Chars, size) {
            return Ok(Selection { slots: vec![("kept", all.parts(text))], ..Selection::uncut(text) });
        }
        let short = self.short_notice.chars().count() as u64;
        let proposed = size.saturating_sub(short).div_ceil(2);
        let lines = python_lines(text, all.end(text, Direction::Head, Unit::Chars, proposed));
        let facts = Facts::from([("number", Fact::Number(lines + 1))]);
        let marker = if size <= short {
            self.short_notice.clone()
        } else {
            context.scope.words(&self.notice, facts)?
        };
        let length = marker.chars().count() as u64;
        let room = size.saturating_sub(length);
        let first = proposed.min(room);
        let head = all.end(text, Direction::Head, Unit::Chars, first);
        let tail = all.end(text, Direction::Tail, Unit::Chars, room - first);
        let shown: String = marker.chars().take(as_usize(size)).collect();
        let slots = vec![("head", head), ("tail", tail)];
        let selection = Selection { cut: Some(true), ..composed::selection(text, context, slots) };
        Ok(selection.with_fact("marker", Fact::Text(shown)))
    }
}

/// Counts the lines of a text like Python's `splitlines`.
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
