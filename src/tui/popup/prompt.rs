//! The prompt as a pop-up in the row of the status.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Position;

use crate::tui::event::Message;
use crate::tui::keys::KeyContext;
use crate::tui::screen::{
    Effects, ExitChoice, Layer, LayerContext, LayerFrame, LayerNext, Screen, ScreenRequest,
};
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::prompt::{Prompt, Purpose};

impl Layer for Prompt {
    fn is_typing(&self) -> bool {
        true
    }

    fn has_status_row(&self) -> bool {
        true
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        let (below, effects, purpose) = (on.below, on.effects, self.purpose());
        let empties = key.code == KeyCode::Backspace && self.text().is_empty();
        let cancels = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            // A filter that was emptied stays empty.
            _ if empties && purpose == Purpose::Filter => return LayerNext::Closes,
            _ if empties || cancels || key.code == KeyCode::Esc => {
                below.give_up_typing(purpose, effects);
                return LayerNext::Closes;
            }
            KeyCode::Enter if purpose == Purpose::GoTo && self.text().trim() == "q" => {
                effects.request(ScreenRequest::Leave(ExitChoice::default()));
                return LayerNext::Closes;
            }
            KeyCode::Enter => match below.enter(self, effects) {
                Ok(()) => return LayerNext::Closes,
                Err(fault) => below.say(Some(Message::error(fault))),
            },
            _ if self.edit(key, below.history(purpose)) => below.type_on(self, effects),
            _ => below.say(Some(Message::full_line())),
        }
        LayerNext::Stays
    }

    fn paste(&mut self, text: &str, below: &mut dyn Screen, effects: &mut Effects) {
        if !Prompt::paste(self, text) {
            below.say(Some(Message::full_line()));
        }
        below.type_on(self, effects);
    }

    /// Draws the prompt with its cursor, and at the right end what was found of the line, or else what can be typed.
    fn draw(&self, LayerFrame { canvas, below, message, frame, status, .. }: LayerFrame) {
        let (label, theme) = (self.label(), &canvas.theme);
        let fault = message.filter(|message| message.is_error);
        let spans = [
            Span::new(label.as_str(), theme.accent),
            Span::plain(self.text()),
            Span::new(fault.map_or_else(String::new, |fault| format!(" — {}", fault.text)), theme.error),
        ];
        line::spans(frame.buffer_mut(), status, &spans);
        if fault.is_none() {
            let hint = || Span::new(hint(self.purpose(), below.context()), theme.dim);
            let note = below.prompt_note().unwrap_or_else(hint);
            line::right(frame.buffer_mut(), status, line::width(&spans), &[note]);
        }
        let x = status.x + (label.chars().count() + self.cursor()) as u16;
        let last = status.x + status.width.saturating_sub(1);
        frame.set_cursor_position(Position { x: x.min(last), y: status.y });
    }
}

fn hint(purpose: Purpose, below: KeyContext) -> &'static str {
    match purpose {
        Purpose::Search { .. } => "Enter search · ↑ earlier · Esc cancel ",
        Purpose::Lines { .. } => "! not · Tab lost lines · empty shows all · Esc cancel ",
        Purpose::GoTo if below == KeyContext::Lists => "row · 14:30 · 2026-11-24 · 3d · q quits ",
        Purpose::GoTo => "line · 50% · 4096b · n p other files · q quits ",
        _ => "Enter apply · Esc cancel ",
    }
}
