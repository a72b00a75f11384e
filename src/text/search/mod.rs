//! Search by regular expression over bytes, forwards and backwards, where no match holds a line feed.

mod needle;
mod pattern;

use std::ops::Range;

pub use pattern::{Pattern, PatternError};

#[cfg(test)]
mod tests;

/// Bytes searched between two looks at whether the search is still wanted, and by one thread at a time: so many stay
/// in a core's own cache after they have been copied.
pub const CHUNK: usize = 512 * 1024;

/// Inside a line longer than a chunk, the longest match that is sure to be found, in bytes.
const OVERLAP: usize = 64 * 1024;

/// Bytes after a stretch in which its last line ends, most often.
const NEAR: usize = 4 * 1024;

/// Bytes before a stretch that tell whether a line or a word starts there.
const LOOK_BEHIND: usize = 4;

/// Which way a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// To the end.
    End,
    /// To the start.
    Start,
}

impl Toward {
    /// The other way.
    pub fn reversed(self) -> Self {
        match self {
            Toward::End => Toward::Start,
            Toward::Start => Toward::End,
        }
    }
}

/// What one wants to see of an output of `len` bytes to find all matches that start in `range`, and the stretch in
/// which a match may go on.
pub fn window(range: &Range<usize>, len: usize) -> Range<usize> {
    range.start.saturating_sub(LOOK_BEHIND)..(range.end + OVERLAP).min(len)
}

/// The stretches of `CHUNK` bytes into which a search divides a range, counted from where it starts.
#[derive(Debug, Clone)]
pub struct Stretches {
    within: Range<usize>,
    toward: Toward,
}

impl Stretches {
    /// Divides `within`, which must lie in the bytes that are searched.
    pub fn new(within: Range<usize>, toward: Toward) -> Self {
        Self { within, toward }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.within.len().div_ceil(CHUNK)
    }

    /// Where one of them lies, by its number from 0, before its ends are moved to line starts.
    fn raw(&self, number: usize) -> Range<usize> {
        let (near, far) = (number * CHUNK, ((number + 1) * CHUNK).min(self.within.len()));
        match self.toward {
            Toward::End => self.within.start + near..self.within.start + far,
            Toward::Start => self.within.end - far..self.within.end - near,
        }
    }

    /// The bytes that [`Stretches::nearest`] wants to see of an output of `len` bytes.
    pub fn window(&self, number: usize, len: usize) -> Range<usize> {
        let raw = self.raw(number);
        window(&(raw.start..(raw.end + OVERLAP).min(len)), len)
    }

    /// The first of these bytes, which are enough where lines are short.
    pub fn near_window(&self, number: usize, len: usize) -> Range<usize> {
        let window = self.window(number, len);
        window.start..(self.raw(number).end + NEAR).min(window.end)
    }

    /// Whether a copy of [`Stretches::near_window`] shows all that [`Stretches::nearest`] can find: a line ends in
    /// it at the stretch's end or later.
    pub fn is_enough(&self, number: usize, near: &[u8]) -> bool {
        let raw = self.raw(number);
        let end = raw.end - raw.start.saturating_sub(LOOK_BEHIND);
        near.get(end - 1..).is_some_and(|rest| memchr::memchr(b'\n', rest).is_some())
    }

    /// The match nearest to where the search starts, of those that start in a stretch: from the first line that
    /// starts in it on, to the end of the last one. Together stretches are the whole range, whoever takes them and
    /// in whichever order. `window` is a copy of what [`Stretches::window`] asks for; the match is told by its place
    /// in the output.
    pub fn nearest(&self, number: usize, window: &[u8], pattern: &Pattern) -> Option<Range<usize>> {
        let raw = self.raw(number);
        let base = raw.start.saturating_sub(LOOK_BEHIND);
        let stretch = self.cut(window, base, raw.start)..self.cut(window, base, raw.end);
        let mut found = starting_in(window, pattern, stretch);
        let found = match self.toward {
            Toward::End => found.next(),
            Toward::Start => found.last(),
        };
        found.map(|found| base + found.start..base + found.end)
    }

