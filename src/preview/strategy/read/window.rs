//! A read tool's window: numbered lines from an offset, long ones cut, up to so many lines and so much.

use std::ops::Range;

use crate::preview::measure::Text;
use crate::preview::model::{Bit, LimitHit, Part, Unit};
use crate::preview::plan::PlanError;
use crate::preview::policy::schema::{Boundary, LineEnds};
use crate::preview::strategy::{Chosen, Rule};
use crate::preview::template::{self, Fact, Facts};
use crate::text::units::Want;

/// The figures of a window.
struct Window<'a> {
    /// Lines skipped: the 0-based index of the first.
    skip: u64,
    lines: u64,
    size: u64,
    line_size: Option<u64>,
    suffix: &'a str,
    number: Option<template::Template<'a>>,
}

/// A line's text and where the next begins; they differ by the line's end.
struct Line {
    text: Range<usize>,
    next: usize,
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let form = rule.form;
    let window = Window {
        skip: rule.needed(&form.offset, "offset")?,
        lines: rule.needed(&form.lines, "lines")?,
        size: rule.figure(&form.size)?.unwrap_or(u64::MAX),
        line_size: rule.figure(&form.line_size)?,
        suffix: form.line_suffix.as_deref().unwrap_or_default(),
        number: rule.template(&form.number)?,
    };
    let start = skip_lines(text, form.line_ends, window.skip);
    let start = start.map_err(|count| past_end(rule, count)).or_else(|error| match text.is_empty() {
        true if window.skip == 0 => Ok(text.body.start),
        _ => Err(error),
    })?;
    take(text, rule, &window, start)
}

/// What the agent says to an offset past the end.
fn past_end(rule: &Rule, count: u64) -> PlanError {
    let facts = Facts::from([("count", Fact::Number(count))]);
    let template =
        rule.form.past_end.as_ref().map_or("offset is past the end", |words| words.get_ref().as_str());
    match template::render_plain(rule.policy, template, &facts) {
        Ok((message, _)) => PlanError::Agent { message },
        Err(message) => PlanError::policy(rule.policy, message),
    }
}

/// The line that begins at `at`, which is before the end.
fn line_at(text: &Text, ends: LineEnds, at: usize) -> Line {
    let end = text.body.end;
    let found = match ends {
        LineEnds::Lf => text.feed_after(at, end),
        LineEnds::Any => text.break_after(at, end),
    };
    let Some(stop) = found else { return Line { text: at..end, next: end } };
    let is_pair = text.bytes[stop] == b'\r' && stop + 1 < end && text.bytes[stop + 1] == b'\n';
    Line { text: at..stop, next: stop + 1 + usize::from(is_pair) }
}

/// Where line `skip` (0-based) begins, or how many lines there are if it is past the end.
fn skip_lines(text: &Text, ends: LineEnds, skip: u64) -> Result<usize, u64> {
    let plain = ends == LineEnds::Lf || text.totals.lone_returns == Some(0);
    if plain && let Some(start) = text.indexed_line(skip).filter(|start| *start < text.body.end) {
        return Ok(start);
    }
    let mut at = text.body.start;
    let mut count = 0;
    while at < text.body.end {
        if count == skip {
            return Ok(at);
        }
        at = line_at(text, ends, at).next;
        count += 1;
    }
    Err(count)
}

/// Lines that the whole text has; a final line end makes no more.
fn count_lines(text: &Text, ends: LineEnds) -> Result<u64, Want> {
    let feeds = text.line_feeds();
    let returns = match ends {
        LineEnds::Lf => Ok(0),
        LineEnds::Any => text.totals.lone_returns.ok_or(Want::LONE_RETURNS),
    };
    let (Ok(feeds), Ok(returns)) = (feeds, returns) else {
        return Err(feeds.err().unwrap_or_default() | returns.err().unwrap_or_default());
    };
    let is_open = !text.is_empty() && {
        let last = text.bytes[text.body.end - 1];
        last != b'\n' && !(ends == LineEnds::Any && last == b'\r')
    };
    Ok(feeds + returns + u64::from(is_open))
}

