//! Goes through an output once, piece by piece, and finds every match or every line with one.

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memrchr};

use crate::text::supply::Supply;

use super::{CHUNK, LOOK_BEHIND, NEAR, OVERLAP, Pattern};

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

/// Passes on the matches in a long line. One that reaches the end of what was read may go on, so it is looked at again
/// with more of the line.
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

/// Returns the end of the line that goes on at `from`, including its line feed, and whether it has one; `None` once
/// `go_on`, which is called before each read, returns false.
pub fn line_end(
    supply: &mut impl Supply,
    from: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<(usize, bool)> {
    let len = supply.len();
    for from in (from..len).step_by(CHUNK) {
        if !go_on() {
            return None;
        }
        if let Some(feed) = memchr(b'\n', &supply.read(from..(from + CHUNK).min(len))) {
            return Some((from + feed + 1, true));
        }
    }
    Some((len, false))
}

/// Returns an offset by which a match in a line, even an empty one, is certain, if it has one; breaks off once `go_on`,
/// which is called before each read, returns false.
pub fn certain_in_line(
    pattern: &Pattern,
    supply: &mut impl Supply,
    line: Range<usize>,
    go_on: &mut dyn FnMut() -> bool,
) -> ControlFlow<(), Option<usize>> {
    for from in line.clone().step_by(CHUNK) {
        if !go_on() {
            return ControlFlow::Break(());
        }
        let window = from.saturating_sub(LOOK_BEHIND).max(line.start)..(from + CHUNK + OVERLAP).min(line.end);
        let (at, is_cut) = (from - window.start, window.end < line.end);
        // Where the line is cut it seems to end; what seems to match there is found again in the next part.
        let found = pattern.certain_at(supply.read(window.clone()), at);
        if let Some(found) = found.filter(|found| !is_cut || *found < window.len()) {
            return ControlFlow::Continue(Some(window.start + found));
        }
    }
    ControlFlow::Continue(None)
}
