//! The orders of the lists of sessions and of calls, and the groups of sessions.

use std::cmp::{Ordering, Reverse};

use jiff::tz::TimeZone;

use crate::session::tally::CallSums;
use crate::tui::widget::sort_menu::SortColumn;

use super::rows::{CallRow, SessionRow};

const LARGEST: [&str; 2] = ["most first", "least first"];
const NAMES: [&str; 2] = ["A to Z", "Z to A"];

/// The columns by which sessions can be sorted.
pub const SESSION_COLUMNS: &[SortColumn] = &[
    SortColumn { letter: 'w', name: "when", orders: ["latest first", "earliest first"] },
    SortColumn { letter: 'a', name: "agent", orders: NAMES },
    SortColumn { letter: 'p', name: "project", orders: NAMES },
    SortColumn { letter: 't', name: "title", orders: NAMES },
    SortColumn { letter: 'c', name: "calls", orders: LARGEST },
    SortColumn { letter: 'u', name: "cut", orders: LARGEST },
    SortColumn { letter: 'l', name: "lost", orders: LARGEST },
    SortColumn { letter: 'g', name: "gone", orders: LARGEST },
    SortColumn { letter: 'b', name: "bytes got", orders: LARGEST },
];

/// The columns by which calls can be sorted.
pub const CALL_COLUMNS: &[SortColumn] = &[
    SortColumn { letter: 't', name: "time", orders: ["first first", "last first"] },
    SortColumn { letter: 'g', name: "got", orders: LARGEST },
    SortColumn { letter: 'l', name: "lost", orders: LARGEST },
];

/// By what sessions are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionGroup {
    Agent,
    /// The project's directory.
    Project,
    /// The day of the last change, in local time.
    Day,
}

impl SessionGroup {
    /// Returns the next way of grouping after `group`; `None` is without groups.
    pub(crate) fn after(group: Option<Self>) -> Option<Self> {
        match group {
            None => Some(Self::Agent),
            Some(Self::Agent) => Some(Self::Project),
            Some(Self::Project) => Some(Self::Day),
            Some(Self::Day) => None,
        }
    }

    /// Returns the group of a session.
    pub(crate) fn of(self, row: &SessionRow) -> String {
        let or_dash = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
        match self {
            Self::Agent => row.agent.to_owned(),
            Self::Project => row.words.as_ref().map_or_else(|| "–".into(), |words| or_dash(&words.project)),
            Self::Day => row.changed().map_or_else(
                || "–".into(),
                |at| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string(),
            ),
        }
    }
}

/// Compares two sessions by a column, an index into [`SESSION_COLUMNS`]. What is not known yet comes last.
pub(crate) fn sessions(column: usize, a: &SessionRow, b: &SessionRow) -> Ordering {
    let words = |row: &SessionRow| row.words.clone().unwrap_or_default();
    let sums = |of: fn(&CallSums) -> u64| {
        let key = |row: &SessionRow| Reverse(row.sums.known().map(of));
        key(a).cmp(&key(b))
    };
    let by_name = |a: &str, b: &str| (a.is_empty(), a).cmp(&(b.is_empty(), b));
    let order = match SESSION_COLUMNS.get(column).map_or("when", |column| column.name) {
        "agent" => a.agent.cmp(b.agent),
        "project" => by_name(&words(a).project, &words(b).project),
        "title" => by_name(&words(a).title, &words(b).title),
        "calls" => sums(|sums| sums.calls),
        "cut" => sums(|sums| sums.cut),
        "lost" => sums(|sums| sums.lost),
        "gone" => sums(|sums| sums.gone),
        "bytes got" => sums(|sums| sums.got_bytes),
        _ => Ordering::Equal,
    };
    order.then_with(|| b.file.modified.cmp(&a.file.modified)).then_with(|| a.file.id.cmp(&b.file.id))
}

/// Returns the key by which a call is sorted by a column, an index into [`CALL_COLUMNS`]; the smallest comes first.
pub(crate) fn call_key(column: usize, row: &CallRow) -> (Reverse<u64>, i64) {
    let size = |of: fn(&super::rows::CallSizes) -> u64| row.sizes.as_ref().map_or(0, of);
    let time = row.at.map_or(i64::MAX, |at| at.as_millisecond());
    match CALL_COLUMNS.get(column).map_or("time", |column| column.name) {
        "got" => (Reverse(size(|sizes| sizes.got.unwrap_or(0))), time),
        "lost" if row.is_cut() => (Reverse(size(super::rows::CallSizes::lost)), time),
        _ => (Reverse(0), time),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;
    use crate::tui::keys::KeyMap;
    use crate::tui::widget::sort_menu::{SortMenu, SortPicked};

    #[test]
    fn every_letter_picks_its_own_column() {
        for columns in [SESSION_COLUMNS, CALL_COLUMNS] {
            for (n, column) in columns.iter().enumerate() {
                let key = KeyEvent::new(KeyCode::Char(column.letter), KeyModifiers::NONE);
                assert_eq!(
                    SortMenu::new(columns, 0, false).key(key, KeyMap::standard()),
                    SortPicked::Column(n),
                    "{column:?}"
                );
            }
        }
    }
}
