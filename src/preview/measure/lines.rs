//! Finds lines in a text, from either end, reading no further than necessary; also those of Python's `splitlines`.

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
        self.outermost(from..to, Direction::Head, |bytes| memchr::memchr(b'\n', bytes))
    }

    /// Returns the first LF or CR at or after `from` and before `to`.
    pub(crate) fn break_after(&self, from: usize, to: usize) -> Option<usize> {
        self.outermost(from..to, Direction::Head, |bytes| memchr::memchr2(b'\n', b'\r', bytes))
    }

    /// Returns the last line feed at or after `from` and before `to`.
    pub(crate) fn feed_before(&self, from: usize, to: usize) -> Option<usize> {
        self.outermost(from..to, Direction::Tail, |bytes| memchr::memrchr(b'\n', bytes))
    }

    /// Returns the byte of a range that `find` finds first from one end, step by step, while the plan is wanted.
    fn outermost(
        &self,
        range: Range<usize>,
        from: Direction,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        let mut rest = range.clone();
        while !rest.is_empty() && self.is_wanted() {
            let (step, beyond) = from.split(&rest, STEP.min(rest.len()));
            if let Some(found) = find(&self.bytes[step.clone()]) {
                let at = step.start + found;
                self.touch(from.up_to(&range, &(at..at + 1)));
                return Some(at);
            }
            rest = beyond;
        }
        self.touch(from.split(&range, range.len() - rest.len()).0);
        None
    }

    /// Returns the outermost piece of a range; none if it does not end within `reach` bytes.
    pub(crate) fn outer_piece(&self, within: &Range<usize>, from: Direction, reach: usize) -> Option<Piece> {
        let near = from.split(within, reach.min(within.len())).0;
        let feed = match from {
            Direction::Head => self.feed_after(near.start, near.end),
            Direction::Tail => self.feed_before(near.start, near.end),
        };
        let Some(feed) = feed else {
            return (near == *within).then_some(Piece { range: near, rest: None });
        };
        let (before, after) = (within.start..feed, feed + 1..within.end);
        Some(match from {
            Direction::Head => Piece { range: before, rest: Some(after) },
            Direction::Tail => Piece { range: after, rest: Some(before) },
        })
    }

    /// Returns the outermost `count` pieces of a range, if it has more. Gives up if nothing says that it has.
    pub(crate) fn outer_pieces(
        &self,
        within: Range<usize>,
        from: Direction,
        count: u64,
    ) -> Option<Range<usize>> {
        let Range { start, end } = within;
        if from == Direction::Head
            && let Some(next) = self.seek_line(start, count)
        {
            return (next - 1 < end).then(|| start..next - 1);
        }
        if from == Direction::Tail
            && let Some(feeds) =
                self.totals.line_feeds.filter(|_| start == self.body.start && end == self.lines_end())
            && let Some(first) = (feeds + 1 - u64::from(self.final_feed())).checked_sub(count)
            && let Some(begin) = self.seek_line(start, first)
        {
            return Some(begin..end);
        }
        let reach = if self.totals.line_feeds.is_some() { usize::MAX } else { PATIENCE };
        let (mut found, mut rest) = (None, within.clone());
        for _ in 0..count {
            let Some(piece) = self.outer_piece(&rest, from, reach) else {
                self.wait_for(TotalsMask::LINE_FEEDS);
                let (low, high) = (rest.end.saturating_sub(reach), rest.start.saturating_add(reach));
                return Some(from.up_to(&within, &(low..high)));
            };
            found = Some(from.up_to(&within, &piece.range));
            rest = piece.rest?;
        }
        found
    }

    /// Returns where the piece that begins at `at` ends, and whether that is certain.
    pub(crate) fn piece_end(&self, at: usize, to: usize) -> (usize, bool) {
        let bound = self.patient_end(at, to);
        match self.feed_after(at, bound) {
            Some(feed) => (feed, true),
            None if bound == to => (to, true),
            None => {
                self.wait_for(TotalsMask::LINE_FEEDS);
                (bound, false)
            }
        }
    }

    /// Returns how far to search for the end of a piece if nothing says how many there are.
    pub(crate) fn patient_end(&self, at: usize, to: usize) -> usize {
        if self.totals.line_feeds.is_some() { to } else { to.min(at.saturating_add(PATIENCE)) }
    }

    /// Records that what is kept is provisional until these are counted.
    pub(crate) fn wait_for(&self, want: TotalsMask) {
        self.gave_up.set(self.gave_up.get() | want);
    }

    /// Returns a figure if it is known, or else records that what is kept is provisional until it is counted.
    pub(crate) fn known_or_wait<T>(&self, figure: Result<T, TotalsMask>) -> Option<T> {
        figure.map_err(|want| self.wait_for(want)).ok()
    }

    /// Returns the totals for lack of which a search gave up.
    pub(crate) fn gave_up(&self) -> TotalsMask {
        self.gave_up.get()
    }

    /// Returns where line `line` (0-based, ended by LF) begins, if there is an index and the pieces begin with the output.
    pub(crate) fn seek_line(&self, from: usize, line: u64) -> Option<usize> {
        let start = self.seek.filter(|_| from == 0 && line > 0)?.line_start(line)?;
        (start > 0 && start <= self.bytes.len()).then_some(start)
    }

    /// Returns the bytes of the line that begins (from the tail: ends) at `edge`, which may be the whole of a large output.
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

