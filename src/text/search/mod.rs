//! Searches bytes by regular expression, forwards and backwards, where no match contains a line feed.

mod needle;
mod pass;
mod pattern;
mod severity;

use std::ops::Range;

use super::supply::{OwnBytes, Supply};

pub use pass::{SearchPiece, certain_in_line, each_match, line_end};
pub use pattern::{Pattern, PatternError};
pub use severity::{Severity, SeverityPatterns};

#[cfg(test)]
mod tests;

/// Bytes searched by one thread at a time, and between two checks of whether the search is still wanted: few enough to
/// stay in a core's own cache after they have been copied.
pub const CHUNK: usize = 512 * 1024;

/// Length in bytes of the longest match that is certain to be found within a line longer than a chunk.
pub const OVERLAP: usize = 64 * 1024;

/// Bytes after a stretch within which its last line usually ends.
pub(super) const NEAR: usize = 4 * 1024;

/// Bytes before a stretch that decide whether a line or a word starts there, and what level a line of JSON has. They are in
/// the page before it, which is read in any case.
pub(super) const LOOK_BEHIND: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    End,
    Start,
}

impl Toward {
    pub fn reversed(self) -> Self {
        match self {
            Toward::End => Toward::Start,
            Toward::Start => Toward::End,
        }
    }
}

/// Returns the bytes of an output of `len` bytes that are needed to find all matches that start in `range`, a stretch
/// in which the last match may continue.
pub fn window(range: &Range<usize>, len: usize) -> Range<usize> {
    range.start.saturating_sub(LOOK_BEHIND)..(range.end + OVERLAP).min(len)
}

/// The stretches of `CHUNK` bytes into which a search divides a range, numbered from where it starts.
#[derive(Debug, Clone)]
pub struct Stretches {
    within: Range<usize>,
    toward: Toward,
}

impl Stretches {
    /// Divides `within`, which must be within the bytes searched.
    pub fn new(within: Range<usize>, toward: Toward) -> Self {
        Self { within, toward }
    }

    pub fn count(&self) -> usize {
        self.within.len().div_ceil(CHUNK)
    }

    /// Returns the range of a stretch by its 0-based number, before its ends are moved to line starts.
    fn raw(&self, number: usize) -> Range<usize> {
        let (near, far) = (number * CHUNK, ((number + 1) * CHUNK).min(self.within.len()));
        match self.toward {
            Toward::End => self.within.start + near..self.within.start + far,
            Toward::Start => self.within.end - far..self.within.end - near,
        }
    }

    /// Returns the bytes that [`Stretches::nearest`] needs of an output of `len` bytes.
    pub fn window(&self, number: usize, len: usize) -> Range<usize> {
        let raw = self.raw(number);
        window(&(raw.start..(raw.end + OVERLAP).min(len)), len)
    }

    /// Returns the first part of these bytes, which is enough if lines are short.
    pub fn near_window(&self, number: usize, len: usize) -> Range<usize> {
        let window = self.window(number, len);
        window.start..(self.raw(number).end + NEAR).min(window.end)
    }

    /// Whether a copy of [`Stretches::near_window`] is all that [`Stretches::nearest`] needs: it has a line that ends
    /// at or after the end of the stretch.
    pub fn is_enough(&self, number: usize, near: &[u8]) -> bool {
        let raw = self.raw(number);
        let end = raw.end - raw.start.saturating_sub(LOOK_BEHIND);
        near.get(end - 1..).is_some_and(|rest| memchr::memchr(b'\n', rest).is_some())
    }

    /// Returns the match nearest to the start of the search among those that start in a stretch, which extends from the
    /// first line that starts in it to the end of the last one, and that are `wanted`. Together the stretches cover the
    /// whole range, in whatever order and by whomever they are searched. `window` is a copy of [`Stretches::window`];
    /// matches are ranges of the output.
    pub fn nearest(
        &self,
        number: usize,
        window: OwnBytes,
        pattern: &Pattern,
        wanted: impl Fn(&Range<usize>) -> bool,
    ) -> Option<Range<usize>> {
        let raw = self.raw(number);
        let base = raw.start.saturating_sub(LOOK_BEHIND);
        let stretch = self.cut(&window, base, raw.start)..self.cut(&window, base, raw.end);
        let found = starting_in(window, pattern, stretch);
        let mut found = found.map(|found| base + found.start..base + found.end).filter(wanted);
        match self.toward {
            Toward::End => found.next(),
            Toward::Start => found.last(),
        }
    }

