//! Where a pane stands in its document, and how it moves: by rows, never by more than it shows.

use crate::text::ansi::style_at;
use crate::text::cells::{Cell, Cells, Show};
use crate::text::layout::{Row, Rows, Wrap};

use super::reader::{LineSegment, Reader};

/// So far back an escape sequence can colour a stretch of a long line, in bytes.
const LOOK_BACK: u64 = 4096;

/// Hardly a row takes more bytes a column than this: only escape sequences are longer than what they show.
const ROOMY: u64 = 4;

/// How long lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    /// Continued on the next rows.
    Wrapped,
    /// One row a line, from this column on; in a line over 64 KiB, from this byte on.
    Sideways(u64),
}

/// The room of a pane and the way its text is shown.
#[derive(Debug, Clone, Copy)]
pub struct Viewport {
    /// Columns for text.
    pub width: u16,
    /// Rows for text.
    pub height: u16,
    /// How long lines are shown.
    pub long: Long,
    /// How bytes become cells.
    pub show: Show,
}

/// One row of a pane.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenRow {
    /// Offset in the document of the row's first byte.
    pub start: u64,
    /// Past its last byte.
    pub end: u64,
    /// Offset to which the cells' own offsets are relative.
    pub base: u64,
    /// Whether a line starts with this row.
    pub opens: bool,
    /// Where the next row starts; the document's length after the last.
    pub next: u64,
    /// What is drawn.
    pub cells: Vec<Cell>,
}

impl ScreenRow {
    /// Where the first byte lies that is drawn: in a row moved sideways, not that of the line.
    pub fn first(&self) -> u64 {
        self.start.max(self.base)
    }

    /// Past the last byte that is drawn: the line feed is not.
    pub fn drawn_end(&self) -> u64 {
        let last = self.cells.iter().rev().find(|cell| cell.kind.is_drawn());
        last.map_or(self.start, |cell| self.base + cell.end() as u64)
    }
}

/// A document being scrolled in a frame of a given size.
#[derive(Clone, Copy)]
pub struct Scroll<'a> {
    /// What is read.
    pub reader: Reader<'a>,
    /// Where it is shown.
    pub frame: Viewport,
    /// Rows of the screen that a row of text takes: 2 where a rule is drawn above it.
    pub weight: &'a dyn Fn(u64, u64) -> usize,
}

