//! The menu of columns by which a list can be sorted.

use crossterm::event::{KeyCode, KeyEvent};

use crate::tui::keys::{Action, KeyContext, KeyMap};

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
