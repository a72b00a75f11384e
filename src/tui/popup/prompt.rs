//! A line being typed at the foot of the screen, and what it is for.

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent};
use tui_input::Input;
use tui_input::backend::crossterm::EventHandler;

use crate::tui::app::{App, Effect, Message};

/// Bytes that a line may have: much more than anyone types, and soon edited.
pub(crate) const MOST: usize = 4096;

/// What a line is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A pattern to look for towards the end.
    Search,
    /// A pattern to look for towards the start.
    SearchBack,
    /// A line, a byte or a per cent to go to.
    GoTo,
    /// Offset and limit of the window.
    Window,
    /// Words that entries must have.
    Filter,
}

impl Purpose {
    /// What stands before the typed text.
    pub fn label(self) -> &'static str {
        match self {
            Purpose::Search => "/",
            Purpose::SearchBack => "?",
            Purpose::GoTo => ": line, 50% or 4096b ",
            Purpose::Window => "offset and limit: ",
            Purpose::Filter => "filter: ",
        }
    }
}

/// A line being typed.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    purpose: Option<Purpose>,
    input: Input,
    /// How far back in the history one has gone; 0 is the line itself.
    back: usize,
    /// What is wrong with the text as it stands.
    pub fault: Option<String>,
}

impl Prompt {
    /// An empty line.
    pub fn new(purpose: Purpose) -> Self {
        Self { purpose: Some(purpose), ..Self::default() }
    }

    /// A line that begins with some text.
    pub fn with(purpose: Purpose, text: &str) -> Self {
        Self { input: Input::new(text.to_owned()), ..Self::new(purpose) }
    }

    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        self.purpose.unwrap_or(Purpose::Search)
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// Columns before the cursor.
    pub fn cursor(&self) -> usize {
        self.input.visual_cursor()
    }

    /// Adds pasted text at the cursor, without its control characters: as much as has room, and whether that is all.
    pub fn paste(&mut self, text: &str) -> bool {
        let (value, cursor) = (self.input.value(), self.input.cursor());
        let at = value.char_indices().nth(cursor).map_or(value.len(), |(at, _)| at);
        let mut room = MOST.saturating_sub(value.len());
        let mut wanted = text.chars().filter(|c| !c.is_control()).peekable();
        let mut pasted = String::new();
        while let Some(c) = wanted.next_if(|c| c.len_utf8() <= room) {
            room -= c.len_utf8();
            pasted.push(c);
        }
        let joined = format!("{}{pasted}{}", &value[..at], &value[at..]);
        self.input = Input::new(joined).with_cursor(cursor + pasted.chars().count());
        wanted.peek().is_none()
    }

    fn is_full(&self) -> bool {
        self.text().len() >= MOST
    }

    fn recall(&mut self, history: &[String], older: bool) {
        let back = if older { (self.back + 1).min(history.len()) } else { self.back.saturating_sub(1) };
        let text = if back == 0 { String::new() } else { history[history.len() - back].clone() };
        (self.back, self.input) = (back, Input::new(text));
    }
}

impl App {
    /// A key while a line is typed.
    pub(crate) fn type_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(prompt) = &mut self.prompt else { return Vec::new() };
        let control = key.modifiers.contains(crossterm::event::KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => self.prompt = None,
            KeyCode::Char('c') if control => self.prompt = None,
            KeyCode::Backspace if prompt.text().is_empty() => self.prompt = None,
            KeyCode::Enter => return self.enter(),
            KeyCode::Up => prompt.recall(&self.find.history, true),
            KeyCode::Down => prompt.recall(&self.find.history, false),
            KeyCode::Char(_) if !control && prompt.is_full() => self.message = Some(full()),
            _ => {
                prompt.input.handle_event(&Terminal::Key(key));
                prompt.fault = None;
            }
        }
        if self.prompt.is_none() && key.code == KeyCode::Esc && self.screen == crate::tui::app::Screen::Stores
        {
            let effects = self.listing.filter("");
            return self.settled(effects);
        }
        self.narrow()
    }

    /// Text that is pasted, without what could be taken for keys.
    pub(crate) fn paste(&mut self, text: &str) -> Vec<Effect> {
        if self.prompt.as_mut().is_some_and(|prompt| !prompt.paste(text)) {
            self.message = Some(full());
        }
        self.narrow()
    }

    /// While a filter is typed the list follows.
    fn narrow(&mut self) -> Vec<Effect> {
        let Some(prompt) = self.prompt.as_ref().filter(|prompt| prompt.purpose() == Purpose::Filter) else {
            return Vec::new();
        };
        let text = prompt.text().to_owned();
        let effects = self.listing.filter(&text);
        self.settled(effects)
    }

    fn enter(&mut self) -> Vec<Effect> {
        let Some(prompt) = self.prompt.take() else { return Vec::new() };
        let text = prompt.text().trim().to_owned();
        let done = match prompt.purpose() {
            Purpose::Search => self.search(prompt.text(), crate::text::search::Toward::End),
            Purpose::SearchBack => self.search(prompt.text(), crate::text::search::Toward::Start),
            Purpose::GoTo if text == "n" || text == "p" => Ok(vec![Effect::OtherFile { next: text == "n" }]),
            Purpose::GoTo => self.go_to(&text).map(|()| Vec::new()),
            Purpose::Window => self.set_window(&text).map(|()| Vec::new()),
            Purpose::Filter => Ok(Vec::new()),
        };
        done.unwrap_or_else(|fault| {
            self.message = Some(Message::error(fault));
            self.prompt = Some(prompt);
            Vec::new()
        })
    }
}

/// What is said once a line takes no more.
pub(crate) fn full() -> Message {
    Message::error(format!("a line takes {MOST} bytes at most: the rest is left out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_goes_to_the_cursor_as_far_as_there_is_room() {
        let mut prompt = Prompt::with(Purpose::Search, "aé|z");
        prompt.input.handle(tui_input::InputRequest::GoToPrevChar);
        assert!(prompt.paste("\u{1b}[b\r\nü"));
        assert_eq!((prompt.text(), prompt.cursor()), ("aé|[büz", 6));
        assert!(!prompt.paste(&"é".repeat(100_000)));
        assert!(prompt.text().len() <= MOST && prompt.text().len() > MOST - 2);
        assert!(prompt.text().starts_with("aé|[büé") && prompt.text().ends_with("éz"));
        assert!(!prompt.paste(&"xx".repeat(100_000)) && prompt.is_full());
        assert!(prompt.paste("\n"));
    }
}
