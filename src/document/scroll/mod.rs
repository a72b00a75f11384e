//! The position of a pane in its document, and how it moves: by rows, never laying out more than it shows.

mod row;

use std::ops::Range;

use crate::text::ansi::style_at;
use crate::text::cells::{Cell, Cells, Show};
use crate::text::layout::{Row, Rows, Wrap};
use crate::text::utf16::{ByteOrder, LineText};

use super::filter::LineFilter;
use super::fold::{self, Fold, ProgressLines};
use super::reader::{LineSegment, Reader};

pub use row::ScreenRow;
pub(crate) use row::{CurrentLine, Dividers, Fate, RowMatches, RowRule};

/// How far back escape sequences are read to find the style at the start of a segment of a long line, in bytes.
const LOOK_BACK: u64 = 4096;

/// Columns of the sign before the number of states, and of the space after it.
pub(crate) const STATES_SIGN: usize = 2;

/// Rows rarely take more bytes per column than this: only escape sequences are longer than what they show.
const ROOMY: u64 = 4;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Long {
    #[default]
    Wrapped,
    /// One row per line, from this column on; in a line over 64 KiB, from this byte on (0-based).
    Sideways(u64),
}

#[derive(Debug, Clone, Copy)]
pub struct Viewport {
    pub width: u16,
    pub height: u16,
    pub long: Long,
    pub show: Show,
    pub progress: ProgressLines,
}

impl Viewport {
    /// A frame that shows every line whole.
    pub(crate) fn of_all(width: u16, height: u16, show: Show) -> Self {
        Self { width, height, long: Long::Wrapped, show, progress: ProgressLines::Unfolded }
    }
}

#[derive(Clone, Copy)]
pub struct Scroll<'a> {
    pub reader: Reader<'a>,
    pub frame: Viewport,
    /// The places of the rules above rows, each of which takes a row of the screen.
    pub(crate) rules: Option<&'a Dividers>,
    pub filter: Option<&'a LineFilter>,
}

