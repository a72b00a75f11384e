//! Finds lines in a text, from either end, reading no further than necessary.

use std::ops::Range;

use crate::preview::model::{Direction, Unit};
use crate::text::units::TotalsMask;

use super::{PATIENCE, STEP, Text};

/// A piece at one end of a range.
pub(crate) struct Piece {
    /// The piece without a line feed.
    pub range: Range<usize>,
    /// The rest of the range, after the line feed; none if this was the last piece.
    pub rest: Option<Range<usize>>,
}

impl Text<'_> {
    /// Returns the first line feed at or after `from` and before `to`.
    pub(crate) fn feed_after(&self, from: usize, to: usize) -> Option<usize> {
        self.first_in(from..to, |bytes| memchr::memchr(b'\n', bytes))
    }

    /// Returns the first LF or CR at or after `from` and before `to`.
    pub(crate) fn break_after(&self, from: usize, to: usize) -> Option<usize> {
        self.first_in(from..to, |bytes| memchr::memchr2(b'\n', b'\r', bytes))
    }

    /// Returns the first byte of a range that `find` finds, step by step, while the plan is wanted.
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

    /// Returns the last line feed at or after `from` and before `to`.
    pub(crate) fn feed_before(&self, from: usize, to: usize) -> Option<usize> {
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

    /// Returns the outermost piece of a range, searching `reach` bytes of that end; none if it does not end within
    /// them.
    pub(crate) fn outer_piece(&self, within: &Range<usize>, from: Direction, reach: usize) -> Option<Piece> {
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

    /// Returns the outermost `count` pieces of one end of a range, if it has more than that many. Gives up if nothing
    /// says that it has.
    pub(crate) fn outer_pieces(
        &self,
        within: Range<usize>,
        from: Direction,
        count: u64,
    ) -> Option<Range<usize>> {
        let Range { start, end } = within;
        match from {
            Direction::Head => {
                if let Some(next) = self.seek_line(start, count) {
                    return (next - 1 < end).then(|| start..next - 1);
                }
            }
            Direction::Tail => {
                if let Some(begin) = self.seek_back(start, end, count) {
                    return Some(begin..end);
                }
            }
        }
        let reach = if self.totals.line_feeds.is_some() { usize::MAX } else { PATIENCE };
        let up_to = |edge: &Range<usize>| match from {
            Direction::Head => start..edge.end,
            Direction::Tail => edge.start..end,
        };
        let (mut found, mut rest) = (None, within);
        for _ in 0..count {
            let Some(piece) = self.outer_piece(&rest, from, reach) else {
                self.give_up();
                let (low, high) = (rest.end.saturating_sub(reach), rest.start.saturating_add(reach));
                return Some(up_to(&(low..high)));
            };
            found = Some(up_to(&piece.range));
            rest = piece.rest?;
        }
        found
    }

    /// Whether there are this many line feeds, as far as a bounded search can tell.
    pub(crate) fn has_feeds(&self, count: u64) -> bool {
        self.exceeds_lines(count) == Ok(true)
    }

    /// Returns where the piece that begins at `at` ends, and whether that is certain.
    pub(crate) fn piece_end(&self, at: usize, to: usize) -> (usize, bool) {
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

    /// Returns how far to search for the end of a piece if nothing says how many there are.
    pub(crate) fn patient_end(&self, at: usize, to: usize) -> usize {
        if self.totals.line_feeds.is_some() { to } else { to.min(at.saturating_add(PATIENCE)) }
    }

    /// Records that what is kept is provisional until lines are counted.
    pub(crate) fn give_up(&self) {
        self.wait_for(TotalsMask::LINE_FEEDS);
    }

    /// Records that what is kept is provisional until these are counted.
    pub(crate) fn wait_for(&self, want: TotalsMask) {
        self.gave_up.set(self.gave_up.get() | want);
    }

    /// Returns the totals for lack of which a search gave up.
    pub(crate) fn gave_up(&self) -> TotalsMask {
        self.gave_up.get()
    }

    /// Looks a line up in the index, if the pieces begin with the output.
    fn seek_line(&self, from: usize, line: u64) -> Option<usize> {
        let start = self.seek.filter(|_| from == 0 && line > 0)?.line_start(line)?;
        (start > 0 && start <= self.bytes.len()).then_some(start)
    }

    /// Returns where line `line` (0-based, ended by LF) begins, if an index knows.
    pub(crate) fn indexed_line(&self, line: u64) -> Option<usize> {
        self.seek_line(self.body.start, line)
    }

    fn seek_back(&self, from: usize, to: usize, count: u64) -> Option<usize> {
        let feeds = self.line_feeds().ok().filter(|_| to == self.lines_end() && from == self.body.start)?;
        let pieces = feeds + 1 - u64::from(self.final_feed());
        self.seek_line(from, pieces.checked_sub(count)?)
    }

    /// Returns the bytes (as the policy counts them) of the line that begins, or from the end: ends, at `edge`. Waits
    /// for totals, since the line may be the whole of a large output.
    pub(crate) fn line_size(&self, edge: usize, from: Direction) -> Result<u64, TotalsMask> {
        let within = match from {
            Direction::Head => edge..self.body.end,
            Direction::Tail => self.body.start..edge,
        };
        if self.line_feeds()? == 0 && within == self.body {
            return self.size(Unit::Bytes);
        }
        let line = self.outer_piece(&within, from, usize::MAX).map_or(within, |piece| piece.range);
        Ok(self.size_of(line, Unit::Bytes))
    }
}