fn take(text: &Text, rule: &Rule, window: &Window, start: usize) -> Result<Chosen, PlanError> {
    let mut parts = Vec::new();
    let mut at = start;
    let mut taken = 0;
    let mut size = 0;
    let mut stop = "end";
    let mut end = start;
    let mut halves = 0;
    while at < text.body.end {
        if taken >= window.lines {
            stop = "lines";
            break;
        }
        let number = rule.numbered(&window.number, window.skip + taken + 1)?;
        let mut row = row(text, rule, window, at, number);
        let cost = row.size + u64::from(taken > 0);
        if size + cost > window.size {
            stop = "size";
            break;
        }
        size += cost;
        taken += 1;
        halves += u64::from(row.half);
        let line = line_at(text, rule.form.line_ends, at);
        end = line.text.end;
        if taken > 1 {
            row.bits.insert(0, Bit::Text("\n".to_owned()));
        }
        parts.push(text.changed(at..line.text.end, row.bits));
        at = line.next;
    }
    Ok(finish(text, rule, window, Outcome { parts, taken, stop, range: start..end, halves }))
}

struct Outcome {
    parts: Vec<Part>,
    taken: u64,
    stop: &'static str,
    range: Range<usize>,
    halves: u64,
}

fn finish(text: &Text, rule: &Rule, window: &Window, outcome: Outcome) -> Chosen {
    let first = window.skip + 1;
    let last = window.skip + outcome.taken;
    let count = if outcome.stop == "end" { Ok(last) } else { count_lines(text, rule.form.line_ends) };
    let hit = match outcome.stop {
        "size" => Some(LimitHit::Size(rule.policy.unit())),
        "lines" => Some(LimitHit::Lines),
        _ => None,
    };
    let mut chosen = Chosen {
        slots: vec![("kept", outcome.parts)],
        ranges: vec![outcome.range],
        halves: outcome.halves,
        lines: Some(Ok(outcome.taken)),
        hit,
        cut: Some(outcome.stop != "end"),
        span: Some((Ok(first), Ok(last))),
        ..Chosen::default()
    };
    chosen.facts.insert("count", Fact::from(count));
    chosen.facts.insert("lines", Fact::from(count));
    chosen.facts.insert("next", Fact::Number(last + 1));
    chosen.facts.insert("stop", Fact::Text(outcome.stop.to_owned()));
    chosen.total_lines = Some(count);
    chosen
}

/// A line as the model gets it.
struct Row {
    bits: Vec<Bit>,
    /// Bytes of the line, its suffix counted, its number not.
    size: u64,
    half: bool,
}

fn row(text: &Text, rule: &Rule, window: &Window, at: usize, number: String) -> Row {
    let mut bits = Vec::new();
    if !number.is_empty() {
        bits.push(Bit::Text(number));
    }
    let unit = rule.form.unit.unwrap_or(Unit::Units);
    let cut = window.line_size.map(|most| text.advance(at, text.body.end, unit, most));
    let bound = cut.as_ref().map_or(text.body.end, |cut| cut.at);
    let found = break_in(text, rule.form.line_ends, at, bound);
    let cut = cut.filter(|cut| found.is_none() && !ends_here(text, rule.form.line_ends, cut.at));
    let stop = found.or(cut.as_ref().map(|cut| cut.at)).unwrap_or(bound);
    if stop > at {
        bits.push(Bit::Bytes(at..stop));
    }
    let mut size = text.size_of(at..stop, Unit::Bytes);
    let half = cut.as_ref().is_some_and(|cut| cut.half.is_some()) && rule.form.boundary == Boundary::Unit;
    if half {
        bits.push(Bit::Replaced(1));
        size += 3;
    }
    if cut.is_some() {
        bits.push(Bit::Text(window.suffix.to_owned()));
        size += window.suffix.len() as u64;
    }
    Row { bits, size, half }
}

fn break_in(text: &Text, ends: LineEnds, at: usize, bound: usize) -> Option<usize> {
    match ends {
        LineEnds::Lf => text.feed_after(at, bound),
        LineEnds::Any => text.break_after(at, bound),
    }
}

/// Whether a line that was read up to `at` ends just there.
fn ends_here(text: &Text, ends: LineEnds, at: usize) -> bool {
    at >= text.body.end || text.bytes[at] == b'\n' || (ends == LineEnds::Any && text.bytes[at] == b'\r')
}
