//! `overspill tune -i`: the list of settings begins, measures, and leads to an output and back.

use crate::common::home::Home;
use crate::common::session::Session;

#[test]
fn the_view_measures_lists_opens_and_is_left() {
    let home = Home::new();
    std::fs::create_dir(home.at("logs")).unwrap();
    let lines = (1..=2500).map(|line| format!("step {line} of the build\n")).collect::<String>();
    home.file("logs/build.log", lines + "error: no space left\n");
    let mut session = Session::start(&home, &["tune", "-i", "-p", "opencode/output", "logs"]);
    session.wait_for("1 output, ").wait_for("@ now").wait_for("now: head, 2,000 lines, 50 KB");
    session.keys("g").wait_for("100% of errors (now 0%)").wait_for("cuts 1 of 1 output differently");
    session.keys("\r").wait_for("logs/build.log").wait_for("keeps 1 of 1 errors (now 0); gains");
    session.keys("\r").wait_for("step 2225 of the build");
    session.keys("q").wait_for("Settings › Outputs").wait_for("logs/build.log");
    session.keys("\x1b").wait_for("@ now");
    session.keys("\x1b").wait_for("q quits");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn the_ascii_option_draws_tune_in_ascii() {
    let home = Home::new();
    home.file("build.log", "step\n".repeat(3000) + "error: no\n");
    for (words, is_ascii) in
        [(&["tune", "-i", "build.log"][..], false), (&["--ascii", "tune", "-i", "build.log"], true)]
    {
        let session = Session::start(&home, words);
        let screen = session.wait_for("@ now").seen().text();
        assert_eq!(screen.is_ascii(), is_ascii, "{screen}");
    }
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let home = Home::new();
    home.file("a", "error: no\n");
    home.run(&["tune", "-i", "a"]).fails(2, &["--interactive needs a terminal"]);
    home.run(&["tune", "-i", "--json", "a"]).fails(2, &["--json"]);
}
