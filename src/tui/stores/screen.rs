//! The list of stored outputs as a screen of the application.

use std::any::Any;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::store::{Marked, Pending};
use crate::tui::event::{Event, Message};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{Effects, Link, Screen, ScreenRequest, ScreenRows, StatusLine};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::details::FoundCall;
use super::event::StoresEvent;
use super::{StoresScreen, view};

impl Screen for StoresScreen {
    fn context(&self) -> KeyContext {
        KeyContext::Stores
    }

    fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    fn say(&mut self, message: Option<Message>) {
        self.message = message;
    }

    fn serves(&self, event: &dyn Any) -> bool {
        matches!(event.downcast_ref(), Some(Link::Stores(_)))
    }

    fn update(&mut self, event: Event, is_top: bool, effects: &mut Effects) -> Result<(), Event> {
        match event.downcast() {
            Ok(event) => {
                let is_list = matches!(event, StoresEvent::Scanned(_) | StoresEvent::Sorted(_));
                if is_top && matches!(event, StoresEvent::Changed | StoresEvent::Deleted(_)) {
                    self.scan(effects);
                }
                self.handle(event, effects);
                if is_list {
                    self.release_keys(effects);
                }
                Ok(())
            }
            Err(event) => match event.downcast()? {
                Link::Stores(path) => {
                    path.into_iter().for_each(|path| self.listing.seek(path));
                    Ok(())
                }
                Link::CallOfOutput => {
                    self.go_to_call(effects);
                    Ok(())
                }
                other => Err(other.into()),
            },
        }
    }

    fn key(&mut self, key: KeyEvent, _effects: &mut Effects) -> bool {
        let waits = self.is_to_wait(key);
        if waits {
            self.wait_for_rows(key);
        }
        waits
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        self.carry_out(action, count, effects);
    }

    fn stop(&mut self, effects: &mut Effects) -> bool {
        self.give_up_copying(effects)
    }

    fn repaint(&mut self, canvas: Canvas, effects: &mut Effects) {
        self.canvas = canvas;
        self.settle(effects);
    }

    fn draw(&self, status: Option<StatusLine>, frame: &mut Frame, area: Rect, cost: &Cost) -> ScreenRows {
        view::draw(self, status, frame, area, cost)
    }

    fn show(&mut self, effects: &mut Effects) {
        self.scan(effects);
    }

    fn enter(&mut self, prompt: &Prompt, effects: &mut Effects) -> Result<(), String> {
        match prompt.purpose() {
            Purpose::GoTo => self.go_to_row(prompt.text().trim(), effects),
            Purpose::Grep => Link::lines(prompt.text()).map(|link| effects.show(link)),
            _ => Ok(()),
        }
    }

    fn filter(&mut self, words: &str, effects: &mut Effects) {
        self.filter_by(words, effects);
    }

    fn give_up_filter(&mut self, effects: &mut Effects) {
        self.leave_filter(effects);
    }

    fn sort_by(&mut self, column: usize, effects: &mut Effects) {
        self.sort(column, effects);
    }

    fn pending(&self) -> Option<&Pending> {
        Some(&self.listing.pending).filter(|pending| !pending.is_empty())
    }

    fn take_pending(&mut self) -> Vec<Marked> {
        self.listing.pending.take()
    }
}

impl StoresScreen {
    /// Has the keys handled that were typed ahead, once the rows that they waited for are shown.
    fn release_keys(&mut self, effects: &mut Effects) {
        self.settle(effects);
        if !self.listing.is_awaited() && !self.listing.held.is_empty() {
            effects.request(ScreenRequest::Replay(std::mem::take(&mut self.listing.held)));
        }
    }

    /// Goes to the recorded call of the selected output.
    pub(super) fn go_to_call(&mut self, effects: &mut Effects) {
        let Some(entry) = self.listing.chosen() else { return };
        let words = match self.listing.details.calls.get(entry) {
            Some(FoundCall::Call(call)) => return effects.show(Link::Call(call.clone())),
            Some(FoundCall::None) => {
                "no call is known: no session recorded near it in time names this output"
            }
            None if entry.is_own() => "overspill's own outputs are of no agent's call",
            None => "its call is being looked for; try again in a moment",
        };
        self.message = Some(Message::note(words));
    }
}
