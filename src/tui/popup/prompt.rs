//! The prompt as a pop-up in the row of the status.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use crate::tui::event::Message;
use crate::tui::keys::KeyContext;
use crate::tui::screen::{
    Effects, ExitChoice, Layer, LayerContext, LayerFrame, LayerNext, Screen, ScreenRequest,
};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::prompt::{Prompt, Purpose, Typed};

impl Layer for Prompt {
    fn is_typing(&self) -> bool {
        true
    }

    fn has_status_row(&self) -> bool {
        true
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        let (below, effects, purpose) = (on.below, on.effects, self.purpose());
        match self.key(key, below.history(purpose)) {
            Typed::Text => below.type_on(self, effects),
            Typed::TooMuch => below.say(Some(Message::full_line())),
            Typed::Left => {
                // A filter that was emptied stays empty.
                if purpose != Purpose::Filter || key.code != KeyCode::Backspace {
                    below.give_up_typing(purpose, effects);
                }
                return LayerNext::Closes;
            }
            Typed::Whole if purpose == Purpose::GoTo && self.text().trim() == "q" => {
                effects.request(ScreenRequest::Leave(ExitChoice::default()));
                return LayerNext::Closes;
            }
            Typed::Whole => match below.enter(self, effects) {
                Ok(()) => return LayerNext::Closes,
                Err(fault) => below.say(Some(Message::error(fault))),
            },
        }
        LayerNext::Stays
    }

    fn paste(&mut self, text: &str, below: &mut dyn Screen, effects: &mut Effects) {
        if !Prompt::paste(self, text) {
            below.say(Some(Message::full_line()));
        }
        below.type_on(self, effects);
    }

    fn draw(&self, look: LayerFrame) {
        let is_of_list = look.below.context() == KeyContext::Lists;
        let prompt = (self, look.below.prompt_note(), is_of_list);
        draw(look.canvas, look.message, prompt, look.frame, look.status);
    }
}

/// Draws the prompt with its cursor, and at the right end `note`, or else what can be typed.
fn draw(
    canvas: &Canvas,
    message: Option<&Message>,
    (prompt, note, is_of_list): (&Prompt, Option<Span>, bool),
    frame: &mut Frame,
    area: Rect,
) {
    let label = prompt.label();
    let fault = message.filter(|message| message.is_error);
    let spans = [
        Span::new(label.as_str(), canvas.theme.accent),
        Span::plain(prompt.text()),
        Span::new(fault.map_or_else(String::new, |fault| format!(" — {}", fault.text)), canvas.theme.error),
    ];
    line::spans(frame.buffer_mut(), area, &spans);
    if fault.is_none() {
        let hint = match prompt.purpose() {
            Purpose::Search | Purpose::SearchBack => "Enter search · ↑ earlier · Esc cancel ",
            Purpose::Lines { .. } => "! not · Tab lost lines · empty shows all · Esc cancel ",
            Purpose::GoTo if is_of_list => "a row, or q quits · Esc cancel ",
            Purpose::GoTo => "line · 50% · 4096b · n p other files · q quits ",
            _ => "Enter apply · Esc cancel ",
        };
        let hint = Span::new(hint, canvas.theme.dim);
        line::right(frame.buffer_mut(), area, line::width(&spans), &[note.unwrap_or(hint)]);
    }
    let x = area.x + (label.chars().count() + prompt.cursor()) as u16;
    frame.set_cursor_position(Position { x: x.min(area.x + area.width.saturating_sub(1)), y: area.y });
}
