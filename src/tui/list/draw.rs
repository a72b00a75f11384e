//! How a list is drawn: its title, and its rows in a table that is fitted to the screen.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::rows::column::{BETWEEN, CellSide, LAST, ListColumn, RowCell, TableColumn, Tone, column_widths};
use crate::text::label::SafeText;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::theme::Theme;

use super::screen::{ListKind, ListScreen, ListTitle};
use super::{List, ShownRow};

const TABS: [&str; 2] = ["Outputs", "Sessions"];

const MIN_NAME: usize = 8;

/// The columns that a filter keeps beside the figures.
const MIN_FILTER: usize = 11;

/// Up to this many columns, the name takes the room of the order of the rows.
const MAX_NAME: usize = 24;

const MARKS: usize = 2;

impl<R: Clone> List<R> {
    pub(crate) fn draw(
        &self,
        canvas: &Canvas,
        buffer: &mut Buffer,
        (head, area): (Rect, Rect),
        is_struck: impl Fn(&R) -> bool,
    ) {
        let (theme, columns) = (&canvas.theme, self.spec.columns);
        let row = |shown| match shown {
            ShownRow::Heading(words) => ListTableRow::Heading(words),
            ShownRow::Row(n) => {
                let row = &self.rows[n];
                let mut cells: Vec<Span> =
                    columns.iter().map(|column| span((column.cell)(row, &self.look), theme)).collect();
                if is_struck(row) {
                    for cell in &mut cells {
                        cell.style = cell.style.add_modifier(Modifier::CROSSED_OUT | Modifier::DIM);
                    }
                }
                let mark = match self.is_marked(n) {
                    true => Span::new("*", theme.accent),
                    false => span((self.spec.mark)(row), theme),
                };
                ListTableRow::Cells(mark, cells)
            }
        };
        // What the rows are sorted by makes room last.
        let sorted = self.sort_columns().get(self.options.sort).map(|column| column.name);
        let columns: Vec<TableColumn> = columns
            .iter()
            .map(|ListColumn { table, .. }| match table.yields {
                Some(rank) if sorted == Some(table.heading) => {
                    let last = if rank < LAST { LAST - 1 } else { u8::MAX };
                    TableColumn { yields: Some(last), ..*table }
                }
                _ => *table,
            })
            .collect();
        let table = ListTable { columns: &columns, rows: self.on_screen().map(row).collect(), canvas };
        table.draw(buffer, head, area, self.chosen_on_screen());
    }
}

fn span(cell: RowCell, theme: &Theme) -> Span {
    let style = match cell.tone {
        Tone::Plain => Style::new(),
        Tone::Dim => theme.dim,
        Tone::Accent => theme.accent,
        Tone::Warning => theme.warning,
    };
    Span { text: cell.text, style }
}

impl<L: ListKind> ListScreen<L> {
    pub(super) fn draw_title(&self, frame: &mut Frame, area: Rect) {
        let theme = &self.canvas.theme;
        let ListTitle { place, figures, alarm, name, state } = self.of.title(&self.list);
        let mut left = Vec::new();
        let is_tab = matches!(place, [one] if TABS.contains(one));
        let (words, between) = if is_tab { (&TABS[..], " │ ") } else { (place, " › ") };
        for (n, word) in words.iter().enumerate() {
            left.push(Span::new(if n == 0 { " " } else { between }, theme.dim));
            left.push(Span::new(*word, if place.contains(word) { theme.active } else { theme.dim }));
        }
        if self.list.is_following() {
            left.push(Span::new("   FOLLOW", theme.accent));
        }
        let kept_free = if self.list.filter_text().is_empty() { 3 } else { MIN_FILTER + 3 };
        let room = |left: &[Span]| usize::from(area.width).saturating_sub(line::width(left) + kept_free);
        let figures = whole_parts(&figures, room(&left));
        if !figures.is_empty() {
            left.push(Span::plain(format!("   {figures}")));
        }
        if !alarm.is_empty() && alarm.width() <= room(&left) {
            left.push(Span::new(format!(" · {alarm}"), theme.warning));
        }
        let orders = match state.is_empty() {
            true if self.list.is_empty() => Default::default(),
            true => self.list.describe_order().map(|order| format!("sort: {order} ")),
            false => [format!("{state} "), String::new()],
        };
        let room = |order: usize| usize::from(area.width).saturating_sub(line::width(&left) + order + 6);
        let orders_or_none = orders.iter().map(|order| order.width()).chain([0]);
        let room =
            orders_or_none.map(room).find(|room| *room >= name.columns().min(MAX_NAME)).unwrap_or(room(0));
        if !name.is_empty() && room >= MIN_NAME {
            let name = line::head(name, room, self.canvas.glyphs());
            left.push(Span::new(format!(" · {name}"), theme.dim));
        }
        line::spans(frame.buffer_mut(), area, &left);
        self.draw_right(frame, area, line::width(&left), orders);
    }

    /// Draws the filter, always, because with one the list is not complete; and the order, if there is room.
    fn draw_right(&self, frame: &mut Frame, area: Rect, taken: usize, orders: [String; 2]) {
        let (theme, filter) = (&self.canvas.theme, self.list.filter_text());
        let room = usize::from(area.width).saturating_sub(taken + 2);
        let filter = if filter.is_empty() { String::new() } else { format!("filter: {filter}   ") };
        let [long, short] = orders;
        for order in [long, short, String::new()] {
            let right = [Span::new(filter.clone(), theme.accent), Span::new(order, theme.dim)];
            if line::width(&right) <= room {
                return line::right(frame.buffer_mut(), area, taken, &right);
            }
        }
        let filter = line::head(filter.trim_end(), room, self.canvas.glyphs());
        line::right(frame.buffer_mut(), area, taken, &[Span::new(filter, theme.accent)]);
    }
}

/// Returns the parts of a title that fit in `room` columns, so that no figure is cut.
fn whole_parts(parts: &str, room: usize) -> &str {
    let ends = parts.match_indices(" · ").map(|(end, _)| end).chain([parts.len()]);
    &parts[..ends.filter(|end| parts[..*end].width() <= room).last().unwrap_or(0)]
}

struct ListTable<'a> {
    columns: &'a [TableColumn],
    rows: Vec<ListTableRow<'a>>,
    canvas: &'a Canvas,
}

enum ListTableRow<'a> {
    /// A mark before the row, and one cell a column.
    Cells(Span, Vec<Span>),
    /// The name of a group, which makes room for what the group adds up to.
    Heading(&'a [SafeText; 2]),
}

impl ListTable<'_> {
    fn draw(&self, buffer: &mut Buffer, head: Rect, list: Rect, chosen: usize) {
        let widest = |n: usize| {
            let cells = self.rows.iter().filter_map(|row| match row {
                ListTableRow::Cells(_, cells) => cells.get(n).map(|cell| cell.text.columns()),
                ListTableRow::Heading(_) => None,
            });
            cells.max().unwrap_or(0)
        };
        let widths = column_widths(self.columns, widest, (list.width.into(), MARKS));
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
                ListTableRow::Heading([name, sum]) => {
                    let room = usize::from(area.width).saturating_sub(MARKS);
                    let sum = whole_parts(sum, room.saturating_sub(name.columns().min(MIN_NAME)));
                    let name = name.fit(room.saturating_sub(sum.width()));
                    vec![Span::new(format!("{mark} {name}{sum}"), self.canvas.theme.accent)]
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
                CellSide::Path if column.max_width > 0 => cell.text.fit(width),
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
