//! A slow plan does not block the screen, and keys that wait are taken together.

use crate::common::home::Home;
use crate::common::samples::build_log;
use crate::common::session::Session;

#[test]
fn planning_a_terabyte_can_be_cancelled_while_browsing() {
    let home = Home::new();
    home.sparse("huge.log", 1 << 40);
    let mut session = Session::start(&home, &["-p", "pi/ls", "huge.log"]);
    session.wait_status("nothing kept: the first line alone is 1 TB");
    session.keys("l+").wait_for("planning…  Esc gives up");
    session.keys("\t").wait_for("^@^@^@");
    session.keys("\x1b").wait_gone("What if").wait_status("gave up planning pi/ls; the old preview stays");
    session.keys("\t").wait_status("nothing kept: the first line alone is 1 TB, over 50 KB");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

/// Starts on a log with this text already counted, and presses keys; waits for `status` after each group of them.
fn screen_after(groups: &[(&str, &str)]) -> Vec<String> {
    let home = Home::new();
    home.file("build.log", build_log(4000));
    let mut session = Session::start(&home, &["build.log"]);
    session.wait_status("gets ").wait_for("errors ");
    for (keys, status) in groups {
        session.keys(keys).wait_for(status);
    }
    let text = session.seen().text();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn queued_repeats_of_a_key_change_the_limit_as_single_presses() {
    let opened = ("l", "What if");
    let limits = ["40", "30", "20", "15"].map(|limit| format!("max bytes {limit} KB · line 1 "));
    let one_by_one = limits.iter().map(|limit| ("-", &**limit));
    let one_by_one: Vec<(&str, &str)> = [opened].into_iter().chain(one_by_one).collect();
    let at_once = [opened, ("----", "max bytes 15 KB · line 1 ")];
    assert_eq!(screen_after(&at_once), screen_after(&one_by_one));
}

#[test]
fn a_paste_from_a_terminal_without_bracketed_paste_is_typed_whole() {
    let home = Home::new();
    home.file("big", (1..=9000).map(|n| format!("row {n}\n")).collect::<String>());
    let mut session = Session::start(&home, &["big"]);
    session.wait_for("row 1");
    let pattern = format!("row 1{}77", "(1|2|7)?".repeat(400));
    session.keys(&format!("/{pattern}\r")).wait_for("row 177");
    session.keys("q");
    assert_eq!(session.ended(), 0);
}
