//! A line on the terminal that says how far a search or a measurement is, and makes room for what it finds.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::base::human::{size, span_left, thousands};
use crate::cli::safe::put;
use crate::cli::terminal::is_quiet;
use crate::corpus::seconds_left;

/// A search that ends sooner than this needs no progress line.
const AFTER: Duration = Duration::from_secs(1);
/// Time between two updates.
const EVERY: Duration = Duration::from_millis(250);

/// How far a search is.
pub(super) struct Meter {
    /// What is done to outputs.
    verb: &'static str,
    began: Instant,
    outputs: u64,
    done: AtomicU64,
    bytes: AtomicU64,
    is_shown: bool,
    line: Mutex<MeterLine>,
    ended: Condvar,
}

/// What stands on the terminal.
#[derive(Default)]
struct MeterLine {
    columns: usize,
    is_over: bool,
}

impl Meter {
    /// Starts at nothing of this many outputs; it is shown if standard error is a terminal.
    pub(super) fn new(verb: &'static str, outputs: usize) -> Self {
        Self {
            verb,
            began: Instant::now(),
            outputs: outputs as u64,
            done: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            is_shown: io::stderr().is_terminal() && !is_quiet(),
            line: Mutex::default(),
            ended: Condvar::new(),
        }
    }

    /// Counts an output of this many bytes.
    pub(super) fn add(&self, bytes: u64) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes the line off the terminal, so that something else can be written there while the result is held.
    pub(super) fn clear(&self) -> impl Drop + '_ {
        let mut line = self.lock();
        if line.columns > 0 {
            put(&format!("\r{:1$}\r", "", line.columns));
            line.columns = 0;
        }
        line
    }

    /// Shows the line from time to time while `work` is done.
    pub(super) fn show_during<T>(&self, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            // Without the thread there is no progress line.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || self.show_until_over());
            let done = work();
            self.end();
            done
        })
    }

    fn show_until_over(&self) {
        let mut line = self.lock();
        while self.is_shown && !line.is_over {
            if self.began.elapsed() >= AFTER {
                let words = self.describe();
                put(&format!("\r{words:<0$}", line.columns));
                line.columns = line.columns.max(words.len());
            }
            line = self
                .ended
                .wait_timeout(line, EVERY)
                .map_or_else(|error| error.into_inner().0, |(line, _)| line);
        }
    }

    fn end(&self) {
        drop(self.clear());
        self.lock().is_over = true;
        self.ended.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, MeterLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self) -> String {
        let (done, bytes) = (self.done.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        let left = seconds_left(self.began.elapsed(), done, self.outputs);
        let left = left.map_or(String::new(), |left| format!(", {} left", span_left(left)));
        let (of, bytes) = (thousands(self.outputs), size(bytes));
        format!("{} {} of {of} outputs, {bytes}{left}", self.verb, thousands(done))
    }
}
