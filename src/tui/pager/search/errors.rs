//! The errors and warnings in an output: their pattern, their counts, and going from one to the next.

use crate::text::search::errors::built_in;
use crate::text::search::{Pattern, Toward};
use crate::tui::event::{Effect, Effects};
use crate::tui::pager::Pager;

use super::job::Counting;
use super::seek::Sought;
use super::tally::Tally;

/// The errors in an output.
#[derive(Debug, Clone, Default)]
pub struct ErrorSearch {
    /// The configured pattern; `None` for the built-in one.
    pub own: Option<Pattern>,
    /// The errors in the file.
    pub tally: Tally,
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
    /// Returns the pattern. The built-in one is compiled when it is first needed.
    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        self.own.as_ref().or_else(|| built_in())
    }

    /// Continues the numbers of a later count, and its own if it did not reach the end of a file of `len` bytes.
    pub(crate) fn follow_on(&mut self, later: &ErrorSearch, len: usize) {
        self.tally.follow_on(&later.tally);
        if !self.tally.is_whole(len) {
            self.counted = Progress::Due;
        }
    }
}

impl Pager {
    /// Starts counting the errors that are not counted yet, once the lines are: line numbers are waited for.
    pub(crate) fn count_errors(&mut self, effects: &mut Effects) {
        if self.errors.counted == Progress::Started || !self.output.index.is_complete() {
            return;
        }
        let Some(pattern) = self.errors.pattern().cloned() else { return };
        self.errors.counted = Progress::Started;
        let job = self.errors.tally.job(Counting::Errors, &pattern, &self.output.view);
        effects.push(Effect::CountMatches(job));
        self.count_kept_errors();
    }

    /// Counts the errors that the model got.
    pub(crate) fn count_kept_errors(&mut self) {
        if self.errors.counted == Progress::Due {
            return;
        }
        let Some(pattern) = self.errors.pattern().cloned() else { return };
        self.errors.tally.count_kept(&pattern, &self.output.view, &self.output.kept);
    }

    /// Counts again after the file, of `len` bytes until now, has changed: only what is new if it grew.
    pub(crate) fn recount_errors(&mut self, len: usize, grew: bool, effects: &mut Effects) {
        match grew {
            true => self.errors.tally.forget_end(len),
            false => self.errors.tally.forget(),
        }
        self.errors.counted = Progress::Due;
        self.count_errors(effects);
    }

    /// Goes to the next error or warning, or to the previous one if `reversed`; with a count, to the one that many
    /// further.
    pub(crate) fn next_error(&mut self, reversed: bool, count: Option<u64>, effects: &mut Effects) {
        let toward = if reversed { Toward::Start } else { Toward::End };
        self.panes.remember();
        self.seek(Sought::Error, toward, count.unwrap_or(1).max(1), effects);
    }
}
