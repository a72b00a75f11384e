//! Searches while the pattern is being typed, and goes back to where it began if it is given up.

use std::mem;

use crate::text::label::SafeText;
use crate::text::search::{Pattern, Toward};
use crate::tui::event::Message;
use crate::tui::job::Slot;
use crate::tui::pager::Pager;
use crate::tui::pager::panes::Panes;
use crate::tui::screen::Effects;

use super::Find;
use super::seek::Sought;

/// A pattern being typed, and what was there before.
#[derive(Debug, Clone)]
pub(crate) struct Typing {
    before: Box<Find>,
    panes: Panes,
    /// The generation of the file's content then.
    generation: u64,
    text: String,
    /// What is wrong with the pattern.
    fault: Option<String>,
    /// What the search had to say, once it is done.
    pub(super) said: Option<Message>,
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

impl Pager {
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
        self.seek(Sought::MATCH, toward, times, effects);
    }

    fn begin_typing(&mut self) {
        if self.find.typing.is_some() {
            return;
        }
        let mut before = mem::take(&mut self.find);
        self.find.history = mem::take(&mut before.history);
        self.find.number = before.number;
        self.find.tally.follow_on(&before.tally);
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
        self.settle();
        self.follow();
    }

    /// Goes back to the place and the search from before the typing.
    pub(crate) fn give_up_search(&mut self, effects: &mut Effects) {
        let Some(Typing { before, panes, generation, .. }) = self.find.typing.take() else { return };
        let typed = mem::replace(&mut self.find, *before);
        self.find.history = typed.history;
        self.find.number = typed.number;
        self.find.tally.follow_on(&typed.tally);
        self.find.stop();
        self.restore_panes(panes);
        effects.stop([Slot::Search, Slot::CountMatches]);
        let counted = self.find.tally.counts.counted_bytes();
        self.recount_matches(counted, generation == self.output.view.generation(), effects);
    }

    /// Accepts the typed pattern: its search stays. Returns false if `text` is not what was being typed.
    pub(super) fn accept_typing(&mut self, text: &str) -> Result<bool, String> {
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
