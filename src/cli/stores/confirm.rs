//! Whether to delete or change something: either flags say so, or the user is shown what, and asked on the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::base::human::size;
use crate::cli::usage;
use crate::rows::column::CellSide::{Left, Path, Right};
use crate::rows::column::{ListColumn, RowCell};
use crate::rows::outputs;
use crate::store::Entry;
use crate::text::label::SafeText;

/// What allows a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Nothing is changed.
    DryRun,
    Given,
    Ask,
}

impl Consent {
    /// Determines the consent from the flags. `askable` says whether the output format leaves room for a question;
    /// `remedy` names the flags that avoid it.
    ///
    /// # Errors
    /// Confirmation is needed, and there is no terminal to ask on.
    pub(crate) fn from_flags(
        dry_run: bool,
        yes: bool,
        askable: bool,
        remedy: &str,
    ) -> anyhow::Result<Consent> {
        match (dry_run, yes) {
            (true, _) => Ok(Consent::DryRun),
            (false, true) => Ok(Consent::Given),
            (false, false) if askable && has_person() => Ok(Consent::Ask),
            (false, false) => Err(usage(format!("cannot ask for confirmation without a terminal: {remedy}"))),
        }
    }
}

/// Whether a user sees the list and the question, and can answer.
fn has_person() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Asks the question; anything but `y` or `yes` means no.
pub(crate) fn ask(question: &str) -> io::Result<bool> {
    let mut stderr = crate::cli::safe::stderr();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

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
