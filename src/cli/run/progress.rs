//! One line on the terminal while a command runs: how much it has printed, and how long it has run.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::human::{self, size, span};
use crate::capture::{Progress, Running};
use crate::cli::safe::put;
use crate::cli::terminal::is_quiet;
use crate::preview::Stream;

/// A command that ends sooner than this needs no progress line.
const AFTER: Duration = Duration::from_secs(1);
/// Time between two updates.
const EVERY: Duration = Duration::from_millis(250);
/// Columns that the terminal may have echoed after the line: `^C`, at most three times.
const TYPED: usize = 6;

pub(crate) fn streams(running: &Running) -> Vec<Arc<Progress>> {
    let both = [Stream::Stdout, Stream::Stderr].into_iter();
    both.filter_map(|stream| running.progress(stream).cloned()).collect()
}

/// Waits for the command to end. After a second, a terminal shows how far it is, in one line.
pub(crate) fn show_until_over(streams: &[Arc<Progress>], wait_for: impl Fn(Duration) -> bool) {
    if !io::stderr().is_terminal() || is_quiet() {
        while !wait_for(Duration::from_secs(3600)) {}
        return;
    }
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
    describe(bytes, lines, time)
}

fn describe(bytes: u64, lines: u64, time: Duration) -> String {
    let rate = (bytes as f64 / time.as_secs_f64()) as u64;
    format!("{}, {}, {}/s, {}", size(bytes), human::lines(lines), size(rate), span(time.as_secs()))
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
