//! How soon many sessions are on the screen, and how soon keys are answered while their calls are counted.

use std::path::Path;
use std::time::Duration;

use super::table::{self, alone, plain};
use super::terminal::Session;

/// No single thing may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Keys come this far apart, so that they fall at every point of a frame.
const PAUSE: Duration = Duration::from_millis(7);

/// How long the calls of 10,000 sessions are counted, at most.
const COUNTING: Duration = Duration::from_secs(20);

/// Steps and pages of each round.
const STEPS: usize = 300;
const PAGES: usize = 40;

/// Measures the view of the sessions below a home directory, several times.
pub fn measure(ours: &str, home: &Path, rounds: usize) {
    let (mut first, mut counting, mut after, mut pages) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut count, mut memory) = (0, 0);
    for _ in 0..rounds {
        let mut session = Session::start(&[ours], home);
        session.first(PATIENCE, |rows| rows.iter().any(|row| row.contains("Outputs")));
        let pressed = session.press("\t");
        first.extend(session.until(pressed, PATIENCE, |rows| place(rows).is_some()));
        counting.extend((0..STEPS).filter_map(|_| moved(&mut session, "j")));
        session.settle(COUNTING);
        after.extend((0..STEPS).filter_map(|_| moved(&mut session, "k")));
        pages.extend((0..PAGES).filter_map(|_| moved(&mut session, "f")));
        count = place(&session.rows()).map_or(0, |(_, count)| count);
        memory = memory.max(session.own_memory().unwrap_or(0));
    }
    alone(&format!("Sessions, {count}: first rows after `Tab`"), &first, "<= 100 ms");
    let phases = [("while calls are counted", &counting), ("after that", &after), ("page by page", &pages)];
    for (when, times) in phases {
        let part = |percent| table::share(times, percent).map_or("-".into(), table::words);
        let words = format!("{}; 99% within {}; {} presses", part(50), part(99), times.len());
        plain(&format!("Sessions, {count}: key press to repaint, {when}"), &words, "99% within 16 ms");
    }
    plain(&format!("Sessions, {count}: own memory"), &format!("{:.0} MB", memory as f64 / 1e6), "<= 64 MB");
}

/// Which row has the cursor, and how many there are, as the status line says: `1 of 10,000`.
fn place(rows: &[String]) -> Option<(u64, u64)> {
    let (place, rest) = rows.last()?.split_once(" of ")?;
    let number = |text: &str| text.trim().replace(',', "").parse().ok();
    Some((number(place)?, number(rest.split_whitespace().next()?)?))
}

/// Presses a key that moves the cursor: the time until it is elsewhere.
fn moved(session: &mut Session, key: &str) -> Option<Duration> {
    let row = |rows: &[String]| place(rows).map(|(row, _)| row);
    let before = row(&session.rows());
    let pressed = session.press(key);
    let time = session.until(pressed, PATIENCE, |rows| row(rows).is_some_and(|now| Some(now) != before));
    session.settle(PAUSE);
    time
}
