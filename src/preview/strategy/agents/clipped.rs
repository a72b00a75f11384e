//! Keeps lines as Python's `splitlines` finds them, each cut to a length.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::measure::{MAX_BREAK, Text, as_usize, breaks, count_rare, python_line_ends};
use crate::preview::model::{Direction, Fragment, Part, PlanError, Unit};
use crate::preview::strategy::{Context, Selection, Strategy, composed};
#[cfg(feature = "records")]
use crate::preview::template::Scope;
use crate::preview::template::{Fact, Facts, Figure, Template};
use crate::text::units::TotalsMask;

/// Keeps lines from the start, up to a total.
#[derive(Debug, Deserialize)]
pub(crate) struct Clipped {
    /// Maximum number of code points.
    size: Figure,
    /// The same of one line, including its break.
    line_size: Figure,
    line_suffix: Option<String>,
}

impl Strategy for Clipped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = context.scope.figure(&self.size)?;
        let line_most = context.scope.figure(&self.line_size)?;
        let marker = self.line_suffix.as_deref().unwrap_or_default();
        let (mut parts, mut is_cut) = (Vec::new(), false);
        let (mut at, mut sum, mut run) = (text.body.start, 0, text.body.start);
        while at < text.body.end && sum < most && text.gave_up().is_empty() {
            let line = at..python_line_ends(text, at).1;
            at = line.end;
            let limit = line_most.min(most - sum);
            let cut = text.end(line.clone(), Direction::Head, Unit::Chars, limit);
            if cut.range == line {
                sum += text.size_of(line, Unit::Chars);
                continue;
            }
            let is_break = |byte: &&u8| matches!(byte, b'\r' | b'\n');
            let feeds = text.bytes[line.clone()].iter().rev().take_while(is_break).count();
            let ending = (marker.chars().count() + feeds) as u64;
            let room = limit.max(ending) - ending;
            let kept = text.end(line.clone(), Direction::Head, Unit::Chars, room).range;
            parts.extend(text.kept(run..kept.end).into_iter().chain(composed::notice(marker)));
            sum += text.size_of(kept, Unit::Chars) + ending;
            is_cut = true;
            run = line.end - feeds;
        }
        let uncut = !is_cut && at == text.body.end;
        parts.extend(text.kept(run..at));
        let slots = vec![("kept", parts)];
        Ok(Selection { uncut, ..composed::selection(text, context, slots) })
    }
}

impl Clipped {
    /// Returns what `text` may have been before its lines were cut: a letter more; `None` without limits.
    #[cfg(feature = "records")]
    pub(crate) fn unclipped(&self, text: &str, scope: &Scope) -> Option<String> {
        let line_most = usize::try_from(scope.figure(&self.line_size).ok()?).ok()?;
        let suffix = self.line_suffix.as_ref().filter(|suffix| !suffix.is_empty());
        let ends = breaks(text.as_bytes()).map(|found| found.end);
        let mut longer = String::with_capacity(text.len());
        let mut start = 0;
        for end in ends.chain(std::iter::once(text.len())) {
            let line = text.get(start..end)?;
            start = end;
            let words = line.trim_end_matches(['\r', '\n']);
            // The last line was cut to what the total left of it.
            let is_full = end == text.len() || line.chars().count() == line_most;
            let is_cut = is_full && suffix.is_some_and(|suffix| words.ends_with(suffix));
            longer.push_str(words);
            longer.push_str(if is_cut { "x" } else { "" });
            longer.push_str(&line[words.len()..]);
        }
        Some(longer)
    }
}

/// Bytes searched for a break at a time, from the end.
const STEP: usize = 4096;

/// Keeps numbered lines from either end; all of them if there are few.
#[derive(Debug, Deserialize)]
pub(crate) struct Numbered {
    head_lines: Figure,
    tail_lines: Figure,
    /// Maximum size of one line without its break, in the policy's unit.
    line_size: Figure,
    /// A line's number and what follows it; `size` is the width of the largest number.
    number: Template,
}

