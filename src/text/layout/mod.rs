//! Rows of cells: one line wrapped to a width, or moved sideways under it; each row made when it is asked for.
//!
//! A line over [`ANCHOR`] bytes is laid out a segment at a time, so that a screen costs no more than what it
//! shows wherever it stands in the line: [`segment_at`] says which bytes, [`super::ansi::style_at`] in what
//! style they begin. Columns count from the start of the slice that is given.

mod clip;

use std::ops::Range;

use anstyle::Style;

use super::cells::{Cell, CellKind, Cells, Show, tab_width};

#[cfg(test)]
mod tests;

/// In a longer line, wrapping and style start anew at each multiple of so many bytes, counted from the line's
/// start and snapped to a character by [`snap`].
pub const ANCHOR: usize = 65536;

/// How a line is fitted to the width of the screen. A width of 0 is taken as 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// Rows of at most so many columns, broken between cells (not at words), as `less` does. Tab stops
    /// count from the row's start, as on a terminal; a tab past the edge ends there.
    Width(u16),
    /// One row: the columns from `from_column` (0-based, from the slice's start) to the width. What lies
    /// across either edge is drawn in part: spaces for half a wide character, the rest of `<202E>`.
    Sideways {
        /// The first column shown.
        from_column: u64,
        /// Columns shown at most.
        width: u16,
    },
}

/// One row of the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// First byte of the row in the slice given.
    pub start: usize,
    /// The byte after its last. When wrapped, rows tile the line, its line feed included.
    pub end: usize,
    /// What is drawn, from the left edge on, with cells of width 0 where colours change or sequences are
    /// hidden. The line's end has no cell.
    pub cells: Vec<Cell>,
}

impl Row {
    /// Columns that its cells take.
    pub fn columns(&self) -> usize {
        self.cells.iter().map(|cell| usize::from(cell.width)).sum()
    }

    /// The index of the cell that stands for the byte at `offset` of the slice.
    pub fn cell_at_byte(&self, offset: usize) -> Option<usize> {
        let after = self.cells.partition_point(|cell| cell.start as usize <= offset);
        let index = after.checked_sub(1)?;
        self.cells[index].covers(offset).then_some(index)
    }

    /// The column (0-based, in this row) at which the byte at `offset` of the slice is drawn.
    pub fn column_of_byte(&self, offset: usize) -> Option<usize> {
        let index = self.cell_at_byte(offset)?;
        Some(self.cells[..index].iter().map(|cell| usize::from(cell.width)).sum())
    }

    /// The index of the cell drawn at a column (0-based) of this row.
    pub fn cell_at_column(&self, column: usize) -> Option<usize> {
        let mut end = 0;
        self.cells.iter().position(|cell| {
            end += usize::from(cell.width);
            end > column
        })
    }

    /// The indices of the cells that stand for any byte of `range`: what to mark for a match.
    pub fn cells_in(&self, range: Range<usize>) -> Range<usize> {
        let first = self.cells.partition_point(|cell| cell.end() <= range.start);
        let last = self.cells.partition_point(|cell| (cell.start as usize) < range.end);
        first..last.max(first)
    }

    /// How many escape sequences in this row are kept from the screen.
    pub fn hidden(&self) -> usize {
        self.cells.iter().filter(|cell| cell.kind == CellKind::Hidden).count()
    }
}

/// The rows of one line, or of a segment of it; at least one, even of nothing.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    cells: Cells<'a>,
    wrap: Wrap,
    /// Read, but of the next row.
    ahead: Option<Cell>,
    at: usize,
    /// Rows that end here or before are not wanted.
    reach: usize,
    /// Rows laid out, wanted or not.
    made: usize,
    done: bool,
}

impl<'a> Rows<'a> {
    /// Rows of the line at the start of `bytes`, its line feed included or not, beginning in plain style.
    pub fn new(bytes: &'a [u8], show: &Show, wrap: Wrap) -> Self {
        Self { cells: Cells::new(bytes, show), wrap, ahead: None, at: 0, reach: 0, made: 0, done: false }
    }

