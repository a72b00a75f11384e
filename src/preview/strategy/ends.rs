//! Strategies that keep both ends of a text and leave out the middle.

use std::ops::Range;

use memchr::memmem;
use serde::Deserialize;

use crate::preview::measure::{Text, as_usize, outer_element};
use crate::preview::model::{Direction, Fragment, LimitHit, Part, PlanError, Unit};
use crate::preview::strategy::one_end::{self, End, Ruler};
use crate::preview::strategy::{Context, Selection, Strategy, composed, lines_in_all};
use crate::preview::template::{Fact, Facts, Figure};
use crate::text::ansi;
use crate::text::units::TotalsMask;

/// Keeps a number of pieces from either end, regardless of size.
#[derive(Debug, Deserialize)]
pub(crate) struct Ends {
    head_lines: Figure,
    tail_lines: Figure,
    /// Whether keeping the last 0 keeps everything, like `slice(-0)`.
    zero_keeps_all: bool,
}

impl Strategy for Ends {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let head_lines = context.scope.figure(&self.head_lines)?;
        let tail_lines = context.scope.figure(&self.tail_lines)?;
        let both = head_lines.saturating_add(tail_lines);
        if text.known_or_wait(text.exceeds_lines(both)) == Some(true) {
            return Ok(self.two(text, head_lines, tail_lines));
        }
        let mut selection = Selection::everything(text);
        let whole = selection.slots[0].1.clone();
        selection.slots.extend([("head", whole), ("tail", Vec::new())]);
        Ok(selection.with_fact("gap", Fact::Flag(false)))
    }
}

impl Ends {
    fn two(&self, text: &Text, head_lines: u64, tail_lines: u64) -> Selection {
        let (start, end) = (text.body.start, text.lines_end());
        let side = |from, lines| text.outer_pieces(start..end, from, lines).unwrap_or(start..end);
        let head = if head_lines == 0 { start..start } else { side(Direction::Head, head_lines) };
        let tail = match tail_lines {
            0 if self.zero_keeps_all => start..end,
            0 => end..end,
            _ => side(Direction::Tail, tail_lines),
        };
        let kept = head_lines.saturating_add(tail_lines);
        let mut selection = Selection { lines: Some(Ok(kept)), ..Selection::ends(text, head, tail) };
        selection.slots.push(("kept", Vec::new()));
        let left_out = text.line_count().map(|lines| lines.saturating_sub(kept));
        selection.with_fact("gap", Fact::Flag(true)).with_fact("middle_lines", Fact::from(left_out))
    }
}

/// Keeps an amount from either end.
#[derive(Debug, Deserialize)]
pub(crate) struct Middle {
    head: Figure,
    tail: Figure,
    ruler: Ruler,
    /// The agent's message when the two ends would overlap, which makes it crash.
    overlap: Option<String>,
    /// Whether keeping the last 0 keeps everything, like `slice(-0)`.
    zero_keeps_all: bool,
}

impl Strategy for Middle {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (head_size, tail_size) = (context.scope.figure(&self.head)?, context.scope.figure(&self.tail)?);
        let unit = self.ruler.unit(context);
        if let Some(words) =
            self.overlap.as_ref().filter(|_| as_usize(head_size.saturating_add(tail_size)) > text.len())
        {
            return Ok(Selection { crash: Some(words.clone()), ..Selection::default() });
        }
        let head = self.ruler.end(text, unit, text.body.clone(), Direction::Head, head_size);
        let rest = head.range.end..text.body.end;
        let tail = match tail_size {
            0 if self.zero_keeps_all => one_end::whole(text),
            _ => self.ruler.end(text, unit, rest, Direction::Tail, tail_size),
        };
        let is_empty = head.range.end >= tail.range.start;
        let between = feeds_between(text, &head.range, &tail.range);
        let middle = if is_empty { Ok(0) } else { between.map(|feeds| feeds + 1) };
        let pieces = |end: &End| Fact::Number(text.line_feeds_of(end.range.clone()) + 1);
        let facts = Facts::from([
            ("middle_lines", Fact::from(middle)),
            ("head_lines", pieces(&head)),
            ("tail_lines", pieces(&tail)),
        ]);
        Ok(Selection { facts, ..two_ends(text, context, head, tail) })
    }
}

/// Returns the line feeds between the two kept ends, or the total needed for them.
fn feeds_between(text: &Text, head: &Range<usize>, tail: &Range<usize>) -> Result<u64, TotalsMask> {
    if head.end >= tail.start {
        return Ok(0);
    }
    let total = text.line_feeds()?;
    Ok(total.saturating_sub(text.line_feeds_of(head.clone()) + text.line_feeds_of(tail.clone())))
}

/// Keeps two ends that do not overlap. A line that is in both counts once.
fn two_ends(text: &Text, context: &Context, head: End, tail: End) -> Selection {
    let ranges = vec![head.range, tail.range];
    Selection {
        lines: Some(lines_in_all(text, &ranges)),
        halves: head.halves + tail.halves,
        slots: vec![("head", head.parts), ("tail", tail.parts)],
        ranges,
        hit: Some(context.by_size()),
        ..Selection::default()
    }
}

