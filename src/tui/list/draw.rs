//! How a list is drawn: its title, and its rows in a table that is fitted to the screen.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::base::human::thousands;
use crate::rows::column::{BETWEEN, CellSide, LAST, ListColumn, RowCell, TableColumn, Tone, column_widths};
use crate::text::label::SafeText;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::theme::Theme;

use super::screen::{ListKind, ListScreen, ListTitle};
use super::{List, ShownRow};

const TABS: [&str; 2] = ["Outputs", "Sessions"];

const MIN_NAME: usize = 8;

/// The columns that a filter keeps beside the figures.
const MIN_FILTER: usize = 11;

/// Maximum widths of a name that displaces the longer words for the sort order, and all words for it.
const MAX_NAME: [usize; 2] = [24, 16];

const MARKS: usize = 2;

impl<R: Clone> List<R> {
    pub(crate) fn draw(
        &self,
        canvas: &Canvas,
        buffer: &mut Buffer,
        (head, area): (Rect, Rect),
        is_struck: impl Fn(&R) -> bool,
    ) {
        let theme = &canvas.theme;
        let columns = self.columns();
        let cells = |shown| match shown {
            ShownRow::Heading(_) => Vec::new(),
            ShownRow::Row(n) => self.cells(&self.rows[n], theme, &is_struck),
        };
        let rows: Vec<Vec<Span>> = self.on_screen().map(cells).collect();
        let widest =
            |n: usize| rows.iter().filter_map(|cells| Some(cells.get(n)?.text.columns())).max().unwrap_or(0);
        let widths = column_widths(&columns, widest, (area.width.into(), MARKS));
        let fit = (&columns[..], &widths[..]);
        let headings = columns.iter().map(|column| Span::new(column.heading, theme.dim)).collect();
        if head.height > 0 {
            line::spans(buffer, head, &fitted(headings, fit, [" "; MARKS].map(Span::plain)));
        }
        let chosen = self.chosen_on_screen();
        for (((n, shown), cells), row) in self.on_screen().enumerate().zip(rows).zip(area.rows()) {
            let cursor = Span::new(if n == chosen { canvas.glyphs().chosen } else { " " }, theme.accent);
            let spans = match shown {
                ShownRow::Row(number) => {
                    let own = match self.is_marked(number) {
                        true => Span::new("*", theme.accent),
                        false => span((self.spec.mark)(&self.rows[number]), theme),
                    };
                    fitted(cells, fit, [cursor, own])
                }
                ShownRow::Heading(words) => {
                    let room = usize::from(area.width).saturating_sub(MARKS);
                    vec![cursor, Span::new(format!(" {}", heading(words, room)), theme.accent)]
                }
            };
            line::list_row(buffer, row, &spans, n == chosen, canvas);
        }
    }

    /// Returns the columns; what the rows are sorted by makes room last.
    fn columns(&self) -> Vec<TableColumn> {
        let sorted = self.sort_columns().get(self.options.sort).map(|column| column.name);
        let column = |ListColumn { table, .. }: &ListColumn<R>| match table.yields {
            Some(rank) if sorted == Some(table.heading) => {
                let last = if rank < LAST { LAST - 1 } else { u8::MAX };
                TableColumn { yields: Some(last), ..*table }
            }
            _ => *table,
        };
        self.spec.columns.iter().map(column).collect()
    }

