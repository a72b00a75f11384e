//! A real terminal is resized, often or unnoticed: the last size is what is drawn (bar 32).

use std::time::{Duration, Instant};

use crate::common::home::{DEADLINE, Home};
use crate::common::samples::build_log;
use crate::common::session::Session;

const SIZES: u16 = 100;
const LAST: (u16, u16) = (97, 31);

#[test]
fn after_a_storm_of_sizes_the_last_one_is_drawn() {
    let home = Home::new();
    home.file("build.log", build_log(300));
    for (keys, shown) in
        [("", "300 lines"), ("h", "down a line"), ("/word", "/word"), ("p", "type to narrow")]
    {
        let mut calm = Session::start_sized(&home, LAST, &["build.log"]);
        calm.keys(keys).wait_for(shown);
        let mut storm = Session::start(&home, &["build.log"]);
        storm.keys(keys).wait_for(shown);
        let mut state = 0x9e37_79b9_u32;
        for _ in 0..SIZES {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            storm.resize(1 + (state >> 8) as u16 % 300, 1 + (state >> 20) as u16 % 100);
        }
        storm.resize(LAST.0, LAST.1);
        assert_becomes(&storm, &calm, keys);
    }
}

#[test]
fn a_size_that_changed_while_stopped_is_drawn() {
    let home = Home::new();
    home.file("build.log", build_log(300));
    let keys = "h";
    let mut calm = Session::start_sized(&home, LAST, &["build.log"]);
    calm.keys(keys).wait_for("down a line");
    for first in [(80, 24), (200, 50)] {
        let line = "set -m; $overspill build.log; echo stopped; read again; fg > /dev/null";
        let mut stopped = Session::shell_with(&home, first, &[], line);
        stopped.wait_for("300 lines");
        stopped.keys(keys).wait_for("down a line");
        stopped.keys("\x1a").wait_for("stopped");
        stopped.resize(LAST.0, LAST.1).keys("\r");
        assert_becomes(&stopped, &calm, &format!("{keys}, from {first:?}"));
    }
}

/// Waits until one terminal shows what the other shows.
#[track_caller]
fn assert_becomes(changed: &Session, calm: &Session, what: &str) {
    let begin = Instant::now();
    let texts = || (changed.seen().lines(), calm.seen().lines());
    while texts().0 != texts().1 {
        let (after, from_the_start) = texts();
        assert!(
            begin.elapsed() < DEADLINE,
            "{what}: the screen\n{after}\nand with this size from the start\n{from_the_start}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}
