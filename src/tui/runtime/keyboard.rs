//! The thread that reads the keyboard and sends what is typed to the event loop, except while another program has the
//! terminal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossterm::event::{self, Event as Terminal};

use crate::tui::event::Event;

use super::signal::Signal;
use super::terminal;

/// How long the thread waits for a key before it checks whether another program wants the terminal.
const GLANCE: Duration = Duration::from_millis(200);

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
    /// Starts reading keys. The thread ends with the program, or when the terminal is gone.
    pub(crate) fn start(signals: Sender<Signal>) -> io::Result<Self> {
        let keyboard = Self { held: Arc::default(), reading: Arc::default() };
        let reader = keyboard.clone();
        let failed = signals.clone();
        let read = move || reader.read_all(&signals);
        let hand_over = move |panic| drop(failed.send(Signal::Panicked(panic)));
        std::thread::Builder::new().name("keys".into()).spawn(|| terminal::vital(read, hand_over))?;
        Ok(keyboard)
    }

    fn read_all(&self, signals: &Sender<Signal>) {
        let fault = loop {
            let event = match self.next() {
                Err(error) => break error,
                Ok(event) => event,
            };
            let event = match event {
                Some(Terminal::Key(key)) => Event::Key(key),
                Some(Terminal::Paste(text)) => Event::Paste(text),
                Some(Terminal::Resize(columns, rows)) => Event::Resize(columns, rows),
                _ => continue,
            };
            if signals.send(Signal::App(event)).is_err() {
                return;
            }
        };
        let _ = signals.send(Signal::TerminalGone(Some(fault)));
    }

    /// Returns the next event, or `None` if there was none for a while.
    fn next(&self) -> io::Result<Option<Terminal>> {
        if self.held.load(Ordering::SeqCst) {
            std::thread::park_timeout(GLANCE);
            return Ok(None);
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if event::poll(GLANCE)? { event::read().map(Some) } else { Ok(None) }
    }

    /// Pauses reading. Returns once the thread no longer reads.
    pub(crate) fn hold(&self) -> KeyboardHold<'_> {
        self.held.store(true, Ordering::SeqCst);
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        KeyboardHold { keyboard: self, _reading: reading }
    }
}
