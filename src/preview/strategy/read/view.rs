//! The window of a Go read tool: numbered lines, without carriage returns and long ends, and with an off-by-one total.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Fragment, LimitHit, Part, Unit};
use crate::preview::section::or_default;
use crate::preview::strategy::selection::{Selection, ShownLines};
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};

#[derive(Debug, Deserialize)]
pub(crate) struct View {
    /// Number of lines before the window.
    skip: Figure,
    lines: Figure,
    /// A file of more bytes is refused.
    file_size: Figure,
    /// The agent's reply to that; `raw_bytes` is the file's size.
    too_large: Template,
    /// A line of this many bytes, anywhere in the file, is an error.
    longest_line: Figure,
    /// The agent's reply to that.
    too_long: Template,
    /// Maximum number of bytes shown of a line.
    line_size: Figure,
    #[serde(deserialize_with = "or_default")]
    line_suffix: String,
    /// A line's number and what follows it.
    number: Option<Template>,
}

impl Strategy for View {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (skip, limit) = (context.scope.figure(&self.skip)?, context.scope.figure(&self.lines)?);
        let most = context.scope.figure(&self.file_size)?;
        if text.bytes.len() as u64 > most {
            let facts = Facts::from([("raw_bytes", Fact::Number(text.bytes.len() as u64))]);
            return Err(context.scope.refusal(&self.too_large, facts));
        }
        let token = as_usize(context.scope.figure(&self.longest_line)?);
        let (mut window, mut count) = (Vec::new(), 0);
        for line in lines(text) {
            if line.len() >= token {
                return Err(context.scope.refusal(&self.too_long, Facts::new()));
            }
            if count >= skip && count - skip < limit {
                window.push(line);
            }
            count += 1;
        }
        let skip = skip.min(u64::MAX - count.max(1));
        let line_size = as_usize(context.scope.figure(&self.line_size)?);
        let rows: Vec<_> = window.iter().map(|line| row(text, line.clone(), line_size)).collect();
        let is_cut = |line: &Range<usize>| without_return(text, line.clone()).len() > line_size;
        let is_blank = rows.len() <= 1 && rows.iter().all(Range::is_empty) && !window.iter().any(is_cut);
        let mut selection = Selection { lines: Some(Ok(rows.len() as u64)), ..Selection::default() };
        let mut parts = Vec::new();
        for (at, shown) in rows.iter().enumerate().filter(|_| !is_blank) {
            let number = context.scope.render_number(&self.number, skip + at as u64 + 1)?;
            let before = if at > 0 { "\n" } else { "" }.to_owned() + &number;
            parts.push(part(text, &self.line_suffix, &window[at], shown, before, line_size));
        }
        let mut shown = ShownLines::from(window.first().map_or(text.body.start, |line| line.start));
        window.iter().filter(|line| is_cut(line)).for_each(|line| {
            shown.take(row(text, line.clone(), line_size).end, line.end);
        });
        let end = window.last().map_or(text.body.start, |line| line.end);
        selection.shown = Some(shown.ranges(end));
        let is_last = skip + window.len() as u64 == count;
        let clipped = LimitHit::Size(Unit::Bytes);
        selection.silent_limit = Some(if is_last { clipped } else { LimitHit::Lines });
        selection.ranges = rows;
        let last = skip + window.len() as u64;
        let total = if count > limit { count - 1 } else { count };
        selection.cut = Some(total > last);
        selection.hit = (total > last).then_some(LimitHit::Lines);
        selection.total_lines = Some(Ok(count));
        selection.span = Some((Ok(skip + 1), Ok(last)));
        selection.facts.insert("count", Fact::Number(total));
        selection.slots = vec![("kept", parts)];
        Ok(selection)
    }
}

/// Returns all lines without their line feeds; a final one does not start another line.
fn lines(text: &Text) -> impl Iterator<Item = Range<usize>> {
    let mut at = text.body.start;
    std::iter::from_fn(move || {
        (at < text.body.end).then(|| {
            let stop = text.feed_after(at, text.body.end).unwrap_or(text.body.end);
            let line = at..stop;
            at = stop + 1;
            line
        })
    })
}

fn without_return(text: &Text, line: Range<usize>) -> Range<usize> {
    let ends = !line.is_empty() && text.bytes[line.end - 1] == b'\r';
    line.start..line.end - usize::from(ends)
}

/// Returns what is shown of a line: without a carriage return, cut to a size; or, if it fits, without a second one.
fn row(text: &Text, line: Range<usize>, most: usize) -> Range<usize> {
    let line = without_return(text, line);
    if line.len() > most { line.start..line.start + most } else { without_return(text, line) }
}

fn part(
    text: &Text,
    suffix: &str,
    line: &Range<usize>,
    shown: &Range<usize>,
    before: String,
    most: usize,
) -> Part {
    let mut fragments = vec![Fragment::Text(before), Fragment::Bytes(shown.clone())];
    if without_return(text, line.clone()).len() > most {
        fragments.push(Fragment::Text(suffix.to_owned()));
    }
    text.changed(line.clone(), fragments)
}
