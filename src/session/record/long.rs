//! Copies of records that are too long to be copied as they are: the middles of long strings are left out.

use std::ops::Range;

use memchr::{memchr, memchr2};

use super::MAX_RECORD;

/// How much of a string is copied after the beginning of the record, in bytes: more than readers look at.
const MAX_KEPT: usize = 128 << 10;
/// The most bytes that are copied after the beginning of the record.
const MAX_AFTER: usize = 4 << 20;
/// How much of the end of a string is copied, in bytes: of an output that may have its exit status.
pub(super) const MAX_END: usize = 8 << 10;
/// The longest escape, in bytes.
const MAX_ESCAPE: usize = 6;
/// The most bytes of a string that are left out or copied together.
const STEP: usize = 4 << 10;

/// Bytes inside of a string that the copy of a record leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Its place in the copy, 0-based.
    at: usize,
    /// The length in bytes.
    len: u64,
}

impl Gap {
    /// Returns the place in the record of a place in its copy.
    pub fn place(gaps: &[Self], at: usize) -> u64 {
        let before = gaps.iter().take_while(|gap| gap.at < at);
        at as u64 + before.map(|gap| gap.len).sum::<u64>()
    }
}

/// A copy of a long record, as far as that was gone through.
#[derive(Default)]
pub(super) struct LongCopy {
    /// Where it is in its block.
    pub bytes: Range<usize>,
    pub gaps: Vec<Gap>,
    /// Whether only insides of strings are missing so far.
    pub is_whole: bool,
    is_string: bool,
    /// How many bytes of an escape come next: one after the backslash, and four after a `u`.
    escape: usize,
    /// How many bytes of the string came before.
    len: usize,
    is_left_out: bool,
    /// The last bytes that were left out of the string.
    last: Vec<u8>,
}

impl LongCopy {
    /// Begins with the first [`MAX_RECORD`] bytes of a record, which are in `block` from `start` on.
    pub(super) fn new(block: &[u8], start: usize) -> Self {
        let bytes = start..start + MAX_RECORD;
        let mut copy = Self { bytes, is_whole: true, ..Self::default() };
        let mut rest = block.get(copy.bytes.clone()).unwrap_or_default();
        while !rest.is_empty() {
            rest = &rest[copy.step(rest)..];
        }
        copy
    }

    /// Goes on with the bytes of the record that are at `next` in the block: right behind the copy, or [`MAX_END`] bytes
    /// further.
    pub(super) fn take(&mut self, block: &mut [u8], next: Range<usize>) {
        let mut at = next.start;
        while self.is_whole && at < next.end {
            let is_start = self.is_string && self.escape == 0 && block[at] & 0xc0 != 0x80;
            self.is_left_out |= is_start && self.len >= MAX_KEPT;
            let len = self.step(&block[at..next.end]);
            if self.is_left_out && self.is_string {
                self.leave_out(&block[at..at + len]);
            } else {
                if std::mem::take(&mut self.is_left_out) {
                    self.copy_end(block);
                }
                block.copy_within(at..at + len, self.bytes.end);
                self.bytes.end += len;
            }
            at += len;
            self.is_whole = self.bytes.len() <= MAX_RECORD + MAX_AFTER;
        }
    }

    fn leave_out(&mut self, bytes: &[u8]) {
        let (at, len) = (self.bytes.len(), bytes.len() as u64);
        match self.gaps.last_mut().filter(|gap| gap.at == at) {
            Some(gap) => gap.len += len,
            None => self.gaps.push(Gap { at, len }),
        }
        self.last.extend_from_slice(bytes);
        if self.last.len() > 4 * MAX_END {
            self.last.drain(..self.last.len() - MAX_END - MAX_ESCAPE);
        }
    }

    /// Copies the end of a string after all, from a place on that is in no escape and no character.
    fn copy_end(&mut self, block: &mut [u8]) {
        let last = std::mem::take(&mut self.last);
        let is_start = |at: &usize| {
            last[*at] & 0xc0 != 0x80 && memchr(b'\\', &last[at.saturating_sub(MAX_ESCAPE)..*at]).is_none()
        };
        let first = last.len().saturating_sub(MAX_END).max(MAX_ESCAPE);
        let from = (first..last.len()).find(is_start).unwrap_or(last.len());
        let end = &last[from..];
        block[self.bytes.end..][..end.len()].copy_from_slice(end);
        self.bytes.end += end.len();
        self.gaps.last_mut().into_iter().for_each(|gap| gap.len -= end.len() as u64);
    }

    /// Returns how many of the bytes that come next are alike: part of a string or not.
    fn step(&mut self, next: &[u8]) -> usize {
        if !self.is_string {
            let quote = memchr(b'"', next);
            (self.is_string, self.len) = (quote.is_some(), 0);
            return quote.map_or(next.len(), |at| at + 1);
        }
        let len = match (self.escape, next.first()) {
            (0, Some(b'"')) => {
                self.is_string = false;
                1
            }
            (0, Some(b'\\')) => {
                self.escape = 1;
                1
            }
            (0, _) => {
                let next = &next[..next.len().min(STEP)];
                memchr2(b'"', b'\\', next).unwrap_or(next.len())
            }
            (_, Some(b'u')) => {
                self.escape = 4;
                1
            }
            (more, _) => {
                self.escape = more - 1;
                1
            }
        };
        self.len += len;
        len
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LogFile, LogStep, records};
    use super::*;

    #[test]
    fn values_after_long_strings_keep_their_positions() {
        let long = "é\\u00e9\\\"\\\\".repeat(MAX_RECORD / 12 + 1) + &"é ".repeat(MAX_END);
        let inside = "{\"a\":[\"x\"],\"b\":2},".repeat(100);
        let text =
            format!("{{\"t\":\"{long}\",\"l\":[{inside}\"{long}\"],\"s\":\"{long}\",\"m\":\"end\"}}\n{{}}\n");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{{}}\n{text}")).unwrap();
        let (log, mut found) = (LogFile::open(file.path(), &|| true).unwrap(), Vec::new());
        let ended = records(&log, 0, &mut |step| {
            if let LogStep::Shortened(start, record, gaps) = step {
                let record = record.unwrap();
                let items: Vec<_> = record.get("l").unwrap().items().collect();
                assert_eq!(items.len(), 101);
                let end = record.get("t").and_then(|value| Some(value.text()?.ending(MAX_END / 2)));
                assert!(end.unwrap().chars().skip(4).all(|c| matches!(c, 'é' | ' ')));
                let values = ["t", "s", "m"].map(|key| record.get(key).unwrap());
                found.extend(values.into_iter().chain([record, items[100]]).map(|value| {
                    assert!(value.text().is_none_or(|text| text.to_text(usize::MAX).replaced == 0));
                    let Range { start: from, end } = value.range();
                    (start + Gap::place(gaps, from)) as usize..(start + Gap::place(gaps, end)) as usize
                }));
            }
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!(ended.unwrap(), std::ops::ControlFlow::Continue(log.size()));
        let text = format!("{{}}\n{text}");
        let quoted = format!("\"{long}\"");
        let at = |range: &Range<usize>| &text[range.clone()];
        let found: Vec<_> = found.iter().map(at).collect();
        assert_eq!(found.len(), 5);
        assert!(found[0] == quoted && found[1] == quoted && found[4] == quoted);
        assert_eq!(found[2], "\"end\"");
        assert!(found[3] == text[3..text.len() - 4].trim_end());
    }
}
