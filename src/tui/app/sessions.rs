//! The screens of sessions within the whole: how they are opened, left, and what their events lead to.

use crossterm::event::KeyEvent;

use crate::tui::effect::{Effect, Effects};
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::pager::Pager;
use crate::tui::pager::jump::Waiting;
use crate::tui::popup::Popup;
use crate::tui::popup::json::JsonView;
use crate::tui::popup::prompt::{Prompt, Purpose};
use crate::tui::recorded::CallText;
use crate::tui::sessions::job::SessionsEvent;
use crate::tui::sessions::{SessionsNews, SessionsNext};
use crate::tui::stores::details::FoundCall;
use crate::tui::target::OpenedFrom;

use super::{App, Screen};

/// Returns the choice of another text of a call.
fn choice(keys: &KeyMap) -> String {
    let key = |action| keys.of(KeyContext::CallTexts, action);
    let [display, record] = [Action::TextDisplay, Action::TextRecord].map(key);
    let [arguments, request] = [Action::TextArguments, Action::TextRequest].map(key);
    format!("show: {display} display copy · {record} record · {arguments} arguments · {request} request")
}

impl App {
    /// Shows the sessions, or the calls of the one that is open.
    pub(crate) fn go_to_sessions(&mut self, effects: &mut Effects) {
        self.go_to(Screen::Sessions, effects);
        self.sessions.find(effects);
        self.sessions.settle(effects);
    }

    /// Handles an event of the screens of sessions.
    pub(crate) fn sessions_event(&mut self, event: SessionsEvent, effects: &mut Effects) {
        if let SessionsEvent::Verified(index, verdict) = &event
            && self.shown_call() == Some(*index)
        {
            self.in_pager(|pager| pager.checked(verdict.clone()));
        }
        let news = self.sessions.update(event, effects);
        self.message = self.sessions.message.take().or(self.message.take());
        match news {
            SessionsNews::Nothing => {}
            // A user who has left these screens meanwhile stays where they are.
            SessionsNews::Open(ready)
                if self.awaits_call() && self.sessions.shown_call == Some(ready.recorded.index) =>
            {
                effects.push(Effect::OpenCall(ready));
            }
            SessionsNews::Open(_) => {}
            SessionsNews::Show(line) => self.popup = Some(Popup::Json(JsonView::new(line))),
        }
    }

    /// Whether a call that was asked for is to be opened: over the lists, or in place of the same call.
    fn awaits_call(&self) -> bool {
        match self.stack.screen() {
            Screen::Sessions => true,
            Screen::Pager => self.shown_call().is_some(),
            _ => false,
        }
    }

    /// Returns the index of the call on the screen of an output, if one is there.
    fn shown_call(&self) -> Option<usize> {
        let is_call = self.stack.output().map(Pager::origin) == Some(OpenedFrom::Session);
        self.sessions.shown_call.filter(|_| is_call)
    }

    /// Goes to Stores; from a recorded call, to its spill there.
    pub(crate) fn go_to_spill(&mut self, effects: &mut Effects) {
        let is_call = self.stack.screen() == Screen::Sessions || self.shown_call().is_some();
        if let Some(calls) = self.sessions.calls.as_ref().filter(|_| is_call) {
            let index = match self.stack.screen() {
                Screen::Sessions => calls.chosen_index(),
                _ => self.shown_call(),
            };
            let spill = index.and_then(|index| calls.spill_of(index));
            spill.into_iter().for_each(|path| self.stores.listing.seek(path));
        }
        self.go_to_stores(effects);
    }

    /// Goes to the recorded call of the selected output of Stores.
    pub(crate) fn go_to_call(&mut self, effects: &mut Effects) {
        let from_stores = self.stack.screen() == Screen::Stores
            || self.stack.output().map(Pager::origin) == Some(OpenedFrom::Stores);
        let listing = &self.stores.listing;
        let Some(entry) = listing.chosen().filter(|_| from_stores) else {
            self.message = Some(Message::note("only an output of Stores leads to its call"));
            return;
        };
        let call = match listing.details.call(entry) {
            Some(FoundCall::Call(call)) => call.clone(),
            Some(FoundCall::None) => {
                let words = "no call is known: no session recorded near it in time names this output";
                self.message = Some(Message::note(words));
                return;
            }
            None if entry.is_own() => {
                self.message = Some(Message::note("overspill's own outputs are of no agent's call"));
                return;
            }
            None => {
                self.message = Some(Message::note("its call is being looked for; try again in a moment"));
                return;
            }
        };
        self.sessions.calls_alone |= self.stack.depth_of(Screen::Sessions).is_none();
        self.go_to(Screen::Sessions, effects);
        self.sessions.open_call(*call, effects);
    }

    /// Carries out an action in the lists of sessions and calls.
    pub(crate) fn act_on_sessions(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if action == Action::Stores {
            return self.go_to_spill(effects);
        }
        let next = self.sessions.act(action, count, effects);
        self.message = self.sessions.message.take().or(self.message.take());
        match next {
            SessionsNext::Stay => {}
            SessionsNext::Look => self.go_to_sessions(effects),
            SessionsNext::Filter(words) => {
                self.popup = Some(Popup::Prompt(Prompt::with(Purpose::Filter, &words)));
            }
            SessionsNext::Sort(menu) => self.popup = Some(Popup::Sort(menu)),
            SessionsNext::Texts => self.wait(Waiting::Text, &choice(self.canvas.keys)),
            SessionsNext::Away => self.go_back(effects),
        }
    }

    /// Goes back from the calls of a session to the sessions.
    pub(crate) fn close_calls(&mut self, effects: &mut Effects) {
        self.sessions.close_calls(effects);
        self.go_to_sessions(effects);
    }

    /// Asks which other text of the recorded call to show.
    pub(crate) fn offer_texts(&mut self) {
        if self.shown_call().is_some() {
            self.wait(Waiting::Text, &choice(self.canvas.keys));
        } else {
            let key = self.canvas.keys.of(KeyContext::Pager, Action::Sessions);
            let words = format!("only a call of a session has other texts; {key} lists sessions");
            self.message = Some(Message::note(words));
        }
    }

    /// Handles the key that names a text of the call.
    pub(crate) fn text_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let text = match self.canvas.keys.action(KeyContext::CallTexts, key) {
            Some(Action::TextDisplay) => CallText::Display,
            Some(Action::TextRecord) => CallText::Record,
            Some(Action::TextArguments) => CallText::Arguments,
            Some(Action::TextRequest) => CallText::Request,
            Some(Action::Back) => return,
            _ => return self.message = Some(Message::note(choice(self.canvas.keys))),
        };
        self.sessions.ask_text(text, effects);
    }
}
