//! The text of a line in UTF-16, and where each of its characters stands.

use std::char::decode_utf16;

use crate::text::cells::Cell;
use crate::text::layout::Row;

use super::ByteOrder;

/// Text in UTF-8, and where each of its characters stands in the bytes that it was decoded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utf16Text {
    text: String,
    /// For each byte of the text, the index of the first byte that its character stands for; and the number of bytes.
    sources: Vec<u32>,
}

impl Utf16Text {
    /// Decodes a line of a file in UTF-16, or a part of one, with or without its line feed; `at` is its offset in the
    /// file. Invalid units become U+FFFD, the byte-order mark and the second half of the line feed before
    /// belong to the first character.
    pub fn new(bytes: &[u8], order: ByteOrder, at: u64) -> Self {
        let mut decoded = Self { text: String::new(), sources: Vec::new() };
        // The half of a unit that began before these bytes: of the line feed, as a rule.
        let halves = usize::from(at % 2 == 1).min(bytes.len());
        if bytes[..halves].iter().any(|half| *half != 0) {
            decoded.push(char::REPLACEMENT_CHARACTER, 0);
        }
        let (units, rest) = bytes[halves..].as_chunks();
        let mut source = halves;
        for unit in decode_utf16(units.iter().map(|unit| order.unit(*unit))) {
            let is_mark = at == 0 && source == 0 && unit == Ok('\u{feff}');
            if !is_mark {
                decoded.push(unit.as_ref().copied().unwrap_or(char::REPLACEMENT_CHARACTER), source);
            }
            source += 2 * unit.map_or(1, char::len_utf16);
        }
        match (rest, order) {
            ([], _) | ([0], ByteOrder::Big) => {}
            ([b'\n'], ByteOrder::Little) => decoded.push('\n', source),
            _ => decoded.push(char::REPLACEMENT_CHARACTER, source),
        }
        if let Some(first) = decoded.text.chars().next() {
            decoded.sources[..first.len_utf8()].fill(0);
        }
        decoded.sources.push(bytes.len() as u32);
        decoded
    }

    fn push(&mut self, c: char, source: usize) {
        self.text.push(c);
        self.sources.extend(std::iter::repeat_n(source as u32, c.len_utf8()));
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the index in the text of the character that stands for a byte of the source.
    pub fn index_of(&self, source: usize) -> usize {
        let after = self.sources.partition_point(|start| *start as usize <= source);
        let found = self.sources[after.saturating_sub(1)];
        self.sources.partition_point(|start| *start < found)
    }

    /// Returns a row of the text as one of the source.
    pub fn in_source(&self, row: Row) -> Row {
        let source =
            |index: usize| self.sources.get(index).or(self.sources.last()).map_or(0, |at| *at as usize);
        let cells = row.cells.into_iter().map(|cell| {
            let (start, end) = (source(cell.start as usize), source(cell.end()));
            Cell { start: start as u32, len: (end - start) as u32, ..cell }
        });
        // A text without any character stands for all of its bytes.
        let start = if self.text.is_empty() { 0 } else { source(row.start) };
        Row { start, end: source(row.end), cells: cells.collect() }
    }
}

#[derive(Debug)]
pub enum LineText<'a> {
    Plain(&'a [u8]),
    Decoded(Utf16Text),
}

impl<'a> LineText<'a> {
    /// Returns the text of bytes that stand at an offset of their file.
    pub fn new(bytes: &'a [u8], utf16: Option<ByteOrder>, at: u64) -> Self {
        match utf16 {
            Some(order) => Self::Decoded(Utf16Text::new(bytes, order, at)),
            None => Self::Plain(bytes),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Decoded(decoded) => decoded.text().as_bytes(),
        }
    }

    pub fn index_of(&self, source: usize) -> usize {
        match self {
            Self::Plain(_) => source,
            Self::Decoded(decoded) => decoded.index_of(source),
        }
    }

    pub fn in_source(&self, row: Row) -> Row {
        match self {
            Self::Plain(_) => row,
            Self::Decoded(decoded) => decoded.in_source(row),
        }
    }
}
