//! Search by regular expression over bytes, forwards and backwards, where no match holds a line feed.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::index::BlockIndex;

/// Bytes searched between two looks at whether the search is still wanted.
pub const CHUNK: usize = 4 * 1024 * 1024;

/// Inside a line longer than a chunk, the longest match that is sure to be found, in bytes.
const OVERLAP: usize = 64 * 1024;

/// A compiled pattern: smart case (a capital letter makes it exact), `^` and `$` at line ends.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    regex: Regex,
}

/// A pattern that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct PatternError {
    /// What is wrong with it, in one line, without the pattern.
    pub why: String,
    /// Where in the pattern, in bytes from its start, if that is known.
    pub at: Option<usize>,
}

impl Pattern {
    /// Compiles `text` (syntax of the `regex` crate).
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let regex = RegexBuilder::new(text)
            .multi_line(true)
            .case_insensitive(!text.chars().any(char::is_uppercase))
            .build()
            .map_err(|error| describe(&error))?;
        Ok(Self { text: text.to_owned(), regex })
    }

    /// The pattern as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether two patterns find the same.
    pub fn same(&self, other: &Pattern) -> bool {
        self.text == other.text
    }

    /// The non-empty matches within one line (without its line feed), in order.
    pub fn in_line<'a>(&'a self, line: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        self.regex.find_iter(line).map(|m| m.range()).filter(|m| !m.is_empty())
    }
}

/// The last line of the error says what is wrong; the line of carets above it says where.
fn describe(error: &regex::Error) -> PatternError {
    let text = error.to_string();
    let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let at =
        text.lines().find_map(|line| line.find('^').filter(|_| line.trim_matches([' ', '^']).is_empty()));
    PatternError { why, at: at.map(|column| column.saturating_sub(4)) }
}

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

/// The first chunk of `within`, of `size` bytes at the most, cut after a line feed where there is one.
pub fn next_chunk(bytes: &[u8], within: &Range<usize>, size: usize) -> Range<usize> {
    let end = within.end.min(bytes.len());
    let start = within.start.min(end);
    let near = (start + size).min(end);
    if near == end {
        return start..end;
    }
    match memchr::memrchr(b'\n', &bytes[start..near]) {
        Some(at) => start..start + at + 1,
        None => start..near,
    }
}

/// Where the chunk after `chunk` starts: at its end, or a little before it inside a long line.
fn follow(bytes: &[u8], chunk: &Range<usize>) -> usize {
    let whole_lines = chunk.end == bytes.len() || bytes.get(chunk.end.wrapping_sub(1)) == Some(&b'\n');
    if whole_lines { chunk.end } else { chunk.end - OVERLAP.min(chunk.len() / 2) }
}

/// The first match that starts in `within`. `go_on` is asked at each chunk; `None` also when it says no.
pub fn find(
    bytes: &[u8],
    pattern: &Pattern,
    within: Range<usize>,
    go_on: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    let mut rest = within.clone();
    while rest.start < rest.end.min(bytes.len()) {
        let chunk = next_chunk(bytes, &rest, CHUNK);
        if !go_on(&chunk) {
            return None;
        }
        if let Some(found) = first_in(bytes, pattern, &chunk) {
            return Some(found);
        }
        rest.start = if chunk.end >= rest.end { chunk.end } else { follow(bytes, &chunk) };
    }
    None
}

/// The last match that starts in `within`.
pub fn find_back(
    bytes: &[u8],
    pattern: &Pattern,
    within: Range<usize>,
    go_on: &dyn Fn(&Range<usize>) -> bool,
) -> Option<Range<usize>> {
    let mut end = within.end.min(bytes.len());
    while end > within.start {
        let far = end.saturating_sub(CHUNK).max(within.start);
        let start = line_start(bytes, far, within.start);
        let chunk = start..end;
        if !go_on(&chunk) {
            return None;
        }
        if let Some(found) = matches(bytes, pattern, chunk).last() {
            return Some(found);
        }
        end = start;
    }
    None
}

/// The start of the line that holds `at`, but no further back than a chunk or `floor`.
fn line_start(bytes: &[u8], at: usize, floor: usize) -> usize {
    let from = at.saturating_sub(CHUNK).max(floor);
    memchr::memrchr(b'\n', &bytes[from..at]).map_or(if from == floor { floor } else { at }, |n| from + n + 1)
}

/// All matches that start in `chunk`, in order; each lies within one line.
pub fn matches<'a>(
    bytes: &'a [u8],
    pattern: &'a Pattern,
    chunk: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut rest = chunk;
    std::iter::from_fn(move || {
        let found = first_in(bytes, pattern, &rest)?;
        rest.start = found.end;
        Some(found)
    })
}

