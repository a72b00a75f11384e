//! Searches bytes by regular expression, forwards and backwards, where no match contains a line feed.

mod escapes;
mod needle;
mod pattern;
mod severity;

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memrchr};

use super::supply::{OwnBytes, Supply};

pub use pattern::{Pattern, PatternError};
pub use severity::{Severity, SeverityPatterns};

#[cfg(test)]
mod tests;

/// Bytes searched by one thread at a time, and between two looks at whether to go on: a copy stays in a core's own cache.
pub const CHUNK: usize = 512 * 1024;

/// Length in bytes of the longest match that is certain to be found within a line longer than a chunk.
pub const OVERLAP: usize = 64 * 1024;

/// Bytes after a stretch within which its last line usually ends.
pub(super) const NEAR: usize = 4 * 1024;

/// Bytes before a stretch that decide whether a line or a word starts there, and what level a line of JSON has.
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

/// Returns the bytes of an output of `len` bytes that are needed to find all matches that start in `range`.
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
    fn window(&self, number: usize, len: usize) -> Range<usize> {
        let raw = self.raw(number);
        window(&(raw.start..(raw.end + OVERLAP).min(len)), len)
    }

    /// Returns the match nearest to the start of the search among those that start in a stretch, which extends from the
    /// first line that starts in it to the end of the last one, and that are `wanted`. Together the stretches cover the
    /// whole range, in whatever order and by whomever they are searched.
    pub fn nearest(
        &self,
        number: usize,
        supply: &mut impl Supply,
        pattern: &Pattern,
        wanted: impl Fn(&Range<usize>) -> bool,
    ) -> Option<Range<usize>> {
        let (raw, window) = (self.raw(number), self.window(number, supply.len()));
        let base = window.start;
        // The first part is enough if a line ends soon after the stretch.
        let mut bytes = supply.read(base..(raw.end + NEAR).min(window.end));
        if bytes.get(raw.end - base - 1..).is_none_or(|rest| memchr(b'\n', rest).is_none()) {
            bytes = supply.read(window);
        }
        let stretch = self.cut(&bytes, base, raw.start)..self.cut(&bytes, base, raw.end);
        let found = starting_in(bytes, pattern, stretch);
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
        memchr(b'\n', near).map_or(inside, |found| inside + found)
    }
}

/// Returns all matches that start in `stretch`, in order; each lies within one line, and may end beyond the stretch.
pub fn starting_in<'a>(
    bytes: OwnBytes<'a>,
    pattern: &'a Pattern,
    stretch: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = stretch.end.min(bytes.len());
    let seen = bytes.part(0..in_sight(&bytes, end));
    pattern.find_from(seen, stretch.start).take_while(move |found| found.start < end)
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
    memchr(b'\n', &bytes[end..far]).map_or(far, |found| end + found)
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

    /// Drops the chunks that do not end far enough before `len`, the old end: their counts may change when bytes are added.
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
        let end = self.chunks.get(chunk)?.0.min(supply.len());
        let (start, before) = if chunk == 0 { (0, 0) } else { self.chunks[chunk - 1] };
        let in_chunk = read_starting_in(supply, pattern, start.min(end)..end);
        Some(before + in_chunk.take_while(|found| found.start <= offset).count() as u64)
    }
}

/// Lines up to this many bytes are searched whole; of a longer one, matches of up to [`OVERLAP`] bytes are certain to be
/// found, and one of more than this counts as going on to the end of the line.
const MAX_LINE: usize = 2 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchPiece {
    Lines(Range<usize>),
    /// A line of more than `MAX_LINE` bytes, with its line feed.
    LongLine(Range<usize>),
}

impl SearchPiece {
    /// Returns the piece that begins with the line that starts at `start`; `None` at the end.
    pub fn at(supply: &mut impl Supply, start: usize) -> Option<Self> {
        let len = supply.len();
        if start >= len {
            return None;
        }
        let (mut room, mut seen) = (CHUNK, start);
        while start + room < len {
            let end = start + room;
            // The last line usually ends near.
            let (mut to, mut step) = (end, NEAR);
            while to > seen {
                let from = to.saturating_sub(step).max(seen);
                if let Some(feed) = memrchr(b'\n', &supply.read(from..to)) {
                    return Some(Self::Lines(start..from + feed + 1));
                }
                (to, step) = (from, CHUNK);
            }
            if room >= MAX_LINE {
                let (end, _) = line_end(supply, end, &mut || true)?;
                return Some(Self::LongLine(start..end));
            }
            (room, seen) = (room * 4, end);
        }
        Some(Self::Lines(start..len))
    }

