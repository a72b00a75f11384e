//! Whole pieces from one end, under a limit on lines and one on size.

use std::ops::Range;

use crate::preview::measure::{Cut, Text, as_usize, widest};
use crate::preview::model::{Bit, Direction, LimitHit, Unit};
use crate::preview::plan::PlanError;
use crate::preview::policy::schema::Oversize;
use crate::preview::template::Fact;

use super::{Chosen, Rule, size};

/// The limits in force.
struct Limits {
    lines: Option<u64>,
    size: Option<u64>,
    unit: Unit,
    cut_oversize: bool,
}

/// Pieces taken so far.
#[derive(Default)]
struct Taken {
    range: Range<usize>,
    count: u64,
    size: u64,
    hit: Option<LimitHit>,
    partial: bool,
    /// Whether every line was taken without counting them.
    all: bool,
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let lines = rule.figure(&rule.form.lines)?;
    let size = rule.figure(&rule.form.size)?;
    let together = rule.form.oversize == Oversize::Text;
    let limits = Limits {
        lines: lines.filter(|lines| !(*lines == 0 && keeps_all_at_zero(rule))),
        size: size.filter(|_| !together),
        unit: rule.unit,
        cut_oversize: rule.form.oversize == Oversize::Cut,
    };
    let region = text.body.start..text.lines_end();
    let mut taken = match (rule.direction, &limits) {
        (_, Limits { size: None, .. }) => by_lines(text, region, &limits, rule.direction),
        (Direction::Head, _) => from_head(text, region, &limits),
        (Direction::Tail, _) => from_tail(text, region, &limits),
    };
    let over_lines = |lines: u64| text.exceeds_lines(lines).unwrap_or(taken.hit.is_some());
    let by_lines = together && lines.is_some_and(over_lines);
    let whole = taken.range.clone();
    let all_at_zero = size == Some(0) && keeps_all_at_zero(rule);
    let cut = size.filter(|size| together && is_over(text, whole.clone(), rule.unit, *size));
    let mut half = cut.filter(|_| !all_at_zero).and_then(|size| cut_together(text, rule, size, &mut taken));
    if let (Some(_), Some(snap)) = (cut, rule.figure(&rule.form.snap)?)
        && let Some(snapped) = size::snapped(text, rule, &taken.range, snap, half.is_some())
    {
        taken.range = snapped;
        half = None;
    }
    if let Some(LimitHit::Size(_)) = taken.hit {
        taken.hit = Some(LimitHit::Size(rule.policy.unit()));
    }
    if rule.form.lines_win && (taken.hit.is_none() || limits.lines.is_some_and(|lines| taken.count >= lines))
    {
        taken.hit = Some(LimitHit::Lines);
    }
    let range = taken.range.clone();
    let mut chosen = finish(text, rule, taken, half);
    if together {
        chosen.facts.insert("line_cut", Fact::Flag(by_lines));
        chosen.facts.insert("text_cut", Fact::Flag(cut.is_some()));
        if cut.is_some() && rule.form.snap.is_some() {
            let kept = text.size_of(range, rule.unit) + chosen.halves;
            let cut_size = text.size_of(whole, rule.unit).saturating_sub(kept);
            chosen.facts.insert("cut_size", Fact::Number(cut_size));
        }
    }
    Ok(chosen)
}

/// Whether a stretch is larger than a size, without measuring more than that takes.
fn is_over(text: &Text, range: Range<usize>, unit: Unit, size: u64) -> bool {
    range.len() as u64 > size.saturating_mul(widest(unit)) || text.size_of(range, unit) > size
}

fn keeps_all_at_zero(rule: &Rule) -> bool {
    rule.form.zero_keeps_all && rule.direction == Direction::Tail
}

/// Cuts the joined pieces to a size, anywhere that the boundary allows.
fn cut_together(text: &Text, rule: &Rule, size: u64, taken: &mut Taken) -> Option<Range<usize>> {
    taken.hit = Some(LimitHit::Size(rule.policy.unit()));
    taken.partial = true;
    let Cut { at, half } = match rule.direction {
        Direction::Head => text.advance(taken.range.start, taken.range.end, rule.unit, size),
        Direction::Tail => text.retreat(taken.range.start, taken.range.end, rule.unit, size),
    };
    match rule.direction {
        Direction::Head => taken.range.end = at,
        Direction::Tail => taken.range.start = at,
    }
    half.filter(|_| rule.form.boundary == crate::preview::policy::schema::Boundary::Unit)
}

fn finish(text: &Text, rule: &Rule, taken: Taken, half: Option<Range<usize>>) -> Chosen {
    let mut parts: Vec<_> = text.kept(taken.range.clone()).into_iter().collect();
    let halves = u64::from(half.is_some());
    if let Some(half) = half {
        let changed = text.changed(half, vec![Bit::Replaced(1)]);
        let at = if rule.direction == Direction::Head { parts.len() } else { 0 };
        parts.insert(at, changed);
    }
    let total = text.line_count();
    let count = if taken.all { total } else { Ok(taken.count) };
    let first = total.and_then(|total| count.map(|count| (total + 1).saturating_sub(count)));
    let span = match rule.direction {
        Direction::Head => (Ok(1), count),
        Direction::Tail => (first, total),
    };
    let mut chosen = Chosen {
        slots: vec![("kept", parts)],
        halves,
        lines: Some(count),
        hit: taken.hit,
        partial: taken.partial,
        span: Some(span),
        ..Chosen::default()
    };
    if taken.partial {
        line_figures(text, rule.direction, &taken, &mut chosen);
    }
    chosen.ranges.push(taken.range);
    chosen
}