/// A leftmost match over the whole chunk can only lie before, or in the same line as, the first match
/// that holds no line feed: so only lines with a candidate are searched again alone.
fn first_in(bytes: &[u8], pattern: &Pattern, chunk: &Range<usize>) -> Option<Range<usize>> {
    let hay = &bytes[..chunk.end];
    let mut at = chunk.start;
    while at < chunk.end {
        let found = pattern.regex.find_at(&hay[line_floor(hay, at)..], at - line_floor(hay, at))?;
        let floor = line_floor(hay, at);
        let (start, end) = (floor + found.start(), floor + found.end());
        let holds_line_feed = memchr::memchr(b'\n', &hay[start..end]).is_some();
        if !found.is_empty() && !holds_line_feed {
            return Some(start..end);
        }
        if let Some(found) = in_line_from(hay, pattern, start) {
            return Some(found);
        }
        at = memchr::memchr(b'\n', &hay[start..]).map_or(chunk.end, |n| start + n + 1);
    }
    None
}

/// `\b` and `^` look at what stands before: one byte is enough of it for both.
fn line_floor(hay: &[u8], at: usize) -> usize {
    at.saturating_sub(4).min(hay.len())
}

fn in_line_from(hay: &[u8], pattern: &Pattern, from: usize) -> Option<Range<usize>> {
    let end = memchr::memchr(b'\n', &hay[from..]).map_or(hay.len(), |n| from + n);
    let floor = line_floor(hay, from);
    let line = &hay[floor..end];
    let mut at = from - floor;
    while at <= line.len() {
        let found = pattern.regex.find_at(line, at)?;
        if !found.is_empty() {
            return Some(floor + found.start()..floor + found.end());
        }
        at = found.end() + 1;
    }
    None
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
        let in_chunk = matches(bytes, pattern, start..self.chunks[chunk].0.min(bytes.len()));
        Some(before + in_chunk.take_while(|found| found.start <= offset).count() as u64)
    }
}

/// The bytes of the line that holds `offset`, without its line feed, and at most `most` of them.
pub fn line_around(bytes: &[u8], index: &BlockIndex, offset: usize, most: usize) -> Range<usize> {
    let start = index.last_line_feed(bytes, offset).map_or(0, |at| at + 1).max(offset.saturating_sub(most));
    let end = index.next_line_feed(bytes, offset).unwrap_or(bytes.len()).min(start + most);
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &[u8], pattern: &str) -> Vec<Range<usize>> {
        matches(text, &Pattern::new(pattern).unwrap(), 0..text.len()).collect()
    }

    #[test]
    fn case_is_smart() {
        assert_eq!(all(b"Error error", "error").len(), 2);
        assert_eq!(all(b"Error error", "Error").len(), 1);
    }

    #[test]
    fn no_match_holds_a_line_feed() {
        assert!(all(b"a\nb", r"a\sb").is_empty());
        assert_eq!(all(b"ab\ncd", r"[^x]+"), [0..2, 3..5]);
        assert_eq!(all(b"x \n y", r"x\s*"), vec![0..2]);
    }

    #[test]
    fn anchors_are_those_of_lines() {
        assert_eq!(all(b"ab\nab\n", "^a"), [0..1, 3..4]);
        assert_eq!(all(b"ab\nab\n", "b$"), [1..2, 4..5]);
    }

    #[test]
    fn a_bad_pattern_says_where() {
        let error = Pattern::new("ab(c").unwrap_err();
        assert_eq!(error.why, "unclosed group");
        assert_eq!(error.at, Some(2));
    }

    #[test]
    fn backwards_finds_the_last() {
        let text = b"one two\none\ntwo";
        let one = Pattern::new("one").unwrap();
        assert_eq!(find_back(text, &one, 0..text.len(), &|_| true), Some(8..11));
        assert_eq!(find_back(text, &one, 0..8, &|_| true), Some(0..3));
        assert_eq!(find_back(text, &one, 0..8, &|_| false), None);
    }

    #[test]
    fn matches_are_numbered_across_chunks() {
        let text = b"aXaXa\naX";
        let x = Pattern::new("X").unwrap();
        let mut counts = MatchCounts::default();
        counts.push(6, 2);
        assert_eq!(counts.number(text, &x, 3), Some(2));
        assert_eq!(counts.number(text, &x, 7), None);
        counts.push(8, 1);
        assert_eq!(counts.number(text, &x, 7), Some(3));
        assert_eq!(counts.total(), 3);
    }

    #[test]
    fn a_long_match_counts_itself() {
        let text = b"an error, an error\n";
        let mut counts = MatchCounts::default();
        counts.push(text.len(), 2);
        let error = Pattern::new("error").unwrap();
        assert_eq!([3, 13].map(|at| counts.number(text, &error, at)), [Some(1), Some(2)]);
    }

    const PATTERNS: &[&str] =
        &["a+", r"b\s", r"\s", "[^a]+", "^b", "a$", r"\bb", "a*", r"a\sb|b", "(?s)a.", "^ *b"];

    proptest! {
        #[test]
        fn searching_whole_equals_searching_each_line(text in "[ab \n]{0,60}", pattern in proptest::sample::select(PATTERNS)) {
            let pattern = Pattern::new(pattern).unwrap();
            let mut expected = Vec::new();
            let mut start = 0;
            for line in text.split('\n') {
                expected.extend(pattern.in_line(line.as_bytes()).map(|m| start + m.start..start + m.end));
                start += line.len() + 1;
            }
            let found: Vec<_> = matches(text.as_bytes(), &pattern, 0..text.len()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
