//! The list of the calls of one session.

use std::path::PathBuf;
use std::sync::Arc;

use crate::session::reader::SessionFile;
use crate::session::verify::Verdict;
use crate::text::label::SafeText;
use crate::tui::job::Slot;
use crate::tui::recorded::CallRequest;
use crate::tui::screen::Effects;
use crate::tui::widget::cursor::ListCursor;

use super::filter::WordFilter;
use super::job::OpenedCalls;
use super::order;
use super::rows::{CallRow, CallSizes};

/// How far the reading of the session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadingState {
    /// It is being read; how much of it has been, in percent.
    Reading(u64),
    Read,
    /// It cannot be read, for this reason.
    Failed(SafeText),
}

/// The state of the list.
#[derive(Debug)]
pub struct CallList {
    /// Where the session is.
    pub file: Arc<SessionFile>,
    /// The agent, with its version.
    pub agent: SafeText,
    /// The session's title.
    pub title: SafeText,
    /// How far the reading is.
    pub state: ReadingState,
    /// What of the records was not understood, in words; empty if nothing.
    pub unread: SafeText,
    /// Whether nothing in the records was understood.
    pub is_format_unknown: bool,
    rows: Vec<CallRow>,
    shown: Vec<usize>,
    pub cursor: ListCursor,
    sort: usize,
    reversed: bool,
    filter: WordFilter,
    /// The id of the call to select once the session is read.
    sought: Option<SafeText>,
    asked: Vec<usize>,
}

impl CallList {
    /// Creates the list of a session that is about to be read.
    pub(crate) fn new(file: Arc<SessionFile>, agent: SafeText, title: SafeText) -> Self {
        Self {
            file,
            agent,
            title,
            state: ReadingState::Reading(0),
            unread: SafeText::default(),
            is_format_unknown: false,
            rows: Vec::new(),
            shown: Vec::new(),
            cursor: ListCursor::default(),
            sort: 0,
            reversed: false,
            filter: WordFilter::default(),
            sought: None,
            asked: Vec::new(),
        }
    }

    /// Selects the call of this id once the session is read.
    pub(crate) fn seek(&mut self, id: SafeText) {
        self.sought = Some(id);
    }

    /// Takes in the calls: those of a session just read, or of one that has grown. What is known of a call stays.
    pub(crate) fn opened(&mut self, opened: OpenedCalls) {
        let chosen = self.chosen_index();
        let was_last = self.cursor.chosen + 1 >= self.shown.len() && !self.rows.is_empty();
        let mut rows = opened.rows;
        for (row, old) in rows.iter_mut().zip(&self.rows).filter(|(row, old)| row.id == old.id) {
            if row.cut == old.cut && row.evidence == old.evidence {
                (row.sizes, row.verdict) = (old.sizes.clone(), old.verdict.clone());
                row.copies = old.copies;
            }
        }
        let more = rows.len() > self.rows.len();
        (self.rows, self.state) = (rows, ReadingState::Read);
        (self.unread, self.is_format_unknown) = (opened.unread, opened.is_format_unknown);
        self.agent = opened.agent;
        if !opened.title.is_empty() {
            self.title = opened.title;
        }
        self.asked.clear();
        self.arrange();
        let sought = self.sought.take();
        let wanted = sought.and_then(|id| self.rows.iter().position(|row| row.id == id)).or(chosen);
        let at = wanted.and_then(|wanted| self.shown.iter().position(|n| *n == wanted));
        self.cursor.chosen = match at {
            // Like a log that is followed: the last stays the last.
            Some(_) if was_last && more => self.shown.len().saturating_sub(1),
            Some(at) => at,
            None => self.cursor.chosen,
        };
    }

    /// Takes in sizes of calls.
    pub(crate) fn sized(&mut self, sizes: Vec<(usize, CallSizes)>) {
        for (index, sizes) in sizes {
            if let Some(row) = self.rows.get_mut(index) {
                row.sizes = Some(sizes);
            }
        }
        if self.sort != 0 || !self.filter.text().is_empty() {
            let chosen = self.chosen_index();
            self.arrange();
            let at = chosen.and_then(|chosen| self.shown.iter().position(|n| *n == chosen));
            self.cursor.chosen = at.unwrap_or(self.cursor.chosen);
        }
    }

