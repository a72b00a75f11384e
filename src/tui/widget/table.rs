//! A table fitted to the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::rows::column::{BETWEEN, CellSide, TableColumn, column_widths};

use super::canvas::Canvas;
use super::line::{self, Span};

/// The columns before a row: the cursor, and a space.
pub(crate) const MARKS: usize = 2;

pub(crate) struct ListTable<'a> {
    pub columns: &'a [TableColumn],
    pub rows: Vec<ListTableRow>,
    pub canvas: &'a Canvas,
}

pub(crate) enum ListTableRow {
    /// A mark before the row, and one cell a column.
    Cells(Span, Vec<Span>),
    /// Words across the whole table.
    Heading(Span),
}

impl ListTable<'_> {
    /// Returns the width of each column; `None` for those that make room.
    fn widths(&self, room: usize) -> Vec<Option<usize>> {
        let widest = |n: usize| {
            let cells = self.rows.iter().filter_map(|row| match row {
                ListTableRow::Cells(_, cells) => cells.get(n).map(|cell| cell.text.columns()),
                ListTableRow::Heading(_) => None,
            });
            cells.max().unwrap_or(0)
        };
        column_widths(self.columns, widest, (room, MARKS))
    }

    /// Draws the headings and the rows; `chosen` is the selected one of them.
    pub(crate) fn draw(&self, buffer: &mut Buffer, head: Rect, list: Rect, chosen: usize) {
        let widths = self.widths(list.width.into());
        let headings =
            self.columns.iter().map(|column| Span::new(column.heading, self.canvas.theme.dim)).collect();
        if head.height > 0 {
            line::spans(buffer, head, &self.fitted(headings, &widths, &[Span::plain("  ")]));
        }
        for ((n, row), y) in self.rows.iter().enumerate().zip(list.y..list.bottom()) {
            let area = Rect { y, height: 1, ..list };
            let mark = if n == chosen { self.canvas.glyphs().chosen } else { " " };
            let spans = match row {
                ListTableRow::Cells(own, cells) => {
                    let marks = [Span::new(mark, self.canvas.theme.accent), own.clone()];
                    self.fitted(cells.clone(), &widths, &marks)
                }
                ListTableRow::Heading(words) => {
                    let spans = vec![Span::new(format!("{mark} "), self.canvas.theme.accent), words.clone()];
                    line::cut(spans, area.width.into(), self.canvas.glyphs())
                }
            };
            line::list_row(buffer, area, &spans, n == chosen, self.canvas);
        }
    }

    fn fitted(&self, cells: Vec<Span>, widths: &[Option<usize>], marks: &[Span]) -> Vec<Span> {
        let mut spans = marks.to_vec();
        for (n, (cell, column)) in cells.into_iter().zip(self.columns).enumerate() {
            let Some(width) = widths.get(n).copied().flatten() else { continue };
            let text = match column.side {
                CellSide::Path if column.most > 0 => cell.text.fit(width),
                _ => line::head(cell.text, width, self.canvas.glyphs()),
            };
            let blank = Span::new(" ".repeat(width.saturating_sub(text.columns())), Style::new());
            let cell = Span { text, style: cell.style };
            match column.side {
                CellSide::Left | CellSide::Path => spans.extend([cell, blank]),
                CellSide::Right => spans.extend([blank, cell]),
            }
            spans.push(Span::plain(" ".repeat(BETWEEN)));
        }
        spans
    }
}
