//! One line on the terminal while a command runs: how much it has printed, and how long it has run.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::capture::{Progress, Running};
use crate::cli::args::Heartbeat;
use crate::cli::safe::put;
use crate::human::{self, size, span};
use crate::preview::Stream;

/// A command that ends sooner than this needs no progress line.
const AFTER: Duration = Duration::from_secs(1);
/// Time between two updates.
const EVERY: Duration = Duration::from_millis(250);
/// Columns that the terminal may have echoed after the line: `^C`, at most three times.
const TYPED: usize = 6;

/// Returns the progress of a command's streams.
pub(crate) fn streams(running: &Running) -> Vec<Arc<Progress>> {
    let both = [Stream::Stdout, Stream::Stderr].into_iter();
    both.filter_map(|stream| running.progress(stream).cloned()).collect()
}

/// What standard error shows while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reporting {
    /// One line that changes.
    Line,
    /// A line each time that nothing was printed for so long.
    Beat(Duration, AlsoShown),
    /// Nothing of overspill's own.
    Nothing,
}

/// What else a reader of standard error sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlsoShown {
    /// Nothing.
    Nothing,
    /// A copy of the output.
    Output,
}

impl Reporting {
    /// Decides by whether standard error is a terminal, and whether the output is copied there.
    pub(crate) fn of(tee: bool, heartbeat: Heartbeat) -> Self {
        if crate::cli::terminal::is_quiet() {
            return Reporting::Nothing;
        }
        match (io::stderr().is_terminal(), tee, heartbeat) {
            (true, false, _) => Reporting::Line,
            (true, true, _) | (false, _, Heartbeat::Never) => Reporting::Nothing,
            (false, true, Heartbeat::Every(time)) => Reporting::Beat(time, AlsoShown::Output),
            (false, false, Heartbeat::Every(time)) => Reporting::Beat(time, AlsoShown::Nothing),
        }
    }
}

/// Waits for the command to end, showing that it still runs.
pub(crate) fn show_until_over(
    reporting: Reporting,
    streams: &[Arc<Progress>],
    wait_for: impl Fn(Duration) -> bool,
) {
    match reporting {
        Reporting::Line => show_line(streams, wait_for),
        Reporting::Beat(time, shows) => beat(time, shows, streams, wait_for),
        Reporting::Nothing => while !wait_for(Duration::from_secs(3600)) {},
    }
}

/// Reports that the command still runs, for logs whose readers stop what is silent for too long.
fn beat(every: Duration, shows: AlsoShown, streams: &[Arc<Progress>], wait_for: impl Fn(Duration) -> bool) {
    let bytes = || streams.iter().map(|stream| stream.bytes()).sum::<u64>();
    let (started, mut before) = (Instant::now(), 0);
    while !wait_for(every) {
        let now = bytes();
        if shows == AlsoShown::Nothing || now == before {
            crate::cli::say(&format!(
                "still running after {}: {}",
                span(started.elapsed().as_secs()),
                size(now)
            ));
        }
        before = now;
    }
}

/// After a second, shows the progress in one line.
fn show_line(streams: &[Arc<Progress>], wait_for: impl Fn(Duration) -> bool) {
    let started = Instant::now();
    if wait_for(AFTER) {
        return;
    }
    let mut widest = 0;
    loop {
        let line = line(streams, started.elapsed());
        widest = line.len().max(widest);
        put(&format!("\r{line:<widest$}"));
        if wait_for(EVERY) {
            return put(&format!("\r{:1$}\r", "", widest + TYPED));
        }
    }
}

fn line(streams: &[Arc<Progress>], time: Duration) -> String {
    let bytes = streams.iter().map(|stream| stream.bytes()).sum();
    let lines = streams.iter().map(|stream| stream.line_feeds()).sum();
    in_words(bytes, lines, time)
}

fn in_words(bytes: u64, lines: u64, time: Duration) -> String {
    let rate = (bytes as f64 / time.as_secs_f64()) as u64;
    format!("{}, {}, {}/s, {}", size(bytes), human::lines(lines), size(rate), span(time.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_bytes_lines_rate_and_time() {
        let line = in_words(50 << 20, 812_331, Duration::from_secs(5));
        assert_eq!(line, "50 MB, 812,331 lines, 10 MB/s, 5 s");
    }
}
