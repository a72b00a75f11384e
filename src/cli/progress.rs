//! A line on the terminal that says how far something is that takes more than a second.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::base::human::{lines, size, span, span_left, thousands};
use crate::base::lock;
use crate::capture::{Progress, Running};
use crate::corpus::seconds_left;
use crate::preview::Stream;

use super::terminal::{options, put};

const AFTER: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(250);
/// Columns that the terminal may have echoed after the line: `^C`, at most three times.
const TYPED: usize = 6;

fn is_shown() -> bool {
    io::stderr().is_terminal() && !options().quiet
}

fn blank(columns: usize) {
    put(&format!("\r{:columns$}\r", ""));
}

/// How far a search or a measurement is; its line makes room for what that finds.
pub(super) struct Meter {
    verb: &'static str,
    began: Instant,
    outputs: u64,
    done: AtomicU64,
    bytes: AtomicU64,
    /// The columns of the line that is on the terminal.
    columns: Mutex<usize>,
}

impl Meter {
    pub(super) fn new(verb: &'static str, outputs: usize) -> Self {
        Self {
            verb,
            began: Instant::now(),
            outputs: outputs as u64,
            done: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            columns: Mutex::default(),
        }
    }

    pub(super) fn add(&self, bytes: u64) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn set(&self, done: u64, bytes: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Takes the line off the terminal, so that something else can be written there while the result is held.
    pub(super) fn clear(&self) -> impl Drop + '_ {
        let mut columns = lock(&self.columns);
        match std::mem::take(&mut *columns) {
            0 => {}
            there => blank(there),
        }
        columns
    }

    pub(super) fn show_during<T>(&self, work: impl FnOnce() -> T) -> T {
        let (working, over) = channel::<()>();
        std::thread::scope(|scope| {
            if is_shown() {
                // Without the thread there is no progress line.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || self.show_until(&over));
            }
            let done = work();
            drop(working);
            done
        })
    }

    fn show_until(&self, over: &Receiver<()>) {
        while over.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
            if self.began.elapsed() >= AFTER {
                let (words, mut columns) = (self.describe(), lock(&self.columns));
                put(&format!("\r{words:<0$}", *columns));
                *columns = words.len().max(*columns);
            }
        }
        drop(self.clear());
    }

    fn describe(&self) -> String {
        let (done, bytes) = (self.done.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        let left = seconds_left(self.began.elapsed(), done, self.outputs);
        let left = left.map_or(String::new(), |left| format!(", {} left", span_left(left)));
        let (of, bytes) = (thousands(self.outputs), size(bytes));
        format!("{} {} of {of} outputs, {bytes}{left}", self.verb, thousands(done))
    }
}

pub(crate) fn streams(running: &Running) -> Vec<Arc<Progress>> {
    let both = [Stream::Stdout, Stream::Stderr].into_iter();
    both.filter_map(|stream| running.progress(stream).cloned()).collect()
}

/// Waits for the command to end. After a second, a terminal shows how far it is, in one line.
pub(crate) fn show_run_until_over(streams: &[Arc<Progress>], wait_for: impl Fn(Duration) -> bool) {
    if !is_shown() {
        while !wait_for(Duration::from_secs(3600)) {}
        return;
    }
    let started = Instant::now();
    if wait_for(AFTER) {
        return;
    }
    let mut widest = 0;
    loop {
        let sum = |of: fn(&Progress) -> u64| streams.iter().map(|stream| of(stream)).sum();
        let line = describe(sum(Progress::bytes), sum(Progress::line_feeds), started.elapsed());
        widest = line.len().max(widest);
        put(&format!("\r{line:<widest$}"));
        if wait_for(EVERY) {
            return blank(widest + TYPED);
        }
    }
}

fn describe(bytes: u64, feeds: u64, time: Duration) -> String {
    let rate = (bytes as f64 / time.as_secs_f64()) as u64;
    format!("{}, {}, {}/s, {}", size(bytes), lines(feeds), size(rate), span(time.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_bytes_lines_rate_and_time() {
        let line = describe(50 << 20, 812_331, Duration::from_secs(5));
        assert_eq!(line, "50 MB, 812,331 lines, 10 MB/s, 5 s");
    }
}
