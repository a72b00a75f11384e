//! Entries that are to be deleted as a table, and the rule of a store in words.

use jiff::SignedDuration;

use crate::human::{size, thousands};
use crate::rows::column::CellSide::{Left, Path, Right};
use crate::rows::column::{ListColumn, RowCell};
use crate::rows::outputs;
use crate::store::{Basis, Entry, Retention};
use crate::text::label::SafeText;

/// An entry that is to be deleted, and by which rule.
pub(crate) struct ToDeleteRow {
    pub entry: Entry,
    pub why: &'static str,
}

pub(crate) static DELETE_COLUMNS: [ListColumn<ToDeleteRow>; 5] = [
    ListColumn::new("when", Right, 7, |row: &ToDeleteRow, look| outputs::when(&row.entry, look)),
    ListColumn::new("size", Right, 8, |row: &ToDeleteRow, _| RowCell::plain(size(row.entry.size()))),
    ListColumn::new("agent", Left, 13, |row: &ToDeleteRow, _| RowCell::plain(row.entry.agent())),
    ListColumn::new("why", Left, 24, |row: &ToDeleteRow, _| RowCell::plain(row.why)),
    ListColumn::new("path", Path, 0, |row: &ToDeleteRow, _| {
        RowCell::plain(SafeText::from_bytes(row.entry.path().as_os_str().as_encoded_bytes()))
    }),
];

pub(crate) fn retention(rule: &Retention) -> String {
    let after = |since: &str| match rule.after {
        Some(age) => format!("{} after {since}", exact(age)),
        None => "unknown".to_owned(),
    };
    let mut words = match rule.basis {
        Basis::Mtime => after("its last change"),
        Basis::FolderMtime => after("its folder's last change"),
        Basis::Id => after("the time in its id"),
        Basis::SessionEnd => "with its session".to_owned(),
        Basis::ProcessExit => "when the agent's process ends".to_owned(),
        Basis::Never => "never".to_owned(),
        Basis::Unknown => "unknown".to_owned(),
    };
    let count = rule.max_count.map(|most| format!("{} files", thousands(most)));
    for most in count.into_iter().chain(rule.max_total.map(size)) {
        words.push_str(&format!("; the oldest beyond {most} in a directory"));
    }
    words
}

/// Formats a configured age in the largest unit that leaves no remainder.
fn exact(age: SignedDuration) -> String {
    let seconds = age.as_secs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let whole = units.into_iter().find(|(unit, _)| seconds % unit == 0);
    let (unit, word) = whole.unwrap_or((1, "s"));
    format!("{} {word}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_in_words() {
        let rule = |basis, hours: Option<i64>| {
            let after = hours.map(SignedDuration::from_hours);
            Retention { basis, after, setting: None, max_count: None, max_total: None, note: None }
        };
        assert_eq!(retention(&rule(Basis::Mtime, Some(168))), "7 d after its last change");
        assert_eq!(retention(&rule(Basis::Id, Some(50))), "50 h after the time in its id");
        assert_eq!(retention(&rule(Basis::Mtime, None)), "unknown");
        let limited = Retention {
            max_count: Some(1000),
            max_total: Some(256 << 20),
            ..rule(Basis::FolderMtime, Some(24))
        };
        let words = "1 d after its folder's last change; the oldest beyond 1,000 files in a directory; \
            the oldest beyond 256 MB in a directory";
        assert_eq!(retention(&limited), words);
        assert_eq!(retention(&rule(Basis::Never, None)), "never");
    }
}
