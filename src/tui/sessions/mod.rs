//! The screens of what agents recorded: the sessions, and the calls of one.

pub mod calls;
mod filter;
mod held;
pub mod job;
pub mod list;
pub mod order;
pub mod rows;
mod screen;
mod show;
pub(crate) mod view;
mod work;

use std::path::PathBuf;
use std::sync::Arc;

use crate::session::citing::CitingCall;
use crate::session::examine::Paths;
use crate::session::reader::SessionFile;
use crate::text::label::SafeText;

use super::event::Message;
use super::job::Slot;
use super::keys::Action;
use super::pager::event::OutputEvent;
use super::pager::json_box::JsonBox;
use super::recorded::{CallRequest, CallText};
use super::screen::{Effect, Effects, ScreenRequest};
use super::widget::canvas::Canvas;
use super::widget::layout;
use super::widget::prompt::{Prompt, Purpose};
use super::widget::sort_menu::SortMenu;
use calls::{CallList, ReadingState};
use job::SessionsEvent;
use list::SessionList;
use order::{CALL_COLUMNS, SESSION_COLUMNS};

/// The screens of sessions and calls.
pub struct SessionsScreen {
    /// The size and capabilities of the terminal.
    pub canvas: Canvas,
    pub list: SessionList,
    /// The calls of the session that is open.
    pub calls: Option<CallList>,
    /// Whether there is no list of sessions beneath these calls, because they were opened from their output.
    pub(crate) calls_alone: bool,
    /// The index of the call that was asked for last.
    pub shown_call: Option<usize>,
    /// Whether the next key names a text of the call.
    is_choosing_text: bool,
    is_on_stack: bool,
    /// A message for the status line.
    pub message: Option<Message>,
    told: Vec<SafeText>,
}

impl SessionsScreen {
    /// Creates empty lists.
    pub(crate) fn new(canvas: Canvas) -> Self {
        Self {
            canvas,
            list: SessionList::default(),
            calls: None,
            calls_alone: false,
            shown_call: None,
            is_choosing_text: false,
            is_on_stack: false,
            message: None,
            told: Vec::new(),
        }
    }

    /// Handles an event.
    fn handle(&mut self, event: SessionsEvent, is_top: bool, effects: &mut Effects) {
        match event {
            SessionsEvent::Listed(found) => {
                self.list.listed(found.number, found.rows, found.now);
                self.tell(found.faults);
            }
            SessionsEvent::Described(number, words) => self.list.described(number, words),
            SessionsEvent::Related(number, groups) => self.list.related(number, &groups),
            SessionsEvent::Summed(number, index, sums) => self.list.summed(number, index, sums),
            // A user who has left meanwhile stays where they are.
            SessionsEvent::Ready(ready) if is_top && self.shown_call == Some(ready.recorded.index) => {
                effects.push(Effect::OpenCall(ready));
            }
            SessionsEvent::Ready(ready) => effects.send(OutputEvent::Ready(ready)),
            SessionsEvent::Text(Ok(line)) => effects.lay(JsonBox::new(*line)),
            SessionsEvent::Text(Err(words)) => self.message = Some(Message::note(words)),
            SessionsEvent::Verified(index, verdict) => {
                effects.send(OutputEvent::Checked(index, Box::new(verdict.clone())));
                self.update_calls(SessionsEvent::Verified(index, verdict));
            }
            event => self.update_calls(event),
        }
        if self.is_on_stack {
            self.settle(effects);
        }
    }

    fn update_calls(&mut self, event: SessionsEvent) {
        let Some(calls) = &mut self.calls else { return };
        match event {
            SessionsEvent::Reading(percent) if calls.state != ReadingState::Read => {
                calls.state = ReadingState::Reading(percent);
            }
            SessionsEvent::Opened(opened) => calls.opened(*opened),
            SessionsEvent::Failed(why) => calls.state = ReadingState::Failed(why),
            SessionsEvent::Sized(sizes) => calls.sized(sizes),
            SessionsEvent::Verified(index, verdict) => calls.verified(index, verdict),
            SessionsEvent::Copied(copies) => calls.copied(copies),
            _ => {}
        }
    }

