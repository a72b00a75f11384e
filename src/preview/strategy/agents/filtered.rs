//! A text whose escape sequences are removed read by read, followed by a line of the agent's own.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, Unit};
use crate::preview::strategy::composed::{self, Segment};
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::facts::{Fact, Facts};
use crate::preview::template::{Figure, Template};
use crate::text::units;

use super::sequences::{CSI, ESC, control_end, final_end, sequences, string_end};

#[derive(Debug, Deserialize)]
pub(crate) struct Filtered {
    /// Bytes per read.
    chunk: Figure,
    /// Text of more bytes is cut.
    over: Figure,
    /// UTF-16 units that are kept of text that is cut.
    size: Figure,
    /// The agent's own line after the output.
    after: Option<Template>,
}

impl Strategy for Filtered {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = context.scope.figure(&self.over)?;
        let shown = context.scope.figure(&self.size)?;
        let chunk = as_usize(context.scope.figure(&self.chunk)?.max(1));
        let reads = Reads { text, chunk };
        let last_line = context.scope.render_optional(&self.after, Facts::new())?;
        let Some(within) = reads.within(most) else {
            let start = composed::end(text, &reads.start(shown), Direction::Head, Unit::Utf16, shown);
            return Ok(cut(text, context, start, reads.size(), last_line));
        };
        let mut whole = segments_of(trimmed(text, within));
        whole.push(Segment::Words(last_line));
        let size = composed::size(text, &whole, Unit::Bytes);
        if size <= most {
            return Ok(Selection {
                cut: Some(false),
                hit: None,
                ..composed::selection(text, context, vec![("kept", whole)])
            });
        }
        let start = composed::end(text, &whole, Direction::Head, Unit::Utf16, shown);
        Ok(cut(text, context, start, Fact::Number(size), String::new()))
    }
}

/// Keeps a start, with the size of the cut text, and the line that follows the notice.
fn cut(text: &Text, context: &Context, start: Vec<Segment>, size: Fact, last_line: String) -> Selection {
    let mut selection = composed::selection(text, context, vec![("kept", start)]);
    let shared = shared(text, &selection.ranges);
    selection.lines = selection.lines.map(|lines| lines.map(|lines| lines.saturating_sub(shared)));
    selection.facts.insert("size", size);
    selection.facts.insert("marker", Fact::Text(last_line));
    Selection { cut: Some(true), ..selection }
}

struct Reads<'a, 'b> {
    text: &'a Text<'b>,
    chunk: usize,
}

impl Reads<'_, '_> {
    /// Passes what remains of each read to `take`, in order, until it returns false. A character that a read leaves
    /// unfinished belongs to the next.
    fn each(&self, mut take: impl FnMut(Range<usize>) -> bool) {
        let (bytes, body) = (self.text.bytes, &self.text.body);
        let (mut from, mut read) = (body.start, body.start / self.chunk);
        while from < body.end {
            read += 1;
            let end = read.saturating_mul(self.chunk);
            let to = if end >= body.end { body.end } else { units::element_start(bytes, end).max(from) };
            self.text.touch(from..to);
            let mut at = from;
            for found in sequences(&bytes[from..to], sequence_end) {
                if at < from + found.start && !take(at..from + found.start) {
                    return;
                }
                at = from + found.end;
            }
            if at < to && !take(at..to) {
                return;
            }
            from = to;
        }
    }

    /// Returns everything that remains, if it is at most `most` bytes.
    fn within(&self, most: u64) -> Option<Vec<Range<usize>>> {
        let (mut ranges, mut size) = (Vec::new(), 0);
        self.each(|range| {
            size += self.text.size_of(range.clone(), Unit::Bytes);
            push(&mut ranges, range);
            size <= most
        });
        (size <= most).then_some(ranges)
    }

    fn start(&self, units: u64) -> Vec<Segment> {
        let (mut ranges, mut size) = (Vec::new(), 0);
        self.each(|range| {
            size += self.text.size_of(range.clone(), Unit::Utf16);
            push(&mut ranges, range);
            size <= units
        });
        segments_of(ranges)
    }

    /// Returns the bytes of everything that remains; waits until the whole has been counted rather than decode it
    /// uncounted.
    fn size(&self) -> Fact {
        let Ok(whole) = self.text.size(Unit::Bytes) else {
            return Fact::from(self.text.size(Unit::Bytes));
        };
        let (mut removed, mut at) = (0, self.text.body.start);
        self.each(|range| {
            removed += self.text.size_of(at..range.start, Unit::Bytes);
            at = range.end;
            true
        });
        removed += self.text.size_of(at..self.text.body.end, Unit::Bytes);
        Fact::Number(whole - removed)
    }
}

/// Returns the end of the sequence that begins at `at` as Copilot CLI finds it: in ECMA-48's 7-bit form, or after U+009B.
pub(super) fn sequence_end(bytes: &[u8], at: usize) -> Option<usize> {
    let inside = at + 2;
    match [*bytes.get(at)?, *bytes.get(at + 1)?] {
        CSI | [ESC, b'['] => control_end(bytes, inside),
        [ESC, b']'] => string_end(bytes, inside, true).or(Some(inside)),
        [ESC, b' '..=b'/'] => final_end(bytes, inside, b'0'),
        [ESC, b'@'..=b'Z' | b'\\'..=b'_'] => Some(inside),
        _ => None,
    }
}

/// Appends a range, merging it with the last if they are adjacent.
fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut().filter(|last| last.end == range.start) {
        Some(last) => last.end = range.end,
        None => ranges.push(range),
    }
}

/// Returns how often two ranges with only removed sequences between them share a line.
fn shared(text: &Text, ranges: &[Range<usize>]) -> u64 {
    let same = |pair: &&[Range<usize>]| {
        let [a, b] = pair else { return false };
        text.bytes.get(a.end..b.start).is_some_and(|gap| memchr::memchr(b'\n', gap).is_none())
    };
    ranges.windows(2).filter(same).count() as u64
}

fn segments_of(ranges: Vec<Range<usize>>) -> Vec<Segment> {
    ranges.into_iter().map(Segment::Bytes).collect()
}

/// Trims white space at both ends (Unicode's White_Space, which does not include the byte order mark).
fn trimmed(text: &Text, mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let is_space = |element: Range<usize>| {
        let found = std::str::from_utf8(&text.bytes[element]).ok().and_then(|text| text.chars().next());
        found.is_some_and(char::is_whitespace)
    };
    while let Some(last) = ranges.last_mut() {
        let len = units::element_before(text.bytes, last.start, last.end).len;
        if !is_space(last.end - len..last.end) {
            break;
        }
        last.end -= len;
        if Range::is_empty(last) {
            ranges.pop();
        }
    }
    while let Some(first) = ranges.first_mut() {
        let len = units::element(&text.bytes[..first.end], first.start).len;
        if !is_space(first.start..first.start + len) {
            break;
        }
        first.start += len;
        if Range::is_empty(first) {
            ranges.remove(0);
        }
    }
    ranges
}
