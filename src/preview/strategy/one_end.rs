//! Keeps one end of a text: whole pieces under limits on lines and size, or an amount regardless of lines.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::measure::{Cut, Piece, Text, as_usize, most_bytes};
use crate::preview::model::{Direction, LimitHit, Part, PlanError, Unit};
use crate::preview::strategy::{Boundary, Context, KeptEnd, Selection, Strategy, lines_in};
use crate::preview::template::{Fact, Facts, Figure};

#[derive(Debug, Deserialize)]
pub(crate) struct Pieces {
    from: KeptEnd,
    lines: Option<Figure>,
    pub size: Option<Figure>,
    pub ruler: Ruler,
    oversize: Oversize,
    snap: Option<Snap>,
    /// Whether keeping the last 0 keeps everything, like `slice(-0)`.
    zero_keeps_all: bool,
    /// Whether the limit on lines is reported rather than the size, if a cut piece is the last one that fits.
    lines_win: bool,
}

/// The limits under which whole pieces are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PieceLimits {
    pub from: Direction,
    pub lines: Option<u64>,
    /// Of the pieces joined by line feeds.
    pub size: Option<u64>,
    pub unit: Unit,
    pub lines_win: bool,
    /// Whether part of the first piece is kept if that alone exceeds the size.
    pub cuts_oversize: bool,
}

/// What happens if the first piece alone exceeds the size limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Oversize {
    /// It is left out, and nothing is kept.
    None,
    /// As much of it as fits is kept.
    Cut,
    /// The limit applies to the kept pieces together, which may be cut anywhere.
    Text,
}

#[derive(Default)]
struct KeptPieces {
    range: Range<usize>,
    count: u64,
    size: u64,
    hit: Option<LimitHit>,
    partial: bool,
    /// Whether all lines were taken, without counting them.
    all: bool,
}

impl Strategy for Pieces {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let written = self.read_limits(context)?;
        let (from, together) = (written.from, self.oversize == Oversize::Text);
        let keeps_all_at_zero = self.zero_keeps_all && from == Direction::Tail;
        let bounds = PieceLimits {
            lines: written.lines.filter(|lines| !(*lines == 0 && keeps_all_at_zero)),
            size: written.size.filter(|_| !together),
            ..written
        };
        let region = text.body.start..text.lines_end();
        let mut taken = match bounds.size {
            None => by_lines(text, region, &bounds),
            Some(size) => by_size(text, region, &bounds, size),
        };
        if let Some(LimitHit::Size(_)) = taken.hit {
            taken.hit = Some(context.by_size());
        }
        let is_counted = bounds.lines.is_some_and(|lines| taken.count >= lines);
        let (half, facts) = match together {
            true => self.cut_together(text, context, &written, &mut taken)?,
            false => Default::default(),
        };
        if bounds.lines_win && (taken.hit.is_none() || is_counted) {
            taken.hit = Some(LimitHit::Lines);
        }
        let mut selection = finish(text, from, taken, half);
        selection.facts.extend(facts);
        Ok(selection)
    }
}

impl Pieces {
    fn read_limits(&self, context: &Context) -> Result<PieceLimits, PlanError> {
        Ok(PieceLimits {
            from: self.from.resolve(context),
            lines: context.scope.optional(&self.lines)?,
            size: context.scope.optional(&self.size)?,
            unit: self.ruler.unit(context),
            lines_win: self.lines_win,
            cuts_oversize: self.oversize == Oversize::Cut,
        })
    }

    /// Returns the limits on whole pieces; none if they may be cut together, or a limit is 0, which has its own meanings.
    #[cfg(feature = "app")]
    pub(crate) fn limits(&self, context: &Context) -> Result<Option<PieceLimits>, PlanError> {
        let limits = self.read_limits(context)?;
        let is_zero = limits.lines == Some(0) || limits.size == Some(0);
        Ok(Some(limits).filter(|_| self.oversize != Oversize::Text && !is_zero))
    }