    /// Reports what could not be looked at, unless that was reported before.
    fn tell(&mut self, faults: Vec<SafeText>) {
        if let Some(first) = faults.first().filter(|_| faults != self.told) {
            self.message = Some(Message::error(first.clone()));
        }
        self.told = faults;
    }

    /// Finds the sessions again.
    pub(crate) fn find(&mut self, effects: &mut Effects) {
        let number = self.list.start();
        effects.run(Slot::FindSessions, move |context| work::find(number, context));
    }

    /// Returns the number of rows of the list on the screen.
    pub(crate) fn height(&self) -> usize {
        let area = ratatui::layout::Rect::new(0, 0, self.canvas.size.0, self.canvas.size.1);
        usize::from(layout::sessions(area).list.height)
    }

    /// Adjusts the list after a change of size, order or content, and asks for what its rows lack.
    pub(crate) fn settle(&mut self, effects: &mut Effects) {
        let height = self.height();
        match &mut self.calls {
            Some(calls) => {
                calls.cursor.settle(calls.len(), height);
                calls.ask(height, effects);
            }
            None => {
                self.list.cursor.settle(self.list.len(), height);
                self.list.ask(height, effects);
            }
        }
    }

    /// Carries out an action.
    fn carry_out(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        let height = self.height();
        let moved = match &mut self.calls {
            Some(calls) => calls.cursor.act(action, count, calls.len(), height),
            None => self.list.cursor.act(action, count, self.list.len(), height),
        };
        match moved {
            true => {}
            false if self.calls.is_some() => self.act_on_calls(action, effects),
            false => self.act_on_sessions(action, effects),
        }
        self.settle(effects);
    }

    fn act_on_sessions(&mut self, action: Action, effects: &mut Effects) {
        let list = &mut self.list;
        match action {
            Action::Open => self.open_chosen(effects),
            Action::Sort => {
                let (used, reversed) = list.sort();
                effects.lay(SortMenu::new(SESSION_COLUMNS, used, reversed));
            }
            Action::SortReverse => list.reverse(),
            Action::Group => list.group_next(),
            Action::Refresh => self.find(effects),
            Action::Copy => {
                let path = list.chosen().map(|row| row.file.path.clone());
                path.into_iter().for_each(|path| self.copy(path.as_os_str().as_encoded_bytes(), effects));
            }
            Action::Filter => {
                list.start_filter();
                effects.lay(Prompt::with(Purpose::Filter, list.filter_text()));
            }
            Action::Back if !list.filter_text().is_empty() => list.filter_by(""),
            Action::Back => effects.request(ScreenRequest::Back),
            _ => {}
        }
    }

    fn act_on_calls(&mut self, action: Action, effects: &mut Effects) {
        let Some(calls) = &mut self.calls else { return };
        match action {
            Action::Open => self.show_chosen(effects),
            Action::Texts if calls.chosen().is_some() => {
                self.shown_call = calls.chosen_index();
                self.is_choosing_text = true;
                self.message = Some(Message::note(CallText::choice(self.canvas.keys)));
            }
            Action::Sort => {
                let (used, reversed) = calls.sort();
                effects.lay(SortMenu::new(CALL_COLUMNS, used, reversed));
            }
            Action::SortReverse => calls.reverse(),
            Action::Copy => {
                let id = calls.chosen().map(|row| format!("{}:{}", calls.file.id, row.id));
                id.into_iter().for_each(|id| self.copy(id.as_bytes(), effects));
            }
            Action::Filter => {
                calls.start_filter();
                effects.lay(Prompt::with(Purpose::Filter, calls.filter_text()));
            }
            Action::Back if !calls.filter_text().is_empty() => calls.filter_by(""),
            Action::Back if self.calls_alone => effects.request(ScreenRequest::Back),
            Action::Back => self.close_calls(effects),
            _ => {}
        }
    }

