//! The thread that reads the keyboard, and the terminal's answer, except while another program has the terminal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event as Terminal, KeyCode, KeyEvent, KeyModifiers, MouseEventKind};

use crate::base::lock;
use crate::config::Backdrop;
use crate::tui::event::Event;
use crate::tui::keys::character;

use super::{Signal, terminal};

/// How long the thread waits for a key before it checks whether another program wants the terminal.
const GLANCE: Duration = Duration::from_millis(200);

/// How long to poll for events that have arrived; with zero, nothing is read.
const AT_ONCE: Duration = Duration::from_millis(1);

#[derive(Clone)]
pub(super) struct Keyboard {
    paused: Arc<AtomicBool>,
    reading: Arc<Mutex<()>>,
}

impl Keyboard {
    /// Starts reading keys, until the terminal is gone. If it `asks` the terminal for its background, a signal has the
    /// answer within [`LIMIT`], or says that there is none yet.
    pub(super) fn start(signals: Sender<Signal>, asks: bool) -> io::Result<Self> {
        if asks {
            terminal::ask(QUESTION)?;
        }
        let keyboard = Self { paused: Arc::default(), reading: Arc::default() };
        let failed = signals.clone();
        let mut reader = Reader {
            keyboard: keyboard.clone(),
            signals,
            answer: asks.then(AnswerFinder::default),
            awaited_until: asks.then(|| Instant::now() + LIMIT),
        };
        let read = move || reader.read_all();
        let hand_over = move |panic| drop(failed.send(Signal::Panicked(panic)));
        std::thread::Builder::new().name("keys".into()).spawn(|| terminal::run_vital(read, hand_over))?;
        Ok(keyboard)
    }

    /// Leaves the keyboard to another program meanwhile.
    pub(super) fn pause<T>(&self, meanwhile: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.paused.store(true, Ordering::SeqCst);
        let _reading = lock(&self.reading);
        let done = meanwhile();
        self.paused.store(false, Ordering::SeqCst);
        done
    }
}

struct Reader {
    keyboard: Keyboard,
    signals: Sender<Signal>,
    /// Takes the terminal's answer out of the keys, until it has come.
    answer: Option<AnswerFinder>,
    awaited_until: Option<Instant>,
}

impl Reader {
    fn read_all(&mut self) {
        let fault = loop {
            match self.next().map(|event| self.pass_on(event)) {
                Ok(true) => {}
                Ok(false) => return,
                Err(fault) => break fault,
            }
        };
        let _ = self.signals.send(Signal::TerminalGone(Some(fault)));
    }

    /// Passes on what was read, or else the keys that were taken for part of an answer; whether that is still wanted.
    fn pass_on(&mut self, event: Option<Terminal>) -> bool {
        let keys = match (event, &mut self.answer) {
            (Some(Terminal::Key(key)), Some(answer)) => match answer.take(key) {
                KeyRole::Keys(keys) => keys,
                KeyRole::Answer(background) => {
                    (self.answer, self.awaited_until) = (None, None);
                    return self.signals.send(Signal::Background(background)).is_ok();
                }
            },
            (Some(Terminal::Key(key)), None) => vec![key],
            (Some(Terminal::Paste(text)), _) => return self.send(Event::Paste(text)),
            (Some(Terminal::Resize(columns, rows)), _) => return self.send(Event::Resize(columns, rows)),
            (Some(Terminal::Mouse(mouse)), _) => match mouse.kind {
                MouseEventKind::ScrollUp => return self.send(Event::Wheel(KeyCode::Up)),
                MouseEventKind::ScrollDown => return self.send(Event::Wheel(KeyCode::Down)),
                _ => Vec::new(),
            },
            (Some(_), _) | (None, None) => Vec::new(),
            (None, Some(answer)) => answer.give_up(),
        };
        keys.into_iter().all(|key| self.send(Event::Key(key)))
    }

    fn send(&self, event: Event) -> bool {
        self.signals.send(Signal::App(event)).is_ok()
    }

    /// Returns the next event, or `None` if there was none for a while.
    fn next(&mut self) -> io::Result<Option<Terminal>> {
        if self.keyboard.paused.load(Ordering::SeqCst) {
            std::thread::park_timeout(GLANCE);
            return Ok(None);
        }
        let _reading = lock(&self.keyboard.reading);
        let Some(until) = self.awaited_until else {
            return if event::poll(GLANCE)? { event::read().map(Some) } else { Ok(None) };
        };
        let rest = until.saturating_duration_since(Instant::now());
        // The answer to the second question is no event; none to the first follows.
        if event::poll(AT_ONCE)? || terminal::awaits_reading(rest) && event::poll(AT_ONCE)? {
            return event::read().map(Some);
        }
        self.awaited_until = None;
        let _ = self.signals.send(Signal::Background(None));
        Ok(None)
    }
}

/// Asks for the background's colour (OSC 11), then which terminal it is (DA1): nearly all answer that at once.
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";

/// How long the first frame waits for the answer. One that comes later changes the theme.
pub(super) const LIMIT: Duration = Duration::from_millis(50);

/// How an answer begins, after `ESC ]`.
const START: &str = "11;";

/// The longest answer, in bytes; the longest known is `11;rgba:ffff/ffff/ffff/ffff`.
const MAX_ANSWER: usize = 40;

/// Finds the answer among the keys: the reader of keys takes it for Alt-], characters, and Alt-\ or ^G.
#[derive(Debug, Default)]
struct AnswerFinder {
    /// The keys that may be the start of the answer.
    pending: Vec<KeyEvent>,
}

#[derive(Debug, PartialEq, Eq)]
enum KeyRole {
    /// These are keys; none as long as it may be part of an answer.
    Keys(Vec<KeyEvent>),
    /// The end of the answer; the background, unless it is in a form that is not known.
    Answer(Option<Backdrop>),
}

impl AnswerFinder {
    fn take(&mut self, key: KeyEvent) -> KeyRole {
        if self.pending.is_empty() && key != KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT) {
            return KeyRole::Keys(vec![key]);
        }
        if let Some(colour) = self.text().strip_prefix(START)
            && is_end(key)
        {
            self.pending.clear();
            return KeyRole::Answer(Backdrop::from_colour(colour));
        }
        self.pending.push(key);
        let text = self.text();
        let is_long = text.len() > MAX_ANSWER || text.contains(char::REPLACEMENT_CHARACTER);
        let may_be_part = START.starts_with(&text) || text.starts_with(START) && !is_long;
        KeyRole::Keys(if may_be_part { Vec::new() } else { self.give_up() })
    }

    /// Returns the keys that were held back: the rest of an answer did not come.
    fn give_up(&mut self) -> Vec<KeyEvent> {
        std::mem::take(&mut self.pending)
    }

    fn text(&self) -> String {
        let keys = self.pending.iter().skip(1);
        keys.map(|key| character(*key).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

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
                KeyRole::Keys(keys) => typed.extend(keys),
                KeyRole::Answer(answer) => answers.push(answer),
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
    fn bytes_that_only_begin_like_an_answer_are_keys() {
        let long = format!("\x1b]11;{}\x07", "f".repeat(MAX_ANSWER));
        for typed in
            ["\x1b]", "\x1b]G", "\x1b]\x1b]", "\x1b]12;rgb:0/0/0\x07", "\x1b]11\x07", "\x1b]11;\x1bx", &long]
        {
            assert_eq!(heard(typed), (keys(typed), vec![]), "{typed:?}");
        }
    }
}
