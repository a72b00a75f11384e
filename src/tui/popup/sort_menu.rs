//! The menu of columns to sort by, as a pop-up.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::{frame, layout};

/// A column by which a list can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortColumn {
    /// The letter that picks it in the menu.
    pub letter: char,
    pub name: &'static str,
    /// Its order in words, and its order reversed.
    pub orders: [&'static str; 2],
}

impl SortColumn {
    /// Returns the order in words.
    pub(crate) fn order(&self, reversed: bool) -> &'static str {
        self.orders[usize::from(reversed)]
    }
}

/// The menu, with one column selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortMenu {
    pub(crate) columns: Vec<SortColumn>,
    /// The index of the selected column.
    pub(crate) chosen: usize,
    /// The index of the column in use.
    pub(crate) used: usize,
    /// Whether its order is reversed.
    pub(crate) reversed: bool,
}

/// The result of a key in the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortPicked {
    /// Nothing is picked yet.
    Nothing,
    /// The menu was closed.
    Closed,
    /// The column of this index was picked.
    Column(usize),
}

impl SortMenu {
    /// Opens the menu with the column in use selected.
    pub(crate) fn new(columns: Vec<SortColumn>, used: usize, reversed: bool) -> Self {
        Self { columns, chosen: used, used, reversed }
    }

    /// Handles a key: the letter of a column, or one that moves or closes everywhere.
    pub(crate) fn key(&mut self, key: KeyEvent, keys: &KeyMap) -> SortPicked {
        let last = self.columns.len().saturating_sub(1);
        let letter =
            |column: &SortColumn| KeyCode::Char(column.letter) == key.code && key.modifiers.is_empty();
        if let Some(column) = self.columns.iter().position(letter) {
            return SortPicked::Column(column);
        }
        match (key.code, keys.action(KeyContext::Everywhere, key)) {
            (KeyCode::Enter, _) => return SortPicked::Column(self.chosen),
            (_, Some(Action::Back | Action::Quit | Action::Interrupt)) => return SortPicked::Closed,
            (_, Some(Action::Down)) => self.chosen = (self.chosen + 1).min(last),
            (_, Some(Action::Up)) => self.chosen = self.chosen.saturating_sub(1),
            _ => {}
        }
        SortPicked::Nothing
    }
}

impl Layer for SortMenu {
    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        match self.key(key, on.canvas.keys) {
            SortPicked::Nothing => return LayerNext::Stays,
            SortPicked::Closed => {}
            SortPicked::Column(column) => on.below.sort_by(column, on.effects),
        }
        LayerNext::Closes
    }

    fn draw(&self, look: LayerFrame) {
        let area = look.frame.area();
        draw(look.canvas, self, look.frame, area);
    }
}

/// Draws the menu in a box. The column in use shows its direction; picked again, it is reversed.
fn draw(canvas: &Canvas, menu: &SortMenu, frame: &mut Frame, area: Rect) {
    let place = layout::overlay(area, 46, menu.columns.len() as u16 + 2);
    let back = canvas.keys.of(KeyContext::Lists, Action::Back);
    let foot = format!(" a letter picks · again reverses · {back} back ");
    let inner = frame::draw(canvas, frame, place, " Sort by ", foot);
    for (n, column) in menu.columns.iter().enumerate().take(inner.height.into()) {
        let used = menu.used == n;
        let mark = if n == menu.chosen { canvas.glyphs().chosen } else { " " };
        let style = if used { canvas.theme.active } else { canvas.theme.bar };
        let row = [
            Span::new(format!("{mark} "), canvas.theme.accent),
            Span::new(format!("{}  ", column.letter), canvas.theme.accent),
            Span::new(column.name, style),
            Span::plain(" ".repeat(12_usize.saturating_sub(column.name.len()))),
            Span::new(
                column.order(used && menu.reversed),
                if used { canvas.theme.bar } else { canvas.theme.dim },
            ),
        ];
        line::spans(frame.buffer_mut(), Rect { y: inner.y + n as u16, height: 1, ..inner }, &row);
    }
}