impl Scroll<'_> {
    /// Returns the document's length without the second half of a line feed at its end, which is no row.
    pub(crate) fn end(&self) -> u64 {
        let len = self.reader.doc.len();
        let is_half = || self.reader.copy(len.saturating_sub(2)..len) == b"\n\0";
        len - u64::from(self.frame.show.utf16 == Some(ByteOrder::Little) && is_half())
    }

    fn is_blank(&self) -> bool {
        self.frame.width == 0
            || self.frame.height == 0
            || self.reader.doc.is_empty()
            || self.filter.is_some_and(LineFilter::is_blank)
    }

    /// Returns `at`, or the start of the next line if the line there is not shown; the document's length if none is.
    pub(crate) fn onward(&self, at: u64) -> u64 {
        self.filter.map_or(at, |filter| filter.onward(&self.reader, at))
    }

    /// Returns `at`, or the end of the last line shown before it if the line before it is not shown; 0 if none is.
    pub(crate) fn backward(&self, at: u64) -> u64 {
        self.filter.map_or(at, |filter| filter.backward(&self.reader, at))
    }

    /// Returns the rule above the row with these bytes. Under a filter, the lines left out count too.
    pub(crate) fn rule_above(&self, row: Range<u64>) -> Option<RowRule> {
        let rules = self.rules?;
        let Some(filter) = self.filter else { return rules.above(row.start, row.end).map(RowRule::Fate) };
        let from = filter.backward(&self.reader, row.start);
        let is_gap = from > 0 && from < row.start && filter.around > 0;
        rules.turned(from..row.end).map(RowRule::Fate).or(is_gap.then_some(RowRule::Gap))
    }

    /// Returns the rows from the one that contains `top` on, as many as fill the frame.
    pub fn screen(&self, top: u64) -> Vec<ScreenRow> {
        let room = usize::from(self.frame.height);
        let mut rows: Vec<ScreenRow> = Vec::new();
        if self.is_blank() {
            return rows;
        }
        let mut used = 0;
        let mut at = self.onward(top);
        while used < room && at < self.end() {
            for row in self.rows_from(at, room - used) {
                used += self.weigh(&row);
                at = row.next;
                if used <= room {
                    rows.push(row);
                }
            }
            at = self.onward(at);
        }
        rows
    }

    /// Returns the weight of a row. A frame of only one row shows the text, not the rule above.
    fn weigh(&self, row: &ScreenRow) -> usize {
        let rows = 1 + usize::from(self.rule_above(row.start..row.next).is_some());
        rows.min(usize::from(self.frame.height))
    }

    /// Returns at most `most` rows of one segment, from the one that contains `from`.
    fn rows_from(&self, from: u64, most: usize) -> Vec<ScreenRow> {
        if let Some(fold) = self.fold(from) {
            let rows = self.folded(&fold).into_iter().filter(|row| row.next > from);
            return rows.take(most).collect();
        }
        match self.frame.long {
            Long::Wrapped => {
                let segment = self.reader.segment(self.reader.segment_start(from));
                self.wrapped(segment, from, u64::MAX, most)
            }
            Long::Sideways(column) => vec![self.sideways(self.reader.line_start(from), column)],
        }
    }

    pub(crate) fn fold(&self, at: u64) -> Option<Fold> {
        fold::find(&self.reader, self.frame.progress, at)
    }

    /// Returns the rows of the last state of a progress line, and one for the number of states if it does not fit.
    fn folded(&self, fold: &Fold) -> Vec<ScreenRow> {
        let Fold { line, state, next, states } = fold;
        let bytes = self.reader.copy(state.clone());
        let wrap = match self.frame.long {
            Long::Wrapped => Wrap::Width(self.frame.width),
            Long::Sideways(from_column) => Wrap::Sideways { from_column, width: self.frame.width },
        };
        let style = self.style_before(state.start, state.start == line.start);
        let made = Rows::new(&bytes, &self.frame.show, wrap).with_style(style);
        let row = |start: u64, end: u64, cells: Vec<Cell>| ScreenRow {
            start,
            end,
            base: state.start,
            opens: false,
            next: end,
            cells,
            states: None,
        };
        let at = |offset: usize| state.start + offset as u64;
        let mut rows: Vec<ScreenRow> =
            made.map(|made| row(at(made.start), at(made.end), made.cells)).collect();
        self.reader.count_rows(rows.len());
        if let Some(first) = rows.first_mut() {
            (first.start, first.opens) = (line.start, true);
        }
        let Some(last) = rows.last_mut() else { return rows };
        (last.end, last.next) = (line.end, *next);
        let used: usize = last.cells.iter().map(|cell| usize::from(cell.width)).sum();
        let is_room = used + 2 + STATES_SIGN + states.describe().len() <= usize::from(self.frame.width);
        if is_room || *next == line.end || self.frame.long != Long::Wrapped {
            last.states = Some(*states);
        } else {
            last.next = line.end;
            let mark = row(line.end, line.end, Vec::new());
            rows.push(ScreenRow { next: *next, states: Some(*states), ..mark });
        }
        rows
    }

    /// Returns the rows of a wrapped segment, from the one that reaches beyond `from` to the last before `to`.
    fn wrapped(&self, segment: LineSegment, from: u64, to: u64, most: usize) -> Vec<ScreenRow> {
        // The line feed is included, so that a CR before it is recognized as part of the line ending.
        let bytes = self.reader.copy(segment.start..segment.next);
        let style = self.style_before(segment.start, segment.opens);
        let text = LineText::new(&bytes, self.frame.show.utf16, segment.start);
        let wrap = match self.reader.doc.class_at(segment.start).is_notice() {
            true => Wrap::Words(self.frame.width),
            false => Wrap::Width(self.frame.width),
        };
        let mut rows = Rows::new(text.bytes(), &self.frame.show, wrap)
            .with_style(style)
            .reaching(text.index_of(from.saturating_sub(segment.start) as usize));
        let on_screen = |row: Row| ScreenRow {
            start: segment.start + row.start as u64,
            end: segment.start + row.end as u64,
            base: segment.start,
            opens: segment.opens && row.start == 0,
            next: if row.end >= bytes.len() { segment.next } else { segment.start + row.end as u64 },
            cells: row.cells,
            states: None,
        };
        let in_source = |row: Row| text.in_source(row);
        let found =
            rows.by_ref().map(in_source).map(on_screen).take_while(|row| row.start < to).take(most).collect();
        self.reader.count_rows(rows.made());
        found
    }

    fn style_before(&self, at: u64, opens: bool) -> anstyle::Style {
        if opens {
            return anstyle::Style::new();
        }
        style_at(&self.reader.copy(at.saturating_sub(LOOK_BACK)..at))
    }

    fn sideways(&self, start: u64, column: u64) -> ScreenRow {
        self.reader.count_rows(1);
        let segment = self.reader.segment(start);
        let end = if segment.closes { segment.end } else { self.reader.line_end(segment.end) };
        let (base, stop, from_column) = if segment.closes {
            (start, end, column)
        } else {
            let base = self.reader.char_start(start + column.min(end - start));
            (base, end.min(base + 32 * u64::from(self.frame.width)), 0)
        };
        let bytes =
            self.reader.copy(base..stop.max((stop + u64::from(stop == end)).min(self.reader.doc.len())));
        let wrap = Wrap::Sideways { from_column, width: self.frame.width };
        let style = self.style_before(base, base == start);
        let text = LineText::new(&bytes, self.frame.show.utf16, base);
        let cells = Rows::new(text.bytes(), &self.frame.show, wrap)
            .with_style(style)
            .next()
            .map(|row| text.in_source(row).cells)
            .unwrap_or_default();
        let next = end + u64::from(self.reader.copy(end..(end + 1).min(self.reader.doc.len())) == b"\n");
        ScreenRow { start, end, base, opens: true, next, cells, states: None }
    }

    /// Returns the column of a byte in its line, 0-based, as if unwrapped; in a line over 64 KiB its offset.
    pub fn column_of(&self, at: u64) -> u64 {
        let fold = self.fold(at);
        let is_folded = fold.is_some();
        let start = fold.map_or_else(|| self.reader.line_start(at), |fold| fold.state.start.min(at));
        if !is_folded && !self.reader.segment(start).closes {
            return at - start;
        }
        let before = self.reader.copy(start..at);
        Cells::new(LineText::new(&before, self.frame.show.utf16, start).bytes(), &self.frame.show)
            .map(|cell| u64::from(cell.width))
            .sum()
    }

    /// Returns the end of the longest row, in bytes, among those on the screen from `top` on.
    pub fn longest_end(&self, top: u64) -> u64 {
        let ends = self.screen(top).into_iter().map(|row| {
            let start = if row.states.is_some() { row.base } else { row.start };
            (row.end - start, row.end)
        });
        ends.max().map_or(top, |(_, end)| end)
    }

    pub fn row_at(&self, at: u64) -> u64 {
        if self.is_blank() {
            return 0;
        }
        let at = self.onward(at.min(self.end() - 1));
        let at = if at < self.end() { at } else { self.backward(at).saturating_sub(1) };
        self.rows_from(at, 1).first().map_or(at, |row| row.start)
    }

    /// Returns the top that shows `at`, a number of rows below it if there are as many above.
    pub fn top_at(&self, at: u64, above: usize) -> u64 {
        let top = self.up(self.row_at(at), above);
        // Most outputs open at their start, where the end need not be laid out.
        if top == 0 { top } else { top.min(self.last_top()) }
    }

    /// Returns the start of the row `n` rows below `top`, but not below the top that shows the last row at the bottom.
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
            at = rows.last().map_or(last_top, |row| self.onward(row.next));
        }
        at.min(last_top)
    }

    pub fn up(&self, top: u64, n: usize) -> u64 {
        self.above(top, n, |_| 1)
    }

    pub fn last_top(&self) -> u64 {
        self.above(self.end(), usize::from(self.frame.height), |row| self.weigh(row))
    }

    /// Returns the row of the screen that shows the text of `rows[n]`, 0-based, if `rows` fill a screen from its top.
    pub fn row_on_screen(&self, rows: &[ScreenRow], n: usize) -> usize {
        let weight: usize = rows.iter().take(n + 1).map(|row| self.weigh(row)).sum();
        weight.saturating_sub(1)
    }

    /// Returns the top that shows `at` on a row of the screen, 0-based, or as near to that row as possible.
    pub fn top_with(&self, at: u64, row: usize) -> u64 {
        if self.is_blank() {
            return 0;
        }
        let at = at.min(self.end() - 1);
        let Some(own) = self.rows_from(at, 1).into_iter().next() else { return at };
        let above = (row + 1).saturating_sub(self.weigh(&own));
        self.above(own.start, above, |row| self.weigh(row)).min(self.last_top())
    }

    /// Returns the furthest row above `top` such that the rows from it to `top` weigh at most `room`.
    fn above(&self, top: u64, room: usize, weigh: impl Fn(&ScreenRow) -> usize) -> u64 {
        let mut at = top;
        let mut left = room;
        while left > 0 && !self.is_blank() {
            let end = self.backward(at);
            if end == 0 {
                break;
            }
            for row in self.rows_before(end, left).iter().rev() {
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

    /// Returns the last `most` rows, possibly more, before `at` in the segment that ends at `at` or contains it.
    fn rows_before(&self, at: u64, most: usize) -> Vec<ScreenRow> {
        if let Some(fold) = self.fold(at - 1) {
            return self.folded(&fold).into_iter().filter(|row| row.start < at).collect();
        }
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