    /// Cuts the joined pieces to a size. Returns the bytes of a character that is half kept.
    fn cut_together(
        &self,
        text: &Text,
        context: &Context,
        limits: &PieceLimits,
        taken: &mut KeptPieces,
    ) -> Result<(Option<Range<usize>>, Facts), PlanError> {
        let PieceLimits { from, lines, size, unit, .. } = *limits;
        let over_lines = |lines: u64| text.exceeds_lines(lines).unwrap_or(taken.hit.is_some());
        let by_lines = lines.is_some_and(over_lines);
        let whole = taken.range.clone();
        let size = size.filter(|size| is_over(text, whole.clone(), unit, *size));
        let mut facts =
            Facts::from([("line_cut", Fact::Flag(by_lines)), ("text_cut", Fact::Flag(size.is_some()))]);
        let Some(size) = size else { return Ok((None, facts)) };
        let mut half = None;
        if !(size == 0 && self.zero_keeps_all && from == Direction::Tail) {
            taken.hit = Some(context.by_size());
            taken.partial = true;
            let cut = text.end(whole.clone(), from, unit, size);
            taken.range = cut.range;
            half = cut.half.filter(|_| self.ruler.keeps_halves());
        }
        if let Some(snap) = &self.snap {
            if let Some(range) = snap.snapped(text, context, unit, &taken.range, from, half.is_some())? {
                taken.range = range;
                half = None;
            }
            let kept = text.size_of(taken.range.clone(), unit) + u64::from(half.is_some());
            let cut_size = text.size_of(whole, unit).saturating_sub(kept);
            facts.insert("cut_size", Fact::Number(cut_size));
        }
        if taken.partial {
            taken.count = lines_in(text, &taken.range).max(u64::from(half.is_some()));
            taken.all = false;
        }
        Ok((half, facts))
    }
}

/// Whether a range is larger than a size, measuring no more than that takes.
fn is_over(text: &Text, range: Range<usize>, unit: Unit, size: u64) -> bool {
    range.len() as u64 > most_bytes(unit, size) || text.size_of(range, unit) > size
}

fn finish(text: &Text, from: Direction, taken: KeptPieces, half: Option<Range<usize>>) -> Selection {
    let halves = u64::from(half.is_some());
    let half = half.map(|half| text.half(half));
    let parts = from.join(text.kept(taken.range.clone()), half);
    let total = text.line_count();
    let count = if taken.all { total } else { Ok(taken.count) };
    let first = total.and_then(|total| count.map(|count| (total + 1).saturating_sub(count)));
    let span = match from {
        Direction::Head => (Ok(1), count),
        Direction::Tail => (first, total),
    };
    let mut selection = Selection {
        slots: vec![("kept", parts)],
        halves,
        lines: Some(count),
        hit: taken.hit,
        partial: taken.partial,
        span: Some(span),
        ..Selection::default()
    };
    if taken.partial {
        let line = text.line_size(from.edge(&taken.range), from);
        let rest = line.map(|line| line.saturating_sub(taken.size));
        selection.facts.extend([("line_bytes", Fact::from(line)), ("rest_bytes", Fact::from(rest))]);
    }
    selection.ranges.push(taken.range);
    selection
}

fn by_lines(text: &Text, region: Range<usize>, bounds: &PieceLimits) -> KeptPieces {
    let from = bounds.from;
    let cut = bounds.lines.and_then(|lines| match lines {
        0 => Some((0, from.split(&region, 0).0)),
        _ => Some((lines, text.outer_pieces(region.clone(), from, lines)?)),
    });
    match cut {
        Some((count, range)) => {
            KeptPieces { range, count, hit: Some(LimitHit::Lines), ..KeptPieces::default() }
        }
        None => KeptPieces { range: region, all: true, ..KeptPieces::default() },
    }
}