    /// Where in the window a cut lies, once it is moved to the start of the next line, if one starts soon.
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

/// The first match that starts in `within`. `go_on` is asked at each stretch; `None` also when it says no.
pub fn find(
    bytes: &[u8],
    pattern: &Pattern,
    within: Range<usize>,
    go_on: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    seek(bytes, pattern, within, Toward::End, go_on)
}

/// The last match that starts in `within`.
pub fn find_back(
    bytes: &[u8],
    pattern: &Pattern,
    within: Range<usize>,
    go_on: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    seek(bytes, pattern, within, Toward::Start, go_on)
}

fn seek(
    bytes: &[u8],
    pattern: &Pattern,
    within: Range<usize>,
    toward: Toward,
    go_on: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    let stretches = Stretches::new(within.start..within.end.min(bytes.len()), toward);
    for number in 0..stretches.count() {
        let window = stretches.window(number, bytes.len());
        if !go_on(&window) {
            return None;
        }
        if let Some(found) = stretches.nearest(number, &bytes[window], pattern) {
            return Some(found);
        }
    }
    None
}

/// All matches that start in `stretch`, in order; one may end past it, in the same line.
pub fn starting_in<'a>(
    bytes: &'a [u8],
    pattern: &'a Pattern,
    stretch: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = stretch.end.min(bytes.len());
    let seen = stretch.start..in_sight(bytes, end);
    matches(bytes, pattern, seen).take_while(move |found| found.start < end)
}

/// The end of the line that goes on at `end`, or so far into it that a match is sure to be found.
fn in_sight(bytes: &[u8], end: usize) -> usize {
    if end == 0 || bytes[end - 1] == b'\n' {
        return end;
    }
    let far = (end + OVERLAP).min(bytes.len());
    memchr::memchr(b'\n', &bytes[end..far]).map_or(far, |found| end + found)
}

/// All matches that start in `chunk`, in order; each lies within one line.
pub fn matches<'a>(
    bytes: &'a [u8],
    pattern: &'a Pattern,
    chunk: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    pattern.find_from(&bytes[..chunk.end.min(bytes.len())], chunk.start)
}

/// Counts matches of the whole in block order; how many lie before a byte is then a sum and one scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchCounts {
    /// (end of the chunk in bytes, matches that start before that end).
    chunks: Vec<(usize, u64)>,
}

impl MatchCounts {
    /// Takes in the next chunk's count; chunks come in order.
    pub fn push(&mut self, end: usize, count: u64) {
        self.chunks.push((end, self.total() + count));
    }

    /// Whether a match starts in a stretch of the file, as far as the chunks tell.
    pub fn any_in(&self, stretch: &Range<usize>) -> bool {
        let before = |offset: usize| {
            let chunk = self.chunks.partition_point(|(end, _)| *end <= offset);
            if chunk == 0 { 0 } else { self.chunks[chunk - 1].1 }
        };
        let after = self.chunks.partition_point(|(end, _)| *end < stretch.end);
        self.chunks.get(after).or(self.chunks.last()).is_some_and(|(_, count)| *count > before(stretch.start))
    }

    /// Matches counted so far.
    pub fn total(&self) -> u64 {
        self.chunks.last().map_or(0, |c| c.1)
    }

    /// Bytes searched so far.
    pub fn counted_bytes(&self) -> usize {
        self.chunks.last().map_or(0, |c| c.0)
    }

    /// The number of the match that starts at `offset`, 1-based; `None` if not counted so far.
    pub fn number(&self, bytes: &[u8], pattern: &Pattern, offset: usize) -> Option<u64> {
        let chunk = self.chunks.partition_point(|(end, _)| *end <= offset);
        if chunk == self.chunks.len() {
            return None;
        }
        let (start, before) = if chunk == 0 { (0, 0) } else { self.chunks[chunk - 1] };
        let in_chunk = starting_in(bytes, pattern, start..self.chunks[chunk].0);
        Some(before + in_chunk.take_while(|found| found.start <= offset).count() as u64)
    }
}
