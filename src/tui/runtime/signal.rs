//! The signals that reach the event loop over its only channel, how long each may wait to be drawn, and which keys are
//! taken together.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;

use crate::config::Backdrop;
use crate::tui::event::{Event, FRAME};
use crate::tui::keys::character;
use crate::tui::target::LiveUpdate;

pub enum Signal {
    App(Event),
    Look,
    /// News of the output that is still being made.
    Live(LiveUpdate),
    /// What the terminal says that its background is; `None` if it does not say it in time.
    Background(Option<Backdrop>),
    /// The terminal is gone, or cannot be read; the error if there is one to report.
    TerminalGone(Option<std::io::Error>),
    /// Another process asked overspill to stop for a while, as Ctrl-Z does.
    Pause,
    /// overspill was stopped from outside and continues: the terminal's modes and contents have changed meanwhile.
    GoesOn,
    /// A thread that the screens cannot do without has panicked, with this payload.
    Panicked(Panic),
}

pub type Panic = Box<dyn Any + Send>;

impl Signal {
    /// Returns how long the signal may wait to be drawn: zero for anything the user has just asked for.
    pub fn patience(&self) -> Duration {
        match self {
            Signal::App(event) => event.patience(),
            Signal::Look => FRAME,
            _ => Duration::ZERO,
        }
    }
}

/// The signals that have not been handled yet. Some are taken out early, to see which key waits.
pub struct Inbox {
    signals: Receiver<Signal>,
    waiting: VecDeque<Signal>,
}

impl Inbox {
    pub fn new(signals: Receiver<Signal>) -> Self {
        Self { signals, waiting: VecDeque::new() }
    }

    pub fn rest(&mut self) -> impl Iterator<Item = Event> {
        let signals = self.waiting.drain(..).chain(self.signals.try_iter());
        signals.filter_map(|signal| match signal {
            Signal::App(event) => Some(event),
            _ => None,
        })
    }

    /// Waits for a signal; `None` once nobody can send any.
    pub fn recv(&mut self) -> Option<Signal> {
        self.waiting.pop_front().or_else(|| self.signals.recv().ok())
    }

    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Signal> {
        self.waiting.pop_front().or_else(|| self.signals.recv_timeout(limit).ok())
    }

    /// Waits for the terminal's answer, up to `limit`; all else is left for later.
    pub fn wait_for_background(&mut self, limit: Duration) -> Option<Backdrop> {
        let until = Instant::now() + limit;
        loop {
            match self.signals.recv_timeout(until.saturating_duration_since(Instant::now())).ok()? {
                Signal::Background(background) => return background,
                other => self.waiting.push_back(other),
            }
        }
    }

    fn next_key(&mut self) -> Option<KeyEvent> {
        if self.waiting.is_empty() {
            self.waiting.extend(self.signals.try_recv());
        }
        self.waiting.front().and_then(key)
    }

    /// Joins a typed character with those that wait behind it, as if they had been pasted: terminals without bracketed
    /// paste send a paste as keys.
    pub fn join_typed(&mut self, signal: Signal) -> Signal {
        let Some(first) = key(&signal).and_then(character) else { return signal };
        let mut text = String::from(first);
        while let Some(next) = self.next_key().and_then(character) {
            text.push(next);
            self.waiting.pop_front();
        }
        if text.len() > first.len_utf8() { Signal::App(Event::Paste(text)) } else { signal }
    }

    /// Whether the same key waits again, as while it is held down.
    pub fn repeats(&mut self, signal: &Signal) -> bool {
        let press = |key: KeyEvent| (key.code, key.modifiers);
        self.next_key().is_some_and(|next| key(signal).is_some_and(|key| press(key) == press(next)))
    }
}

fn key(signal: &Signal) -> Option<KeyEvent> {
    match signal {
        Signal::App(Event::Key(key)) => Some(*key),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    fn inbox(keys: &[KeyEvent]) -> Inbox {
        let (give, taken) = channel();
        keys.iter().for_each(|key| give.send(Signal::App(Event::Key(*key))).unwrap());
        give.send(Signal::Look).unwrap();
        Inbox::new(taken)
    }

    fn typed(text: &str) -> Vec<KeyEvent> {
        text.chars().map(|c| KeyEvent::from(KeyCode::Char(c))).collect()
    }

    #[test]
    fn characters_that_wait_are_typed_at_once_up_to_the_next_other_key() {
        let mut keys = typed("aé b");
        keys.push(KeyEvent::from(KeyCode::Enter));
        keys.extend(typed("c"));
        let mut inbox = inbox(&keys);
        let mut texts = Vec::new();
        while let Some(signal) = inbox.recv() {
            match inbox.join_typed(signal) {
                Signal::App(Event::Paste(text)) => texts.push(text),
                Signal::App(Event::Key(key)) => texts.push(format!("{:?}", key.code)),
                _ => break,
            }
        }
        assert_eq!(texts, ["aé b", "Enter", "Char('c')"]);
    }

    #[test]
    fn a_character_with_control_or_alt_is_no_text() {
        for modifier in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
            let mut inbox = inbox(&[KeyEvent::new(KeyCode::Char('b'), modifier)]);
            let first = Signal::App(Event::Key(typed("a")[0]));
            assert!(matches!(inbox.join_typed(first), Signal::App(Event::Key(_))));
        }
    }

    #[test]
    fn a_key_repeats_if_the_same_one_waits_next() {
        let mut inbox = inbox(&typed("++-"));
        let repeats: Vec<bool> = std::iter::from_fn(|| {
            let signal = inbox.recv()?;
            key(&signal).map(|_| inbox.repeats(&signal))
        })
        .collect();
        assert_eq!(repeats, [true, false, false]);
    }
}
