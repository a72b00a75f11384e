//! The search in an output: the pattern, also while it is typed, the current match and going from one to the next.

pub mod count;
mod seek;

use std::mem;
use std::ops::Range;

use crate::text::label::SafeText;
use crate::text::search::{Pattern, Toward};
use crate::tui::event::Message;
use crate::tui::job::Slot;
use crate::tui::keys::Action;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::event::Counting;
use super::panes::Panes;
use super::{Pager, enter_in};
use count::Tally;
use seek::{PendingSearch, SearchTarget};

#[derive(Debug, Clone, Default)]
pub struct Find {
    pub pattern: Option<Pattern>,
    toward: Option<Toward>,
    pub history: Vec<String>,
    /// The current match in each pane: a range of its document.
    pub current: [Option<Range<u64>>; 2],
    pub tally: Tally,
    /// What the current match is one of.
    pub at: Counting,
    pub(crate) typing: Option<Typing>,
    /// What a worker is searching for.
    seeking: Option<PendingSearch>,
}

#[derive(Debug, Clone)]
pub(crate) struct Typing {
    before: Box<Find>,
    panes: Panes,
    /// The generation of the file's content then.
    generation: u64,
    text: String,
    fault: Option<String>,
    /// What the search had to say, once it is done.
    said: Option<Message>,
}

impl Typing {
    /// Returns what to show beside the typed text instead of counts, if anything.
    pub(crate) fn note(&self) -> Option<SafeText> {
        match (&self.fault, &self.said) {
            (Some(fault), _) => Some(SafeText::from(fault.as_str())),
            (None, Some(said)) if said.is_error => Some("no match".into()),
            (None, Some(said)) => said.text.split(" · ").next().map(SafeText::from),
            (None, None) => None,
        }
    }
}

impl Find {
    pub(crate) fn look_for(&mut self, pattern: Pattern) {
        self.forget_place();
        self.pattern = Some(pattern);
    }

    pub fn is_running(&self) -> bool {
        self.seeking.is_some()
    }

    pub fn stop(&mut self) {
        self.seeking = None;
    }

    /// Prepares for another output: keeps the pattern, drops the matches.
    pub fn forget_place(&mut self) {
        self.current = [None, None];
        self.tally = Tally::default();
        self.stop();
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

    pub fn current(&self, side: Side) -> Option<&Range<u64>> {
        self.current[side as usize].as_ref()
    }

    fn toward(&self) -> Option<Toward> {
        self.toward.filter(|_| self.pattern.is_some())
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
            enter_in(&mut self.find.history, text);
            return Ok(());
        }
        self.give_up_search(effects);
        let last = self.find.history.last();
        let text = if text.is_empty() { last.ok_or("type what to search for")? } else { text }.to_owned();
        self.set_search(&text, toward, effects)?;
        self.seek(SearchTarget { what: Counting::Matches, missed: false, toward, times }, effects);
        Ok(())
    }

    /// Makes a typed pattern that of the search, without going to a match.
    pub(super) fn set_search(
        &mut self,
        text: &str,
        toward: Toward,
        effects: &mut Effects,
    ) -> Result<(), String> {
        let pattern = Pattern::in_text(text, self.output.utf16()).map_err(|error| error.describe())?;
        enter_in(&mut self.find.history, text);
        self.find.toward = Some(toward);
        self.panes.remember();
        if !self.find.pattern.as_ref().is_some_and(|old| old.same(&pattern)) {
            self.find.look_for(pattern);
            self.count_matches(effects);
        }
        Ok(())
    }

    /// Goes on, or back, to a match, which `less` counts the way of the search; to one that the model did not get, which is in
    /// Spill, or without a search to such an error; or to an error, and where there is none to a warning. With a count, it goes
    /// that many further.
    pub(crate) fn seek_by(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        let (toward, severity) = (self.find.toward(), Counting::Severity(self.severity()));
        let (what, missed, ahead) = match (action, toward) {
            (Action::NextError | Action::PreviousError, _) => (severity, false, Toward::End),
            (Action::NextMissed | Action::PreviousMissed, None) => (severity, true, Toward::End),
            (Action::NextMissed | Action::PreviousMissed, Some(_)) => (Counting::Matches, true, Toward::End),
            (_, Some(toward)) => (Counting::Matches, false, toward),
            (_, None) => {
                let search = self.key_of(Action::Search);
                return self.note(format!("no search yet; {search} to search"));
            }
        };
        if !missed && what == severity {
            self.panes.remember();
        }
        let is_ahead = matches!(action, Action::NextMatch | Action::NextMissed | Action::NextError);
        let toward = if is_ahead { ahead } else { ahead.reversed() };
        self.seek(SearchTarget { what, missed, toward, times: count.unwrap_or(1).max(1) }, effects);
    }

    /// Searches for what is typed so far, from where the typing began, for the match of a number, 1-based.
    pub(crate) fn type_search(&mut self, text: &str, (toward, times): (Toward, u64), effects: &mut Effects) {
        if self.find.typing.as_ref().map_or(text.is_empty(), |typing| typing.text == text) {
            return;
        }
        self.begin_typing();
        self.find.clear();
        let Some(typing) = &mut self.find.typing else { return };
        (typing.text, typing.fault, typing.said) = (text.to_owned(), None, None);
        let panes = typing.panes.clone();
        let pattern = match Pattern::in_text(text, self.output.utf16()) {
            Ok(pattern) => Some(pattern).filter(|_| !text.is_empty()),
            Err(error) => {
                typing.fault = Some(error.describe());
                None
            }
        };
        self.restore_panes(panes);
        let Some(pattern) = pattern else { return effects.stop([Slot::Search, Slot::CountMatches]) };
        self.find.toward = Some(toward);
        self.find.pattern = Some(pattern);
        self.count_matches(effects);
        self.seek(SearchTarget { what: Counting::Matches, missed: false, toward, times }, effects);
    }

    fn begin_typing(&mut self) {
        if self.find.typing.is_some() {
            return;
        }
        let mut before = mem::take(&mut self.find);
        self.find.history = mem::take(&mut before.history);
        self.find.typing = Some(Typing {
            before: Box::new(before),
            panes: self.panes.clone(),
            generation: self.output.view.generation(),
            text: String::new(),
            fault: None,
            said: None,
        });
    }

    fn restore_panes(&mut self, panes: Panes) {
        self.panes = panes;
        self.align_panes();
        self.follow();
    }

    pub(crate) fn give_up_search(&mut self, effects: &mut Effects) {
        let Some(Typing { before, panes, generation, .. }) = self.find.typing.take() else { return };
        let history = mem::take(&mut self.find.history);
        self.find = Find { history, ..*before };
        self.find.stop();
        self.restore_panes(panes);
        effects.stop([Slot::Search, Slot::CountMatches]);
        let counted = self.find.tally.counts.counted_bytes();
        self.recount_matches(counted, generation == self.output.view.generation(), effects);
    }

    /// Accepts the typed pattern: its search stays. Returns false if `text` is not what was being typed.
    fn accept_typing(&mut self, text: &str) -> Result<bool, String> {
        let Some(typing) = self.find.typing.take_if(|typing| typing.text == text && !text.is_empty()) else {
            return Ok(false);
        };
        if let Some(fault) = typing.fault.clone() {
            self.find.typing = Some(typing);
            return Err(fault);
        }
        self.panes.marks.insert('\'', (typing.panes.focus, typing.panes.top(typing.panes.focus)));
        self.message = typing.said;
        Ok(true)
    }
}