/// Length of the longest break in bytes.
pub(crate) const MAX_BREAK: usize = 3;

/// How many bytes are looked at together.
const LOOK: usize = 128;

/// Returns the first break at or after `at`. Takes no regular expression, so that bytes that change meanwhile do no harm.
fn next_break(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let mut from = at;
    loop {
        let rest = bytes.get(from..)?;
        let near = rest.iter().position(|byte| matches!(byte, 0x0a..=0x0d | 0x1c..=0x1e | 0xc2 | 0xe2))?;
        if let Some(len) = break_len(&rest[near..]) {
            return Some(from + near..from + near + len);
        }
        from += near + 1;
    }
}

/// Returns where the line that begins at `at` ends, without its break and with it. Gives up on a line that is too long.
pub(crate) fn python_line_ends(text: &Text, at: usize) -> (usize, usize) {
    let bound = text.patient_end(at, text.body.end);
    let found = next_break(&text.bytes[..bound], at);
    if found.is_none() && bound < text.body.end {
        text.wait_for(TotalsMask::LINE_FEEDS);
    }
    let (stop, mut end) = found.map_or((bound, bound), |found| (found.start, found.end));
    if end < text.body.end && text.bytes[end - 1] == b'\r' && text.bytes[end] == b'\n' {
        end += 1;
    }
    text.touch(at..end);
    (stop, end)
}

/// Counts the breaks that hold neither LF nor CR.
pub(crate) fn count_rare(bytes: &[u8]) -> u64 {
    let may_begin = |byte: &u8| matches!(byte, 0x0b | 0x0c | 0x1c..=0x1e | 0xc2 | 0xe2);
    let mut count = 0;
    for start in (0..bytes.len()).step_by(LOOK) {
        let step = &bytes[start..bytes.len().min(start + LOOK)];
        // Compiled to look at many bytes at a time; few steps have a byte that may begin one.
        if step.iter().fold(false, |any, byte| any | may_begin(byte)) {
            let begins = |at: &usize| may_begin(&bytes[*at]) && break_len(&bytes[*at..]).is_some();
            count += (start..start + step.len()).filter(begins).count() as u64;
        }
    }
    count
}

pub(crate) fn breaks(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let found = next_break(bytes, at)?;
        at = found.end;
        Some(found)
    })
}

fn break_len(bytes: &[u8]) -> Option<usize> {
    match *bytes {
        [b'\r', b'\n', ..] | [0xc2, 0x85, ..] => Some(2),
        [0x0a..=0x0d | 0x1c..=0x1e, ..] => Some(1),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::Regex;

    use super::*;

    proptest! {
        #[test]
        fn breaks_are_those_of_python(bytes in proptest::collection::vec(
            prop_oneof![9 => proptest::sample::select(&b"a\n\r\x0b\x0c\x1c\x1e\x1f\xc2\x85\xe2\x80\xa8\xa9"[..]), 1 => any::<u8>()],
            0..300,
        )) {
            let regex = Regex::new(r"(?-u)\r\n|[\n\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]").unwrap();
            let expected: Vec<_> = regex.find_iter(&bytes).map(|found| found.range()).collect();
            let rare = expected.iter().filter(|found| !matches!(bytes[found.start], b'\n' | b'\r')).count();
            prop_assert_eq!(breaks(&bytes).collect::<Vec<_>>(), expected);
            prop_assert_eq!(count_rare(&bytes), rare as u64);
        }
    }
}
