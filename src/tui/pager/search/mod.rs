//! The search in an output: the pattern, the current match and the counts.

pub mod errors;
pub mod job;
mod seek;
pub mod tally;
pub(crate) mod typing;

use std::ops::Range;

use crate::text::search::{Pattern, Toward};
use crate::tui::event::Message;
use crate::tui::keys::Action;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::{Pager, scans};
use job::Counting;
use seek::{Seeking, Sought};
use tally::Tally;
use typing::Typing;

/// The state of the search.
#[derive(Debug, Clone, Default)]
pub struct Find {
    /// The pattern, if there is one.
    pub pattern: Option<Pattern>,
    toward: Option<Toward>,
    /// The patterns typed before, newest last.
    pub history: Vec<String>,
    /// The current match in each pane: a range of its document.
    pub current: [Option<Range<u64>>; 2],
    /// The matches in the file.
    pub tally: Tally,
    /// What the current match is one of.
    pub at: Counting,
    /// The pattern being typed, and what was there before.
    pub(crate) typing: Option<Typing>,
    /// What a worker is searching for.
    seeking: Option<Seeking>,
    number: u64,
}

impl Find {
    /// Searches for a pattern that was typed elsewhere.
    pub(crate) fn look_for(&mut self, pattern: Pattern) {
        self.forget_place();
        self.tally = Tally::default();
        self.pattern = Some(pattern);
    }

    /// Whether a worker is searching.
    pub fn is_running(&self) -> bool {
        self.seeking.is_some()
    }

    /// Abandons the search of the worker.
    pub fn stop(&mut self) {
        self.seeking = None;
        self.number += 1;
    }

    /// Prepares for another output: keeps the pattern, drops the matches.
    pub fn forget_place(&mut self) {
        self.current = [None, None];
        self.tally.forget();
        self.stop();
    }

    /// Takes up an earlier search again; the history stays. Its matches have to be counted again.
    pub(crate) fn take_up(&mut self, earlier: Find) {
        self.forget_place();
        (self.pattern, self.toward) = (earlier.pattern, earlier.toward);
        (self.current, self.at) = (earlier.current, earlier.at);
    }

    /// Continues the history and the numbers of a later search, whose answers are dropped.
    pub(crate) fn follow_on(&mut self, later: &Find) {
        self.history.clone_from(&later.history);
        self.number = self.number.max(later.number) + 1;
        self.tally.follow_on(&later.tally);
    }

    /// Drops the pattern and the matches; the history stays.
    pub fn clear(&mut self) {
        self.forget_place();
        self.pattern = None;
    }

    /// Drops the current match in Preview, because the preview has changed.
    pub fn forget_preview(&mut self) {
        self.current[Side::Preview as usize] = None;
    }

    /// Returns the current match of a side.
    pub fn current(&self, side: Side) -> Option<&Range<u64>> {
        self.current[side as usize].as_ref()
    }
}

impl Pager {
    /// Starts a search for a typed pattern, which goes to the match of a number, 1-based; an empty one repeats the last,
    /// from the current match on.
    pub(crate) fn search(
        &mut self,
        text: &str,
        (toward, times): (Toward, u64),
        effects: &mut Effects,
    ) -> Result<(), String> {
        if self.accept_typing(text)? {
            self.enter_in_history(text);
            return Ok(());
        }
        self.give_up_search(effects);
        let last = self.find.history.last();
        let text = if text.is_empty() { last.ok_or("type what to search for")? } else { text }.to_owned();
        let pattern = Pattern::in_text(&text, self.output.utf16()).map_err(|error| error.describe())?;
        self.enter_in_history(&text);
        self.find.toward = Some(toward);
        self.panes.remember();
        if !self.find.pattern.as_ref().is_some_and(|old| old.same(&pattern)) {
            self.find.forget_place();
            self.find.pattern = Some(pattern);
            self.count_matches(effects);
        }
        self.seek(Sought::MATCH, toward, times, effects);
        Ok(())
    }

    fn enter_in_history(&mut self, text: &str) {
        self.find.history.retain(|old| old != text);
        self.find.history.push(text.to_owned());
    }

    /// Counts the matches in the file that are not counted yet.
    pub(crate) fn count_matches(&mut self, effects: &mut Effects) {
        let Some(pattern) = &self.find.pattern else { return };
        let job = self.find.tally.job(Counting::Matches, pattern, &self.output.view);
        scans::start_count(job, effects);
        self.count_kept();
    }

    /// Counts the matches that the model got.
    pub(crate) fn count_kept(&mut self) {
        let Some(pattern) = &self.find.pattern else { return };
        self.find.tally.count_kept(pattern, &self.output.view, &self.output.kept);
    }

    /// Counts again after the file, of `len` bytes until now, has changed: only what is new if it grew.
    pub(crate) fn recount_matches(&mut self, len: usize, grew: bool, effects: &mut Effects) {
        match grew {
            true => self.find.tally.forget_end(len),
            false => self.find.forget_place(),
        }
        self.count_matches(effects);
    }

    /// Goes to the next match, or to the previous one if `reversed`; with a count, to the one that many further.
    pub(crate) fn next_match(&mut self, reversed: bool, count: Option<u64>, effects: &mut Effects) {
        self.next_sought(Sought::MATCH, reversed, count, effects);
    }

    /// Goes to the next match that the model did not get, or to the previous one if `reversed`. It is in Spill. Without a
    /// search, these are the errors.
    pub(crate) fn next_missed(&mut self, reversed: bool, count: Option<u64>, effects: &mut Effects) {
        self.next_sought(Sought { missed: true, ..Sought::MATCH }, reversed, count, effects);
    }

    fn next_sought(&mut self, sought: Sought, reversed: bool, count: Option<u64>, effects: &mut Effects) {
        let (sought, toward) = match (sought, self.find.toward.filter(|_| self.find.pattern.is_some())) {
            (sought, Some(toward)) => (sought, toward),
            (Sought { missed: true, .. }, None) => {
                (Sought { what: Counting::Severity(self.severity()), missed: true }, Toward::End)
            }
            (_, None) => {
                let search = self.key_of(Action::Search);
                self.message = Some(Message::note(format!("no search yet; {search} to search")));
                return;
            }
        };
        // As in less, n goes the way of the search. The brackets show their own way.
        let toward = match (sought.missed, reversed) {
            (false, false) => toward,
            (false, true) => toward.reversed(),
            (true, false) => Toward::End,
            (true, true) => Toward::Start,
        };
        self.seek(sought, toward, count.unwrap_or(1).max(1), effects);
    }
}
