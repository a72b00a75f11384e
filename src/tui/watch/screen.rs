//! The list of new outputs as a screen of the application.

use std::any::Any;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::event::{Event, Message};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{Effects, Link, Screen, ScreenRows, StatusLine};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::{WatchScreen, view};

impl Screen for WatchScreen {
    fn context(&self) -> KeyContext {
        KeyContext::Watch
    }

    fn message(&mut self) -> &mut Option<Message> {
        &mut self.message
    }

    fn serves(&self, event: &dyn Any) -> bool {
        matches!(event.downcast_ref(), Some(Link::Watch))
    }

    fn update(&mut self, event: Event, is_top: bool, _effects: &mut Effects) -> Result<(), Event> {
        match event.downcast() {
            Ok(news) => self.take_news(news, is_top),
            Err(event) => match event.downcast()? {
                Link::Watch => {}
                other => return Err(other.into()),
            },
        }
        Ok(())
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        let (len, height) = (self.rows.len(), self.height());
        if self.cursor.act(action, count, len, height) {
            return;
        }
        match action {
            Action::Stores => effects.show(Link::Stores(None)),
            Action::Follow | Action::Back => self.cursor.go(usize::MAX, len, height),
            Action::Open => self.open(effects),
            Action::Copy => self.copy(effects),
            _ => {
                let help = self.canvas.keys.of(KeyContext::Watch, Action::Help);
                self.message = Some(Message::note(format!("that does nothing here; {help} for help")));
            }
        }
    }

    fn repaint(&mut self, canvas: Canvas, _effects: &mut Effects) {
        self.canvas = canvas;
        self.settle();
    }

    fn draw(&self, status: Option<StatusLine>, frame: &mut Frame, area: Rect, _cost: &Cost) -> ScreenRows {
        view::draw(self, status, frame, area)
    }

    fn enter(&mut self, prompt: &Prompt, _effects: &mut Effects) -> Result<(), String> {
        let (len, height) = (self.rows.len(), self.height());
        match prompt.purpose() {
            Purpose::GoTo => self.cursor.go_to(prompt.text(), len, height),
            _ => Ok(()),
        }
    }
}
