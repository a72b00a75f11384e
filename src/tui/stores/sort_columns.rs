//! The columns by which the list of stored outputs can be sorted, in the order of [`SortBy::ALL`].

use crate::store::SortBy;
use crate::tui::popup::sort_menu::SortColumn;

const NAMES: [&str; 2] = ["A to Z", "Z to A"];

/// The columns, in the order of [`SortBy::ALL`].
pub const STORE_COLUMNS: &[SortColumn] = &[
    SortColumn { letter: 'a', name: "age", orders: ["youngest first", "oldest first"] },
    SortColumn { letter: 's', name: "size", orders: ["largest first", "smallest first"] },
    SortColumn { letter: 'l', name: "time left", orders: ["soonest first", "latest first"] },
    SortColumn { letter: 'n', name: "agent", orders: NAMES },
    SortColumn { letter: 't', name: "tool", orders: NAMES },
    SortColumn { letter: 'e', name: "session", orders: NAMES },
    SortColumn { letter: 'i', name: "id", orders: NAMES },
];

/// Returns the column of a sort key.
pub(crate) fn column(by: SortBy) -> &'static SortColumn {
    let at = SortBy::ALL.iter().position(|other| *other == by).unwrap_or_default();
    &STORE_COLUMNS[at.min(STORE_COLUMNS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;
    use crate::tui::keys::KeyMap;
    use crate::tui::popup::sort_menu::{SortMenu, SortPicked};

    #[test]
    fn every_letter_picks_its_own_column() {
        for (n, column) in STORE_COLUMNS.iter().enumerate() {
            let key = KeyEvent::new(KeyCode::Char(column.letter), KeyModifiers::NONE);
            assert_eq!(
                SortMenu::new(STORE_COLUMNS.to_vec(), 0, false).key(key, KeyMap::standard()),
                SortPicked::Column(n),
                "{column:?}"
            );
        }
    }

    #[test]
    fn every_sort_key_has_its_column() {
        assert_eq!(STORE_COLUMNS.len(), SortBy::ALL.len());
        for by in SortBy::ALL {
            assert!(column(by).name.ends_with(by.as_str()), "{by:?}");
        }
    }
}