    /// The same, beginning in `style`: for the second and later segments of a long line.
    #[must_use]
    pub fn with_style(self, style: Style) -> Self {
        Self { cells: self.cells.with_style(style), ..self }
    }

    /// The same from the row on that reaches beyond `offset` (bytes from the slice's start): of the wrapped rows
    /// before it, those of plain text cost no more than a look at their bytes.
    #[must_use]
    pub fn reaching(self, offset: usize) -> Self {
        Self { reach: offset, ..self }
    }

    /// How many rows have been laid out, wanted or not; those that were only looked at are not counted.
    pub fn made(&self) -> usize {
        self.made
    }

    /// The next wrapped row that is wanted, or the last.
    fn next_wanted(&mut self, width: u16) -> Row {
        loop {
            let next = self.at + usize::from(width);
            if next <= self.reach && self.cells.step_over(width.into(), self.ahead.as_ref()) {
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
        while let Some(cell) = self.ahead.take().or_else(|| self.cells.next()) {
            let Some(cell) = self.fitted(cell, column, width) else {
                self.ahead = Some(cell);
                return row;
            };
            column += u16::from(cell.width);
            push(&mut row, cell);
        }
        self.done = true;
        row
    }

    /// The cell as it stands at `column` of a row, or nothing if it belongs to the next.
    fn fitted(&self, cell: Cell, column: u16, width: u16) -> Option<Cell> {
        let room = width - column;
        match cell.kind {
            CellKind::Tab if room > 0 => {
                let stop = u16::from(tab_width(self.cells.show().tab, column.into()));
                Some(clip::narrowed(cell, 0..stop.min(room) as u8))
            }
            _ if u16::from(cell.width) <= room => Some(cell),
            _ if column == 0 => Some(clip::stand_in(cell)),
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
            push(&mut row, clip::seen(cell, start, from..to));
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

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        if self.done {
            return None;
        }
        self.made += 1;
        let row = match self.wrap {
            Wrap::Width(width) => self.next_wanted(width.max(1)),
            Wrap::Sideways { from_column, width } => self.sideways(from_column, width.max(1)),
        };
        Some(row)
    }
}

impl std::iter::FusedIterator for Rows<'_> {}

/// The nearest place at or before `at` (at most 3 bytes) that splits neither a character nor CRLF. Looks at
/// the 7 bytes around `at`, wherever it is; a slice of 3 bytes before it and 1 after is enough. Past the end
/// it is the end.
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
    (1..=before).find(|&back| straddles(&around[before - back..], back)).map_or(at, |back| at - back)
}

/// Whether a character begins at the start of `bytes` and ends beyond `boundary`; one that `bytes` holds only
/// in part counts if nothing speaks against it.
fn straddles(bytes: &[u8], boundary: usize) -> bool {
    let len = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => return false,
    };
    let held = &bytes[..len.min(bytes.len())];
    len > boundary && std::str::from_utf8(held).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// The bytes of `line` that are laid out together with the one at `offset`: from one snapped [`ANCHOR`] to the
/// next. A line's end alone makes no segment; it goes with what is before it. An `offset` past the end
/// means the last.
pub fn segment_at(line: &[u8], offset: usize) -> Range<usize> {
    let offset = offset.min(line.len().saturating_sub(1));
    let below = offset / ANCHOR;
    let number = if anchor(line, below + 1) <= offset { below + 1 } else { below };
    let start = anchor(line, number);
    let number = if start == line.len() { number.saturating_sub(1) } else { number };
    anchor(line, number)..anchor(line, number + 1)
}

/// Where segment `number` starts; the line's length if there is none.
fn anchor(line: &[u8], number: usize) -> usize {
    let at = snap(line, number.saturating_mul(ANCHOR));
    let only_end_follows =
        at > 0 && matches!(line.len() - at, 1 | 2) && matches!(&line[at..], b"\n" | b"\r\n");
    if only_end_follows { line.len() } else { at }
}
