//! A real terminal is resized, often or unnoticed: the last size is what is drawn (bar 32).

use std::fmt::{Display, Formatter};

use crate::capture::wait_until;
use crate::common::home::Home;
use crate::common::samples::build_log;
use crate::common::session::Session;

const SIZES: u16 = 100;
const LAST: (u16, u16) = (97, 31);

#[test]
fn after_a_storm_of_sizes_the_last_one_is_drawn() {
    let home = Home::new();
    home.file("build.log", build_log(300));
    for (keys, shown) in [("", "300 lines"), ("h", "half page"), ("/word", "/word"), ("lp", "not cut")] {
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
        assert_becomes(&storm, &calm, shown);
    }
}

#[test]
fn a_size_that_changed_while_stopped_is_drawn() {
    let home = Home::new();
    home.file("build.log", build_log(300));
    let (keys, shown) = ("h", "half page");
    let mut calm = Session::start_sized(&home, LAST, &["build.log"]);
    calm.keys(keys).wait_for(shown);
    for first in [(80, 24), (200, 50)] {
        let line = "set -m; $overspill build.log; echo stopped; read again; fg > /dev/null";
        let mut stopped = Session::shell_with(&home, first, &[], line);
        stopped.wait_for("300 lines");
        stopped.keys(keys).wait_for(shown);
        stopped.keys("\x1a").wait_for("stopped");
        stopped.resize(LAST.0, LAST.1).keys("\r");
        assert_becomes(&stopped, &calm, shown);
    }
}

/// Waits until one terminal shows what the other shows, with this text among it.
#[track_caller]
fn assert_becomes(changed: &Session, calm: &Session, shown: &str) {
    wait_until(Screens { changed, calm }, || {
        let text = changed.seen().text();
        // A blank that was written looks like one that never was.
        let calm = calm.seen().text();
        text.contains(shown) && text.lines().map(str::trim_end).eq(calm.lines().map(str::trim_end))
    });
}

/// What two terminals show, for the message that they differ.
struct Screens<'a> {
    changed: &'a Session,
    calm: &'a Session,
}

impl Display for Screens<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (changed, calm) = (self.changed.seen().text(), self.calm.seen().text());
        write!(f, "the screen\n{changed}\nas it is with this size from the start\n{calm}")
    }
}
