//! The prompt as a pop-up in the row of the status: a line being typed, and what for.

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Position;
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use crate::text::filter::LineScope;
use crate::text::search::Toward;
use crate::tui::event::{MAX_TYPED, Message, Purpose};
use crate::tui::keys::{KeyContext, character};
use crate::tui::screen::{
    Effects, ExitChoice, Layer, LayerContext, LayerFrame, LayerNext, Screen, ScreenRequest,
};
use crate::tui::widget::line::{self, Span};

#[derive(Debug, Clone)]
pub struct Prompt {
    purpose: Purpose,
    input: Input,
    /// Steps back in the history; 0 is the line being typed.
    back: usize,
}

impl Prompt {
    pub fn new(purpose: Purpose) -> Self {
        Self { purpose, input: Input::default(), back: 0 }
    }

    pub(crate) fn label(&self) -> String {
        let label = match self.purpose {
            Purpose::Search { toward, times } => {
                let sign = if toward == Toward::End { "/" } else { "?" };
                return times.map_or(String::new(), |times| times.to_string()) + sign;
            }
            Purpose::Lines { scope: LineScope::All, .. } => "only lines with: ",
            Purpose::Lines { scope: LineScope::Lost, .. } => "only lost lines with: ",
            Purpose::GoTo => "go to: ",
            Purpose::Mark => "set mark: ",
            Purpose::ToMark => "go to mark (' back): ",
            Purpose::Window => "offset [limit], e.g. 2001 2000: ",
            Purpose::Grep(scope) => return format!("search {}: ", scope.as_str()),
            Purpose::Find => "judge by (regex; empty: errors): ",
            Purpose::Filter => "filter: ",
        };
        label.to_owned()
    }

    pub fn with(purpose: Purpose, text: &str) -> Self {
        Self { input: Input::new(text.to_owned()), ..Self::new(purpose) }
    }

    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// In columns of the text before it.
    pub fn cursor(&self) -> usize {
        self.input.visual_cursor()
    }

    /// Inserts text at the cursor, without its control characters, as far as there is room. Returns whether all of it fit.
    fn insert(&mut self, text: &str) -> bool {
        text.chars().filter(|c| !c.is_control()).all(|c| {
            let fits = self.text().len() + c.len_utf8() <= MAX_TYPED;
            if fits {
                self.input.handle(InputRequest::InsertChar(c));
            }
            fits
        })
    }

    fn recall(&mut self, history: &[String], older: bool) {
        let back = if older { (self.back + 1).min(history.len()) } else { self.back.saturating_sub(1) };
        let text = if back == 0 { String::new() } else { history[history.len() - back].clone() };
        (self.back, self.input) = (back, Input::new(text));
    }

    /// Handles a key of the line; returns false if the line is full. `history` holds the lines entered before, newest last.
    pub(crate) fn edit(&mut self, key: KeyEvent, history: &[String]) -> bool {
        match key.code {
            KeyCode::Tab => {
                if let Purpose::Lines { scope, .. } = &mut self.purpose {
                    *scope = if *scope == LineScope::All { LineScope::Lost } else { LineScope::All };
                }
            }
            KeyCode::Up => self.recall(history, true),
            KeyCode::Down => self.recall(history, false),
            KeyCode::Char(_) if !key.modifiers.contains(KeyModifiers::CONTROL) && self.is_full() => {
                return false;
            }
            _ => _ = self.input.handle_event(&Terminal::Key(key)),
        }
        true
    }

    fn is_of_letter(&self) -> bool {
        matches!(self.purpose, Purpose::Mark | Purpose::ToMark)
    }

    fn is_full(&self) -> bool {
        self.text().len() >= MAX_TYPED
    }
}

impl Layer for Prompt {
    fn is_typing(&self) -> bool {
        !self.is_of_letter()
    }

    fn has_status_row(&self) -> bool {
        true
    }

    fn key(&mut self, mut key: KeyEvent, on: LayerContext) -> LayerNext {
        let (below, effects, purpose) = (on.below, on.effects, self.purpose);
        if let Some(letter) = character(key).filter(|_| self.is_of_letter()) {
            (self.input, key) = (Input::new(letter.to_string()), KeyCode::Enter.into());
        }
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
            KeyCode::Enter => match below.enter(purpose, self.text(), effects) {
                Ok(()) if purpose == Purpose::Mark => {
                    below.say(Some(Message::note(format!("mark {} is set", self.text()))));
                    return LayerNext::Closes;
                }
                Ok(()) => return LayerNext::Closes,
                Err(fault) => below.say(Some(Message::error(fault))),
            },
            _ if self.edit(key, below.history(purpose)) => below.type_on(purpose, self.text(), effects),
            _ => below.say(Some(Message::full_line())),
        }
        LayerNext::Stays
    }

    fn paste(&mut self, text: &str, below: &mut dyn Screen, effects: &mut Effects) {
        if !self.insert(text) {
            below.say(Some(Message::full_line()));
        }
        below.type_on(self.purpose, self.text(), effects);
    }

    fn draw(&self, LayerFrame { canvas, below, frame, status }: LayerFrame) {
        let (label, theme) = (self.label(), &canvas.theme);
        let fault = below.message().filter(|message| message.is_error);
        let spans = vec![
            Span::new(label.as_str(), theme.accent),
            Span::plain(self.text()),
            Span::new(fault.map_or_else(String::new, |fault| format!(" — {}", fault.text)), theme.error),
        ];
        let spans = line::cut(spans, status.width.into());
        line::spans(frame.buffer_mut(), status, &spans);
        if fault.is_none() {
            let words = || hint(self.purpose, below.context()).replace("↑", canvas.key_name("↑"));
            let hint = || Span::new(words(), theme.dim);
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
        Purpose::GoTo if below == KeyContext::Lists => "row · 50% · 14:30 · 2026-11-24 · 3d · q quits ",
        Purpose::Mark | Purpose::ToMark => "a letter · Esc cancel ",
        Purpose::GoTo => "line · 50% · 4096b · n p other files · q quits ",
        _ => "Enter apply · Esc cancel ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_inserted_at_the_cursor_up_to_the_limit() {
        let mut prompt = Prompt::with(Purpose::Filter, "aé|z");
        prompt.input.handle(InputRequest::GoToPrevChar);
        assert!(prompt.insert("\u{1b}[b\r\nü"));
        assert_eq!((prompt.text(), prompt.cursor()), ("aé|[büz", 6));
        assert!(!prompt.insert(&"é".repeat(100_000)));
        assert!(prompt.text().len() <= MAX_TYPED && prompt.text().len() > MAX_TYPED - 2);
        assert!(prompt.text().starts_with("aé|[büé") && prompt.text().ends_with("éz"));
        assert!(!prompt.insert(&"xx".repeat(100_000)) && prompt.is_full());
        assert!(prompt.insert("\n"));
    }
}
