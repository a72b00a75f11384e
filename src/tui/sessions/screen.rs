//! The sessions, and the calls of one, as a screen of the application.

use std::any::Any;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::event::{Event, Message};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::recorded::CallText;
use crate::tui::screen::{Effects, Link, Screen, ScreenRows, StatusLine};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::{SessionsScreen, view};

impl Screen for SessionsScreen {
    fn context(&self) -> KeyContext {
        KeyContext::Sessions
    }

    fn message(&mut self) -> &mut Option<Message> {
        &mut self.message
    }

    fn serves(&self, event: &dyn Any) -> bool {
        matches!(event.downcast_ref(), Some(Link::Sessions | Link::Call(_)))
    }

    fn update(&mut self, event: Event, is_top: bool, effects: &mut Effects) -> Result<(), Event> {
        match event.downcast() {
            Ok(event) => self.handle(event, is_top, effects),
            Err(event) => match event.downcast()? {
                Link::Sessions => {}
                Link::Call(call) => self.open_call(*call, effects),
                Link::SpillOfCall(index) => effects.show(Link::Stores(self.spill_of(Some(index)))),
                other => return Err(other.into()),
            },
        }
        Ok(())
    }

    fn key(&mut self, key: KeyEvent, effects: &mut Effects) -> bool {
        let is_choice = std::mem::take(&mut self.is_choosing_text);
        if is_choice {
            match CallText::chosen(key, self.canvas.keys) {
                Ok(text) => text.into_iter().for_each(|text| self.ask_text(text, effects)),
                Err(words) => self.message = Some(Message::note(words)),
            }
        }
        is_choice
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if action == Action::Stores {
            let index = self.calls.as_ref().and_then(|calls| calls.chosen_index());
            return effects.show(Link::Stores(self.spill_of(index)));
        }
        self.carry_out(action, count, effects);
    }

    fn close_inner(&mut self, effects: &mut Effects) -> bool {
        let is_open = self.calls.is_some() && !self.calls_alone;
        if is_open {
            self.close_calls(effects);
            self.find(effects);
            self.settle(effects);
        }
        is_open
    }

    fn repaint(&mut self, canvas: Canvas, effects: &mut Effects) {
        self.canvas = canvas;
        if self.is_on_stack {
            self.settle(effects);
        }
    }

    fn draw(&self, status: Option<StatusLine>, frame: &mut Frame, area: Rect, _cost: &Cost) -> ScreenRows {
        view::draw(self, status, frame, area)
    }

    fn show(&mut self, effects: &mut Effects) {
        if self.calls.is_none() {
            self.find(effects);
        }
        self.is_on_stack = true;
        self.settle(effects);
    }

    fn cover(&mut self, effects: &mut Effects) {
        self.leave(effects);
    }

    fn close(&mut self, effects: &mut Effects) {
        self.is_on_stack = false;
        self.leave(effects);
        if self.calls.is_some() {
            self.close_calls(effects);
        }
    }

    fn enter(&mut self, prompt: &Prompt, effects: &mut Effects) -> Result<(), String> {
        match prompt.purpose() {
            Purpose::GoTo => self.go_to_row(prompt.text().trim(), effects),
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
}
