//! The text of a line, and where each of its characters stands.

use std::borrow::Cow;
use std::char::decode_utf16;

use crate::text::cells::Cell;
use crate::text::layout::Row;

use super::ByteOrder;

/// The text of a line, and where each of its characters stands in the bytes that it was decoded from.
#[derive(Debug)]
pub struct LineText<'a> {
    bytes: Cow<'a, [u8]>,
    /// For each byte of the text, the index of the first byte that its character stands for; and the number of bytes. `None`
    /// if the text is just these.
    sources: Option<Vec<u32>>,
}

impl<'a> LineText<'a> {
    /// Takes a line of a file, or a part of one, with or without its line feed; `at` is its offset in the file. UTF-16 is
    /// decoded: invalid units become U+FFFD, the byte-order mark and the second half of the line feed before belong to the
    /// first character.
    pub fn new(bytes: &'a [u8], utf16: Option<ByteOrder>, at: u64) -> Self {
        let Some(order) = utf16 else { return Self { bytes: bytes.into(), sources: None } };
        let (text, sources) = decoded(bytes, order, at);
        Self { bytes: text.into_bytes().into(), sources: Some(sources) }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_owned()
    }

    /// Returns the index in the text of the character that stands for a byte of the source.
    pub fn index_of(&self, source: usize) -> usize {
        let Some(sources) = &self.sources else { return source };
        let after = sources.partition_point(|start| *start as usize <= source);
        let found = sources[after.saturating_sub(1)];
        sources.partition_point(|start| *start < found)
    }

    /// Returns a row of the text as one of the source.
    pub fn in_source(&self, row: Row) -> Row {
        let Some(sources) = &self.sources else { return row };
        let source = |index: usize| sources.get(index).or(sources.last()).map_or(0, |at| *at as usize);
        let cells = row.cells.into_iter().map(|cell| {
            let (start, end) = (source(cell.start as usize), source(cell.end()));
            Cell { start: start as u32, len: (end - start) as u32, ..cell }
        });
        // A text without any character stands for all of its bytes.
        let start = if self.bytes.is_empty() { 0 } else { source(row.start) };
        Row { start, end: source(row.end), cells: cells.collect() }
    }
}

/// Returns the text, and where each of its bytes comes from.
fn decoded(bytes: &[u8], order: ByteOrder, at: u64) -> (String, Vec<u32>) {
    let (mut text, mut sources) = (String::new(), Vec::new());
    let mut push = |c: char, source: usize| {
        text.push(c);
        sources.extend(std::iter::repeat_n(source as u32, c.len_utf8()));
    };
    // The half of a unit that began before these bytes: of the line feed, as a rule.
    let halves = usize::from(at % 2 == 1).min(bytes.len());
    if bytes[..halves].iter().any(|half| *half != 0) {
        push(char::REPLACEMENT_CHARACTER, 0);
    }
    let (units, rest) = bytes[halves..].as_chunks();
    let mut source = halves;
    for unit in decode_utf16(units.iter().map(|unit| order.unit(*unit))) {
        let is_mark = at == 0 && source == 0 && unit == Ok('\u{feff}');
        if !is_mark {
            push(unit.as_ref().copied().unwrap_or(char::REPLACEMENT_CHARACTER), source);
        }
        source += 2 * unit.map_or(1, char::len_utf16);
    }
    match (rest, order) {
        ([], _) | ([0], ByteOrder::Big) => {}
        ([b'\n'], ByteOrder::Little) => push('\n', source),
        _ => push(char::REPLACEMENT_CHARACTER, source),
    }
    if let Some(first) = text.chars().next() {
        sources[..first.len_utf8()].fill(0);
    }
    sources.push(bytes.len() as u32);
    (text, sources)
}
