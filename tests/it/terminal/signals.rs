//! Signals that end the program, and Ctrl-Z with `fg`, in every state of the screens: bars 29 and 31.

use std::fs::File;

use rustix::process::Signal;

use crate::capture::wait_until;
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::common::session::Session;

/// The state of the screens when the signal arrives: name, command-line arguments, keys, and what is then shown.
const STATES: [(&str, &[&str], &str, &str); 9] = [
    ("all counted", &["build.log"], "", "gets 2,000 of 8,432 lines"),
    ("counting", &["sparse"], "", "over 50 KB"),
    ("searching", &["sparse"], "\t/word\r", "word"),
    ("a prompt", &["build.log"], "/word", "/word"),
    ("help", &["build.log"], "h", "down half a page"),
    ("the limits drawer", &["build.log"], "l", "What if"),
    ("policies", &["build.log"], "lp", "Policies:"),
    ("the list", &[], "", "stored"),
    (
        "a running command",
        &["run", "-i", "--", "sh", "-c", "seq 1 3000; exec sleep 60"],
        "",
        "of 3,000 lines",
    ),
];

const SIGNALS: [(Signal, u32); 4] =
    [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)];

fn home() -> Home {
    let home = Home::new();
    home.file("build.log", test_log(8432));
    File::create(home.at("sparse")).unwrap().set_len(1 << 40).unwrap();
    home
}

#[test]
fn a_signal_gives_the_terminal_back_in_every_state() {
    let home = home();
    for (state, words, keys, shown) in STATES {
        for (signal, status) in SIGNALS {
            let mut session = Session::start(&home, words);
            session.wait_until("the screens", |seen| seen.parser.screen().alternate_screen().then_some(()));
            session.keys(keys).wait_for(shown);
            session.signal(signal);
            assert_eq!(session.ended(), status, "{state}, {signal:?}");
            session.is_restored();
        }
    }
}

/// Number of stops by Ctrl-Z, unless the variable sets another one.
const STOPS: usize = 5;
const VARIABLE: &str = "OVERSPILL_TEST_STOPS";

#[test]
fn ctrl_z_and_fg_again_and_again() {
    let stops = std::env::var(VARIABLE).map_or(STOPS, |text| text.parse().expect("a number"));
    let home = home();
    let line = "set -m; $overspill build.log; s=$?; n=0; while [ $s -gt 128 ]; do n=$((n + 1)); echo stopped $n; \
        read again; fg > /dev/null; s=$?; done; echo ended $s";
    let mut session = Session::shell(&home, line);
    session.wait_status("gets 2,000 of 8,432 lines").wait_for("errors 1");
    let (screen, raw) = (session.seen().text(), session.modes());
    for n in 1..=stops {
        session.keys("\x1a").wait_for(&format!("stopped {n}"));
        assert_eq!(session.modes(), session.before, "not as it was");
        session.is_restored();
        session.keys("\r");
        session.wait_until("the same screen", |seen| (seen.text() == screen).then_some(()));
        wait_until("the modes of the screens", || session.modes() == raw);
    }
    session.keys("q").wait_for("ended 0");
    session.ended();
    session.is_restored();
}