    fn cells(&self, row: &R, theme: &Theme, is_struck: impl Fn(&R) -> bool) -> Vec<Span> {
        let cells = self.spec.columns.iter().map(|column| span((column.cell)(row, &self.look), theme));
        let mut cells: Vec<Span> = cells.collect();
        if is_struck(row) {
            for cell in &mut cells {
                cell.style = cell.style.add_modifier(Modifier::CROSSED_OUT | Modifier::DIM);
            }
            // Not every terminal strikes through.
            let last = cells.last_mut();
            last.into_iter().for_each(|cell| *cell = Span::new("to delete", theme.warning));
        }
        cells
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
        let ListTitle { place, figures, alarm, name } = self.of.title(&self.list);
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
        let orders = match self.list.is_empty() {
            true => Default::default(),
            false => self.list.describe_order().map(|order| format!("sort: {order} ")),
        };
        let room =
            |order: usize| usize::from(area.width).saturating_sub(line::width(&left) + order + kept_free + 3);
        let mut rooms = orders.iter().map(|order| room(order.width())).zip(MAX_NAME);
        let beside = rooms.find(|(room, most)| *room >= name.columns().min(*most));
        let room = beside.map_or(room(0), |(room, _)| room);
        if !name.is_empty() && room >= MIN_NAME {
            let name = name.head(room);
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
        let whole = |order| [Span::new(filter.as_str(), theme.accent), Span::new(order, theme.dim)];
        let cut = || [Span::new(SafeText::from(filter.trim_end()).head(room), theme.accent), Span::default()];
        let mut versions = orders.into_iter().chain([String::new()]).map(whole);
        let right = versions.find(|right| line::width(right) <= room).unwrap_or_else(cut);
        line::right(frame.buffer_mut(), area, taken, &right);
    }

    /// Draws the message, or else what goes on or the position, and of the versions of the hints the longest that fits.
    pub(super) fn draw_status(&self, buffer: &mut Buffer, area: Rect) {
        let (list, canvas, theme) = (&self.list, &self.canvas, &self.canvas.theme);
        let is_filtered = list.marked() == 0 && !list.filter_text().is_empty();
        let back = is_filtered.then_some(Action::Back);
        let all = back.map(|back| format!("{} show all  ", canvas.keys.label(KeyContext::Lists, back)));
        let idle = |action| Some(action) == back;
        let mut hints = self.of.footer(list).versions(KeyContext::Lists, (None, ""), idle, canvas.keys);
        hints.iter_mut().for_each(|hints| hints.insert_str(0, all.as_deref().unwrap_or_default()));
        let progress = self.of.progress(list, canvas);
        let left = match &self.message {
            Some(message) if message.is_error => Span::new(format!(" {}", message.text), theme.error),
            Some(message) => Span::plain(format!(" {}", message.text)),
            None if !progress.is_empty() => Span::new(format!(" {progress}"), theme.accent),
            None if list.is_empty() => Span::default(),
            None => {
                let number = thousands(list.chosen as u64 + 1);
                Span::plain(format!(" {number} of {}", thousands(list.len() as u64)))
            }
        };
        let left = line::cut(vec![left], area.width.into());
        let taken = line::width(&left);
        line::spans(buffer, area, &left);
        if let Some(hints) = hints.iter().find(|hints| taken + hints.width() + 4 <= usize::from(area.width)) {
            line::right(buffer, area, taken, &[Span::new(format!("{hints} "), theme.dim)]);
        }
    }
}

/// Returns the parts of a title that fit in `room` columns, so that no figure is cut.
fn whole_parts(parts: &str, room: usize) -> &str {
    let ends = parts.match_indices(" · ").map(|(end, _)| end).chain([parts.len()]);
    &parts[..ends.filter(|end| parts[..*end].width() <= room).last().unwrap_or(0)]
}

/// Fits a group's name, what follows it and what the group adds up to in `room` columns; the name makes room first.
fn heading([name, rule, sum]: &[SafeText; 3], room: usize) -> String {
    let most = room - name.columns().min(room / 3);
    let all = format!("{rule}{sum}");
    let whole = whole_parts(&all, most);
    let sum = if whole.is_empty() { whole_parts(sum, most) } else { whole };
    format!("{}{sum}", name.fit(room - sum.width()))
}

/// Returns a row: two marks, and the cells, each as wide as its column.
fn fitted(
    cells: Vec<Span>,
    (columns, widths): (&[TableColumn], &[Option<usize>]),
    marks: [Span; MARKS],
) -> Vec<Span> {
    let mut spans = marks.to_vec();
    for ((cell, column), width) in cells.into_iter().zip(columns).zip(widths) {
        let Some(width) = *width else { continue };
        let text = match column.side {
            CellSide::Path if column.max_width > 0 => cell.text.fit(width),
            _ => cell.text.head(width),
        };
        let blank = Span::plain(" ".repeat(width.saturating_sub(text.columns())));
        let cell = Span { text, style: cell.style };
        match column.side {
            CellSide::Left | CellSide::Path => spans.extend([cell, blank]),
            CellSide::Right => spans.extend([blank, cell]),
        }
        spans.push(Span::plain(" ".repeat(BETWEEN)));
    }
    spans
}
