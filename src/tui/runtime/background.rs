//! What the terminal's background is: the question, and the answer among the keys.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::tui::widget::theme::Backdrop;

use super::signal::character;

/// Asks for the colour of the background (OSC 11), and then which terminal it is (DA1). Nearly all answer that at once, so
/// that one which does not know the first question need not be waited for.
pub(super) const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";

/// How long the first frame waits for the answer. One that comes later changes the theme.
pub(super) const LIMIT: Duration = Duration::from_millis(50);

/// How an answer begins, after `ESC ]`.
const START: &str = "11;";

/// The longest answer, in bytes; the longest known is `11;rgba:ffff/ffff/ffff/ffff`.
const MAX_ANSWER: usize = 40;

/// Finds the answer among the keys: the reader of keys takes it for Alt-], characters, and Alt-\ or ^G.
#[derive(Debug, Default)]
pub(super) struct AnswerFinder {
    /// The keys that may be the start of the answer.
    held: Vec<KeyEvent>,
}

/// What a key was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// These are keys.
    Keys(Vec<KeyEvent>),
    /// Part of an answer, or a key: the next one will tell.
    Part,
    /// The end of the answer; the background, unless it is told in a form that is not known.
    Answer(Option<Backdrop>),
}

impl AnswerFinder {
    /// Takes a key.
    pub(super) fn take(&mut self, key: KeyEvent) -> Heard {
        if self.held.is_empty() && key != KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT) {
            return Heard::Keys(vec![key]);
        }
        if let Some(colour) = self.text().strip_prefix(START)
            && is_end(key)
        {
            self.held.clear();
            return Heard::Answer(Backdrop::of_colour(colour));
        }
        self.held.push(key);
        let text = self.text();
        let is_long = text.len() > MAX_ANSWER || text.contains(char::REPLACEMENT_CHARACTER);
        match START.starts_with(&text) || text.starts_with(START) && !is_long {
            true => Heard::Part,
            false => Heard::Keys(self.give_up()),
        }
    }

    /// Returns the keys that were held back: the rest of an answer did not come.
    pub(super) fn give_up(&mut self) -> Vec<KeyEvent> {
        std::mem::take(&mut self.held)
    }

    /// Returns the characters after `ESC ]`.
    fn text(&self) -> String {
        let keys = self.held.iter().skip(1);
        keys.map(|key| character(*key).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

/// Whether a key ends an answer: `ESC \` or BEL.
fn is_end(key: KeyEvent) -> bool {
    key == KeyEvent::new(KeyCode::Char('\\'), KeyModifiers::ALT)
        || key == KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns keys as the reader of keys makes them of these bytes.
    fn keys(bytes: &str) -> Vec<KeyEvent> {
        let mut keys = Vec::new();
        let mut chars = bytes.chars();
        while let Some(c) = chars.next() {
            keys.push(match c {
                '\x1b' => KeyEvent::new(KeyCode::Char(chars.next().unwrap()), KeyModifiers::ALT),
                '\x07' => KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL),
                c => KeyEvent::from(KeyCode::Char(c)),
            });
        }
        keys
    }

    /// Returns the keys and the answers in these bytes.
    fn heard(bytes: &str) -> (Vec<KeyEvent>, Vec<Option<Backdrop>>) {
        let mut finder = AnswerFinder::default();
        let (mut typed, mut answers) = (Vec::new(), Vec::new());
        for key in keys(bytes) {
            match finder.take(key) {
                Heard::Keys(keys) => typed.extend(keys),
                Heard::Part => {}
                Heard::Answer(answer) => answers.push(answer),
            }
        }
        typed.extend(finder.give_up());
        (typed, answers)
    }

    #[test]
    fn an_answer_is_taken_out_of_the_keys_around_it() {
        let light = [Some(Backdrop::Light)];
        for answer in ["\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgba:ffff/FFFF/ffff/ffff\x07"] {
            let (typed, answers) = heard(&format!("G/a{answer}]1"));
            assert_eq!((typed, &answers[..]), (keys("G/a]1"), &light[..]), "{answer:?}");
        }
        assert_eq!(heard("\x1b]11;#ffffff\x07j"), (keys("j"), vec![None]), "another form");
    }

    #[test]
    fn what_only_begins_like_an_answer_is_keys() {
        let long = format!("\x1b]11;{}\x07", "f".repeat(MAX_ANSWER));
        for typed in
            ["\x1b]", "\x1b]G", "\x1b]\x1b]", "\x1b]12;rgb:0/0/0\x07", "\x1b]11\x07", "\x1b]11;\x1bx", &long]
        {
            assert_eq!(heard(typed), (keys(typed), vec![]), "{typed:?}");
        }
    }
}
