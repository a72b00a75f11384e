//! Pieces that are matches or entries: at most so many, each cut to a length, then whole ones up to a size.

use std::ops::Range;

use regex::bytes::Regex;

use crate::preview::measure::{Cut, Text, as_usize};
use crate::preview::model::{Bit, LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::policy::schema::Boundary;
use crate::preview::strategy::{Chosen, Inner, Rule};
use crate::preview::template::Fact;

/// How far into a row the match's own text is looked for: as far as a path can reach, and a line number.
const PREFIX: usize = 4096 + 24;
/// What ends a row's path and line number, in a row of a match and in one of its context.
const PREFIX_END: &str = r"(?-u):([0-9]+): |-([0-9]+)- ";
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One match: what is kept of it, and whether it was cut.
struct Item {
    line: Range<usize>,
    /// A byte order mark of the searched file's first line, which the agent's search drops.
    mark: Option<Range<usize>>,
    cut: Option<Cut>,
}

/// Where a match's own text begins in its row, and a byte order mark before it.
struct Rows(Option<Regex>);

impl Rows {
    fn new(rule: &Rule) -> Result<Self, PlanError> {
        let regex = rule.form.row_prefix.then(|| Regex::new(PREFIX_END)).transpose();
        regex.map(Self).map_err(|error| PlanError::policy(rule.policy, error.to_string()))
    }

    fn split(&self, bytes: &[u8], line: &Range<usize>) -> (usize, Option<Range<usize>>) {
        // A path has a byte at least.
        let start = line.end.min(line.start + 1);
        let row = &bytes[start..line.end.min(start + PREFIX)];
        let Some(found) = self.0.as_ref().and_then(|regex| regex.captures(row)) else {
            return (line.start, None);
        };
        let end = start + found.get(0).map_or(0, |whole| whole.end());
        let number = found.get(1).or(found.get(2)).map_or(&b""[..], |number| number.as_bytes());
        let is_marked = number == b"1" && bytes[end..line.end].starts_with(BYTE_ORDER_MARK);
        let after = end + if is_marked { BYTE_ORDER_MARK.len() } else { 0 };
        (after, is_marked.then_some(end..after))
    }
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let most = rule.needed(&rule.form.lines, "lines")?;
    let size = rule.figure(&rule.form.size)?.unwrap_or(u64::MAX);
    let line_size = rule.figure(&rule.form.line_size)?;
    let suffix = rule.form.line_suffix.as_deref().unwrap_or_default();
    let (items, many) = items(text, rule, most, size, line_size)?;
    let clipped = items.iter().any(|item| item.cut.is_some());
    let is_changed = items.iter().any(|item| item.mark.is_some());
    let (shown, full) = fitting(text, &items, size, suffix);
    let is_cut = many || clipped || full;
    let mut chosen =
        if is_cut || is_changed { joined(text, &items[..shown], suffix) } else { plan::everything(text) };
    chosen.cut = Some(is_cut);
    chosen.hit = match (full, many) {
        (true, _) => Some(LimitHit::Size(rule.policy.unit())),
        (_, true) => Some(LimitHit::Matches),
        _ => None,
    };
    for (name, flag) in [("many", many), ("full", full), ("clipped", clipped)] {
        chosen.facts.insert(name, Fact::Flag(flag));
    }
    let totals = if full { mapped_totals(text, rule, &items, suffix, most) } else { None };
    let sizes = items[..shown].iter().map(|item| item_size(text, item, suffix));
    let output_bytes = is_cut.then(|| sizes.sum::<u64>() + (shown as u64).saturating_sub(1));
    chosen.inner = Some(Inner { output_bytes, totals, ..Inner::of(text, full, full && shown == 0) });
    chosen.inner = chosen.inner.map(|inner| Inner { limited: many.then_some(most), clipped, ..inner });
    Ok(chosen)
}

/// The first pieces, and whether there are more. Without a length to cut to, none is looked for past the size.
fn items(
    text: &Text,
    rule: &Rule,
    most: u64,
    size: u64,
    line_size: Option<u64>,
) -> Result<(Vec<Item>, bool), PlanError> {
    let rows = Rows::new(rule)?;
    let end = text.lines_end();
    let far = text.body.start.saturating_add(as_usize(size.saturating_add(1)));
    let bound = if line_size.is_none() { end.min(far) } else { end };
    let mut items = Vec::new();
    let mut next = (!text.is_empty()).then_some(text.body.start);
    while let Some(at) = next.filter(|at| (items.len() as u64) < most && *at <= bound) {
        let (stop, is_known) = text.piece_end(at, bound);
        let unit = rule.form.unit.unwrap_or(Unit::Units);
        let (from, mark) = rows.split(text.bytes, &(at..stop));
        let mut cut = line_size.map(|most| text.advance(from, stop, unit, most)).filter(|cut| cut.at < stop);
        if let Some(cut) = cut.as_mut().filter(|_| rule.form.boundary != Boundary::Unit) {
            cut.half = None;
        }
        items.push(Item { line: at..stop, mark, cut });
        next = (is_known && stop < end).then_some(stop + 1);
    }
    let many = text.exceeds_lines(most);
    text.wait_for(many.err().unwrap_or_default());
    Ok((items, many.unwrap_or(false)))
}

fn item_size(text: &Text, item: &Item, suffix: &str) -> u64 {
    let mark = item.mark.as_ref().map_or(0, |mark| mark.len() as u64);
    let size = match &item.cut {
        None => text.size_of(item.line.clone(), Unit::Bytes),
        Some(cut) => {
            let half = if cut.half.is_some() { 3 } else { 0 };
            text.size_of(item.line.start..cut.at, Unit::Bytes) + half + suffix.len() as u64
        }
    };
    size - mark
}

/// How many items fit, and whether some do not.
fn fitting(text: &Text, items: &[Item], size: u64, suffix: &str) -> (usize, bool) {
    let mut sum = 0;
    for (at, item) in items.iter().enumerate() {
        sum += item_size(text, item, suffix) + u64::from(at > 0);
        if sum > size {
            return (at, true);
        }
    }
    (items.len(), false)
}

/// Lines and bytes of what the byte limit was applied to; none while the whole was not counted. Without a length to
/// cut to, pieces past the size were not looked at, and are now.
fn mapped_totals(text: &Text, rule: &Rule, items: &[Item], suffix: &str, most: u64) -> Option<(u64, u64)> {
    let lines = text.line_count().ok()?.min(most);
    if items.len() as u64 == lines && rule.form.line_size.is_some() {
        let bytes: u64 = items.iter().map(|item| item_size(text, item, suffix)).sum();
        return Some((lines, bytes + lines.saturating_sub(1)));
    }
    let (start, end) = (text.body.start, text.lines_end());
    let stop = text.end_of_pieces(start, end, most.max(1)).unwrap_or(end);
    let whole = text.part(start..stop, None);
    Some((lines, whole.size(Unit::Bytes).ok()?))
}

/// The items joined by line feeds; runs of whole ones are one part.
fn joined(text: &Text, items: &[Item], suffix: &str) -> Chosen {
    let mut chosen = Chosen { lines: Some(Ok(items.len() as u64)), ..Chosen::default() };
    let mut parts = Vec::new();
    let mut run = items.first().map_or(text.body.start, |item| item.line.start);
    for item in items {
        if let Some(mark) = &item.mark {
            parts.extend(text.kept(run..mark.start));
            chosen.ranges.push(run..mark.start);
            run = mark.end;
        }
        let Some(cut) = &item.cut else { continue };
        parts.extend(text.kept(run..cut.at));
        chosen.ranges.push(run..cut.at);
        if let Some(half) = &cut.half {
            parts.push(text.changed(half.clone(), vec![Bit::Replaced(1)]));
            chosen.halves += 1;
        }
        parts.push(Part::Notice { text: suffix.to_owned() });
        run = item.line.end;
    }
    if let Some(last) = items.last() {
        parts.extend(text.kept(run..last.line.end));
        chosen.ranges.push(run..last.line.end);
    }
    chosen.slots = vec![("kept", parts)];
    chosen
}
