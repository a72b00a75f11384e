//! Keeps both ends of a text that Python read in its text mode: CRLF and a lone CR are a line feed, before anything is
//! counted.

use std::ops::Range;

use memchr::memmem;
use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Fragment, Part, Unit};
use crate::preview::strategy::selection::{Selection, feeds_between, lines_in};
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;
use crate::text::units;

#[derive(Debug, Deserialize)]
pub(crate) struct TextMode {
    /// Text of so many code points, or more, is cut.
    size: Figure,
    /// Code points kept of the start.
    head: Figure,
    /// Code points kept of the end.
    tail: Figure,
}

impl Strategy for TextMode {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = as_usize(context.scope.figure(&self.size)?);
        let body = text.body.clone();
        let starts = Starts { bytes: text.bytes, at: body.start, end: body.end };
        let mut read = starts.clone();
        let is_cut = read.by_ref().take(size).count() == size;
        text.touch(body.start..read.at);
        if !is_cut {
            let slots = vec![("kept", part(text, body).into_iter().collect())];
            return Ok(Selection { slots, ..Selection::uncut(text) });
        }
        let head = as_usize(context.scope.figure(&self.head)?);
        let head = body.start..starts.clone().nth(head).unwrap_or(body.end);
        let tail = as_usize(context.scope.figure(&self.tail)?);
        let tail = start_of_last(text.bytes, head.end..body.end, tail)..body.end;
        text.touch(head.clone());
        text.touch(tail.clone());
        let between = feeds_between(text, &head, &tail);
        let lines = lines_in(text, &head) + lines_in(text, &tail);
        let both = !head.is_empty() && !tail.is_empty();
        let points = text.size(Unit::Chars).map(|points| points - pairs(text));
        let selection = Selection {
            cut: Some(true),
            lines: Some(between.map(|feeds| lines - u64::from(both && feeds == 0))),
            slots: vec![
                ("head", part(text, head.clone()).into_iter().collect()),
                ("tail", part(text, tail.clone()).into_iter().collect()),
            ],
            ranges: vec![head, tail],
            hit: Some(context.by_size()),
            ..Selection::default()
        };
        Ok(selection.with_fact("points", Fact::from(points)))
    }
}

/// The places at which the characters of a text begin; CRLF is one.
#[derive(Clone)]
struct Starts<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for Starts<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let rest = self.bytes.get(self.at..self.end).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        self.at += if rest.starts_with(b"\r\n") { 2 } else { units::element(rest, 0).len };
        Some(start)
    }
}

/// Returns where the last `count` characters of a range begin.
fn start_of_last(bytes: &[u8], range: Range<usize>, count: usize) -> usize {
    let mut at = range.end;
    for _ in 0..count {
        if at <= range.start {
            break;
        }
        let is_pair = bytes[range.start..at].ends_with(b"\r\n");
        at -= if is_pair { 2 } else { units::element_before(bytes, range.start, at).len };
    }
    at
}

/// Counts CRLF in all of a text.
fn pairs(text: &Text) -> u64 {
    text.touch(text.body.clone());
    memmem::find_iter(&text.bytes[text.body.clone()], b"\r\n").count() as u64
}

/// Returns the part of a range, with its line ends as Python reads them; none for an empty range.
fn part(text: &Text, range: Range<usize>) -> Option<Part> {
    let bytes = &text.bytes[range.clone()];
    if memchr::memchr(b'\r', bytes).is_none() {
        return text.kept(range);
    }
    let written = text.decoding.decode(bytes).replace("\r\n", "\n").replace('\r', "\n");
    Some(text.changed(range, vec![Fragment::Text(written)]))
}
