//! A frugal view of one output: every look at its bytes goes through here and is accounted for.

use super::file::{DecodingForm, LinesForm};
use super::input::{LineSeek, Output, Stream, Totals};
use super::parts::{Bit, Decoding, Part, Unit};
use crate::text::units::{self, Measure, Want};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// Outputs up to this size are counted whole on the spot.
const SMALL: usize = 64 * 1024;
/// How far a line is looked for when nothing says how many there are: such an answer waits for the total.
const PATIENCE: usize = 128 * 1024;
/// Steps of decoding are taken this many bytes at a time where they are ASCII.
const STRIDE: usize = 64;

/// An output as an agent's tool sees it.
pub(super) struct Text<'a> {
    pub bytes: &'a [u8],
    pub source: Stream,
    pub decoding: Decoding,
    /// What is left after a byte order mark, an unfinished end, or trailing line feeds.
    pub body: Range<usize>,
    /// Totals of the body.
    pub totals: Totals,
    pub lines: LinesForm,
    seek: Option<&'a dyn LineSeek>,
    touched: RefCell<Vec<Range<usize>>>,
    /// Totals without which a search gave up: what was kept is provisional.
    gave_up: Cell<Want>,
}

/// Where a cut by size falls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    /// The last whole element ends (from the end of the text: begins) here.
    pub at: usize,
    /// The bytes that half a character stands for, if the cut split one.
    pub half: Option<Range<usize>>,
}

impl<'a> Text<'a> {
    pub fn new(output: Output<'a>, source: Stream, form: DecodingForm, lines: LinesForm, trim: bool) -> Self {
        let bytes = output.bytes;
        let mut body = 0..bytes.len();
        if matches!(form, DecodingForm::Bom | DecodingForm::Stream) && bytes.starts_with(b"\xEF\xBB\xBF") {
            body.start = 3;
        }
        if form == DecodingForm::Stream {
            body.end = units::unfinished(bytes).max(body.start);
        }
        while trim && body.end > body.start && bytes[body.end - 1] == b'\n' {
            body.end -= 1;
        }
        let decoding = if form == DecodingForm::Go { Decoding::Go } else { Decoding::Lossy };
        let mut text = Self {
            bytes,
            source,
            decoding,
            body: body.clone(),
            totals: Totals::unknown(),
            lines,
            seek: None,
            touched: RefCell::default(),
            gave_up: Cell::default(),
        };
        text.totals = text.body_totals(output.totals);
        text
    }

    /// Uses an index over the raw bytes.
    pub fn with_seek(mut self, seek: Option<&'a dyn LineSeek>) -> Self {
        self.seek = seek;
        self
    }

