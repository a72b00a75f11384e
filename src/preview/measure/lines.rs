//! Finding lines in a text, from either end, no further than it takes.

use std::ops::Range;

use crate::preview::model::{Direction, Unit};
use crate::text::units::Want;

use super::{PATIENCE, STEP, Text};

/// A piece at one end of a stretch.
pub(crate) struct Piece {
    /// The piece without a line feed.
    pub range: Range<usize>,
    /// What is left of the stretch, past the line feed; none where this was the last piece.
    pub rest: Option<Range<usize>>,
}

impl Text<'_> {
    /// The first line feed at or after `from` and before `to`.
    pub fn feed_after(&self, from: usize, to: usize) -> Option<usize> {
        self.first_in(from..to, |bytes| memchr::memchr(b'\n', bytes))
    }

    /// The first LF or CR at or after `from` and before `to`.
    pub fn break_after(&self, from: usize, to: usize) -> Option<usize> {
        self.first_in(from..to, |bytes| memchr::memchr2(b'\n', b'\r', bytes))
    }

    /// The first byte of a range that `find` finds, step by step, as long as the plan is wanted.
    fn first_in(&self, range: Range<usize>, find: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        let mut at = range.start;
        while at < range.end && self.is_wanted() {
            let stop = range.end.min(at.saturating_add(STEP));
            if let Some(found) = find(&self.bytes[at..stop]) {
                self.touch(range.start..at + found + 1);
                return Some(at + found);
            }
            at = stop;
        }
        self.touch(range.start..at);
        None
    }

    /// The last line feed at or after `from` and before `to`.
    pub fn feed_before(&self, from: usize, to: usize) -> Option<usize> {
        let mut at = to;
        while at > from && self.is_wanted() {
            let start = from.max(at.saturating_sub(STEP));
            if let Some(found) = memchr::memrchr(b'\n', &self.bytes[start..at]) {
                self.touch(start + found..to);
                return Some(start + found);
            }
            at = start;
        }
        self.touch(at..to);
        None
    }

    /// The outermost piece of a stretch, looked for in `reach` bytes of that end; none if no end of it is there.
    pub fn outer_piece(&self, within: &Range<usize>, from: Direction, reach: usize) -> Option<Piece> {
        let Range { start, end } = *within;
        match from {
            Direction::Head => {
                let bound = end.min(start.saturating_add(reach));
                let feed = self.feed_after(start, bound);
                let stop = feed.or((bound == end).then_some(end))?;
                Some(Piece { range: start..stop, rest: feed.map(|feed| feed + 1..end) })
            }
            Direction::Tail => {
                let bound = start.max(end.saturating_sub(reach));
                let feed = self.feed_before(bound, end);
                let begin = feed.map(|feed| feed + 1).or((bound == start).then_some(start))?;
                Some(Piece { range: begin..end, rest: feed.map(|feed| start..feed) })
            }
        }
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
}