    /// Returns the position of a cut in the window, moved to the start of the next line if one starts soon.
    fn cut(&self, window: &[u8], base: usize, at: usize) -> usize {
        let inside = (at - base).min(window.len());
        if at == self.within.start || at == self.within.end {
            return inside;
        }
        let far = (at + OVERLAP).min(self.within.end) - base;
        let near = &window[inside - 1..far.min(window.len())];
        memchr::memchr(b'\n', near).map_or(inside, |found| inside + found)
    }
}

/// Returns all matches that start in `stretch`, in order; one may end beyond it, in the same line.
pub fn starting_in<'a>(
    bytes: OwnBytes<'a>,
    pattern: &'a Pattern,
    stretch: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = stretch.end.min(bytes.len());
    let seen = stretch.start..in_sight(&bytes, end);
    matches(bytes, pattern, seen).take_while(move |found| found.start < end)
}

/// Reads what is needed of an output to find all matches that start in a range of it, and returns those in order.
pub fn read_starting_in<'a>(
    supply: &'a mut impl Supply,
    pattern: &'a Pattern,
    range: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let window = window(&range, supply.len());
    let base = window.start;
    let found = starting_in(supply.read(window), pattern, range.start - base..range.end - base);
    found.map(move |found| base + found.start..base + found.end)
}

/// Returns the end of the line that continues at `end`, or a position in it by which a match is certain to be found.
fn in_sight(bytes: &[u8], end: usize) -> usize {
    if end == 0 || bytes[end - 1] == b'\n' {
        return end;
    }
    let far = (end + OVERLAP).min(bytes.len());
    memchr::memchr(b'\n', &bytes[end..far]).map_or(far, |found| end + found)
}

/// Returns all matches that start in `chunk`, in order; each lies within one line.
pub fn matches<'a>(
    bytes: impl Into<OwnBytes<'a>>,
    pattern: &'a Pattern,
    chunk: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let bytes = bytes.into();
    pattern.find_from(bytes.part(0..chunk.end.min(bytes.len())), chunk.start)
}

/// Match counts in block order: the number of matches before a byte is then a sum and a single scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchCounts {
    /// (end of the chunk in bytes, number of matches that start before it).
    chunks: Vec<(usize, u64)>,
}

impl MatchCounts {
    /// Adds the count of the next chunk; chunks arrive in order.
    pub fn push(&mut self, end: usize, count: u64) {
        self.chunks.push((end, self.total() + count));
    }

    /// Drops the chunks whose counts may change when the bytes searched, `len` of them until now, become more: those
    /// that do not end far enough before the old end.
    pub fn forget_end(&mut self, len: usize) {
        let same = self.chunks.partition_point(|(end, _)| end.saturating_add(OVERLAP) <= len);
        self.chunks.truncate(same);
    }

    /// Whether any match starts in a range of the file, as far as the chunks show.
    pub fn any_in(&self, stretch: &Range<usize>) -> bool {
        let before = |offset: usize| {
            let chunk = self.chunks.partition_point(|(end, _)| *end <= offset);
            if chunk == 0 { 0 } else { self.chunks[chunk - 1].1 }
        };
        let after = self.chunks.partition_point(|(end, _)| *end < stretch.end);
        self.chunks.get(after).or(self.chunks.last()).is_some_and(|(_, count)| *count > before(stretch.start))
    }

    pub fn total(&self) -> u64 {
        self.chunks.last().map_or(0, |c| c.1)
    }

    pub fn counted_bytes(&self) -> usize {
        self.chunks.last().map_or(0, |c| c.0)
    }

    /// Returns the 1-based number of the match that starts at `offset`; `None` if not counted yet. Reads one chunk.
    pub fn number(&self, supply: &mut impl Supply, pattern: &Pattern, offset: usize) -> Option<u64> {
        let chunk = self.chunks.partition_point(|(end, _)| *end <= offset);
        if chunk == self.chunks.len() {
            return None;
        }
        let (start, before) = if chunk == 0 { (0, 0) } else { self.chunks[chunk - 1] };
        let end = self.chunks[chunk].0.min(supply.len());
        let in_chunk = read_starting_in(supply, pattern, start.min(end)..end);
        Some(before + in_chunk.take_while(|found| found.start <= offset).count() as u64)
    }
}
