//! How a list is drawn: its title and its rows.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::rows::column::{ListColumn, RowCell, TableColumn, Tone};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::table::{ListTable, ListTableRow};
use crate::tui::widget::theme::Theme;

use super::screen::{ListKind, ListScreen, ListTitle};
use super::{List, ShownRow};

/// The lists between which Tab changes.
const TABS: [&str; 2] = ["Outputs", "Sessions"];

const MIN_NAME: usize = 8;

/// Up to this many columns, the name takes the room of the order of the rows.
const MAX_NAME: usize = 24;

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
            ShownRow::Heading(words) => ListTableRow::Heading(Span::new(words.clone(), theme.accent)),
            ShownRow::Row(n) => {
                let row = &self.rows[n];
                let mut cells: Vec<Span> =
                    columns.iter().map(|column| span((column.cell)(row, &self.look), theme)).collect();
                if is_struck(row) {
                    let struck = |cell: &mut Span| {
                        cell.style = cell.style.add_modifier(Modifier::CROSSED_OUT | Modifier::DIM);
                    };
                    cells.iter_mut().for_each(struck);
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
                Some(_) if sorted == Some(table.heading) => TableColumn { yields: Some(u8::MAX), ..*table },
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
        if !figures.is_empty() {
            left.push(Span::plain(format!("   {figures}")));
        }
        if !alarm.is_empty() {
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

    /// Draws the filter and the order of the rows, as far as there is room; the filter always, because with one the list
    /// is not complete.
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
