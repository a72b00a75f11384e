//! Finds the lines that meet conditions: those with a match, those without, those that the model did not get.

pub mod index;

#[cfg(test)]
pub(crate) mod tests;

use std::ops::Range;

use super::search::{Pattern, PatternError};
use super::supply::OwnBytes;
use super::utf16::ByteOrder;

/// What a line has to meet to be shown.
#[derive(Debug, Clone)]
pub enum Condition {
    With(Pattern),
    Without(Pattern),
}

/// Which of the lines that meet all conditions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineScope {
    #[default]
    All,
    /// Those that the model did not get whole.
    Lost,
}

impl Condition {
    /// Compiles a condition as typed, for text in UTF-16 of an order, or else in UTF-8: a pattern, after `!` if lines with a
    /// match are to be hidden.
    pub fn new(text: &str, utf16: Option<ByteOrder>) -> Result<Self, PatternError> {
        match text.strip_prefix('!') {
            Some(pattern) => Pattern::in_text(pattern, utf16).map(Condition::Without),
            None => Pattern::in_text(text, utf16).map(Condition::With),
        }
    }

    pub fn text(&self) -> String {
        match self {
            Condition::With(pattern) => pattern.text().to_owned(),
            Condition::Without(pattern) => format!("!{}", pattern.text()),
        }
    }

    pub fn pattern(&self) -> &Pattern {
        match self {
            Condition::With(pattern) | Condition::Without(pattern) => pattern,
        }
    }

    /// Whether a line meets the condition, given whether it has a match.
    fn admits(&self, found: bool) -> bool {
        match self {
            Condition::With(_) => found,
            Condition::Without(_) => !found,
        }
    }

    fn apply(&self, bytes: OwnBytes, lines: Range<usize>, into: &mut Vec<Range<usize>>) {
        let found = self.pattern().lines_in(bytes, lines.clone());
        match self {
            Condition::With(_) => found.for_each(|line| join(into, line)),
            Condition::Without(_) => {
                let mut from = lines.start;
                for line in found {
                    join(into, from..line.start);
                    from = line.end;
                }
                join(into, from..lines.end);
            }
        }
    }
}

/// Adds a range that starts after the others; it is joined with one that it touches.
pub(crate) fn join(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
        _ if range.is_empty() => {}
        _ => ranges.push(range),
    }
}

/// Returns the lines that meet all conditions, as ranges of whole lines. `lines` are whole lines of `bytes`. Lines with
/// a match are found first, because that leaves the least to look at.
pub fn meeting(conditions: &[Condition], bytes: OwnBytes, lines: Range<usize>) -> Vec<Range<usize>> {
    let is_with = |condition: &&Condition| matches!(condition, Condition::With(_));
    let with = conditions.iter().filter(is_with);
    let without = conditions.iter().filter(|condition| !is_with(condition));
    let mut left = Vec::new();
    join(&mut left, lines);
    for condition in with.chain(without) {
        let mut next = Vec::new();
        for lines in left {
            condition.apply(bytes, lines, &mut next);
        }
        left = next;
    }
    left
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    Whole,
    Some,
    None,
}

/// The parts of the file that the model got: sorted, disjoint, and adjacent only where a notice stands between them.
#[derive(Debug, Clone, Copy)]
pub struct KeptRanges<'a>(pub &'a [Range<usize>]);

/// Returns what of a range is not in others, which are in order.
pub fn gaps<T: Copy + Ord>(within: Range<T>, others: impl IntoIterator<Item = Range<T>>) -> Vec<Range<T>> {
    let (mut gaps, mut at) = (Vec::new(), within.start);
    for other in others.into_iter().chain([within.end..within.end]) {
        gaps.extend((at < other.start).then_some(at..other.start));
        at = at.max(other.end);
    }
    gaps
}

impl KeptRanges<'_> {
    fn after(&self, offset: usize) -> Option<&Range<usize>> {
        self.0.get(self.0.partition_point(|part| part.end <= offset))
    }

    /// Whether all of a range was got in one piece; of an empty one, the position at which it stands.
    pub fn covers(&self, range: &Range<usize>) -> bool {
        self.after(range.start).is_some_and(|part| part.start <= range.start && range.end <= part.end)
    }

    /// Returns how much of a range the model got; none of an empty one.
    pub fn share(&self, range: &Range<usize>) -> Share {
        if range.is_empty() || !self.touches(range) {
            return Share::None;
        }
        if self.covers(range) { Share::Whole } else { Share::Some }
    }

    /// Returns what the model did not get of a file of `len` bytes.
    pub fn gaps(&self, len: usize) -> Vec<Range<usize>> {
        gaps(0..len, self.0.iter().cloned())
    }

    fn touches(&self, range: &Range<usize>) -> bool {
        self.after(range.start).is_some_and(|part| part.start < range.end)
    }

    /// Whether the model got a line whole; a line feed at its end does not count, unless it is all of the line.
    pub fn has_line(&self, line: Range<usize>, is_ended: bool) -> bool {
        let text = line.start..line.end - usize::from(is_ended);
        self.covers(if text.is_empty() { &line } else { &text })
    }

    /// Returns those of some lines of `bytes`, which start at `base` in the file, that the model did not get whole.
    pub fn lost(&self, bytes: &[u8], base: usize, lines: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut lost = Vec::new();
        for run in lines {
            let in_file = base + run.start..base + run.end;
            if !self.touches(&in_file) {
                join(&mut lost, run.clone());
            } else if !self.covers(&in_file) {
                for line in each_line(bytes, run.clone()) {
                    let is_ended = bytes[line.end - 1] == b'\n';
                    if !self.has_line(base + line.start..base + line.end, is_ended) {
                        join(&mut lost, line);
                    }
                }
            }
        }
        lost
    }
}

fn each_line(bytes: &[u8], lines: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = lines.start;
    std::iter::from_fn(move || {
        (at < lines.end).then(|| {
            let feed = memchr::memchr(b'\n', &bytes[at..lines.end]);
            let line = at..feed.map_or(lines.end, |feed| at + feed + 1);
            at = line.end;
            line
        })
    })
}

fn count_lines(bytes: &[u8], lines: &[Range<usize>]) -> u32 {
    let in_run = |run: &Range<usize>| {
        let run = &bytes[run.clone()];
        bytecount::count(run, b'\n') as u32 + u32::from(run.last().is_some_and(|byte| *byte != b'\n'))
    };
    lines.iter().map(in_run).sum()
}

/// Returns the ranges that exactly one of two lists covers. Both must be sorted and disjoint.
pub fn difference(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ends: Vec<usize> = a.iter().chain(b).flat_map(|range| [range.start, range.end]).collect();
    ends.sort_unstable();
    ends.chunks_exact(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect()
}