/// Takes whole pieces from one end while they fit both limits.
fn by_size(text: &Text, whole: Range<usize>, bounds: &PieceLimits, size: u64) -> KeptPieces {
    let (from, unit) = (bounds.from, bounds.unit);
    let outside = from.edge(&whole);
    let mut taken = KeptPieces { range: outside..outside, ..KeptPieces::default() };
    // Only ended lines may be none at all.
    let is_none = text.line_count() == Ok(0);
    let mut next = (!is_none).then(|| whole.clone());
    while let Some(within) = next {
        if bounds.lines == Some(taken.count) {
            taken.hit = Some(LimitHit::Lines);
            return taken;
        }
        let separator = u64::from(taken.count > 0);
        let left = size - taken.size;
        // Not even a line feed may fit. A piece is searched for as far as one can reach that fits, with its own.
        let room = left.checked_sub(separator).map(|room| as_usize(most_bytes(unit, room).saturating_add(1)));
        let piece = room.and_then(|reach| text.outer_piece(&within, from, reach));
        let cost = |piece: &Piece| text.size_of(piece.range.clone(), unit) + separator;
        let fitting = piece.map(|piece| (cost(&piece), piece)).filter(|(cost, _)| *cost <= left);
        let Some((cost, piece)) = fitting else {
            if taken.count == 0 && bounds.cuts_oversize {
                taken.range = text.end(within, from, unit, left).range;
                taken.size = text.size_of(taken.range.clone(), unit);
                (taken.count, taken.partial) = (1, true);
            }
            taken.hit = Some(LimitHit::Size(unit));
            return taken;
        };
        taken.size += cost;
        taken.count += 1;
        taken.range = from.up_to(&whole, &piece.range);
        next = piece.rest;
    }
    taken
}

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
    from: KeptEnd,
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
        if let Some(snap) = self.snap.as_ref().filter(|_| !is_all)
            && let Some(range) = snap.snapped(text, context, unit, &end.range, from, end.halves > 0)?
        {
            end = End { parts: text.kept(range.clone()).into_iter().collect(), range, halves: 0 };
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
        let last =
            text.bytes[start.min(text.body.end)..text.body.end].iter().rposition(|byte| *byte != b'\n');
        let kept = start..last.map_or(start, |last| start + last + 1);
        Ok(Selection {
            lines: Some(Ok(lines_in(text, &kept))),
            slots: vec![("kept", text.raw(kept.clone()))],
            ranges: vec![kept],
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
    near: Figure,
    #[serde(rename = "snap_keeps_feed")]
    keeps_feed: bool,
}

impl Snap {
    /// Cuts the kept range back to a line feed that is far enough in (from the end: near enough), if there is one.
    pub(crate) fn snapped(
        &self,
        text: &Text,
        context: &Context,
        unit: Unit,
        range: &Range<usize>,
        from: Direction,
        half: bool,
    ) -> Result<Option<Range<usize>>, PlanError> {
        let near = context.scope.figure(&self.near)?;
        let (start, end) = (range.start, range.end);
        let size = |feed: usize| text.size_of(start..feed, unit);
        Ok(match from {
            Direction::Head => text
                .feed_before(start, end)
                .filter(|feed| size(*feed) > near)
                .map(|feed| start..feed + usize::from(self.keeps_feed)),
            Direction::Tail => text
                .feed_after(start, end)
                .filter(|feed| size(*feed) + u64::from(half) < near)
                .map(|feed| feed + usize::from(!self.keeps_feed)..end),
        })
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ruler {
    /// The unit of sizes, if not the policy's.
    unit: Option<Unit>,
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
            let range = from.split(&within, as_usize(size).min(within.len())).0;
            return End { parts: text.raw(range.clone()), range, halves: 0 };
        }
        let Cut { range, half } = text.end(within, from, unit, size);
        let half = half.filter(|_| self.keeps_halves() && unit == Unit::Utf16);
        let half = half.map(|half| text.half(half));
        let halves = u64::from(half.is_some());
        let whole = text.kept(range.clone());
        End { range, parts: from.join(whole, half), halves }
    }
}