    /// Takes in whether a policy makes the same text of a call.
    pub(crate) fn verified(&mut self, index: usize, verdict: Verdict) {
        if let Some(row) = self.rows.get_mut(index) {
            row.verdict = Some(verdict);
        }
    }

    /// Takes in how many other sessions have some of the calls.
    pub(crate) fn copied(&mut self, copies: Vec<(usize, u64)>) {
        for (index, copies) in copies {
            if let Some(row) = self.rows.get_mut(index) {
                row.copies = copies;
            }
        }
    }

    /// Has the worker look first at what the rows on the screen lack.
    pub(crate) fn ask(&mut self, height: usize, effects: &mut Effects) {
        let lacks = |row: &CallRow| row.sizes.is_none() || row.is_partial() && row.verdict.is_none();
        let wanted: Vec<usize> = self.on_screen(height).filter(|n| lacks(&self.rows[*n])).collect();
        if !wanted.is_empty() && wanted != self.asked {
            self.asked.clone_from(&wanted);
            effects.ask(Slot::OpenSession, CallRequest::Rows(wanted));
        }
    }

    /// Returns the index of the selected call.
    pub fn chosen_index(&self) -> Option<usize> {
        self.shown.get(self.cursor.chosen).copied()
    }

    /// Returns the selected call.
    pub fn chosen(&self) -> Option<&CallRow> {
        self.rows.get(self.chosen_index()?)
    }

    /// Returns the spill of a call, if it is there.
    pub(crate) fn spill_of(&self, index: usize) -> Option<PathBuf> {
        self.rows.get(index)?.sizes.as_ref()?.spill_path.clone()
    }

    /// Returns all calls, in the order of the records.
    pub fn rows(&self) -> &[CallRow] {
        &self.rows
    }

    /// Returns the number of calls shown.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Whether no calls are shown.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Iterates over the indices of the calls on a screen of `height` rows.
    pub fn on_screen(&self, height: usize) -> impl Iterator<Item = usize> + '_ {
        self.shown[self.cursor.rows(self.shown.len(), height)].iter().copied()
    }

    /// Returns the column by which the list is sorted, an index into [`order::CALL_COLUMNS`], and whether its order is
    /// reversed.
    pub fn sort(&self) -> (usize, bool) {
        (self.sort, self.reversed)
    }

    /// Sorts by a column; if it is the one in use, in the other direction.
    pub(crate) fn sort_by(&mut self, column: usize) {
        self.reversed = self.sort == column && !self.reversed;
        self.sort = column;
        self.cursor = ListCursor::default();
        self.arrange();
    }

    /// Reverses the order.
    pub(crate) fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.arrange();
    }

    /// Returns the words that calls must contain.
    pub fn filter_text(&self) -> &str {
        self.filter.text()
    }

    /// Remembers where the list stands before a filter is typed.
    pub(crate) fn start_filter(&mut self) {
        self.filter.start(self.cursor);
    }

    /// Shows only the calls that contain all of these words.
    pub(crate) fn filter_by(&mut self, words: &str) {
        self.filter.set(words, &mut self.cursor);
        self.arrange();
    }

    /// Shows the list as it was before the prompt of the filter was opened.
    pub(crate) fn give_up_filter(&mut self) {
        self.filter.give_up(&mut self.cursor);
        self.arrange();
    }

    fn arrange(&mut self) {
        let words = self.filter.words();
        let rows = &self.rows;
        self.shown = (0..rows.len()).filter(|n| contains(&rows[*n], &words)).collect();
        if self.sort != 0 {
            self.shown.sort_by_cached_key(|n| order::call_key(self.sort, &rows[*n]));
        }
        if self.reversed {
            self.shown.reverse();
        }
    }
}

/// Whether a call's visible words contain all of these, in any order.
fn contains(row: &CallRow, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let command = row.sizes.as_ref().map_or("", |sizes| &*sizes.command);
    let text = format!("{} {} {} {} {}", row.tool, row.thread, row.state(), row.id, command).to_lowercase();
    words.iter().all(|word| text.contains(word))
}
