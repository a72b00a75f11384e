//! How soon a store of many outputs is on the screen, and how soon keys are answered meanwhile.

use std::path::Path;
use std::time::Duration;

use super::table::{self, alone, plain};
use super::terminal::Session;

/// No single thing may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Keys come this far apart, so that they fall at every point of a frame.
const PAUSE: Duration = Duration::from_millis(7);

/// What the filter looks for: a part of some names.
const WORD: &str = "4242 opencode";

/// Measures the list of `count` outputs under `data`, several times.
pub fn measure(ours: &str, data: &Path, count: u64, rounds: usize) {
    let what = grouped(count);
    let (mut first, mut all, mut during, mut after) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut typing, mut found) = (Vec::new(), Vec::new());
    let mut memory = 0;
    for _ in 0..rounds {
        let mut session = Session::start(&[ours], data);
        first.extend(session.first(PATIENCE, |rows| row_of(rows).is_some()));
        all.extend(session.first(PATIENCE, |rows| is_whole(rows, &what)));
        memory = memory.max(session.own_memory().unwrap_or(0));
        session.settle(Duration::from_millis(300));
        after.extend((0..40).filter_map(|n| page(&mut session, if n < 20 { "f" } else { "b" })));
        session.press("/");
        typing.extend((1..=WORD.len()).filter_map(|end| typed(&mut session, &WORD[..end])));
        let entered = session.press("\r");
        found.extend(session.until(entered, PATIENCE, |rows| is_found(rows, &what)));
        memory = memory.max(session.own_memory().unwrap_or(0));
        drop(session);
        let mut session = Session::start(&[ours], data);
        session.first(PATIENCE, |rows| row_of(rows).is_some());
        while !is_whole(&session.rows(), &what) {
            during.extend(help(&mut session));
        }
    }
    alone(&format!("{what} outputs: first rows"), &first, "<= 100 ms");
    alone(&format!("{what} outputs: complete list"), &all, if count <= 100_000 { "<= 300 ms" } else { "" });
    alone(&format!("{what} outputs: rows that a filter found, after its last key"), &found, "");
    let phases = [
        ("while listing", &during),
        ("after listing, page by page", &after),
        ("while a filter is typed", &typing),
    ];
    for (when, times) in phases {
        let part = |percent| table::share(times, percent).map_or("-".into(), table::words);
        let words = format!("{}; 99% within {}; {} presses", part(50), part(99), times.len());
        plain(&format!("{what} outputs: key press to repaint, {when}"), &words, "99% within 16 ms");
    }
    plain(&format!("{what} outputs: private memory"), &format!("{:.0} MB", memory as f64 / 1e6), "<= 200 MB");
}

/// As the screen has it: `1,000,000`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| str::from_utf8(g).ok()).collect();
    groups.join(",")
}

/// The first row with an entry.
fn row_of(rows: &[String]) -> Option<&String> {
    rows.iter().skip(2).find(|row| row.contains("opencode") && row.contains(" B "))
}

/// Whether all are in the list; the machine's own outputs may be there as well.
fn is_whole(rows: &[String], count: &str) -> bool {
    rows.last().is_some_and(|row| row.contains(&format!(" of {count} ")))
}

/// A page on, or back: the time until the rows are others.
fn page(session: &mut Session, key: &str) -> Option<Duration> {
    let before = row_of(&session.rows()).cloned();
    let pressed = session.press(key);
    let time = session.until(pressed, PATIENCE, |rows| row_of(rows).cloned() != before);
    session.settle(PAUSE);
    time
}

/// The last key of a filter typed so far: the time until it is on the screen.
fn typed(session: &mut Session, text: &str) -> Option<Duration> {
    let pressed = session.press(&text[text.len() - 1..]);
    let shown = format!("filter: {}", text.trim_end());
    let time =
        session.until(pressed, PATIENCE, |rows| rows.last().is_some_and(|row| row.starts_with(&shown)));
    session.settle(PAUSE);
    time
}

/// Whether the title says how many of all were found.
fn is_found(rows: &[String], count: &str) -> bool {
    let title = rows.first();
    title.is_some_and(|row| {
        row.contains(&format!(" of {count} ")) && !row.contains(&format!(" {count} of {count}"))
    })
}

/// The help, and away again: the time until it is on the screen.
fn help(session: &mut Session) -> Option<Duration> {
    let is_open = |rows: &[String]| rows.iter().any(|row| row.contains("h closes"));
    let pressed = session.press("h");
    let time = session.until(pressed, PATIENCE, is_open);
    let closed = session.press("h");
    session.until(closed, PATIENCE, |rows| !is_open(rows));
    session.settle(PAUSE);
    time
}
