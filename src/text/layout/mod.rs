//! Lays out one line as rows of cells: wrapped to a width, or scrolled sideways; each row is built on demand.
//!
//! A line over [`ANCHOR`] bytes is laid out a segment at a time, so that a screen costs only what it shows wherever it
//! is in the line: [`segment_end`] returns where it ends, [`super::ansi::style_at`] the style in which it begins. Columns
//! count from the start of the given slice.

use std::ops::Range;

use anstyle::Style;

use super::cells::{Cell, CellKind, CellText, Cells, Show, tab_width};
use super::units::element;

#[cfg(test)]
mod tests;

/// In a longer line, wrapping and style restart at each multiple of this many bytes, snapped to a character by [`snap`].
pub const ANCHOR: usize = 65536;

/// How a line is fitted to the width of the screen. A width of 0 counts as 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// Rows of at most this many columns, broken between cells (not at words), as in `less`. Tab stops count from the
    /// start of the row, as on a terminal; a tab that crosses the edge ends there.
    Width(u16),
    /// The same, but broken after spaces and slashes where the row has one.
    Words(u16),
    /// A single row: the columns from `from_column` (0-based, from the start of the slice) to the width. A cell across
    /// either edge is drawn in part: spaces for half a wide character, the rest of `<202E>`.
    Sideways {
        from_column: u64,
        /// Maximum number of columns shown.
        width: u16,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Index of the first byte of the row in the given slice.
    pub start: usize,
    /// Index after the last byte. Wrapped rows tile the line, including its line feed.
    pub end: usize,
    /// What is drawn, with cells of width 0 where colours change or sequences are hidden; none for the end of the line.
    pub cells: Vec<Cell>,
}

/// The rows of a line, or of a segment of it; at least one, even for no bytes.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    cells: Cells<'a>,
    wrap: Wrap,
    /// A cell that was read already but belongs to the next row.
    ahead: Option<Cell>,
    at: usize,
    /// Rows that end at or before this offset are skipped.
    reach: usize,
    /// Number of rows laid out, skipped or not.
    made: usize,
    done: bool,
}

impl<'a> Rows<'a> {
    /// Returns the rows of the line at the start of `bytes`, with or without its line feed, beginning in plain style.
    pub fn new(bytes: &'a [u8], show: &Show, wrap: Wrap) -> Self {
        Self { cells: Cells::new(bytes, show), wrap, ahead: None, at: 0, reach: 0, made: 0, done: false }
    }

    /// Begins in `style`, for the second and later segments of a long line.
    #[must_use]
    pub fn with_style(self, style: Style) -> Self {
        Self { cells: self.cells.with_style(style), ..self }
    }

    /// Skips to the row that extends beyond `offset`; wrapped rows of plain text before it cost only a look at their bytes.
    #[must_use]
    pub fn reaching(self, offset: usize) -> Self {
        Self { reach: offset, ..self }
    }

    /// Returns how many rows have been laid out, skipped or not, except those of plain text that were skipped cheaply.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Returns the next wrapped row that is not skipped, or the last row.
    fn next_wanted(&mut self, width: u16) -> Row {
        let by_words = matches!(self.wrap, Wrap::Words(_));
        loop {
            let next = self.at + usize::from(width);
            if !by_words && next <= self.reach && self.cells.step_over(width.into(), self.ahead.as_ref()) {
                (self.ahead, self.at) = (None, next);
                continue;
            }
            let row = self.wrapped(width);
            self.at = row.end;
            if row.end > self.reach || self.done {
                return row;
            }
            self.made += 1;
        }
    }

    fn wrapped(&mut self, width: u16) -> Row {
        let mut row = Row { start: self.at, end: self.at, cells: Vec::new() };
        let mut column = 0;
        // What follows the last word that is whole, and the row up to it.
        let mut whole: Option<(Cells, usize, usize)> = None;
        let by_words = matches!(self.wrap, Wrap::Words(_));
        while let Some(cell) = self.ahead.take().or_else(|| self.cells.next()) {
            let Some(cell) = self.fitted(cell, column, width) else {
                self.ahead = Some(cell);
                if let Some((cells, count, end)) = whole {
                    (self.cells, self.ahead) = (cells, None);
                    row.cells.truncate(count);
                    row.end = end;
                }
                return row;
            };
            column += u16::from(cell.width);
            push(&mut row, cell);
            if by_words && ends_word(&row.cells) {
                whole = Some((self.cells.clone(), row.cells.len(), row.end));
            }
        }
        self.done = true;
        row
    }

