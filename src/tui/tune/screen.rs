//! The Tune view as a screen of the application.

use std::any::Any;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::event::{Event, Message};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::outputs::tuning::TuneStart;
use crate::tui::screen::{Effects, Link, Screen, ScreenRequest, ScreenRows, StatusLine};
use crate::tui::target::Opened;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::{TuneScreen, view};

impl Screen for TuneScreen {
    fn context(&self) -> KeyContext {
        KeyContext::Tune
    }

    fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    fn say(&mut self, message: Option<Message>) {
        self.message = message;
    }

    fn serves(&self, event: &dyn Any) -> bool {
        event.is::<TuneStart>()
    }

    fn update(&mut self, event: Event, _is_top: bool, effects: &mut Effects) -> Result<(), Event> {
        match event.downcast() {
            Ok(event) => self.handle(event, effects),
            Err(event) => self.start(event.downcast()?, effects),
        }
        Ok(())
    }

    fn key(&mut self, key: KeyEvent, effects: &mut Effects) -> bool {
        let is_choice = std::mem::take(&mut self.is_copying);
        if is_choice {
            self.copy(self.canvas.keys.action(KeyContext::Copying, key), effects);
        }
        is_choice
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        match action {
            Action::Stores => effects.show(Link::Stores(None)),
            Action::Back if !self.back(Action::Back, effects) => effects.request(ScreenRequest::Back),
            Action::Back => {}
            _ => self.carry_out(action, count, effects),
        }
    }

    fn close_inner(&mut self, effects: &mut Effects) -> bool {
        self.back(Action::Quit, effects)
    }

    fn stop(&mut self, effects: &mut Effects) -> bool {
        self.give_up(effects)
    }

    fn repaint(&mut self, canvas: Canvas, _effects: &mut Effects) {
        self.canvas = canvas;
        self.settle();
    }

    fn draw(&self, status: Option<StatusLine>, frame: &mut Frame, area: Rect, _cost: &Cost) -> ScreenRows {
        view::draw(self, status, frame, area)
    }

    fn close(&mut self, effects: &mut Effects) {
        self.close_tables(effects);
    }

    fn enter(&mut self, prompt: &Prompt, effects: &mut Effects) -> Result<(), String> {
        let height = self.height();
        match (prompt.purpose(), &mut self.changed, self.tables.last_mut()) {
            (Purpose::Find, ..) => self.set_find(prompt.text().trim(), effects),
            (Purpose::GoTo, Some(view), _) => view.cursor.go_to(prompt.text(), view.len(), height),
            (Purpose::GoTo, None, Some(table)) => table.cursor.go_to(prompt.text(), table.rows.len(), height),
            _ => Ok(()),
        }
    }

    fn adapt(&self, opened: &mut Opened) {
        if opened.under.is_none() {
            opened.under = self.applied_to(opened);
        }
    }
}