/// Keeps half the bytes from either end, moved inward to the start of a character and then to a near line feed.
#[derive(Debug, Deserialize)]
pub(crate) struct Snapped {
    size: Figure,
}

impl Strategy for Snapped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = as_usize(context.scope.figure(&self.size)?).min(text.len());
        let (start, end) = (text.body.start, text.body.end);
        let (first, last) = (size / 2, size - size / 2);
        let is_start = |at: &usize| *at == end || text.bytes[*at] & 0xC0 != 0x80;
        let head = (start..=start + first).rev().find(is_start).unwrap_or(start);
        let feed = text.feed_before(start, head).filter(|feed| feed - start > first / 2);
        let head = start..feed.unwrap_or(head);
        let tail = (end - last..end).find(is_start).unwrap_or(end);
        let feed = text.feed_after(tail, end).filter(|feed| feed - tail < last / 2);
        let tail = feed.map_or(tail, |feed| feed + 1)..end;
        let elided = Fact::Number((tail.start - head.end) as u64);
        let slots =
            [("head", head), ("tail", tail)].map(|(name, kept)| (name, Vec::from_iter(text.kept(kept))));
        Ok(composed::selection(text, context, slots.into()).with_fact("elided", elided))
    }
}

/// Keeps both ends by terminal cells: control characters in between are removed, escape sequences are kept.
#[derive(Debug, Deserialize)]
pub(crate) struct Celled {
    size: Figure,
    head: Figure,
    tail: Figure,
}

impl Strategy for Celled {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let (first, last) = (context.scope.figure(&self.head)?, context.scope.figure(&self.tail)?);
        text.touch(text.body.clone());
        if !text.exceeds(Unit::Cells, size) {
            return Ok(Selection::uncut(text));
        }
        let head = text.end(text.body.clone(), Direction::Head, Unit::Cells, first).range;
        let tail = text.end(text.body.clone(), Direction::Tail, Unit::Cells, last).range;
        let kept = |range: &Range<usize>| text.kept(range.clone());
        let selection = Selection {
            lines: Some(lines_in_all(text, &[head.clone(), tail.clone()])),
            hit: Some(LimitHit::Size(Unit::Cells)),
            slots: vec![
                ("head", kept(&head).into_iter().chain(escapes(text, head.end..text.body.end)).collect()),
                ("tail", escapes(text, text.body.start..tail.start).into_iter().chain(kept(&tail)).collect()),
            ],
            ranges: vec![head.clone(), tail.clone()],
            ..Selection::default()
        };
        let feeds = text.line_feeds().unwrap_or_else(|_| text.line_feeds_of(text.body.clone()));
        let kept = text.line_feeds_of(head) + text.line_feeds_of(tail);
        Ok(selection.with_fact("middle_lines", Fact::Number(feeds.saturating_sub(kept))))
    }
}

fn escapes(text: &Text, range: Range<usize>) -> Option<Part> {
    let has_any = ansi::sequences(&text.bytes[range.clone()]).next().is_some();
    has_any.then(|| text.changed(range.clone(), vec![Fragment::Escapes(range)]))
}

/// Keeps both ends of a text that Python read in its text mode, in which CRLF and a lone CR are a line feed.
#[derive(Debug, Deserialize)]
pub(crate) struct TextMode {
    /// Text of so many code points, or more, is cut.
    size: Figure,
    /// Code points, as `tail`.
    head: Figure,
    tail: Figure,
}

impl Strategy for TextMode {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = as_usize(context.scope.figure(&self.size)?);
        let body = text.body.clone();
        let (read, count) = characters(text.bytes, &body, Direction::Head, size);
        text.touch(read);
        if count < size {
            let slots = vec![("kept", part(text, body).into_iter().collect())];
            return Ok(Selection { slots, ..Selection::uncut(text) });
        }
        let head = as_usize(context.scope.figure(&self.head)?);
        let head = characters(text.bytes, &body, Direction::Head, head).0;
        let tail = as_usize(context.scope.figure(&self.tail)?);
        let tail = characters(text.bytes, &(head.end..body.end), Direction::Tail, tail).0;
        let read = |range: Range<usize>| {
            text.touch(range.clone());
            End { parts: part(text, range.clone()).into_iter().collect(), range, halves: 0 }
        };
        let points = text.size(Unit::Chars).map(|points| points - pairs(text));
        let selection = two_ends(text, context, read(head), read(tail));
        Ok(selection.with_fact("points", Fact::from(points)))
    }
}

/// Takes so many characters from one end of a range, if it has as many; CRLF is one. Returns also how many.
fn characters(bytes: &[u8], within: &Range<usize>, from: Direction, most: usize) -> (Range<usize>, usize) {
    let (mut rest, mut count) = (within.clone(), 0);
    while count < most && !rest.is_empty() {
        let left = &bytes[rest.clone()];
        let is_pair = match from {
            Direction::Head => left.starts_with(b"\r\n"),
            Direction::Tail => left.ends_with(b"\r\n"),
        };
        let len = if is_pair { 2 } else { outer_element(bytes, &rest, from).len };
        rest = from.split(&rest, len).1;
        count += 1;
    }
    (from.split(within, within.len() - rest.len()).0, count)
}

/// Counts CRLF.
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
