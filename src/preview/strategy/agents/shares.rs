//! A fifth of a budget for lines from the start, the rest for lines from the end; the line that does not fit is cut.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Bit, LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::strategy::{Chosen, Rule};
use crate::preview::template::{Fact, Facts};

/// Units of the line that stands between the sides.
const SEPARATOR: u64 = 39;
/// Marks where a line was cut.
const DOTS: &str = "...";

/// One side as it grows.
#[derive(Default)]
struct Side {
    parts: Vec<Part>,
    range: Range<usize>,
    lines: u64,
    used: u64,
    halves: u64,
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let words = rule.form.words.iter().flatten();
    if words.into_iter().any(|words| text.bytes[text.body.clone()].starts_with(words.as_bytes())) {
        return Ok(Chosen { cut: Some(false), ..plan::everything(text) });
    }
    let budget = rule.needed(&rule.form.size, "size")?;
    let pieces = text.line_feeds().map(|feeds| feeds + 1);
    text.wait_for(pieces.err().filter(|_| !text.has_feeds(budget)).unwrap_or_default());
    let pieces = pieces.unwrap_or(u64::MAX);
    let most = (pieces / 5).max(1);
    let head = head(text, most, budget / 5);
    let tail = tail(text, pieces.saturating_sub(most.max(head.lines)), budget - head.used);
    let mut chosen = Chosen {
        lines: Some(Ok(head.lines + tail.lines)),
        halves: head.halves + tail.halves,
        ranges: vec![head.range.clone(), tail.range.clone()],
        hit: Some(LimitHit::Size(rule.policy.unit())),
        ..Chosen::default()
    };
    let dots =
        |side: &Side| side.parts.iter().filter(|part| matches!(part, Part::Notice { .. })).count() as u64 * 3;
    let shown =
        [&head, &tail].map(|side| text.size_of(side.range.clone(), Unit::Units) + side.halves + dots(side));
    let wrapper = rule.words(&rule.form.gap, &Facts::new())?;
    let length = wrapper.encode_utf16().count() as u64 + SEPARATOR + shown.iter().sum::<u64>();
    if !text.exceeds(Unit::Units, length) {
        return Ok(Chosen { cut: Some(false), ..plan::everything(text) });
    }
    chosen.facts.insert("marker", Fact::Text(wrapper));
    chosen.slots = vec![("head", head.parts), ("tail", tail.parts)];
    Ok(chosen)
}

/// How far a piece is looked for: a longer one cannot fit.
fn reach(left: u64) -> usize {
    as_usize(left.saturating_mul(3).saturating_add(1))
}

fn head(text: &Text, most: u64, budget: u64) -> Side {
    let (start, end) = (text.body.start, text.body.end);
    let mut side = Side { range: start..start, ..Side::default() };
    let mut next = Some(start);
    while let Some(at) = next.filter(|_| side.lines < most) {
        let left = budget - side.used;
        let bound = end.min(at.saturating_add(reach(left)));
        let feed = text.feed_after(at, bound);
        let stop = feed.or((bound == end).then_some(end));
        let cost = stop.map(|stop| text.size_of(at..stop, Unit::Units) + 1).filter(|cost| *cost <= left);
        let (Some(stop), Some(cost)) = (stop, cost) else {
            cut_head(text, &mut side, at, left);
            side.used = budget;
            break;
        };
        side.range.end = stop;
        side.used += cost;
        side.lines += 1;
        next = feed.map(|feed| feed + 1);
    }
    let whole = text.kept(side.range.clone());
    side.parts.splice(0..0, whole);
    side
}

fn cut_head(text: &Text, side: &mut Side, at: usize, left: u64) {
    let Some(room) = left.checked_sub(DOTS.len() as u64) else { return };
    let cut = text.advance(at, text.body.end, Unit::Units, room);
    side.range.end = cut.at;
    side.lines += 1;
    if let Some(half) = cut.half {
        side.parts.push(text.changed(half, vec![Bit::Replaced(1)]));
        side.halves = 1;
    }
    side.parts.push(Part::Notice { text: DOTS.to_owned() });
}

fn tail(text: &Text, most: u64, budget: u64) -> Side {
    let (start, end) = (text.body.start, text.body.end);
    let mut side = Side { range: end..end, ..Side::default() };
    let mut next = Some(end);
    let mut cut = Vec::new();
    while let Some(at) = next.filter(|_| side.lines < most) {
        let left = budget - side.used;
        let bound = start.max(at.saturating_sub(reach(left)));
        let feed = text.feed_before(bound, at);
        let begin = feed.map(|feed| feed + 1).or((bound == start).then_some(start));
        let cost = begin.map(|begin| text.size_of(begin..at, Unit::Units) + 1).filter(|cost| *cost <= left);
        let (Some(begin), Some(cost)) = (begin, cost) else {
            cut = cut_tail(text, &mut side, at, left);
            break;
        };
        side.range.start = begin;
        side.used += cost;
        side.lines += 1;
        next = feed;
    }
    let whole = text.kept(side.range.clone());
    side.parts = cut.into_iter().chain(whole).collect();
    side
}

fn cut_tail(text: &Text, side: &mut Side, at: usize, left: u64) -> Vec<Part> {
    let Some(room) = left.checked_sub(DOTS.len() as u64) else { return Vec::new() };
    let cut = text.retreat(text.body.start, at, Unit::Units, room);
    side.range.start = cut.at;
    side.lines += 1;
    let mut parts = vec![Part::Notice { text: DOTS.to_owned() }];
    if let Some(half) = cut.half {
        parts.push(text.changed(half, vec![Bit::Replaced(1)]));
        side.halves = 1;
    }
    parts
}