    fn copy(&mut self, bytes: &[u8], effects: &mut Effects) {
        let text = crate::text::label::shell::word(bytes);
        self.message = Some(Message::note(format!("copied: {text}")));
        effects.push(Effect::Copy(text));
    }

    /// Opens the selected session: lists its calls.
    fn open_chosen(&mut self, effects: &mut Effects) {
        let Some(row) = self.list.chosen() else { return };
        let words = row.words.clone().unwrap_or_default();
        let agent = format!("{} {}", row.agent, words.version);
        let calls = CallList::new(row.file.clone(), agent.trim_end().into(), words.title);
        hold(row.file.clone(), effects);
        self.list.give_up_sums();
        self.calls = Some(calls);
    }

    /// Opens the session of a call, with the call selected.
    pub(crate) fn open_call(&mut self, call: CitingCall, effects: &mut Effects) {
        let agent = crate::session::list::format_of(&call.file).map_or("", |format| format.agent());
        let file = Arc::new(call.file);
        self.calls_alone |= !self.is_on_stack;
        let mut calls = CallList::new(file.clone(), agent.into(), SafeText::default());
        calls.seek(SafeText::from(call.call));
        hold(file, effects);
        self.calls = Some(calls);
    }

    /// Abandons what is still being found out about the sessions; it is asked for again when they are shown again.
    pub(crate) fn leave(&mut self, effects: &mut Effects) {
        self.list.give_up_sums();
        effects.stop([Slot::FindSessions, Slot::SumSessions]);
    }

    /// Goes back from the calls to the sessions.
    pub(crate) fn close_calls(&mut self, effects: &mut Effects) {
        (self.calls, self.calls_alone) = (None, false);
        effects.stop([Slot::OpenSession]);
    }

    /// Returns where the spill of a call is said to be.
    fn spill_of(&self, index: Option<usize>) -> Option<PathBuf> {
        self.calls.as_ref()?.spill_of(index?)
    }

    /// Shows the selected call, once the worker has read it.
    fn show_chosen(&mut self, effects: &mut Effects) {
        let Some(index) = self.calls.as_ref().and_then(CallList::chosen_index) else { return };
        self.shown_call = Some(index);
        effects.ask(Slot::OpenSession, CallRequest::Show(index, Paths::Known));
    }

    /// Asks for a text of the call that is shown or selected.
    pub(crate) fn ask_text(&mut self, text: CallText, effects: &mut Effects) {
        if let Some(index) = self.shown_call {
            effects.ask(Slot::OpenSession, CallRequest::Text(index, text));
        }
    }

    /// Sorts by a column, an index into the columns of the list on the screen.
    fn sort(&mut self, column: usize, effects: &mut Effects) {
        match &mut self.calls {
            Some(calls) => calls.sort_by(column),
            None => self.list.sort_by(column),
        }
        self.settle(effects);
    }

    /// Shows only the rows that contain all of these words.
    fn filter_by(&mut self, words: &str, effects: &mut Effects) {
        match &mut self.calls {
            Some(calls) => calls.filter_by(words),
            None => self.list.filter_by(words),
        }
        self.settle(effects);
    }

    /// Shows the list as it was before the prompt of the filter was opened.
    fn leave_filter(&mut self, effects: &mut Effects) {
        match &mut self.calls {
            Some(calls) => calls.give_up_filter(),
            None => self.list.give_up_filter(),
        }
        self.settle(effects);
    }

    /// Goes to a row of the list.
    pub(crate) fn go_to_row(&mut self, text: &str, effects: &mut Effects) -> Result<(), String> {
        let height = self.height();
        match &mut self.calls {
            Some(calls) => calls.cursor.go_to(text, calls.len(), height)?,
            None => self.list.cursor.go_to(text, self.list.len(), height)?,
        }
        self.settle(effects);
        Ok(())
    }
}

/// Opens a session and holds it; an earlier one is closed.
fn hold(file: Arc<SessionFile>, effects: &mut Effects) {
    effects.stop([Slot::SumSessions]);
    effects.run(Slot::OpenSession, move |context| work::hold(&file, context));
}