impl Scroll<'_> {
    /// Whether there are rows at all: an empty frame shows none.
    fn is_blank(&self) -> bool {
        self.frame.width == 0 || self.frame.height == 0 || self.reader.doc.is_empty()
    }

    /// The rows from the one that holds `top` on, as many as fill the frame.
    pub fn screen(&self, top: u64) -> Vec<ScreenRow> {
        let room = usize::from(self.frame.height);
        let mut rows: Vec<ScreenRow> = Vec::new();
        let mut used = 0;
        let mut at = top;
        while !self.is_blank() && used < room && at < self.reader.doc.len() {
            for row in self.rows_from(at, room - used) {
                used += self.weigh(&row);
                at = row.next;
                if used <= room {
                    rows.push(row);
                }
            }
        }
        rows
    }

    /// In a frame of one row the text has it, not the rule above.
    fn weigh(&self, row: &ScreenRow) -> usize {
        (self.weight)(row.start, row.next).min(usize::from(self.frame.height))
    }

    /// At most `most` rows of one segment, from the one that holds `from`.
    fn rows_from(&self, from: u64, most: usize) -> Vec<ScreenRow> {
        match self.frame.long {
            Long::Wrapped => {
                let segment = self.reader.segment(self.reader.segment_start(from));
                self.wrapped(segment, from, u64::MAX, most)
            }
            Long::Sideways(column) => vec![self.sideways(self.reader.line_start(from), column)],
        }
    }

    /// The rows of a wrapped segment from the one that reaches beyond `from` to the last that starts before `to`,
    /// `most` of them at the most; laying out stops there.
    fn wrapped(&self, segment: LineSegment, from: u64, to: u64, most: usize) -> Vec<ScreenRow> {
        // The line feed goes along, so that a CR before it is known for the line's end.
        let bytes = self.reader.copy(segment.start..segment.next);
        let style = self.style_before(segment.start, segment.opens);
        let mut rows = Rows::new(&bytes, &self.frame.show, Wrap::Width(self.frame.width))
            .with_style(style)
            .reaching(from.saturating_sub(segment.start) as usize);
        let on_screen = |row: Row| ScreenRow {
            start: segment.start + row.start as u64,
            end: segment.start + row.end as u64,
            base: segment.start,
            opens: segment.opens && row.start == 0,
            next: if row.end >= bytes.len() { segment.next } else { segment.start + row.end as u64 },
            cells: row.cells,
        };
        let found = rows.by_ref().map(on_screen).take_while(|row| row.start < to).take(most).collect();
        self.reader.cost.count_rows(rows.made());
        found
    }

    /// The style that the escape sequences before a stretch of a long line have left.
    fn style_before(&self, at: u64, opens: bool) -> anstyle::Style {
        if opens {
            return anstyle::Style::new();
        }
        style_at(&self.reader.copy(at.saturating_sub(LOOK_BACK)..at))
    }

    /// A whole line on one row, moved sideways.
    fn sideways(&self, start: u64, column: u64) -> ScreenRow {
        self.reader.cost.count_rows(1);
        let segment = self.reader.segment(start);
        let end = if segment.closes { segment.end } else { self.reader.line_end(segment.end) };
        let (base, stop, from_column) = if segment.closes {
            (start, end, column)
        } else {
            let base = self.reader.snapped(start + column.min(end - start));
            (base, end.min(base + 32 * u64::from(self.frame.width)), 0)
        };
        let bytes =
            self.reader.copy(base..stop.max((stop + u64::from(stop == end)).min(self.reader.doc.len())));
        let wrap = Wrap::Sideways { from_column, width: self.frame.width };
        let style = self.style_before(base, base == start);
        let cells = Rows::new(&bytes, &self.frame.show, wrap)
            .with_style(style)
            .next()
            .map(|row| row.cells)
            .unwrap_or_default();
        let next = end + u64::from(self.reader.copy(end..(end + 1).min(self.reader.doc.len())) == b"\n");
        ScreenRow { start, end, base, opens: true, next, cells }
    }

    /// The column of a byte in its line, 0-based, as far as lines are not wrapped; in a line over 64 KiB, which
    /// of its bytes it is.
    pub fn column_of(&self, at: u64) -> u64 {
        let start = self.reader.line_start(at);
        if !self.reader.segment(start).closes {
            return at - start;
        }
        let before = self.reader.copy(start..at);
        Cells::new(&before, &self.frame.show).map(|cell| u64::from(cell.width)).sum()
    }

    /// Where the line ends that has the most bytes of those on the screen from `top` on.
    pub fn longest_end(&self, top: u64) -> u64 {
        let ends = self.screen(top).into_iter().map(|row| (row.end - row.start, row.end));
        ends.max().map_or(top, |(_, end)| end)
    }

    /// The start of the row that shows `at`.
    pub fn row_at(&self, at: u64) -> u64 {
        if self.is_blank() {
            return 0;
        }
        let at = at.min(self.reader.doc.len() - 1);
        self.rows_from(at, 1).first().map_or(at, |row| row.start)
    }

    /// The start of the row `n` rows below `top`, no further than shows the last row at the bottom.
    pub fn down(&self, top: u64, n: usize) -> u64 {
        if self.is_blank() {
            return top;
        }
        let last_top = self.last_top();
        let mut at = top.min(last_top);
        let mut left = n;
        while left > 0 && at < last_top {
            let rows = self.rows_from(at, left);
            left -= rows.len();
            at = rows.last().map_or(last_top, |row| row.next);
        }
        at.min(last_top)
    }

    /// The start of the row `n` rows above `top`.
    pub fn up(&self, top: u64, n: usize) -> u64 {
        self.above(top, n, |_| 1)
    }

    /// The top that shows the document's last row at the bottom of the frame.
    pub fn last_top(&self) -> u64 {
        self.above(self.reader.doc.len(), usize::from(self.frame.height), |row| self.weigh(row))
    }

    /// The furthest row above `top` such that the rows from it to `top` weigh `room` at the most.
    fn above(&self, top: u64, room: usize, weigh: impl Fn(&ScreenRow) -> usize) -> u64 {
        let mut at = top;
        let mut left = room;
        while left > 0 && at > 0 && !self.is_blank() {
            for row in self.rows_before(at, left).iter().rev() {
                let weight = weigh(row);
                if weight > left {
                    return at;
                }
                (at, left) = (row.start, left - weight);
                if left == 0 {
                    break;
                }
            }
        }
        at
    }

    /// The rows before `at` in the segment that ends there, or in which it lies: the last `most` of them, and it
    /// may be more.
    fn rows_before(&self, at: u64, most: usize) -> Vec<ScreenRow> {
        match self.frame.long {
            Long::Wrapped => {
                let segment = self.reader.segment(self.reader.segment_start(at - 1));
                let near = at.saturating_sub(ROOMY * most as u64 * u64::from(self.frame.width));
                let rows = self.wrapped(segment, near, at, usize::MAX);
                let is_all = near <= segment.start || rows.len() >= most;
                if is_all { rows } else { self.wrapped(segment, segment.start, at, usize::MAX) }
            }
            Long::Sideways(column) => vec![self.sideways(self.reader.line_start(at - 1), column)],
        }
    }
}

#[cfg(test)]
mod tests;
