//! Half the lines from either end; where those are too much, half the bytes of what they joined to.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{LimitHit, Part, Unit};
use crate::preview::plan::PlanError;
use crate::preview::strategy::{Chosen, Rule};
use crate::preview::template::{Fact, Facts};

/// What the marker and its blank lines take.
const OVERHEAD: u64 = 4;

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let lines = rule.needed(&rule.form.lines, "lines")?;
    let size = rule.needed(&rule.form.size, "size")?;
    let marker = rule.words(&rule.form.gap, &Facts::new())?;
    let room = (marker.len() as u64).saturating_add(OVERHEAD);
    if lines <= OVERHEAD || size <= room {
        return Ok(marker_only(rule, &marker, size));
    }
    let (lines, size) = (lines - OVERHEAD, size - room);
    let sampled = sample(text, lines, size);
    let fits = sampled.iter().map(|range| range.len() as u64).sum::<u64>() <= size
        && joined_size(text, &sampled) <= size;
    let (head, tail) = match (fits, sampled.as_slice()) {
        (true, [head, tail]) => (one(head.start..head.end - 1), one(tail.clone())),
        (true, all) => (all.to_vec(), Vec::new()),
        (false, all) => (prefix(text, all, size.div_ceil(2)), suffix(text, all, size / 2)),
    };
    Ok(finish(text, rule, marker, head, tail, fits))
}

fn one(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

fn marker_only(rule: &Rule, marker: &str, size: u64) -> Chosen {
    let end =
        (0..=marker.len()).rev().find(|at| *at as u64 <= size && marker.is_char_boundary(*at)).unwrap_or(0);
    let mut chosen = Chosen {
        slots: vec![("head", Vec::new()), ("tail", Vec::new())],
        lines: Some(Ok(0)),
        hit: Some(LimitHit::Size(rule.policy.unit())),
        ..Chosen::default()
    };
    chosen.facts.insert("marker", Fact::Text(marker[..end].to_owned()));
    chosen.facts.insert("gap", Fact::Flag(false));
    chosen
}

/// The lines that are sampled: one stretch, or two, the first with the line feed that joins them. A stretch over
/// `size` is only followed as far as the cut can reach.
fn sample(text: &Text, lines: u64, size: u64) -> Vec<Range<usize>> {
    let (start, end) = (text.body.start, text.body.end);
    match text.exceeds_lines(lines) {
        Ok(false) => return one(start..end),
        Ok(true) => {}
        Err(_) => text.give_up(),
    }
    let reach = as_usize(size.saturating_add(OVERHEAD));
    let (low, high) = (start.saturating_add(reach).min(end), end.saturating_sub(reach).max(start));
    let near = text.end_of_pieces(start, low, lines.div_ceil(2));
    if lines < 2 {
        let end = near.or_else(|| text.end_of_pieces(start, end, lines.div_ceil(2)));
        return one(start..end.unwrap_or(low));
    }
    let far = text.start_of_pieces(high, end, lines / 2);
    let is_short = |from: usize, to: usize| ((to - from) as u64) < size / 2 + OVERHEAD;
    let head = match (near, far) {
        (Some(head), _) => head,
        (None, Some(far)) if is_short(far, end) => {
            text.end_of_pieces(start, end, lines.div_ceil(2)).unwrap_or(low)
        }
        _ => low,
    };
    let tail = match (far, near) {
        (Some(tail), _) => tail,
        (None, Some(near)) if is_short(start, near) => {
            text.start_of_pieces(start, end, lines / 2).unwrap_or(high)
        }
        _ => high,
    };
    vec![start..(head + 1).min(end), tail.max(head + 1).min(end)..end]
}

fn joined_size(text: &Text, sampled: &[Range<usize>]) -> u64 {
    sampled.iter().map(|range| text.size_of(range.clone(), Unit::Bytes)).sum()
}

/// The first `size` bytes of the stretches joined, at a character boundary.
fn prefix(text: &Text, sampled: &[Range<usize>], size: u64) -> Vec<Range<usize>> {
    let mut left = size;
    let mut kept = Vec::new();
    for range in sampled {
        let cut = text.advance(range.start, range.end, Unit::Bytes, left).at;
        left -= text.size_of(range.start..cut, Unit::Bytes);
        kept.push(range.start..cut);
        if cut < range.end {
            break;
        }
    }
    kept
}

/// The last `size` bytes of the stretches joined, at a character boundary.
fn suffix(text: &Text, sampled: &[Range<usize>], size: u64) -> Vec<Range<usize>> {
    let mut left = size;
    let mut kept = Vec::new();
    for range in sampled.iter().rev() {
        let cut = text.retreat(range.start, range.end, Unit::Bytes, left).at;
        left -= text.size_of(cut..range.end, Unit::Bytes);
        kept.insert(0, cut..range.end);
        if cut > range.start {
            break;
        }
    }
    kept
}

fn finish(
    text: &Text,
    rule: &Rule,
    marker: String,
    head: Vec<Range<usize>>,
    tail: Vec<Range<usize>>,
    fits: bool,
) -> Chosen {
    let parts = |ranges: &[Range<usize>]| -> Vec<Part> {
        ranges.iter().filter_map(|range| text.kept(range.clone())).collect()
    };
    let (head_parts, tail_parts) = (parts(&head), parts(&tail));
    let lines: u64 =
        head.iter().chain(&tail).map(|range| crate::preview::strategy::lines_in(text, range)).sum();
    let mut chosen = Chosen {
        lines: Some(Ok(lines)),
        hit: Some(if fits { LimitHit::Lines } else { LimitHit::Size(rule.policy.unit()) }),
        ranges: head.into_iter().chain(tail).collect(),
        ..Chosen::default()
    };
    chosen.facts.insert("marker", Fact::Text(marker));
    chosen.facts.insert("gap", Fact::Flag(true));
    chosen.facts.insert("tail_empty", Fact::Flag(tail_parts.is_empty()));
    chosen.slots = vec![("head", head_parts), ("tail", tail_parts)];
    chosen
}
