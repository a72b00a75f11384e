//! Keeps lines from the start, each cut to a length including its break, up to a total number of code points.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::Unit;
use crate::preview::section::or_default;
#[cfg(feature = "records")]
use crate::preview::strategy::breaks::breaks;
use crate::preview::strategy::breaks::line_ends;
use crate::preview::strategy::composed::{self, Segment};
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::Figure;
#[cfg(feature = "records")]
use crate::preview::template::scope::Scope;

#[derive(Debug, Deserialize)]
pub(crate) struct Clipped {
    size: Figure,
    /// Maximum size of one line, including its break.
    line_size: Figure,
    #[serde(deserialize_with = "or_default")]
    line_suffix: String,
}

impl Strategy for Clipped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = context.scope.figure(&self.size)?;
        let line_most = context.scope.figure(&self.line_size)?;
        let marker = self.line_suffix.as_str();
        let (mut segments, mut lines) = (Vec::new(), 0);
        let (mut at, mut sum, mut run) = (text.body.start, 0, text.body.start);
        while at < text.body.end && sum < most && text.gave_up().is_empty() {
            let line = at..line_ends(text, at).1;
            at = line.end;
            lines += 1;
            let limit = line_most.min(most - sum);
            let cut = text.advance(line.start, line.end, Unit::Chars, limit);
            if cut.at == line.end {
                sum += text.size_of(line, Unit::Chars);
                continue;
            }
            let tail = line_break(text, &line);
            let ending = (marker.chars().count() + tail.len()) as u64;
            let kept = text.advance(line.start, line.end, Unit::Chars, limit.max(ending) - ending).at;
            segments.extend([Segment::Bytes(run..kept), Segment::Words(marker.to_owned())]);
            sum += text.size_of(line.start..kept, Unit::Chars) + ending;
            run = tail.start;
        }
        let cut = Some(!segments.is_empty() || at < text.body.end);
        segments.push(Segment::Bytes(run..at));
        let slots = vec![("kept", segments)];
        Ok(Selection { cut, ..composed::selection_of_lines(text, context, lines, slots) })
    }
}

impl Clipped {
    /// Returns what every line of `text` may have been before it was cut: those that were get a letter more than they may
    /// have. Returns `None` if the limits cannot be worked out.
    #[cfg(feature = "records")]
    pub(crate) fn unclipped(&self, text: &str, scope: &Scope) -> Option<String> {
        let line_most = usize::try_from(scope.figure(&self.line_size).ok()?).ok()?;
        let ends = breaks(text.as_bytes()).map(|found| found.end);
        let mut longer = String::with_capacity(text.len());
        let mut start = 0;
        for end in ends.chain(std::iter::once(text.len())) {
            let line = text.get(start..end)?;
            start = end;
            let words = line.trim_end_matches(['\r', '\n']);
            // The last line was cut to what the total left of it.
            let is_full = end == text.len() || line.chars().count() == line_most;
            let is_cut = is_full && !self.line_suffix.is_empty() && words.ends_with(&self.line_suffix);
            longer.push_str(words);
            longer.push_str(if is_cut { "x" } else { "" });
            longer.push_str(&line[words.len()..]);
        }
        Some(longer)
    }
}

/// Returns the CR and LF bytes that end a line.
fn line_break(text: &Text, line: &Range<usize>) -> Range<usize> {
    let mut start = line.end;
    while start > line.start && matches!(text.bytes[start - 1], b'\r' | b'\n') {
        start -= 1;
    }
    start..line.end
}
