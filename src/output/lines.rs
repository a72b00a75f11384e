//! The lines of an output: which bytes they are, how much of them the model got, and their text, also as indented JSON.

use std::ops::Range;

use crate::base::human::thousands;
use crate::session::call_details::TitledText;
use crate::text::filter::{KeptRanges, Share};
use crate::text::index::BLOCK;
use crate::text::json::{JsonExtent, pretty};
use crate::text::utf16::{self, ByteOrder, LineText};

use super::{OpenOutput, Side};

/// Of a longer line only this many bytes are shown as JSON.
const MAX_JSON: u64 = 1 << 20;

impl OpenOutput {
    /// Returns the number of lines as `less` and `wc -l` count them, once it is known.
    pub fn lines(&self) -> Option<u64> {
        self.index.lines(utf16::without_half(&self.view))
    }

    /// Estimates the number of lines from the first block. The estimate never changes, so that the layout beside the
    /// line numbers stays the same while lines are counted.
    pub fn about_lines(&self) -> u64 {
        let head = &self.view[..self.view.len().min(BLOCK)];
        let lines = bytecount::count(head, b'\n') as f64;
        (lines / head.len().max(1) as f64 * self.view.len() as f64) as u64
    }

    /// Returns the number of the line that holds the byte at `offset`, 1-based, once it is counted.
    pub(crate) fn line_number(&self, offset: usize) -> Option<u64> {
        self.index.line_at(&self.view, offset as u64).map(|line| line + 1)
    }

    /// Returns where a line starts, 1-based, once that is counted.
    pub(crate) fn start_of_line(&self, line: u64) -> Option<usize> {
        self.index.offset_of(&self.view, line.saturating_sub(1)).map(|offset| offset as usize)
    }

    /// Estimates the line of a byte, 0-based, from what has been counted so far.
    pub fn about_line_at(&self, offset: u64) -> u64 {
        match self.index.counted_bytes() {
            0 => (self.about_lines() as f64 / self.view.len().max(1) as f64 * offset as f64) as u64,
            _ => self.index.about_line_at(offset),
        }
    }

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
        let Some(filter) = self.filter_of(side) else { return vec![range] };
        let (mut parts, mut long) = (Vec::new(), 0);
        let mut at = filter.onward(&reader, range.start);
        while at < range.end && long <= most {
            let part = at..reader.line_end(at).saturating_add(1).min(range.end);
            long += part.end - part.start;
            at = filter.onward(&reader, part.end.max(at + 1));
            parts.push(part);
        }
        if let Some(last) = parts.last_mut().filter(|last| last.end < range.end) {
            last.end -= 1;
        }
        parts
    }

    pub(crate) fn text_of(&self, side: Side, parts: Vec<Range<u64>>, utf16: Option<ByteOrder>) -> String {
        let reader = self.reader(side, None);
        let text =
            |part: Range<u64>| LineText::new(&reader.copy(part.clone()), utf16, part.start).into_bytes();
        let bytes: Vec<u8> = parts.into_iter().flat_map(text).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn share_of_line(&self, offset: usize) -> Share {
        let Range { start, end } = self.lines_of(Side::Spill, offset as u64, offset as u64);
        KeptRanges(&self.made.kept).share(&(start as usize..end.max(start + 1) as usize))
    }

    /// Returns a line, by its number (1-based) or by an offset in a side's text, as indented JSON, with strings and
    /// numbers as written.
    pub(crate) fn line_as_json(
        &self,
        side: Side,
        number: Option<u64>,
        at: u64,
    ) -> Result<TitledText, String> {
        let at = match number {
            Some(number) => {
                let unknown = || format!("no line {}, or it is not counted yet", thousands(number));
                self.position(side, self.start_of_line(number).ok_or_else(unknown)?)
            }
            None => at,
        };
        let (start, bytes, given) = self.line_around(side, at)?;
        let name = match (side, self.line_number(start as usize)) {
            (Side::Spill, Some(line)) => format!("line {}", thousands(line)),
            _ => "this line".into(),
        };
        let (text, extent) = pretty(&bytes, given).map_err(|error| {
            let (words, byte) = (error.to_string(), thousands(error.column() as u64));
            let why = words.rsplit_once(" at line ").map_or(&*words, |(why, _)| why);
            format!("{name} is not JSON: {why}, at byte {byte}")
        })?;
        let how_much = match (given, extent) {
            (_, JsonExtent::Whole) => "",
            (JsonExtent::Beginning, _) => " (its first 1 MiB)",
            (JsonExtent::Whole, _) => " (its beginning)",
        };
        Ok(TitledText {
            title: format!("{name} as JSON{how_much}: indented here, one line in the output"),
            text,
        })
    }

    /// Returns the start of the line that contains `at`, its bytes, and whether they are all of it.
    fn line_around(&self, side: Side, at: u64) -> Result<(u64, Vec<u8>, JsonExtent), String> {
        let reader = self.reader(side, None);
        let (start, len) = (reader.line_start(at), reader.doc.len());
        if start > 0 && !reader.ends_line(start - 1) {
            return Err("where this line starts is not known yet: lines are being counted".into());
        }
        let end = len.min(start + MAX_JSON);
        let mut bytes = reader.copy(start..end);
        let line_feed = memchr::memchr(b'\n', &bytes);
        bytes.truncate(line_feed.unwrap_or(bytes.len()));
        let is_whole = line_feed.is_some() || end == len;
        Ok((start, bytes, if is_whole { JsonExtent::Whole } else { JsonExtent::Beginning }))
    }
}
