//! The errors and warnings in an output: their patterns, their counts, and going from one to the next.

use crate::text::search::{Severity, SeverityPatterns, Toward};
use crate::tui::pager::{Pager, scans};
use crate::tui::screen::Effects;

use super::job::Counting;
use super::seek::Sought;
use super::tally::Tally;

/// The errors and warnings in an output.
#[derive(Debug, Clone, Default)]
pub struct ErrorSearch {
    pub patterns: SeverityPatterns,
    /// The counts in the file, by severity.
    tallies: [Tally; 2],
    counted: Progress,
}

/// Whether the errors are being counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Progress {
    /// There is something to count; it waits until the lines are counted.
    #[default]
    Due,
    /// A worker counts, or has counted.
    Started,
}

impl ErrorSearch {
    /// Returns the counts of a severity.
    pub fn tally(&self, severity: Severity) -> &Tally {
        &self.tallies[severity as usize]
    }

    pub(super) fn tally_mut(&mut self, severity: Severity) -> &mut Tally {
        &mut self.tallies[severity as usize]
    }

    /// Returns the severity that walks and figures go by in a file of `len` bytes: errors, or warnings if it has no error.
    pub(crate) fn severity(&self, len: usize) -> Severity {
        let [errors, warnings] = &self.tallies;
        match errors.is_whole(len) && errors.counts.total() == 0 && warnings.counts.total() > 0 {
            true => Severity::Warning,
            false => Severity::Error,
        }
    }

    /// Continues the numbers of a later count, and its own if it did not reach the end of a file of `len` bytes.
    pub(crate) fn follow_on(&mut self, later: &ErrorSearch, len: usize) {
        for severity in Severity::ALL {
            self.tally_mut(severity).follow_on(later.tally(severity));
            if !self.tally(severity).is_whole(len) {
                self.counted = Progress::Due;
            }
        }
    }
}

impl Pager {
    /// Returns the severity that walks and figures go by.
    pub(crate) fn severity(&self) -> Severity {
        self.errors.severity(self.output.view.len())
    }

    /// Starts counting the errors and warnings that are not counted yet, once the lines are: line numbers are waited for.
    pub(crate) fn count_errors(&mut self, effects: &mut Effects) {
        if self.errors.counted == Progress::Started || !self.output.index.is_complete() {
            return;
        }
        self.errors.counted = Progress::Started;
        for severity in Severity::ALL {
            if let Some(pattern) = self.errors.patterns.get(severity).cloned() {
                let tally = self.errors.tally_mut(severity);
                let job = tally.job(Counting::Severity(severity), &pattern, &self.output.view);
                scans::start_count(job, effects);
            }
        }
        self.count_kept_errors();
    }

    /// Counts the errors and warnings that the model got.
    pub(crate) fn count_kept_errors(&mut self) {
        if self.errors.counted == Progress::Due {
            return;
        }
        for severity in Severity::ALL {
            if let Some(pattern) = self.errors.patterns.get(severity).cloned() {
                let tally = self.errors.tally_mut(severity);
                tally.count_kept(&pattern, &self.output.view, &self.output.kept);
            }
        }
    }

    /// Counts again after the file, of `len` bytes until now, has changed: only what is new if it grew.
    pub(crate) fn recount_errors(&mut self, len: usize, grew: bool, effects: &mut Effects) {
        for tally in &mut self.errors.tallies {
            match grew {
                true => tally.forget_end(len),
                false => tally.forget(),
            }
        }
        self.errors.counted = Progress::Due;
        self.count_errors(effects);
    }

    /// Goes to the next error, or to the previous one if `reversed`; with a count, to the one that many further. Where there
    /// is no error, it goes by warnings.
    pub(crate) fn next_error(&mut self, reversed: bool, count: Option<u64>, effects: &mut Effects) {
        let toward = if reversed { Toward::Start } else { Toward::End };
        self.panes.remember();
        let sought = Sought { what: Counting::Severity(self.severity()), missed: false };
        self.seek(sought, toward, count.unwrap_or(1).max(1), effects);
    }
}
