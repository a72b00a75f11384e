//! The questions asked once before the screens are left: whether to stop the command that still runs, and whether to
//! delete what is marked for deletion.

use crossterm::event::{KeyCode, KeyEvent};

use crate::human::{count, size};
use crate::text::label::SafeText;
use crate::tui::keys::Action;
use crate::tui::screen::{
    CommandFate, Layer, LayerContext, LayerFrame, LayerNext, PendingFate, ScreenRequest,
};
use crate::tui::widget::line::{self, Span};

/// A question asked before the screens are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Whether to stop the command.
    Command,
    /// Whether to delete what is marked for deletion.
    Deletions {
        /// How many outputs are marked.
        outputs: usize,
        /// Their size together, in bytes.
        bytes: u64,
    },
}

/// The question being asked, and what was answered before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaving {
    pub question: Question,
    /// What becomes of the command, as far as it has been asked.
    pub(crate) command: CommandFate,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Do it, and leave.
    Yes,
    /// Leave without it.
    No,
    /// Do not leave.
    Stay,
}

impl Layer for Leaving {
    fn has_status_row(&self) -> bool {
        true
    }

    /// Handles a key. Those that do not answer the question do nothing.
    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        if on.canvas.keys.action(on.below.context(), key) == Some(Action::Interrupt) {
            return LayerNext::Closes;
        }
        let Some(answer) = Question::answer(key) else { return LayerNext::Stays };
        let request = match (self.question, answer) {
            (_, Answer::Stay) => return LayerNext::Closes,
            (Question::Command, Answer::Yes) => ScreenRequest::Leave(Some(CommandFate::Stops)),
            (Question::Command, Answer::No) => ScreenRequest::Leave(Some(CommandFate::RunsOn)),
            (Question::Deletions { .. }, Answer::Yes) => {
                ScreenRequest::Quit(self.command, PendingFate::Delete)
            }
            (Question::Deletions { .. }, Answer::No) => ScreenRequest::Quit(self.command, PendingFate::Keep),
        };
        on.effects.request(request);
        LayerNext::Closes
    }

    /// Draws the question and the keys that answer it.
    fn draw(&self, look: LayerFrame) {
        let theme = &look.canvas.theme;
        let [what, keys] = self.question.words();
        let spans = [
            Span::plain(" "),
            Span::new(what, theme.warning),
            Span::plain("  "),
            Span::new(keys, theme.accent),
        ];
        line::spans(look.frame.buffer_mut(), look.status, &spans);
    }
}

impl Question {
    /// Returns the question as it is asked, and the keys that answer it.
    pub(crate) fn words(self) -> [SafeText; 2] {
        match self {
            Question::Command => ["Stop the command?".into(), "y stop · n let it end · Esc stay".into()],
            Question::Deletions { outputs, bytes } => {
                let what = format!("Delete {} ({})?", count(outputs as u64, "output"), size(bytes));
                [what.into(), "y delete · n keep · Esc stay".into()]
            }
        }
    }

    /// Returns the answer that a key gives; `None` if it gives none.
    pub(crate) fn answer(key: KeyEvent) -> Option<Answer> {
        match key.code {
            KeyCode::Char('y') if key.modifiers.is_empty() => Some(Answer::Yes),
            KeyCode::Char('n') if key.modifiers.is_empty() => Some(Answer::No),
            KeyCode::Esc => Some(Answer::Stay),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    #[test]
    fn only_its_own_keys_answer() {
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(Question::answer(key(KeyCode::Char('y'))), Some(Answer::Yes));
        assert_eq!(Question::answer(key(KeyCode::Char('n'))), Some(Answer::No));
        assert_eq!(Question::answer(key(KeyCode::Esc)), Some(Answer::Stay));
        for other in [KeyCode::Enter, KeyCode::Char('q'), KeyCode::Char(' '), KeyCode::Char('Y')] {
            assert_eq!(Question::answer(key(other)), None, "{other:?}");
        }
        let control = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL);
        assert_eq!(Question::answer(control), None);
    }

    #[test]
    fn a_question_fits_60_columns() {
        for question in [Question::Command, Question::Deletions { outputs: 999, bytes: 999 << 20 }] {
            let [what, keys] = question.words();
            assert!(1 + what.columns() + 2 + keys.columns() <= 60, "{what} {keys}");
        }
        let [what, keys] = Question::Deletions { outputs: 3, bytes: 1_363_149 }.words();
        assert_eq!((&*what, &*keys), ("Delete 3 outputs (1.3 MB)?", "y delete · n keep · Esc stay"));
    }
}
