//! The prompt: a line being typed at the bottom of the screen, and its purpose.

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent, KeyModifiers};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use crate::text::filter::Shows;
use crate::text::search::Toward;
use crate::tui::event::MAX_TYPED;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A pattern to search for, and which match is meant, 1-based, if a number was typed.
    Search {
        toward: Toward,
        times: Option<u64>,
    },
    /// A pattern: only lines with a match are shown.
    Lines {
        shows: Shows,
        /// How many lines around each, if a number was typed.
        around: Option<u64>,
    },
    GoTo,
    /// The offset and limit of the window.
    Window,
    /// A pattern: the matching lines of all outputs are listed.
    Grep,
    /// A pattern: what settings are judged by.
    Find,
    Filter,
}

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

    /// What stands before the typed text.
    pub(crate) fn label(&self) -> String {
        let label = match self.purpose {
            Purpose::Search { toward, times } => {
                let sign = if toward == Toward::End { "/" } else { "?" };
                return times.map_or(String::new(), |times| times.to_string()) + sign;
            }
            Purpose::Lines { shows: Shows::All, .. } => "only lines with: ",
            Purpose::Lines { shows: Shows::Lost, .. } => "only lost lines with: ",
            Purpose::GoTo => "go to: ",
            Purpose::Window => "offset [limit], e.g. 2001 2000: ",
            Purpose::Grep => "search all outputs: ",
            Purpose::Find => "judge by (regex; empty: errors): ",
            Purpose::Filter => "filter: ",
        };
        label.to_owned()
    }

    pub fn with(purpose: Purpose, text: &str) -> Self {
        Self { input: Input::new(text.to_owned()), ..Self::new(purpose) }
    }

    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// In columns of the text before it.
    pub fn cursor(&self) -> usize {
        self.input.visual_cursor()
    }

    /// Inserts pasted text at the cursor, without its control characters, as far as there is room. Returns whether all
    /// of it fit.
    pub fn paste(&mut self, text: &str) -> bool {
        text.chars().filter(|c| !c.is_control()).all(|c| {
            let fits = self.text().len() + c.len_utf8() <= MAX_TYPED;
            if fits {
                self.input.handle(InputRequest::InsertChar(c));
            }
            fits
        })
    }

    /// Switches between all matching lines and those that the model did not get.
    fn turn(&mut self) {
        if let Purpose::Lines { shows, .. } = &mut self.purpose {
            *shows = match shows {
                Shows::All => Shows::Lost,
                Shows::Lost => Shows::All,
            };
        }
    }

    fn recall(&mut self, history: &[String], older: bool) {
        let back = if older { (self.back + 1).min(history.len()) } else { self.back.saturating_sub(1) };
        let text = if back == 0 { String::new() } else { history[history.len() - back].clone() };
        (self.back, self.input) = (back, Input::new(text));
    }

    /// Handles a key of the line; returns false if the line is full. `history` holds the lines entered before, newest last.
    pub(crate) fn edit(&mut self, key: KeyEvent, history: &[String]) -> bool {
        match key.code {
            KeyCode::Tab => self.turn(),
            KeyCode::Up => self.recall(history, true),
            KeyCode::Down => self.recall(history, false),
            KeyCode::Char(_) if !key.modifiers.contains(KeyModifiers::CONTROL) && self.is_full() => {
                return false;
            }
            _ => _ = self.input.handle_event(&Terminal::Key(key)),
        }
        true
    }

    fn is_full(&self) -> bool {
        self.text().len() >= MAX_TYPED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_goes_to_the_cursor_as_far_as_there_is_room() {
        let mut prompt = Prompt::with(Purpose::Filter, "aé|z");
        prompt.input.handle(InputRequest::GoToPrevChar);
        assert!(prompt.paste("\u{1b}[b\r\nü"));
        assert_eq!((prompt.text(), prompt.cursor()), ("aé|[büz", 6));
        assert!(!prompt.paste(&"é".repeat(100_000)));
        assert!(prompt.text().len() <= MAX_TYPED && prompt.text().len() > MAX_TYPED - 2);
        assert!(prompt.text().starts_with("aé|[büé") && prompt.text().ends_with("éz"));
        assert!(!prompt.paste(&"xx".repeat(100_000)) && prompt.is_full());
        assert!(prompt.paste("\n"));
    }
}
