//! The menu of columns by which the list can be sorted.

use crossterm::event::{KeyCode, KeyEvent};

use crate::store::SortBy;
use crate::tui::keys::{Action, KeyContext, KeyMap};

/// The letter that picks each column, in the order of [`SortBy::ALL`].
pub(crate) const LETTERS: [char; SortBy::ALL.len()] = ['a', 's', 'l', 'n', 't', 'e', 'i'];

/// The menu, with one column selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortMenu {
    /// The selected column: an index into [`SortBy::ALL`].
    pub chosen: usize,
}

/// The result of a key in the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortPicked {
    /// Nothing is picked yet.
    Nothing,
    /// The menu was closed.
    Closed,
    /// This column was picked: an index into [`SortBy::ALL`].
    Column(usize),
}

impl SortMenu {
    /// Handles a key: the letter of a column, or one that moves or closes everywhere.
    pub(crate) fn key(&mut self, key: KeyEvent, keys: &KeyMap) -> SortPicked {
        let last = SortBy::ALL.len() - 1;
        let letter = |letter: &char| KeyCode::Char(*letter) == key.code && key.modifiers.is_empty();
        if let Some(column) = LETTERS.iter().position(letter) {
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

/// Returns the name of a column.
pub(crate) fn column(by: SortBy) -> &'static str {
    match by {
        SortBy::Left => "time left",
        by => by.as_str(),
    }
}

/// Returns the order of a column in words.
pub(crate) fn order(by: SortBy, reversed: bool) -> &'static str {
    let (forth, back) = match by {
        SortBy::Age => ("youngest first", "oldest first"),
        SortBy::Size => ("largest first", "smallest first"),
        SortBy::Left => ("soonest first", "latest first"),
        SortBy::Agent | SortBy::Tool | SortBy::Session | SortBy::Id => ("A to Z", "Z to A"),
    };
    if reversed { back } else { forth }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    #[test]
    fn every_letter_picks_its_own_column() {
        for (n, letter) in LETTERS.into_iter().enumerate() {
            let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
            let picked = SortMenu { chosen: 0 }.key(key, KeyMap::standard());
            assert_eq!(picked, SortPicked::Column(n));
        }
    }
}
