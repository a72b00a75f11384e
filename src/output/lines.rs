//! The lines of an output: which bytes they are, how many of them the model got, and their text.

use std::ops::Range;

use crate::text::filter::{Got, Share};
use crate::text::utf16::{ByteOrder, Utf16Text};

use super::{OpenOutput, Side};

impl OpenOutput {
    /// Returns the bytes of the lines from the one that holds `first` to the one that holds `last`, without the last line
    /// feed.
    pub(crate) fn lines_of(&self, side: Side, first: u64, last: u64) -> Range<u64> {
        let reader = self.reader(side, None);
        let len = reader.doc.len();
        let start = reader.line_start(first.min(len));
        start..reader.line_end(last.min(len)).max(start)
    }

    /// Returns the bytes of lines of the file by their numbers, 1-based, without the last line feed, as far as they are
    /// counted.
    pub(crate) fn window(&self, lines: Range<u64>) -> Option<Range<u64>> {
        let start_of = |line: u64| self.start_of_line(line).map(|offset| offset as u64);
        let (start, end) = (start_of(lines.start)?, start_of(lines.end));
        let last = (self.view.len() as u64).saturating_sub(1);
        let whole = || self.index.is_complete().then(|| self.lines_of(Side::Spill, last, last).end);
        let end = end.map(|end| end.saturating_sub(1)).or_else(whole)?;
        Some(start..end.max(start))
    }

    /// Returns the parts of a range of lines that a filter shows, without the last line feed, until they have more than
    /// `most` bytes; all of it if there is no filter.
    pub(crate) fn shown_parts(&self, side: Side, range: Range<u64>, most: u64) -> Vec<Range<u64>> {
        let reader = self.reader(side, None);
        let len = reader.doc.len();
        let range = range.start.min(len)..range.end.min(len);
        let Some(sift) = self.sift_of(side) else { return vec![range] };
        let (mut parts, mut long) = (Vec::new(), 0);
        let mut at = sift.onward(&reader, range.start);
        while at < range.end && long <= most {
            let part = at..reader.line_end(at).saturating_add(1).min(range.end);
            long += part.end - part.start;
            at = sift.onward(&reader, part.end.max(at + 1));
            parts.push(part);
        }
        if let Some(last) = parts.last_mut().filter(|last| last.end < range.end) {
            last.end -= 1;
        }
        parts
    }

    pub(crate) fn text_of(&self, side: Side, parts: Vec<Range<u64>>, utf16: Option<ByteOrder>) -> String {
        let reader = self.reader(side, None);
        let parts = parts.into_iter();
        match utf16 {
            Some(order) => parts
                .map(|part| Utf16Text::new(&reader.copy(part.clone()), order, part.start).into_text())
                .collect(),
            None => {
                let bytes: Vec<u8> = parts.flat_map(|part| reader.copy(part)).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        }
    }

    /// Returns how much the model got of the line at an offset.
    pub(crate) fn share_of_line(&self, offset: usize) -> Share {
        let Range { start, end } = self.lines_of(Side::Spill, offset as u64, offset as u64);
        Got(&self.kept).share(&(start as usize..end.max(start + 1) as usize))
    }
}
