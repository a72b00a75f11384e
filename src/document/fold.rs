//! Progress lines, which carriage returns rewrite: the last state of each, and how many states there are.

use std::ops::Range;

use crate::base::human::thousands;
use crate::text::layout::ANCHOR;

use super::reader::{LineSegment, Reader};

/// Lines over this many bytes are never folded.
const MAX_LINE: u64 = 16 << 20;

/// States are looked for in this many bytes at the end of a line.
const WINDOW: u64 = ANCHOR as u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressLines {
    /// As they are, with `^M` between the states.
    Unfolded,
    /// By their last state, except for the line that contains this offset of the document, if any.
    Folded(Option<u64>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum States {
    Exactly(usize),
    /// This many in the part of a long line that was looked at.
    AtLeast(usize),
}

impl States {
    /// Returns the number of states: `240 states`, `1,000+ states`.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Exactly(count) => format!("{} states", thousands(count as u64)),
            Self::AtLeast(count) => format!("{}+ states", thousands(count as u64)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fold {
    /// The line, without its line feed, as a range of the document.
    pub(crate) line: Range<u64>,
    pub(crate) state: Range<u64>,
    pub(crate) next: u64,
    pub(crate) states: States,
}

/// Returns the progress line that contains `at`, if it is one to fold. Reads a few blocks at most, wherever in the line.
pub(crate) fn find(reader: &Reader, progress: ProgressLines, at: u64) -> Option<Fold> {
    let ProgressLines::Folded(except) = progress else { return None };
    let segment = reader.segment(reader.segment_start(at));
    let line = line_around(reader, &segment)?;
    if except.is_some_and(|except| (line.start..=line.end).contains(&except)) {
        return None;
    }
    let from = line.start.max(line.end.saturating_sub(WINDOW));
    let bytes = reader.copy(from..line.end);
    let (last, count) = states(&bytes)?;
    let states = if from == line.start { States::Exactly(count) } else { States::AtLeast(count) };
    // The first piece of a window in the middle of a line may be only the end of a state.
    let is_whole = last.start > 0 || from == line.start;
    let state = from + last.start as u64..from + last.end as u64;
    let next = line.end + u64::from(line.end < reader.doc.len());
    (count > 1 && is_whole).then_some(Fold { line, state, next, states })
}

/// Returns the line of a segment, unless it is too long, or where it starts or ends is not known without a scan.
fn line_around(reader: &Reader, segment: &LineSegment) -> Option<Range<u64>> {
    if segment.opens && segment.closes {
        return Some(segment.start..segment.end);
    }
    if !reader.may_be_short(segment, MAX_LINE) {
        return None;
    }
    let line = reader.line_start(segment.start)..reader.line_end(segment.start);
    (line.end - line.start <= MAX_LINE).then_some(line)
}

/// Returns the last piece between carriage returns that is not blank, and how many there are; none without a return.
fn states(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
    memchr::memchr(b'\r', bytes)?;
    let (mut at, mut last, mut count) = (0, 0..0, 0);
    for end in memchr::memchr_iter(b'\r', bytes).chain([bytes.len()]) {
        if bytes[at..end].iter().any(|byte| !matches!(byte, 0 | b' ' | b'\t')) {
            (last, count) = (at..end, count + 1);
        }
        at = end + 1;
    }
    Some((last, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_returns_separate_progress_states() {
        assert_eq!(states(b"plain"), None);
        assert_eq!(states(b"ends\r"), Some((0..4, 1)));
        assert_eq!(states(b"1%\r2%\r\r3%"), Some((7..9, 3)));
        assert_eq!(states(b"\r1%\r"), Some((1..3, 1)));
        assert_eq!(states(b"\r\r"), Some((0..0, 0)));
        assert_eq!(states(b"1%\r2%\r  \r\0"), Some((3..5, 2)), "blank states");
    }

    #[test]
    fn the_number_of_states_may_be_a_bound() {
        assert_eq!(States::Exactly(240).describe(), "240 states");
        assert_eq!(States::AtLeast(1000).describe(), "1,000+ states");
    }
}
