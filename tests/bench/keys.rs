//! Line numbers on the screen, and how soon a key moves them.

use std::time::{Duration, Instant};

use super::terminal::Session;

/// Keys come this far apart, so that they fall at every point of a frame.
const PAUSE: Duration = Duration::from_millis(7);

/// The exact line number in a row's gutter.
fn number(row: &str) -> Option<u64> {
    row.split_once(['│', '┊'])?.0.trim().parse().ok()
}

/// Whether a row has this exact number.
pub fn has_number(rows: &[String], wanted: u64) -> bool {
    rows.iter().any(|row| number(row) == Some(wanted))
}

/// Moves down by lines for a while from line `first` at the top; the time of each key to its paint.
pub fn steps(session: &mut Session, first: u64, time: Duration) -> Vec<Duration> {
    let since = Instant::now();
    let mut top = first;
    let mut times = Vec::new();
    session.press("w");
    session.settle(Duration::from_millis(40));
    while since.elapsed() < time {
        let pressed = session.press("j");
        top += 1;
        let painted = session.until(pressed, Duration::from_secs(2), |rows| {
            rows.iter().find_map(|row| number(row)) == Some(top)
        });
        times.push(painted.unwrap_or(Duration::from_secs(2)));
        session.settle(PAUSE);
    }
    times
}
