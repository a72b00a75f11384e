//! Events that change the state of the screens, messages, and what lines are typed for.

use std::any::Any;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};

use crate::text::filter::LineScope;
use crate::text::label::SafeText;
use crate::text::search::Toward;

pub enum Event {
    Key(KeyEvent),
    Paste(String),
    /// The wheel of the mouse was turned by a notch, toward this arrow key.
    Wheel(KeyCode),
    Resize(u16, u16),
    Message(Message),
    Screen(Box<dyn ScreenEvent>),
}

/// Progress is drawn at most this often.
pub(crate) const FRAME: Duration = Duration::from_millis(16);

/// Figures that grow during counting are drawn less often, because drawing takes time away from counting.
pub(crate) const COUNTING: Duration = Duration::from_millis(50);

pub trait ScreenEvent: Any + Send {
    /// Returns how long it may wait to be drawn: zero for anything the user waits for.
    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}

impl Event {
    pub fn downcast<E: ScreenEvent>(self) -> Result<E, Self> {
        match self {
            Event::Screen(event) if (&*event as &dyn Any).is::<E>() => {
                let event: Box<dyn Any> = event;
                event.downcast().map(|event| *event).map_err(|_| unreachable!())
            }
            event => Err(event),
        }
    }

    pub fn patience(&self) -> Duration {
        match self {
            Event::Screen(event) => event.patience(),
            _ => Duration::ZERO,
        }
    }
}

impl<E: ScreenEvent> From<E> for Event {
    fn from(event: E) -> Self {
        Event::Screen(Box::new(event))
    }
}

/// The mark of where the user was before the last jump.
pub(crate) const JUMP: &str = "'";

/// A message, shown on the status line until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub text: SafeText,
    pub is_error: bool,
}

/// The longest line that can be typed, in bytes: far more than anyone types, and quick to edit.
pub(crate) const MAX_TYPED: usize = 4096;

impl Message {
    pub fn note(text: impl Into<SafeText>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    pub fn error(text: impl Into<SafeText>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    pub(crate) fn full_line() -> Self {
        Self::error(format!("a line holds at most {MAX_TYPED} bytes; the rest is dropped"))
    }
}

words! {
    /// What a list of found lines is of.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum SearchScope {
        #[default]
        Outputs => "all outputs",
        /// Stored outputs, and the results that are in records only.
        Sessions => "outputs and sessions",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A pattern to search for, and which match is meant, 1-based, if a number was typed.
    Search {
        toward: Toward,
        times: Option<u64>,
    },
    Lines {
        scope: LineScope,
        /// How many lines around each, if a number was typed.
        around: Option<u64>,
    },
    GoTo,
    /// The letter of a mark, which needs no Enter.
    Mark,
    ToMark,
    Window,
    /// A pattern: the matching lines of all that is searched are listed.
    Grep(SearchScope),
    /// A pattern: what settings are judged by.
    Find,
    Filter,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_name_in_a_message_is_safe() {
        for message in [Message::note("a\u{1b}]0;x\u{7}\n"), Message::error("a\u{1b}]0;x\u{7}\n".to_owned())]
        {
            assert_eq!(&*message.text, "a^[]0;x^G^J");
        }
    }
}