/// Size of the line that was kept in part, and of what was left out of it.
fn line_figures(text: &Text, direction: Direction, taken: &Taken, chosen: &mut Chosen) {
    let line = match direction {
        Direction::Head => text.line_size_from(taken.range.start),
        Direction::Tail => text.line_size_to(taken.range.end),
    };
    let kept = taken.size;
    chosen.facts.insert("line_bytes", Fact::from(line));
    chosen.facts.insert("rest_bytes", Fact::from(line.map(|line| line.saturating_sub(kept))));
}

fn by_lines(text: &Text, region: Range<usize>, limits: &Limits, direction: Direction) -> Taken {
    let all = Taken { range: region.clone(), all: true, ..Taken::default() };
    let mut taken = match (limits.lines, direction) {
        (None, _) => all,
        (Some(0), Direction::Head) => Taken { range: region.start..region.start, ..lines_hit() },
        (Some(0), Direction::Tail) => Taken { range: region.end..region.end, ..lines_hit() },
        (Some(lines), Direction::Head) => match text.end_of_pieces(region.start, region.end, lines) {
            Some(end) => Taken { range: region.start..end, ..lines_hit() },
            None => all,
        },
        (Some(lines), Direction::Tail) => match text.start_of_pieces(region.start, region.end, lines) {
            Some(start) => Taken { range: start..region.end, ..lines_hit() },
            None => all,
        },
    };
    if let (Some(lines), false) = (limits.lines, taken.all) {
        taken.count = lines;
    }
    taken
}

fn lines_hit() -> Taken {
    Taken { hit: Some(LimitHit::Lines), ..Taken::default() }
}

/// Whether the text has no piece at all, which only ended lines allow.
fn has_none(text: &Text) -> bool {
    text.line_count() == Ok(0)
}

fn from_head(text: &Text, region: Range<usize>, limits: &Limits) -> Taken {
    let mut taken = Taken { range: region.start..region.start, ..Taken::default() };
    let mut next = (!has_none(text)).then_some(region.start);
    while let Some(start) = next {
        if limits.lines == Some(taken.count) {
            taken.hit = Some(LimitHit::Lines);
            return taken;
        }
        let separator = u64::from(taken.count > 0);
        let left = limits.size.unwrap_or(u64::MAX) - taken.size;
        let bound = reach(left, separator, limits.unit, region.end - start).map(|reach| start + reach);
        let feed = bound.and_then(|bound| text.feed_after(start, bound));
        let end = feed.or_else(|| bound.filter(|bound| *bound == region.end));
        let cost = end.map(|end| text.size_of(start..end, limits.unit) + separator);
        let Some(cost) = cost.filter(|cost| *cost <= left) else {
            if taken.count == 0 && limits.cut_oversize {
                let cut = text.advance(start, region.end, limits.unit, left);
                return oversize(text, limits, start..cut.at);
            }
            taken.hit = Some(LimitHit::Size(limits.unit));
            return taken;
        };
        taken.size += cost;
        taken.count += 1;
        taken.range.end = end.unwrap_or(region.end);
        next = feed.map(|feed| feed + 1);
    }
    taken
}

fn from_tail(text: &Text, region: Range<usize>, limits: &Limits) -> Taken {
    let mut taken = Taken { range: region.end..region.end, ..Taken::default() };
    let mut next = (!has_none(text)).then_some(region.end);
    while let Some(end) = next {
        if limits.lines == Some(taken.count) {
            taken.hit = Some(LimitHit::Lines);
            return taken;
        }
        let separator = u64::from(taken.count > 0);
        let left = limits.size.unwrap_or(u64::MAX) - taken.size;
        let bound = reach(left, separator, limits.unit, end - region.start).map(|reach| end - reach);
        let feed = bound.and_then(|bound| text.feed_before(bound, end));
        let start = feed.map(|feed| feed + 1).or_else(|| bound.filter(|bound| *bound == region.start));
        let cost = start.map(|start| text.size_of(start..end, limits.unit) + separator);
        let Some(cost) = cost.filter(|cost| *cost <= left) else {
            if taken.count == 0 && limits.cut_oversize {
                let cut = text.retreat(region.start, end, limits.unit, left);
                return oversize(text, limits, cut.at..end);
            }
            taken.hit = Some(LimitHit::Size(limits.unit));
            return taken;
        };
        taken.size += cost;
        taken.count += 1;
        taken.range.start = start.unwrap_or(region.start);
        next = feed;
    }
    taken
}

/// How many raw bytes may hold a piece that still fits, its line feed with it; none where not even a line feed fits.
fn reach(left: u64, separator: u64, unit: Unit, available: usize) -> Option<usize> {
    let room = left.checked_sub(separator)?;
    Some(as_usize(room.saturating_mul(widest(unit)).saturating_add(1)).min(available))
}

fn oversize(text: &Text, limits: &Limits, range: Range<usize>) -> Taken {
    Taken {
        size: text.size_of(range.clone(), limits.unit),
        range,
        count: 1,
        hit: Some(LimitHit::Size(limits.unit)),
        partial: true,
        all: false,
    }
}
