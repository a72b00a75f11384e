//! A line on the terminal that says how far something is that takes more than a second.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::base::human::{lines, size, span, span_left, thousands};
use crate::base::lock;
use crate::capture::{Progress, Running};
use crate::corpus::seconds_left;
use crate::preview::Stream;

use super::terminal::{options, put};

/// What ends sooner than this needs no progress line.
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
    is_shown: bool,
    line: Mutex<MeterLine>,
    ended: Condvar,
}

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
            is_shown: is_shown(),
            line: Mutex::default(),
            ended: Condvar::new(),
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
        let mut line = lock(&self.line);
        if line.columns > 0 {
            blank(line.columns);
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
            drop(self.clear());
            lock(&self.line).is_over = true;
            self.ended.notify_all();
            done
        })
    }

    fn show_until_over(&self) {
        let mut line = lock(&self.line);
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
    fn it_says_bytes_lines_rate_and_time() {
        let line = describe(50 << 20, 812_331, Duration::from_secs(5));
        assert_eq!(line, "50 MB, 812,331 lines, 10 MB/s, 5 s");
    }
}
