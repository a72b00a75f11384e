//! Keeps an amount of a text from one end, regardless of lines.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::measure::{Cut, Text, as_usize};
use crate::preview::model::{Direction, Fragment, Part, PlanError, Unit};
use crate::preview::section::or_default;
use crate::preview::strategy::selection::lines_in;
use crate::preview::strategy::{Boundary, Context, From, Selection, Strategy};
use crate::preview::template::{Fact, Figure};

#[derive(Debug)]
pub(crate) struct End {
    pub range: Range<usize>,
    /// The parts, including half a character at the cut.
    pub parts: Vec<Part>,
    /// Number of such halves: 0 or 1.
    pub halves: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Size {
    #[serde(deserialize_with = "or_default")]
    from: From,
    size: Figure,
    ruler: Ruler,
    snap: Option<Snap>,
    /// Whether keeping the last 0 keeps everything, like `slice(-0)`.
    zero_keeps_all: bool,
}

impl Strategy for Size {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let from = self.from.resolve(context);
        let unit = self.ruler.unit(context);
        let mut end = match from {
            Direction::Tail if size == 0 && self.zero_keeps_all => whole(text),
            from => self.ruler.end(text, unit, text.body.clone(), from, size),
        };
        let is_all = end.range == text.body;
        if let Some(snap) = self.snap.as_ref().filter(|_| !is_all) {
            let near = context.scope.figure(&snap.near)?;
            if let Some(range) = snap.snapped(text, unit, &end.range, from, near, end.halves > 0) {
                end = End { parts: text.kept(range.clone()).into_iter().collect(), range, halves: 0 };
            }
        }
        let selection = Selection {
            lines: Some(Ok(lines_in(text, &end.range).max(end.halves))),
            halves: end.halves,
            slots: vec![("kept", end.parts)],
            ranges: vec![end.range],
            hit: Some(context.by_size()),
            ..Selection::default()
        };
        Ok(selection.with_fact("clipped", Fact::Flag(!is_all)))
    }
}

/// The keys of `raw-tail`, which keeps the last raw bytes, wherever they begin, without the line feeds at the end.
#[derive(Debug, Deserialize)]
pub(crate) struct RawTail {
    size: Figure,
}

impl Strategy for RawTail {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = as_usize(context.scope.figure(&self.size)?);
        let is_cut = text.bytes.len() > most;
        let start = text.bytes.len().saturating_sub(most);
        let mut end = text.body.end;
        while end > start && text.bytes[end - 1] == b'\n' {
            end -= 1;
        }
        let kept = raw(text, start..end);
        Ok(Selection {
            lines: Some(Ok(lines_in(text, &kept.range))),
            slots: vec![("kept", kept.parts)],
            ranges: vec![kept.range],
            hit: is_cut.then_some(context.by_size()),
            uncut: !is_cut,
            ..Selection::default()
        })
    }
}

pub(crate) fn whole(text: &Text) -> End {
    End { range: text.body.clone(), parts: text.kept(text.body.clone()).into_iter().collect(), halves: 0 }
}

/// Moves a cut back to the nearest line feed.
#[derive(Debug, Deserialize)]
pub(crate) struct Snap {
    /// How far in that line feed must be (from the end: how near it must be).
    #[serde(rename = "snap")]
    pub near: Figure,
    #[serde(rename = "snap_keeps_feed")]
    keeps_feed: bool,
}

impl Snap {
    /// Cuts the kept range back to a line feed that is far enough in (from the end: near enough); half a character
    /// before it counts as one.
    pub(crate) fn snapped(
        &self,
        text: &Text,
        unit: Unit,
        range: &Range<usize>,
        from: Direction,
        near: u64,
        half: bool,
    ) -> Option<Range<usize>> {
        match from {
            Direction::Head => {
                let feed = text.feed_before(range.start, range.end)?;
                let is_far = text.size_of(range.start..feed, unit) > near;
                is_far.then(|| range.start..feed + usize::from(self.keeps_feed))
            }
            Direction::Tail => {
                let feed = text.feed_after(range.start, range.end)?;
                let is_near = text.size_of(range.start..feed, unit) + u64::from(half) < near;
                is_near.then(|| feed + usize::from(!self.keeps_feed)..range.end)
            }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ruler {
    /// The unit of sizes, if not the policy's.
    unit: Option<Unit>,
    #[serde(deserialize_with = "or_default")]
    boundary: Boundary,
}

impl Ruler {
    pub(crate) fn unit(&self, context: &Context) -> Unit {
        self.unit.unwrap_or(context.unit)
    }

    /// Whether half a surrogate pair is kept, as U+FFFD.
    pub(crate) fn keeps_halves(&self) -> bool {
        self.boundary == Boundary::Unit
    }

    pub(crate) fn end(
        &self,
        text: &Text,
        unit: Unit,
        within: Range<usize>,
        from: Direction,
        size: u64,
    ) -> End {
        if self.boundary == Boundary::Byte {
            return raw(text, from.split(&within, as_usize(size).min(within.len())).0);
        }
        let Cut { range, half } = text.end(within, from, unit, size);
        let half = half.filter(|_| self.keeps_halves() && unit == Unit::Utf16);
        let half = half.map(|half| text.changed(half, vec![Fragment::Replaced(1)]));
        let halves = u64::from(half.is_some());
        let whole = text.kept(range.clone());
        End { range, parts: from.join(whole, half), halves }
    }
}

/// Returns a range between raw bytes; characters split by its ends become parts of their own.
pub(crate) fn raw(text: &Text, range: Range<usize>) -> End {
    let mut parts = Vec::new();
    let first = text.split_character(range.start).map_or(range.start, |split| split.end.min(range.end));
    let last = text.split_character(range.end).map_or(range.end, |split| split.start.max(first));
    let fragment = |range: Range<usize>| {
        let fragments = vec![Fragment::Bytes(range.clone())];
        (!range.is_empty()).then(|| text.changed(range, fragments))
    };
    parts.extend(fragment(range.start..first));
    parts.extend(text.kept(first..last));
    parts.extend(fragment(last..range.end));
    End { range, parts, halves: 0 }
}
