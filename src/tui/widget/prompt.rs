//! The prompt: a line being typed at the bottom of the screen, and its purpose.

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent, KeyModifiers};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use crate::text::filter::Shows;
use crate::tui::event::MAX_TYPED;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A pattern to search for towards the end.
    Search,
    /// A pattern to search for towards the start.
    SearchBack,
    /// A pattern: only lines with a match are shown.
    Lines {
        /// Which of them.
        shows: Shows,
        /// How many lines around each, if a number was typed.
        around: Option<u64>,
    },
    /// A line, a byte or a percentage to go to.
    GoTo,
    /// The offset and limit of the window.
    Window,
    /// A pattern: the matching lines of all outputs are listed.
    Grep,
    /// A pattern: what settings are judged by.
    Find,
    Filter,
}

impl Purpose {
    /// Returns the label in front of the typed text.
    pub fn label(self) -> &'static str {
        match self {
            Purpose::Search => "/",
            Purpose::SearchBack => "?",
            Purpose::Lines { shows: Shows::All, .. } => "only lines with: ",
            Purpose::Lines { shows: Shows::Lost, .. } => "only lost lines with: ",
            Purpose::GoTo => "go to: ",
            Purpose::Window => "offset [limit], e.g. 2001 2000: ",
            Purpose::Grep => "search all outputs: ",
            Purpose::Find => "judge by (regex; empty: errors): ",
            Purpose::Filter => "filter: ",
        }
    }
}

/// A line being typed.
#[derive(Debug, Clone)]
pub struct Prompt {
    purpose: Purpose,
    /// Which match a search goes to: the first, or that of the number typed before.
    times: Option<u64>,
    input: Input,
    /// Steps back in the history; 0 is the line being typed.
    back: usize,
}

/// What a key in a prompt did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    Text,
    /// Nothing, because the line is full.
    TooMuch,
    /// It gave the line up.
    Left,
    /// It entered the line.
    Whole,
}

impl Prompt {
    pub fn new(purpose: Purpose) -> Self {
        Self { purpose, times: None, input: Input::default(), back: 0 }
    }

    /// Creates an empty prompt for a search that goes to the match of this number.
    pub(crate) fn nth(purpose: Purpose, times: Option<u64>) -> Self {
        Self { times, ..Self::new(purpose) }
    }

    /// Returns which match a search goes to, 1-based.
    pub(crate) fn times(&self) -> u64 {
        self.times.unwrap_or(1).max(1)
    }

    /// Returns the label in front of the typed text, with the number typed before.
    pub(crate) fn label(&self) -> String {
        let times = self.times.map_or(String::new(), |times| times.to_string());
        format!("{times}{}", self.purpose.label())
    }

    /// Creates a prompt that already contains some text.
    pub fn with(purpose: Purpose, text: &str) -> Self {
        Self { input: Input::new(text.to_owned()), ..Self::new(purpose) }
    }

    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// Returns the number of columns before the cursor.
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

    fn is_full(&self) -> bool {
        self.text().len() >= MAX_TYPED
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

    /// Handles a key. `history` holds the lines entered before, newest last.
    pub(crate) fn key(&mut self, key: KeyEvent, history: &[String]) -> Typed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return Typed::Left,
            KeyCode::Char('c') if control => return Typed::Left,
            KeyCode::Backspace if self.text().is_empty() => return Typed::Left,
            KeyCode::Enter => return Typed::Whole,
            KeyCode::Tab => self.turn(),
            KeyCode::Up => self.recall(history, true),
            KeyCode::Down => self.recall(history, false),
            KeyCode::Char(_) if !control && self.is_full() => return Typed::TooMuch,
            _ => _ = self.input.handle_event(&Terminal::Key(key)),
        }
        Typed::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_goes_to_the_cursor_as_far_as_there_is_room() {
        let mut prompt = Prompt::with(Purpose::Search, "aé|z");
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