    /// A stretch of this text, between pieces, as a text of its own. `feeds` are its line feeds, where known.
    pub fn part(&self, body: Range<usize>, feeds: Option<u64>) -> Text<'a> {
        let mut part = Text {
            body: body.clone(),
            totals: Totals::unknown(),
            seek: None,
            touched: RefCell::default(),
            gave_up: Cell::default(),
            ..*self
        };
        part.totals = match body {
            body if body == self.body => self.totals,
            body if body.len() <= SMALL => Totals::of(&self.measure(body, Want::ALL), Want::ALL),
            _ => self.part_totals(&body),
        };
        part.totals.line_feeds = part.totals.line_feeds.or(feeds);
        part
    }

    /// Totals of a stretch: the whole's without what lies outside, or its own, whichever reads less. A part is only
    /// measured where the whole was, so that no plan reads a large output that nobody has counted.
    fn part_totals(&self, body: &Range<usize>) -> Totals {
        if self.totals.known() != Want::ALL {
            return Totals::unknown();
        }
        if body.len() <= self.len() / 2 {
            return Totals::of(&self.measure(body.clone(), Want::ALL), Want::ALL);
        }
        let outside = self.measure(self.body.start..body.start, Want::ALL)
            + self.measure(body.end..self.body.end, Want::ALL);
        self.totals.less(&outside)
    }

    /// With every total counted now.
    pub fn counted(mut self) -> Self {
        self.totals = Totals::of(&self.measure(self.body.clone(), Want::ALL), Want::ALL);
        self
    }

    /// Takes over what a part looked at, and whether it gave up.
    pub fn absorb(&self, part: &Text) {
        for range in part.touched.borrow().iter() {
            self.touch(range.clone());
        }
        self.gave_up.set(self.gave_up.get() | part.gave_up.get());
    }

    fn body_totals(&self, whole: &Totals) -> Totals {
        if self.body.len() <= SMALL {
            return Totals::of(&self.measure(self.body.clone(), Want::ALL), Want::ALL);
        }
        let outside = self.measure(0..self.body.start, Want::ALL)
            + self.measure(self.body.end..self.bytes.len(), Want::ALL);
        whole.less(&outside)
    }

    /// Notes that these bytes are looked at.
    pub fn touch(&self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let mut touched = self.touched.borrow_mut();
        let first = touched.partition_point(|seen| seen.end < range.start);
        let last = touched.partition_point(|seen| seen.start <= range.end);
        let joined = touched[first..last].iter().fold(range, |a, b| a.start.min(b.start)..a.end.max(b.end));
        touched.splice(first..last, [joined]);
    }

    /// How many different bytes were looked at.
    pub fn touched(&self) -> u64 {
        self.touched.borrow().iter().map(|range| range.len() as u64).sum()
    }

    pub fn len(&self) -> usize {
        self.body.len()
    }

    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Measures a range as it decodes on its own, which is how it is kept.
    pub fn measure(&self, range: Range<usize>, want: Want) -> Measure {
        self.touch(range.clone());
        units::measure_all(&self.bytes[range], want)
    }

    /// Size of a range in a unit.
    pub fn size_of(&self, range: Range<usize>, unit: Unit) -> u64 {
        match (unit, self.decoding) {
            (Unit::Bytes, Decoding::Go) => range.len() as u64,
            (Unit::Bytes, Decoding::Lossy) => self.measure(range, Want::DECODED_BYTES).decoded_bytes,
            (Unit::Tokens, _) => self.size_of(range, Unit::Bytes).div_ceil(4),
            (Unit::Units, _) => self.measure(range, Want::UNITS).units,
            (Unit::Points | Unit::Cells, _) => self.measure(range, Want::POINTS).points,
        }
    }

    /// UTF-8 bytes of a range's text.
    pub fn decoded_bytes_of(&self, range: Range<usize>) -> u64 {
        match self.decoding {
            Decoding::Lossy => self.measure(range, Want::DECODED_BYTES).decoded_bytes,
            Decoding::Go => range.len() as u64 + 2 * self.measure(range, Want::BAD_BYTES).bad_bytes,
        }
    }

    pub fn line_feeds_of(&self, range: Range<usize>) -> u64 {
        self.measure(range, Want::LINE_FEEDS).line_feeds
    }

    /// The total that a unit's size rests on.
    pub fn want_of(&self, unit: Unit) -> Want {
        match (unit, self.decoding) {
            (Unit::Bytes | Unit::Tokens, Decoding::Go) => Want::NOTHING,
            (Unit::Bytes | Unit::Tokens, Decoding::Lossy) => Want::DECODED_BYTES,
            (Unit::Units, _) => Want::UNITS,
            (Unit::Points | Unit::Cells, _) => Want::POINTS,
        }
    }

    /// Size of the whole, or the total that it waits for.
    pub fn size(&self, unit: Unit) -> Result<u64, Want> {
        let known = match (unit, self.decoding) {
            (Unit::Bytes, Decoding::Go) => Some(self.len() as u64),
            (Unit::Bytes, Decoding::Lossy) => self.totals.decoded_bytes,
            (Unit::Tokens, _) => return self.size(Unit::Bytes).map(|bytes| bytes.div_ceil(4)),
            (Unit::Units, _) => self.totals.units,
            (Unit::Points | Unit::Cells, _) => self.totals.points,
        };
        known.ok_or_else(|| self.want_of(unit))
    }

    /// UTF-8 bytes of the whole text, or the total that it waits for.
    pub fn decoded_bytes(&self) -> Result<u64, Want> {
        match self.decoding {
            Decoding::Lossy => self.totals.decoded_bytes.ok_or(Want::DECODED_BYTES),
            Decoding::Go => {
                let bad = self.totals.bad_bytes.ok_or(Want::BAD_BYTES)?;
                Ok(self.len() as u64 + 2 * bad)
            }
        }
    }

    /// LF bytes of the whole, or the total that it waits for.
    pub fn line_feeds(&self) -> Result<u64, Want> {
        self.totals.line_feeds.ok_or(Want::LINE_FEEDS)
    }

    /// Whether a final line feed only ends the last line.
    pub fn final_feed(&self) -> bool {
        self.lines == LinesForm::Ended && !self.is_empty() && self.bytes[self.body.end - 1] == b'\n'
    }

    /// Where the last line's text ends: before a final line feed that only ends it.
    pub fn lines_end(&self) -> usize {
        self.body.end - usize::from(self.final_feed())
    }

    /// Lines by the policy's own count, or the total that they wait for. Empty text is one piece, but no ended line.
    pub fn line_count(&self) -> Result<u64, Want> {
        if self.lines == LinesForm::Ended && self.is_empty() {
            return Ok(0);
        }
        Ok(self.line_feeds()? + 1 - u64::from(self.final_feed()))
    }

    /// Whether the whole is larger than `max`. Never looks further than `max` can reach.
    pub fn exceeds(&self, unit: Unit, max: u64) -> bool {
        if unit == Unit::Tokens {
            return self.exceeds(Unit::Bytes, max.saturating_mul(4));
        }
        if let Ok(size) = self.size(unit) {
            return size > max;
        }
        let most = max.saturating_mul(widest(unit));
        if self.len() as u64 > most {
            return true;
        }
        self.size_of(self.body.clone(), unit) > max
    }

    /// Whether there are more lines than `max`; the total that it waits for where that cannot be seen cheaply.
    pub fn exceeds_lines(&self, max: u64) -> Result<bool, Want> {
        if let Ok(count) = self.line_count() {
            return Ok(count > max);
        }
        if self.len() as u64 <= max {
            return Ok(false);
        }
        let window = self.body.start..self.body.end.min(self.body.start.saturating_add(PATIENCE));
        self.touch(window.clone());
        let reached = memchr::memchr_iter(b'\n', &self.bytes[window.clone()]).take(max as usize + 1).count();
        let needed = max.max(1) + u64::from(self.final_feed());
        if reached as u64 >= needed {
            return Ok(true);
        }
        if window.end == self.body.end { Ok(false) } else { Err(Want::LINE_FEEDS) }
    }

    /// The first line feed at or after `from` and before `to`.
    pub fn feed_after(&self, from: usize, to: usize) -> Option<usize> {
        let found = memchr::memchr(b'\n', &self.bytes[from..to]).map(|at| from + at);
        self.touch(from..found.map_or(to, |at| at + 1));
        found
    }

    /// The first LF or CR at or after `from` and before `to`.
    pub fn break_after(&self, from: usize, to: usize) -> Option<usize> {
        let found = memchr::memchr2(b'\n', b'\r', &self.bytes[from..to]).map(|at| from + at);
        self.touch(from..found.map_or(to, |at| at + 1));
        found
    }

    /// The last line feed at or after `from` and before `to`.
    pub fn feed_before(&self, from: usize, to: usize) -> Option<usize> {
        let found = memchr::memrchr(b'\n', &self.bytes[from..to]).map(|at| from + at);
        self.touch(found.unwrap_or(from)..to);
        found
    }

    /// Where the first `count` pieces of `from..to` end (before the line feed that ends the last of them), if there
    /// are more than that many. Gives up where nothing says that there are.
    pub fn end_of_pieces(&self, from: usize, to: usize, count: u64) -> Option<usize> {
        if let Some(start) = self.seek_line(from, count) {
            return Some(start - 1).filter(|end| *end < to);
        }
        let mut at = from;
        let mut end = None;
        for _ in 0..count {
            let feed = self.feed_after(at, self.patient_end(at, to));
            if feed.is_none() && self.patient_end(at, to) < to {
                self.give_up();
                return Some(self.patient_end(at, to));
            }
            end = Some(feed?);
            at = feed? + 1;
        }
        end
    }

    /// Whether there are so many line feeds, as far as a patient look tells.
    pub fn has_feeds(&self, count: u64) -> bool {
        self.exceeds_lines(count) == Ok(true)
    }

    /// Where the piece that begins at `at` ends, and whether that is sure.
    pub fn piece_end(&self, at: usize, to: usize) -> (usize, bool) {
        let bound = self.patient_end(at, to);
        match self.feed_after(at, bound) {
            Some(feed) => (feed, true),
            None if bound == to => (to, true),
            None => {
                self.give_up();
                (bound, false)
            }
        }
    }

    /// How far a piece is looked for where nothing says how many there are.
    pub fn patient_end(&self, at: usize, to: usize) -> usize {
        if self.totals.line_feeds.is_some() { to } else { to.min(at.saturating_add(PATIENCE)) }
    }

    fn patient_start(&self, from: usize, at: usize) -> usize {
        if self.totals.line_feeds.is_some() { from } else { from.max(at.saturating_sub(PATIENCE)) }
    }

    /// Notes that what is kept is provisional until lines are counted.
    pub fn give_up(&self) {
        self.wait_for(Want::LINE_FEEDS);
    }

    /// Notes that what is kept is provisional until these are counted.
    pub fn wait_for(&self, want: Want) {
        self.gave_up.set(self.gave_up.get() | want);
    }

    /// Totals without which a search gave up.
    pub fn gave_up(&self) -> Want {
        self.gave_up.get()
    }

    /// An indexed line, where the pieces begin with the output.
    fn seek_line(&self, from: usize, line: u64) -> Option<usize> {
        let start = self.seek.filter(|_| from == 0 && line > 0)?.line_start(line)?;
        (start > 0 && start <= self.bytes.len()).then_some(start)
    }

    /// Where line `line` (0-based, ended by LF) begins, if an index knows.
    pub fn indexed_line(&self, line: u64) -> Option<usize> {
        self.seek_line(self.body.start, line)
    }

    /// Where the last `count` pieces of `from..to` begin, if there are more than that many. Gives up as above.
    pub fn start_of_pieces(&self, from: usize, to: usize, count: u64) -> Option<usize> {
        if let Some(start) = self.seek_back(from, to, count) {
            return Some(start);
        }
        let mut at = to;
        let mut start = None;
        for _ in 0..count {
            let low = self.patient_start(from, at);
            let feed = self.feed_before(low, at);
            if feed.is_none() && low > from {
                self.give_up();
                return Some(low);
            }
            start = Some(feed? + 1);
            at = feed?;
        }
        start
    }

    fn seek_back(&self, from: usize, to: usize, count: u64) -> Option<usize> {
        let feeds = self.line_feeds().ok().filter(|_| to == self.lines_end() && from == self.body.start)?;
        let pieces = feeds + 1 - u64::from(self.final_feed());
        self.seek_line(from, pieces.checked_sub(count)?)
    }

    /// Bytes (in the policy's way of counting them) of the line that begins at `start`; waits for totals, since the
    /// line may be the whole of a large output.
    pub fn line_size_from(&self, start: usize) -> Result<u64, Want> {
        if self.line_feeds()? == 0 && start == self.body.start {
            return self.size(Unit::Bytes);
        }
        let end = self.feed_after(start, self.body.end).unwrap_or(self.body.end);
        Ok(self.size_of(start..end, Unit::Bytes))
    }

    /// The same of the line that ends at `end`.
    pub fn line_size_to(&self, end: usize) -> Result<u64, Want> {
        if self.line_feeds()? == 0 && end == self.body.end {
            return self.size(Unit::Bytes);
        }
        let start = self.feed_before(self.body.start, end).map_or(self.body.start, |feed| feed + 1);
        Ok(self.size_of(start..end, Unit::Bytes))
    }

    /// The cut after `amount` of a unit from `from`, not past `to`.
    pub fn advance(&self, from: usize, to: usize, unit: Unit, amount: u64) -> Cut {
        let mut at = from;
        let mut left = amount;
        while at < to && left > 0 {
            let stride = self.ascii_run(at, to.min(at.saturating_add(STRIDE.min(as_usize(left)))));
            if stride > 0 {
                at += stride;
                left -= stride as u64;
                continue;
            }
            let next = self.element(at, to);
            let cost = self.cost(next, unit);
            if cost > left {
                self.touch(from..at + next.len);
                return Cut { at, half: (unit == Unit::Units).then_some(at..at + next.len) };
            }
            left -= cost;
            at += next.len;
        }
        self.touch(from..at);
        Cut { at, half: None }
    }

    /// The cut before the last `amount` of a unit up to `to`, not before `from`.
    pub fn retreat(&self, from: usize, to: usize, unit: Unit, amount: u64) -> Cut {
        let mut at = to;
        let mut left = amount;
        while at > from && left > 0 {
            let reach = STRIDE.min(as_usize(left)).min(at - from);
            if self.bytes[at - reach..at].is_ascii() {
                at -= reach;
                left -= reach as u64;
                continue;
            }
            let found = self.element_before(from, at);
            let cost = self.cost(found, unit);
            if cost > left {
                self.touch(at - found.len..to);
                return Cut { at, half: (unit == Unit::Units).then_some(at - found.len..at) };
            }
            left -= cost;
            at -= found.len;
        }
        self.touch(at..to);
        Cut { at, half: None }
    }

    fn cost(&self, element: units::Element, unit: Unit) -> u64 {
        match (unit, self.decoding) {
            (Unit::Bytes | Unit::Tokens, Decoding::Go) => element.len as u64,
            (Unit::Bytes | Unit::Tokens, Decoding::Lossy) => element.decoded_bytes(),
            (Unit::Units, _) => element.units(),
            (Unit::Points | Unit::Cells, _) => 1,
        }
    }

    fn ascii_run(&self, from: usize, to: usize) -> usize {
        if self.bytes[from..to].is_ascii() { to - from } else { 0 }
    }

    fn element(&self, at: usize, to: usize) -> units::Element {
        let found = units::element(&self.bytes[..to], at);
        if self.decoding == Decoding::Go && !found.valid {
            units::Element { len: 1, valid: false }
        } else {
            found
        }
    }

    fn element_before(&self, from: usize, at: usize) -> units::Element {
        let found = units::element_before(&self.bytes[..at], from, at);
        if self.decoding == Decoding::Go && !found.valid {
            units::Element { len: 1, valid: false }
        } else {
            found
        }
    }

    /// The character that a raw cut at byte `at` splits, if it splits one.
    pub fn split_character(&self, at: usize) -> Option<Range<usize>> {
        if at <= self.body.start || at >= self.body.end {
            return None;
        }
        let start = units::element_start(self.bytes, at);
        let found = units::element(self.bytes, start);
        (start < at && found.valid).then_some(start..start + found.len)
    }

    /// A kept part, or none for an empty range.
    pub fn kept(&self, range: Range<usize>) -> Option<Part> {
        let kept = Part::Kept { source: self.source, range: range.clone(), decoding: self.decoding };
        (!range.is_empty()).then_some(kept)
    }

    /// A part that stands for a range with other text.
    pub fn changed(&self, range: Range<usize>, bits: Vec<Bit>) -> Part {
        Part::Changed { source: self.source, range, bits, decoding: self.decoding }
    }
}

/// The most raw bytes that one unit of a size may take.
pub(super) fn widest(unit: Unit) -> u64 {
    match unit {
        Unit::Bytes => 1,
        Unit::Units => 3,
        Unit::Points | Unit::Cells | Unit::Tokens => 4,
    }
}

/// A figure as an index; what does not fit is as good as no limit.
pub(super) fn as_usize(figure: u64) -> usize {
    usize::try_from(figure).unwrap_or(usize::MAX)
}
