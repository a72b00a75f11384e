//! So much of a text from one end, whatever its lines.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Bit, Direction, LimitHit, Part, Unit};
use crate::preview::plan::PlanError;
use crate::preview::policy::schema::Boundary;
use crate::preview::template::Fact;

use super::{Chosen, Rule, lines_in};

/// One end of a text, cut by size.
#[derive(Debug)]
pub(crate) struct End {
    /// The whole elements kept.
    pub range: Range<usize>,
    /// The parts, half a character at the cut included.
    pub parts: Vec<Part>,
    /// Whether there is such a half.
    pub halves: u64,
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let size = rule.needed(&rule.form.size, "size")?;
    let snap = rule.figure(&rule.form.snap)?;
    let mut end = match rule.direction {
        Direction::Tail if size == 0 && rule.form.zero_keeps_all => whole(text),
        Direction::Tail => tail(text, rule, text.body.clone(), size),
        Direction::Head => head(text, rule, text.body.clone(), size),
    };
    let is_all = end.range == text.body;
    if let Some(snapped) =
        snap.filter(|_| !is_all).and_then(|snap| snapped(text, rule, &end.range, snap, end.halves > 0))
    {
        end = End { parts: text.kept(snapped.clone()).into_iter().collect(), range: snapped, halves: 0 };
    }
    let chosen = Chosen {
        lines: Some(Ok(lines_in(text, &end.range).max(end.halves))),
        halves: end.halves,
        slots: vec![("kept", end.parts)],
        ranges: vec![end.range],
        hit: Some(LimitHit::Size(rule.policy.unit())),
        ..Chosen::default()
    };
    Ok(super::with_fact(chosen, "clipped", Fact::Flag(!is_all)))
}

pub(crate) fn whole(text: &Text) -> End {
    End { range: text.body.clone(), parts: text.kept(text.body.clone()).into_iter().collect(), halves: 0 }
}

/// The kept range cut back to a line feed that lies far enough in (from the end: near enough); half a character
/// before it counts as one.
pub(crate) fn snapped(
    text: &Text,
    rule: &Rule,
    range: &Range<usize>,
    snap: u64,
    half: bool,
) -> Option<Range<usize>> {
    match rule.direction {
        Direction::Head => {
            let feed = text.feed_before(range.start, range.end)?;
            let far = text.size_of(range.start..feed, rule.unit) > snap;
            far.then(|| range.start..feed + usize::from(rule.form.snap_keeps_feed))
        }
        Direction::Tail => {
            let feed = text.feed_after(range.start, range.end)?;
            let near = text.size_of(range.start..feed, rule.unit) + u64::from(half) < snap;
            near.then(|| feed + usize::from(!rule.form.snap_keeps_feed)..range.end)
        }
    }
}

/// The first `size` of a stretch.
pub(crate) fn head(text: &Text, rule: &Rule, within: Range<usize>, size: u64) -> End {
    if rule.form.boundary == Boundary::Byte {
        let at = within.start.saturating_add(as_usize(size)).min(within.end);
        return raw(text, within.start..at);
    }
    let cut = text.advance(within.start, within.end, rule.unit, size);
    let mut parts: Vec<_> = text.kept(within.start..cut.at).into_iter().collect();
    let half = half_part(text, rule, cut.half);
    let halves = u64::from(half.is_some());
    parts.extend(half);
    End { range: within.start..cut.at, parts, halves }
}

/// The last `size` of a stretch.
pub(crate) fn tail(text: &Text, rule: &Rule, within: Range<usize>, size: u64) -> End {
    if rule.form.boundary == Boundary::Byte {
        let at = within.end.saturating_sub(as_usize(size)).max(within.start);
        return raw(text, at..within.end);
    }
    let cut = text.retreat(within.start, within.end, rule.unit, size);
    let half = half_part(text, rule, cut.half);
    let halves = u64::from(half.is_some());
    let parts = half.into_iter().chain(text.kept(cut.at..within.end)).collect();
    End { range: cut.at..within.end, parts, halves }
}

fn half_part(text: &Text, rule: &Rule, half: Option<Range<usize>>) -> Option<Part> {
    let half = half.filter(|_| rule.form.boundary == Boundary::Unit && rule.unit == Unit::Units)?;
    Some(text.changed(half, vec![Bit::Replaced(1)]))
}

/// A stretch between raw bytes; characters that its ends split are parts of their own.
pub(crate) fn raw(text: &Text, range: Range<usize>) -> End {
    let mut parts = Vec::new();
    let first = text.split_character(range.start).map_or(range.start, |split| split.end.min(range.end));
    let last = text.split_character(range.end).map_or(range.end, |split| split.start.max(first));
    let fragment = |range: Range<usize>| {
        let bits = vec![Bit::Bytes(range.clone())];
        (!range.is_empty()).then(|| text.changed(range, bits))
    };
    parts.extend(fragment(range.start..first));
    parts.extend(text.kept(first..last));
    parts.extend(fragment(last..range.end));
    End { range, parts, halves: 0 }
}
