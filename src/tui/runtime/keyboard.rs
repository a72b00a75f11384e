//! The thread that reads the keyboard and sends what is typed to the event loop, except while another program has the
//! terminal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event as Terminal, MouseEventKind};

use crate::tui::event::{Event, WheelTurn};
use crate::tui::widget::theme::Backdrop;

use super::background::{AnswerFinder, Heard, LIMIT};
use super::signal::Signal;
use super::terminal;

/// How long the thread waits for a key before it checks whether another program wants the terminal.
const GLANCE: Duration = Duration::from_millis(200);

/// How long what has arrived takes to be read. No time at all would not do: nothing is read then.
const AT_ONCE: Duration = Duration::from_millis(1);

/// The handle of the keyboard thread, which can be paused while another program has the terminal.
#[derive(Clone)]
pub(crate) struct Keyboard {
    held: Arc<AtomicBool>,
    reading: Arc<Mutex<()>>,
}

/// Leaves the keyboard to another program while it exists.
pub(crate) struct KeyboardHold<'a> {
    keyboard: &'a Keyboard,
    _reading: MutexGuard<'a, ()>,
}

impl Drop for KeyboardHold<'_> {
    fn drop(&mut self) {
        self.keyboard.held.store(false, Ordering::SeqCst);
    }
}

impl Keyboard {
    /// Starts reading keys. The thread ends with the program, or when the terminal is gone. `question` is who waits for
    /// the terminal's answer, if it was asked.
    pub(crate) fn start(signals: Sender<Signal>, question: Option<BackgroundQuestion>) -> io::Result<Self> {
        let keyboard = Self { held: Arc::default(), reading: Arc::default() };
        let failed = signals.clone();
        let mut reader = Reader {
            keyboard: keyboard.clone(),
            signals,
            answer: question.as_ref().map(|_| AnswerFinder::default()),
            question,
        };
        let read = move || reader.read_all();
        let hand_over = move |panic| drop(failed.send(Signal::Panicked(panic)));
        std::thread::Builder::new().name("keys".into()).spawn(|| terminal::vital(read, hand_over))?;
        Ok(keyboard)
    }

    /// Pauses reading. Returns once the thread no longer reads.
    pub(crate) fn hold(&self) -> KeyboardHold<'_> {
        self.held.store(true, Ordering::SeqCst);
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        KeyboardHold { keyboard: self, _reading: reading }
    }
}

/// Somebody waits for the terminal's answer: they get it, or `None` once it will not come in time.
pub(crate) struct BackgroundQuestion {
    until: Instant,
    asker: SyncSender<Option<Backdrop>>,
}

impl BackgroundQuestion {
    /// Returns a question that waits for [`LIMIT`], and where its answer arrives.
    pub(crate) fn new() -> (Self, Receiver<Option<Backdrop>>) {
        // Without room, so that an answer is either received or known to have come too late.
        let (asker, answer) = sync_channel(0);
        (Self { until: Instant::now() + LIMIT, asker }, answer)
    }
}

/// Returns the event of the wheel, if the mouse did that.
fn wheel(did: MouseEventKind) -> Option<Event> {
    match did {
        MouseEventKind::ScrollUp => Some(Event::Wheel(WheelTurn::Up)),
        MouseEventKind::ScrollDown => Some(Event::Wheel(WheelTurn::Down)),
        _ => None,
    }
}

/// The state of the thread.
struct Reader {
    keyboard: Keyboard,
    signals: Sender<Signal>,
    /// Takes the terminal's answer out of the keys, until it has come.
    answer: Option<AnswerFinder>,
    question: Option<BackgroundQuestion>,
}

impl Reader {
    fn read_all(&mut self) {
        let fault = loop {
            let event = match self.next() {
                Err(error) => break error,
                Ok(event) => event,
            };
            let sent = match event {
                Some(Terminal::Key(key)) => match self.answer.as_mut().map(|answer| answer.take(key)) {
                    None => self.send(Event::Key(key)),
                    Some(Heard::Keys(keys)) => keys.into_iter().all(|key| self.send(Event::Key(key))),
                    Some(Heard::Part) => true,
                    Some(Heard::Answer(background)) => self.hand_over(background),
                },
                Some(Terminal::Paste(text)) => self.send(Event::Paste(text)),
                Some(Terminal::Resize(columns, rows)) => self.send(Event::Resize(columns, rows)),
                Some(Terminal::Mouse(mouse)) => wheel(mouse.kind).is_none_or(|event| self.send(event)),
                Some(_) => true,
                None => {
                    let keys = self.answer.as_mut().map(AnswerFinder::give_up).unwrap_or_default();
                    keys.into_iter().all(|key| self.send(Event::Key(key)))
                }
            };
            if !sent {
                return;
            }
        };
        let _ = self.signals.send(Signal::TerminalGone(Some(fault)));
    }

    /// Sends an event; whether it is still wanted.
    fn send(&self, event: Event) -> bool {
        self.signals.send(Signal::App(event)).is_ok()
    }

    /// Hands the answer to who waits for it, or else to the event loop; whether it is still wanted.
    fn hand_over(&mut self, background: Option<Backdrop>) -> bool {
        self.answer = None;
        let is_received =
            self.question.take().is_some_and(|question| question.asker.send(background).is_ok());
        match background {
            Some(background) if !is_received => self.signals.send(Signal::Background(background)).is_ok(),
            _ => true,
        }
    }

    /// Returns the next event, or `None` if there was none for a while.
    fn next(&mut self) -> io::Result<Option<Terminal>> {
        if self.keyboard.held.load(Ordering::SeqCst) {
            std::thread::park_timeout(GLANCE);
            return Ok(None);
        }
        let _reading = self.keyboard.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(question) = &self.question else {
            return if event::poll(GLANCE)? { event::read().map(Some) } else { Ok(None) };
        };
        let rest = question.until.saturating_duration_since(Instant::now());
        // An answer to the second question is no event. After it, none comes to the first.
        if event::poll(AT_ONCE)? || terminal::awaits_reading(rest) && event::poll(AT_ONCE)? {
            return event::read().map(Some);
        }
        let _ = question.asker.send(None);
        self.question = None;
        Ok(None)
    }
}