    pub fn range(&self) -> &Range<usize> {
        match self {
            Self::Lines(range) | Self::LongLine(range) => range,
        }
    }
}

/// Passes on all matches in order until `take` breaks off; each lies within one line.
pub fn each_match(
    supply: &mut impl Supply,
    pattern: &Pattern,
    take: &mut dyn FnMut(Range<usize>) -> ControlFlow<()>,
) {
    let mut at = 0;
    while let Some(piece) = SearchPiece::at(supply, at) {
        at = piece.range().end;
        let flow = match piece {
            SearchPiece::Lines(lines) => {
                let found = pattern.in_lines(supply.read(lines.clone()));
                found.map(|found| lines.start + found.start..lines.start + found.end).try_for_each(&mut *take)
            }
            SearchPiece::LongLine(line) => each_in_line(supply, pattern, line, take),
        };
        if flow.is_break() {
            return;
        }
    }
}

/// Passes on the matches in a long line. One that reaches the end of what was read is looked at again with more of the line.
fn each_in_line(
    supply: &mut impl Supply,
    pattern: &Pattern,
    line: Range<usize>,
    take: &mut dyn FnMut(Range<usize>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (mut from, mut room) = (line.start, OVERLAP);
    let text_end = line.end - usize::from(supply.read(line.end - 1..line.end).ends_with(b"\n"));
    while from < line.end {
        let stop = (from + CHUNK).min(line.end);
        let base = from.saturating_sub(LOOK_BEHIND).max(line.start);
        let end = (stop + room).min(line.end);
        let (mut next, mut more) = (stop, OVERLAP);
        for found in pattern.find_from(supply.read(base..end), from - base) {
            let found = base + found.start..base + found.end;
            if found.start >= stop {
                break;
            }
            if found.end == end && end < line.end {
                if pattern.is_to_line_end || room >= MAX_LINE {
                    return take(found.start..text_end);
                }
                (next, more) = (found.start, room * 4);
                break;
            }
            next = next.max(found.end);
            take(found)?;
        }
        (from, room) = (next, more);
    }
    ControlFlow::Continue(())
}

/// Returns the end of the line that goes on at `from`, and whether it has a line feed; `None` once `is_wanted` is false.
pub fn line_end(
    supply: &mut impl Supply,
    from: usize,
    is_wanted: &mut dyn FnMut() -> bool,
) -> Option<(usize, bool)> {
    let len = supply.len();
    for from in (from..len).step_by(CHUNK) {
        if !is_wanted() {
            return None;
        }
        if let Some(feed) = memchr(b'\n', &supply.read(from..(from + CHUNK).min(len))) {
            return Some((from + feed + 1, true));
        }
    }
    Some((len, false))
}

/// Returns an offset by which a match in a line, even an empty one, is certain; breaks off once `is_wanted` is false.
pub fn certain_in_line(
    pattern: &Pattern,
    supply: &mut impl Supply,
    line: Range<usize>,
    is_wanted: &mut dyn FnMut() -> bool,
) -> ControlFlow<(), Option<usize>> {
    for from in line.clone().step_by(CHUNK) {
        if !is_wanted() {
            return ControlFlow::Break(());
        }
        let window = from.saturating_sub(LOOK_BEHIND).max(line.start)..(from + CHUNK + OVERLAP).min(line.end);
        let (at, is_cut) = (from - window.start, window.end < line.end);
        // A cut looks like the end of the line; the next part finds matches there again.
        let found = pattern.certain_at(supply.read(window.clone()), at);
        if let Some(found) = found.filter(|found| !is_cut || *found < window.len()) {
            return ControlFlow::Continue(Some(window.start + found));
        }
    }
    ControlFlow::Continue(None)
}