    /// Fits a cell to `column` of a row; none if it belongs to the next row.
    fn fitted(&self, cell: Cell, column: u16, width: u16) -> Option<Cell> {
        let room = width - column;
        match cell.kind {
            CellKind::Tab if room > 0 => {
                let stop = u16::from(tab_width(self.cells.show().tab, column.into()));
                Some(narrowed(cell, 0..stop.min(room) as u8))
            }
            _ if u16::from(cell.width) <= room => Some(cell),
            _ if column == 0 => Some(stand_in(cell)),
            _ => None,
        }
    }

    fn sideways(&mut self, from: u64, width: u16) -> Row {
        self.done = true;
        let to = from.saturating_add(width.into());
        let mut column = 0;
        let mut row = Row::default();
        for cell in self.cells.by_ref() {
            let start = column;
            column += u64::from(cell.width);
            if column < from || (column == from && cell.width > 0) {
                (row.start, row.end) = (cell.end(), cell.end());
                continue;
            }
            push(&mut row, visible_part(cell, start, from..to));
            if column >= to {
                break;
            }
        }
        row
    }
}

fn push(row: &mut Row, cell: Cell) {
    row.end = cell.end();
    if cell.kind != CellKind::LineEnd {
        row.cells.push(cell);
    }
}

/// Whether a word ends with the last of these cells: at a space, or at a slash within a path.
fn ends_word(cells: &[Cell]) -> bool {
    match cells {
        [.., before, last] if last.text.as_str() == "/" => before.text.as_str() != " ",
        [.., last] => last.text.as_str() == " ",
        [] => false,
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        if self.done {
            return None;
        }
        self.made += 1;
        let row = match self.wrap {
            Wrap::Width(width) | Wrap::Words(width) => self.next_wanted(width.max(1)),
            Wrap::Sideways { from_column, width } => self.sideways(from_column, width.max(1)),
        };
        Some(row)
    }
}

/// Returns the nearest position at or before `at` (at most 3 bytes) that splits neither a character nor CRLF, by the 3 bytes
/// before it and the one after; beyond the end, the end.
pub fn snap(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    let from = at.saturating_sub(3);
    let to = bytes.len().min(at + 4);
    let mut copy = [0; 7];
    let around = &mut copy[..to - from];
    around.copy_from_slice(&bytes[from..to]);
    let before = at - from;
    if before > 0 && around[before - 1..].starts_with(b"\r\n") {
        return at - 1;
    }
    // A character of which there is only a part is not split either.
    let is_split = |back: &usize| {
        let rest = &around[before - back..];
        let found = element(rest, 0);
        found.len > *back && (found.valid || found.len == rest.len())
    };
    (1..=before).find(is_split).map_or(at, |back| at - back)
}

/// Returns the end of the segment of `line` that begins at `start`: the next snapped [`ANCHOR`]. A line end alone belongs to the
/// segment before it.
pub fn segment_end(line: &[u8], start: usize) -> usize {
    // Snapped, it begins up to 3 bytes before its own.
    let at = snap(line, ((start + 3) / ANCHOR + 1) * ANCHOR);
    if matches!(&line[at..], b"\n" | b"\r\n") { line.len() } else { at }
}

/// Returns a one-column mark for a cell that is wider than the whole row.
fn stand_in(cell: Cell) -> Cell {
    Cell { text: CellText::from('>'), width: 1, kind: CellKind::Control, look: Style::new(), ..cell }
}

/// Returns the visible part of a cell at column `start`, where `view` are the visible columns.
fn visible_part(cell: Cell, start: u64, view: Range<u64>) -> Cell {
    let end = start + u64::from(cell.width);
    if view.start <= start && end <= view.end {
        return cell;
    }
    let from = view.start.saturating_sub(start);
    let to = view.end.min(end) - start;
    narrowed(cell, from as u8..to as u8)
}

/// Returns the columns `columns` of a cell: names are cut, half a wide character becomes spaces.
fn narrowed(cell: Cell, columns: Range<u8>) -> Cell {
    let width = columns.len() as u8;
    let text = match cell.kind {
        CellKind::Control | CellKind::Escape if cell.text.as_str().is_ascii() => part_of(cell.text, columns),
        _ => CellText::spaces(width),
    };
    Cell { text, width, ..cell }
}

/// Names are ASCII, so that a column is a byte.
fn part_of(name: CellText, columns: Range<u8>) -> CellText {
    let columns = usize::from(columns.start)..usize::from(columns.end);
    name.as_str().get(columns).map_or_else(CellText::default, CellText::from_short)
}
