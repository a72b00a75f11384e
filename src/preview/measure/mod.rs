//! An economical view of one output: every access to its bytes goes through here and is accounted for.

mod lines;
mod reading;
mod sizes;

use std::cell::{Cell, RefCell};
use std::ops::Range;

use serde::Deserialize;

use crate::preview::input::{Input, LineIndex, Output, Stream, Totals};
use crate::preview::model::{Fragment, Part};
use crate::text::json;
use crate::text::units::{self, Decoding, Measure, TotalsMask};

pub(crate) use lines::{MAX_BREAK, Piece, breaks, count_rare, python_line_ends};
pub(crate) use reading::{is_js_space, outer_element, without_space};
pub(crate) use sizes::most_bytes;

/// Outputs up to this size in bytes are counted completely on the spot.
const SMALL: usize = 64 * 1024;
/// How many bytes are searched for lines if nothing says how many there are; beyond that the result waits for the total.
const PATIENCE: usize = 64 * 1024;
/// After this many bytes of one scan, checks whether the plan is still wanted.
const STEP: usize = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecodingRule {
    /// U+FFFD for each maximal subpart.
    #[default]
    Lossy,
    /// Sizes and cuts on raw bytes; U+FFFD for each bad byte.
    Go,
    /// Like `lossy`, but a leading byte order mark is dropped.
    Bom,
    /// Like `lossy`, but a leading byte order mark and an unfinished character at the very end are dropped.
    Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrimRule {
    #[default]
    Nothing,
    /// One line feed at the end.
    LastFeed,
    /// Every line feed at the end.
    Feeds,
    /// White space at the end, as in JavaScript's `trimEnd`.
    End,
    /// White space at both ends, as in JavaScript's `trim`.
    Both,
    /// Blank lines at the start, and white space at the end.
    BlankLines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LineRule {
    /// Pieces between line feeds: after a final line feed there is one more, empty.
    #[default]
    Pieces,
    /// A final line feed ends the last line; empty text has none.
    Ended,
    /// A final line feed does not count; empty text is one piece.
    Bare,
}

/// An output as an agent's tool sees it.
pub(crate) struct Text<'a> {
    pub bytes: &'a [u8],
    pub source: Stream,
    pub decoding: Decoding,
    /// What remains without a byte order mark, an unfinished end, or trailing line feeds.
    pub body: Range<usize>,
    /// Of the body, not of the whole.
    pub totals: Totals,
    pub lines: LineRule,
    /// Bytes per read, if each is decoded separately.
    reads: Option<usize>,
    /// An index of the raw bytes.
    pub seek: Option<&'a dyn LineIndex>,
    /// Once this returns false, nothing more is found, and all sizes are 0.
    pub wanted: Option<&'a dyn Fn() -> bool>,
    touched: RefCell<Vec<Range<usize>>>,
    /// Totals for lack of which a search gave up: what was kept is provisional.
    gave_up: Cell<TotalsMask>,
    /// Cells of the body, once counted.
    cells: Cell<Option<u64>>,
}

/// An amount of one end of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The whole elements.
    pub range: Range<usize>,
    /// The bytes that half a character stands for, if the cut split one.
    pub half: Option<Range<usize>>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(
        input: &Input<'a>,
        source: Stream,
        form: DecodingRule,
        lines: LineRule,
        trim: TrimRule,
        reads: Option<usize>,
    ) -> Self {
        let Output { bytes, totals } = input.stream(source);
        let mut body = 0..bytes.len();
        if matches!(form, DecodingRule::Bom | DecodingRule::Stream) && bytes.starts_with(b"\xEF\xBB\xBF") {
            body.start = 3;
        }
        if form == DecodingRule::Stream {
            body.end = units::unfinished(bytes).max(body.start);
        }
        let body = reading::trimmed(bytes, body, trim);
        let decoding = if form == DecodingRule::Go { Decoding::Go } else { Decoding::Lossy };
        let mut text = Self {
            bytes,
            source,
            decoding,
            body,
            totals: Totals::unknown(),
            lines,
            reads,
            seek: input.lines.filter(|_| source == Stream::Stdout),
            wanted: input.wanted,
            touched: RefCell::default(),
            gave_up: Cell::default(),
            cells: Cell::default(),
        };
        text.totals = text.body_totals(totals);
        text
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.is_none_or(|wanted| wanted())
    }

    /// Returns a range of this text, between pieces, as a text of its own. `feeds` are its line feeds, if known.
    pub(crate) fn part(&self, body: Range<usize>, feeds: Option<u64>) -> Text<'a> {
        let mut part = self.unread(self.bytes, body.clone());
        part.totals = match body {
            body if body == self.body => self.totals,
            body if body.len() <= SMALL => self.totals_of(body, TotalsMask::ALL),
            _ => self.part_totals(&body),
        };
        part.totals.line_feeds = part.totals.line_feeds.or(feeds);
        part
    }

    /// Returns other bytes as a text of the same kind, of which nothing was read or counted yet.
    fn unread(&self, bytes: &'a [u8], body: Range<usize>) -> Text<'a> {
        Text {
            bytes,
            body,
            totals: Totals::unknown(),
            seek: None,
            touched: RefCell::default(),
            gave_up: Cell::default(),
            cells: Cell::default(),
            ..*self
        }
    }

    fn totals_of(&self, range: Range<usize>, want: TotalsMask) -> Totals {
        Totals::from_measure(&self.measure(range, want), want)
    }

    /// Returns the totals of a range that are known for the whole, by reading what is outside or inside, whichever is less.
    fn part_totals(&self, body: &Range<usize>) -> Totals {
        let want = self.totals.known();
        if want.is_empty() {
            return Totals::unknown();
        }
        let is_split = units::element_start(self.bytes, body.start) != body.start;
        if is_split || body.len() <= self.len() / 2 {
            return self.totals_of(body.clone(), want);
        }
        let outside =
            self.measure(self.body.start..body.start, want) + self.measure(body.end..self.body.end, want);
        self.totals.less(&outside)
    }

    /// Returns the first `most` raw bytes of a longer output, or else this text, without what `trim` removes; counted.
    pub(crate) fn first(&self, most: usize, trim: TrimRule) -> Text<'a> {
        let is_longer = self.bytes.len() > most;
        let bytes = &self.bytes[..self.bytes.len().min(most)];
        let body = reading::trimmed(bytes, if is_longer { 0..most } else { self.body.clone() }, trim);
        self.unread(bytes, body).counted()
    }

    pub(crate) fn counted(mut self) -> Self {
        self.totals = self.totals_of(self.body.clone(), TotalsMask::ALL);
        self
    }

    /// Adopts what a part has read, and whether it gave up.
    pub(crate) fn absorb(&self, part: &Text) {
        part.touched.take().into_iter().for_each(|range| self.touch(range));
        self.wait_for(part.gave_up());
    }

    fn body_totals(&self, whole: &Totals) -> Totals {
        if self.body.len() <= SMALL {
            return self.totals_of(self.body.clone(), TotalsMask::ALL);
        }
        let outside = self.measure(0..self.body.start, TotalsMask::ALL)
            + self.measure(self.body.end..self.bytes.len(), TotalsMask::ALL);
        self.with_split_characters(whole.less(&outside))
    }

    /// Records that these bytes are read.
    pub(crate) fn touch(&self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let mut touched = self.touched.borrow_mut();
        // Mostly what follows the last bytes.
        if let Some(last) = touched.last_mut().filter(|last| (last.start..=last.end).contains(&range.start)) {
            last.end = last.end.max(range.end);
            return;
        }
        let first = touched.partition_point(|seen| seen.end < range.start);
        let last = touched.partition_point(|seen| seen.start <= range.end);
        let joined = touched[first..last].iter().fold(range, |a, b| a.start.min(b.start)..a.end.max(b.end));
        touched.splice(first..last, [joined]);
    }

    /// Returns how many distinct bytes were read.
    pub(crate) fn touched(&self) -> u64 {
        self.touched.borrow().iter().map(|range| range.len() as u64).sum()
    }

    pub(crate) fn len(&self) -> usize {
        self.body.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Whether it is only white space, as in JavaScript's `trim`.
    pub(crate) fn is_blank(&self) -> bool {
        let rest = reading::trimmed(self.bytes, self.body.clone(), TrimRule::Both);
        self.touch(self.body.start..rest.start);
        self.touch(rest.end..self.body.end);
        rest.is_empty()
    }

    /// Returns the UTF-16 units of its JSON as JavaScript prints it indented; none if it is not JSON.
    pub(crate) fn json_units(&self) -> Option<u64> {
        let (units, read) = json::indented_units(&self.bytes[self.body.clone()]);
        self.touch(self.body.start..self.body.start + read);
        units
    }

    /// Measures a range as it is kept, decoded on its own, while the plan is wanted.
    pub(crate) fn measure(&self, range: Range<usize>, want: TotalsMask) -> Measure {
        self.touch(range.clone());
        let mut sum = Measure::default();
        for range in self.between_reads(range) {
            let bytes = &self.bytes[range];
            for start in (0..bytes.len()).step_by(STEP).take_while(|_| self.is_wanted()) {
                sum += units::measure(bytes, start..bytes.len().min(start + STEP), want);
            }
        }
        sum
    }

    pub(crate) fn line_feeds_of(&self, range: Range<usize>) -> u64 {
        self.measure(range, TotalsMask::LINE_FEEDS).line_feeds
    }

    /// Returns the LF bytes of the whole, or the total needed for them.
    pub(crate) fn line_feeds(&self) -> Result<u64, TotalsMask> {
        self.totals.line_feeds.ok_or(TotalsMask::LINE_FEEDS)
    }

    /// Whether a final line feed only ends the last line.
    pub(crate) fn final_feed(&self) -> bool {
        self.lines != LineRule::Pieces && !self.is_empty() && self.bytes[self.body.end - 1] == b'\n'
    }

    /// Returns where the last line's text ends: before a final line feed that only ends it.
    pub(crate) fn lines_end(&self) -> usize {
        self.body.end - usize::from(self.final_feed())
    }

    /// Returns the number of lines as the policy counts them, or the total needed for it.
    pub(crate) fn line_count(&self) -> Result<u64, TotalsMask> {
        if self.lines == LineRule::Ended && self.is_empty() {
            return Ok(0);
        }
        Ok(self.line_feeds()? + 1 - u64::from(self.final_feed()))
    }

    /// Whether there are more lines than `max`, or the total needed if that cannot be found out cheaply.
    pub(crate) fn exceeds_lines(&self, max: u64) -> Result<bool, TotalsMask> {
        if let Ok(count) = self.line_count() {
            return Ok(count > max);
        }
        let needed = max.saturating_add(u64::from(self.final_feed()));
        if (self.len() as u64) < needed {
            return Ok(false);
        }
        let window = self.body.start..self.body.end.min(self.body.start.saturating_add(PATIENCE));
        self.touch(window.clone());
        let feeds = memchr::memchr_iter(b'\n', &self.bytes[window.clone()]);
        if feeds.take(as_usize(needed)).count() as u64 == needed {
            return Ok(true);
        }
        if window.end == self.body.end { Ok(false) } else { Err(TotalsMask::LINE_FEEDS) }
    }

    /// Returns the character that a raw cut at byte `at` splits, if it splits one.
    fn split_character(&self, at: usize) -> Option<Range<usize>> {
        if at <= self.body.start || at >= self.body.end {
            return None;
        }
        let start = units::element_start(self.bytes, at);
        let found = units::element(self.bytes, start);
        (start < at && found.valid).then_some(start..start + found.len)
    }

    /// Returns a kept part; none for an empty range.
    pub(crate) fn kept(&self, range: Range<usize>) -> Option<Part> {
        let kept = Part::Kept { source: self.source, range: range.clone(), decoding: self.decoding };
        (!range.is_empty()).then_some(kept)
    }

    /// Returns the parts of a range between raw bytes: characters that its ends split are parts of their own.
    pub(crate) fn raw(&self, range: Range<usize>) -> Vec<Part> {
        let first = self.split_character(range.start).map_or(range.start, |split| split.end.min(range.end));
        let last = self.split_character(range.end).map_or(range.end, |split| split.start.max(first));
        let fragment = |range: Range<usize>| {
            let fragments = vec![Fragment::Bytes(range.clone())];
            (!range.is_empty()).then(|| self.changed(range, fragments))
        };
        let all = [fragment(range.start..first), self.kept(first..last), fragment(last..range.end)];
        all.into_iter().flatten().collect()
    }

    /// Returns the part of half the character at a range, which is U+FFFD.
    pub(crate) fn half(&self, range: Range<usize>) -> Part {
        self.changed(range, vec![Fragment::Replaced(1)])
    }

    pub(crate) fn changed(&self, range: Range<usize>, fragments: Vec<Fragment>) -> Part {
        Part::Changed { source: self.source, range, fragments, decoding: self.decoding }
    }
}

/// Converts a figure to an index; one that does not fit is as good as no limit.
pub(crate) fn as_usize(figure: u64) -> usize {
    usize::try_from(figure).unwrap_or(usize::MAX)
}