impl Strategy for Numbered {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let first = context.scope.figure(&self.head_lines)?;
        let last = context.scope.figure(&self.tail_lines)?;
        let mut head = from_start(text, first.saturating_add(last).saturating_add(1));
        let is_many = head.len() as u64 > first.saturating_add(last);
        let total = if is_many { count(text) } else { Ok(head.len() as u64) };
        let tail = if is_many { from_end(text, as_usize(last)) } else { Vec::new() };
        head.truncate(as_usize(if is_many { first } else { u64::MAX }));
        let most = context.scope.figure(&self.line_size)?;
        let rows = Rows { text, context, most, number: &self.number };
        let begins = total.map(|total| total - tail.len() as u64 + 1);
        let is_clipped = head.iter().chain(&tail).any(|line| rows.is_long(line));
        Ok(Selection {
            slots: vec![("head", rows.parts(&head, Ok(1))?), ("tail", rows.parts(&tail, begins)?)],
            ranges: head.iter().chain(&tail).map(|line| rows.shown(line)).collect(),
            lines: Some(Ok((head.len() + tail.len()) as u64)),
            hit: Some(context.by_size()),
            total_lines: Some(total),
            facts: Facts::from([
                ("clipped", Fact::Flag(is_clipped)),
                ("gap", Fact::Flag(is_many)),
                ("middle_lines", Fact::from(total.map(|total| total.saturating_sub(first + last)))),
            ]),
            ..Selection::default()
        })
    }
}

/// Returns the first lines, without their breaks.
fn from_start(text: &Text, most: u64) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut at = text.body.start;
    while at < text.body.end && (lines.len() as u64) < most && text.gave_up().is_empty() {
        let (stop, next) = python_line_ends(text, at);
        lines.push(at..stop);
        at = next;
    }
    lines
}

/// Returns the last lines, in order, without their breaks.
fn from_end(text: &Text, most: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut end = text.body.end;
    if let Some(found) = break_before(text, end).filter(|found| found.end == end) {
        end = found.start;
    }
    while lines.len() < most {
        let found = break_before(text, end);
        let start = found.as_ref().map_or(text.body.start, |found| found.end);
        text.touch(start..end);
        lines.insert(0, start..end);
        let Some(found) = found else { break };
        end = found.start;
    }
    lines
}

/// Returns the last break that ends at or before `end`.
fn break_before(text: &Text, end: usize) -> Option<Range<usize>> {
    let floor = match text.totals.line_feeds {
        Some(_) => text.body.start,
        None => end - text.patient_end(0, end - text.body.start),
    };
    let mut high = end;
    while high > floor {
        let low = high.saturating_sub(STEP).max(floor);
        let from = low.saturating_sub(MAX_BREAK).max(text.body.start);
        let found = breaks(&text.bytes[from..high]).last();
        let found = found.map(|found| from + found.start..from + found.end);
        // One that begins before this step may be the end of a longer one.
        if let Some(found) = found.filter(|found| found.start >= low || from == text.body.start) {
            return Some(found);
        }
        if low == floor {
            break;
        }
        high = (low + MAX_BREAK - 1).min(end);
    }
    if floor > text.body.start {
        text.wait_for(TotalsMask::LINE_FEEDS);
    }
    None
}

/// Counts the lines. LF and CR have been counted already; the rest must be searched for, so all of the output is read.
fn count(text: &Text) -> Result<u64, TotalsMask> {
    let feeds = text.line_feeds()?;
    let returns = text.totals.lone_returns.ok_or(TotalsMask::LONE_RETURNS)?;
    text.touch(text.body.clone());
    let bytes = &text.bytes[text.body.clone()];
    let others = count_rare(bytes);
    let last = breaks(&bytes[bytes.len().saturating_sub(MAX_BREAK)..]).last();
    let is_ended = last.is_some_and(|last| last.end == bytes.len().min(MAX_BREAK));
    Ok(feeds + returns + others + u64::from(!is_ended))
}

struct Rows<'a, 'b> {
    text: &'a Text<'b>,
    context: &'a Context<'a>,
    most: u64,
    number: &'a Template,
}

impl Rows<'_, '_> {
    fn shown(&self, line: &Range<usize>) -> Range<usize> {
        self.text.end(line.clone(), Direction::Head, self.context.unit, self.most).range
    }

    fn is_long(&self, line: &Range<usize>) -> bool {
        self.shown(line).end < line.end
    }

    /// Returns lines with their numbers, which are as wide as the widest of them.
    fn parts(&self, lines: &[Range<usize>], first: Result<u64, TotalsMask>) -> Result<Vec<Part>, PlanError> {
        let last = first.map_or(0, |first| first + (lines.len() as u64).saturating_sub(1));
        let width = last.to_string().len() as u64;
        let mut parts = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let number = first.map(|first| first + at as u64);
            let facts = Facts::from([("number", Fact::from(number)), ("size", Fact::Number(width))]);
            let words = self.context.scope.render_text(self.number, facts)?;
            let feed = if at > 0 { "\n" } else { "" };
            let shown = self.shown(line);
            parts.push(self.text.changed(
                shown.clone(),
                vec![Fragment::Text(format!("{feed}{words}")), Fragment::Bytes(shown)],
            ));
        }
        self.text.wait_for(first.err().unwrap_or_default());
        Ok(parts)
    }
}
