//! The letter of a mark as a pop-up in the row of the status: it waits for one key.

use crossterm::event::KeyEvent;
use ratatui::style::Style;

use crate::tui::event::Message;
use crate::tui::keys::{Action, character};
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext};
use crate::tui::widget::line;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkLetter {
    Set,
    GoTo,
}

impl Layer for MarkLetter {
    fn has_status_row(&self) -> bool {
        true
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        let Some(name) = character(key) else { return LayerNext::Closes };
        let (keys, context) = (on.canvas.keys, on.below.context());
        let [set, go] = [Action::Mark, Action::ToMark].map(|action| keys.label(context, action));
        let message = match self {
            Self::Set => {
                on.below.set_mark(name);
                Message::note(format!("mark {name} is set; {go}{name} comes back here"))
            }
            Self::GoTo if on.below.go_to_mark(name, on.effects) => return LayerNext::Closes,
            Self::GoTo if name == '\'' => Message::note("no jump to come back from"),
            Self::GoTo => Message::error(format!("no mark {name} here; {set}{name} sets it")),
        };
        on.below.say(Some(message));
        LayerNext::Closes
    }

    fn draw(&self, LayerFrame { frame, status, .. }: LayerFrame) {
        let words = match self {
            Self::Set => " mark: a letter",
            Self::GoTo => " go to mark: a letter, or ' for where you were",
        };
        line::left(frame.buffer_mut(), status, words, Style::new());
    }
}
