//! Whether to delete: flags say so, or a person at a terminal is asked.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::cli::Failure;

/// What allows a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Nothing: it is only shown.
    DryRun,
    /// A flag.
    Given,
    /// A person, who is asked.
    Ask,
}

impl Consent {
    /// From the flags. `askable` is whether the form of the output leaves room for a question; `remedy` says
    /// which flags do without one.
    ///
    /// # Errors
    /// Confirmation is needed, and there is no terminal to ask on.
    pub(crate) fn from_flags(
        dry_run: bool,
        yes: bool,
        askable: bool,
        remedy: &str,
    ) -> Result<Consent, Failure> {
        match (dry_run, yes) {
            (true, _) => Ok(Consent::DryRun),
            (false, true) => Ok(Consent::Given),
            (false, false) if askable && has_person() => Ok(Consent::Ask),
            (false, false) => {
                Err(Failure::Usage(format!("cannot ask for confirmation without a terminal: {remedy}")))
            }
        }
    }
}

/// Someone sees what would go and the question, and can answer.
fn has_person() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Asks; anything but `y` or `yes` is a no.
pub(crate) fn ask(question: &str) -> io::Result<bool> {
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
