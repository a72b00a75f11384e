//! `run -i`: the screens on a command's output while it runs.

use std::fs;

use rustix::process::Signal;

use super::{names, own, record, sequence, spill, wait_until};
use crate::common::home::Home;
use crate::common::session::Session;

/// Waits for the files `print` and `end` before it prints and ends.
const SCRIPT: &str = "while ! [ -e print ]; do sleep 0.02; done; seq 1 3000; \
    while ! [ -e end ]; do sleep 0.02; done; exit 7";

fn watching(home: &Home, flags: &[&str]) -> Session {
    Session::start(home, &[&["run", "-i"], flags, &["--", "sh", "-c", SCRIPT]].concat())
}

#[test]
fn preview_and_spill_grow_until_the_command_ends() {
    let home = Home::new();
    let mut session = watching(&home, &[]);
    session.wait_for("still running").wait_for("No output yet.");
    home.file("print", "");
    session.wait_status("gets 2,000 of 3,000 lines");
    assert!(names(&own(&home, "tool-output"))[0].starts_with(".tmp-"));
    home.file("end", "");
    session.wait_status("exited with status 7").wait_gone("still running");
    let path = spill(&home);
    assert_eq!(fs::read_to_string(&path).unwrap(), sequence(3000));
    session.keys("q");
    assert_eq!(session.ended(), 7);
    session.is_restored();
    // Once the screens are closed, the notice is printed, but not the text again.
    let seen = session.seen().text();
    assert!(seen.contains("...1001 lines truncated...") && !seen.contains("deleted"), "{seen}");
    assert!(seen.replace('\n', "").contains(path.to_str().unwrap()), "{seen}");
    assert!(!seen.lines().any(|line| line.trim() == "2000"), "{seen}");
    assert_eq!(record(&home, &path)["exit"], serde_json::json!({"code": 7}));
}

#[test]
fn leaving_the_screen_keeps_the_command_running_until_ctrl_c() {
    let home = Home::new();
    let mut session = watching(&home, &[]);
    home.file("print", "");
    session.wait_status("gets 2,000 of 3,000 lines");
    session.keys("q").wait_status("Stop the command?");
    session.keys("n").wait_for("the command still runs; Ctrl-C stops it");
    // The progress is shown, and Ctrl-C is handled from then on.
    session.wait_for("13.6 KB, 3,000 lines");
    session.keys("\x03");
    assert_eq!(session.ended(), 130);
    session.is_restored();
    assert_eq!(fs::read_to_string(spill(&home)).unwrap(), sequence(3000));
}

#[test]
fn leaving_the_screen_stops_the_command_if_confirmed() {
    let home = Home::new();
    let mut session = watching(&home, &["--print"]);
    home.file("print", "");
    session.wait_status("gets 2,000 of 3,000 lines");
    session.keys("q").wait_status("Stop the command?");
    session.keys("\x1b").wait_status("gets 2,000 of 3,000 lines");
    session.keys("\x03").wait_status("Stop the command?");
    session.keys("y");
    assert_eq!(session.ended(), 130);
    session.is_restored();
    assert_eq!(fs::read_to_string(spill(&home)).unwrap(), sequence(3000));
    let seen = session.seen().text();
    assert!(seen.lines().any(|line| line.trim() == "2000"), "all is printed: {seen}");
}

#[test]
fn a_signal_that_ends_overspill_reaches_the_command() {
    let home = Home::new();
    // Overspill has exited when the shell reports that its sleep was killed, which would end the shell before its trap.
    let script = "exec 2> /dev/null; trap ': > heard; exit' TERM; : > ready; while :; do sleep 0.02; done";
    let mut session = Session::start(&home, &["run", "-i", "--", "sh", "-c", script]);
    session.wait_for("still running");
    wait_until("the command is ready", || home.at("ready").exists());
    session.signal(Signal::TERM);
    assert_eq!(session.ended(), 143);
    session.is_restored();
    wait_until("it heard", || home.at("heard").exists());
}

#[test]
fn run_i_saves_nothing_if_nothing_is_cut() {
    let home = Home::new();
    let mut session = watching(&home, &["--max-lines", "9000"]);
    home.file("print", "");
    home.file("end", "");
    session.wait_status("exited with status 7");
    session.keys("=").wait_for("<not saved>");
    session.keys("q").wait_gone("<not saved>");
    session.keys("q");
    assert_eq!(session.ended(), 7);
    let seen = session.seen().text();
    assert!(seen.contains("nothing was cut: 3,000 lines, 13.6 KB"), "{seen}");
    assert_eq!(names(&own(&home, "tool-output")), Vec::<String>::new());
}

#[test]
fn run_i_says_that_the_command_timed_out() {
    let home = Home::new();
    let mut session =
        Session::start(&home, &["run", "-i", "--timeout", "1", "--", "sh", "-c", "seq 5000; exec sleep 99"]);
    session.wait_status("exited with status 124");
    session.keys("q");
    assert_eq!(session.ended(), 124);
    let seen = session.seen().text();
    assert!(seen.contains("the command timed out and was stopped"), "{seen}");
}

#[test]
fn an_output_that_is_kept_by_hand_is_recorded_as_the_run_that_printed_it() {
    let home = Home::new();
    let words = ["-p", "claude-code", "--", "sh", "-c", "seq 5; exit 3"];
    let mut session = Session::start(&home, &[&["run", "-i"], &words[..]].concat());
    session.wait_status("exited with status 3");
    session.keys("K").wait_status("kept forever: ");
    session.keys("q");
    assert_eq!(session.ended(), 3);
    let path = spill(&home);
    let preview = home.run(&["preview", path.to_str().unwrap()]).ok();
    assert_eq!(preview.text(), "Exit code 3\n1\n2\n3\n4\n5");
    let expected = home.run(&[&["run", "--keep", "always"], &words[..]].concat());
    assert_eq!(expected.text(), preview.text());
    let records: Vec<_> = super::spills(&home).iter().map(|path| record(&home, path)).collect();
    for key in ["command", "directory", "exit", "exit_code", "policy", "parameters", "seen", "kept", "stream"]
    {
        assert_eq!(records[0][key], records[1][key], "{key}");
    }
}

#[test]
fn run_i_saves_an_output_without_a_preview_and_exits_125() {
    let home = Home::new();
    let mut session = watching(&home, &["-p", "opencode/read", "--set", "offset=9001"]);
    session.wait_for("still running");
    home.file("print", "");
    home.file("end", "");
    session.wait_status("exited with status 7").wait_gone("still running");
    session.keys("q");
    assert_eq!(session.ended(), 125);
    assert_eq!(fs::read_to_string(spill(&home)).unwrap(), sequence(3000));
}

#[test]
fn the_preview_gets_the_exit_notice_when_the_command_ends() {
    let home = Home::new();
    let mut session = watching(&home, &["-p", "pi/bash"]);
    home.file("print", "");
    session.wait_for("still running");
    home.file("end", "");
    session.wait_status("exited with status 7");
    session.keys("G").wait_for("Command exited with code 7");
    session.keys("q");
    assert_eq!(session.ended(), 7);
}

#[test]
fn run_i_says_that_output_over_the_cap_is_not_shown() {
    let home = Home::new();
    let mut session = watching(&home, &["--max-spill", "1k", "--max-lines", "5"]);
    home.file("print", "");
    session.wait_status("only the first 1 KB is saved and shown");
    session.wait_for("<not saved>");
    home.file("end", "");
    session.wait_gone("still running").wait_for("<not saved>");
    session.keys("q");
    assert_eq!(session.ended(), 7);
    // What is printed is exact all the same.
    let seen = session.seen().text();
    assert!(seen.contains("...2996 lines truncated..."), "{seen}");
    assert_eq!(fs::metadata(spill(&home)).unwrap().len(), 1024);
}

#[test]
fn run_i_shows_no_screen_if_nothing_can_be_saved() {
    let home = Home::new();
    fs::write(own(&home, "records").parent().unwrap(), "in the way").unwrap();
    let mut session = Session::start(&home, &["run", "-i", "--", "seq", "1", "3"]);
    assert_eq!(session.ended(), 0);
    let seen = session.seen().text();
    assert!(seen.contains("cannot be saved") && seen.contains("1\n2\n3"), "{seen}");
}

#[test]
fn run_i_needs_a_terminal() {
    Home::new().run(&["run", "-i", "--", "true"]).fails(2, &["-i needs a terminal"]);
}

#[test]
fn hup_and_term_leave_the_whole_spill() {
    for (signal, status) in [(Signal::HUP, 129), (Signal::TERM, 143)] {
        let home = Home::new();
        // What the command prints at its end is kept too.
        let script = "exec 2> /dev/null; trap 'echo last; exit' HUP TERM; seq 1 3000; : > ready; while :; do sleep 0.02; done";
        let mut session = Session::start(&home, &["run", "-i", "--", "sh", "-c", script]);
        session.wait_status("gets 2,000 of 3,000 lines");
        wait_until("the command is ready", || home.at("ready").exists());
        session.signal(signal);
        assert_eq!(session.ended(), status);
        session.is_restored();
        assert!(fs::read_to_string(spill(&home)).unwrap().ends_with("3000\nlast\n"));
        assert_eq!(names(&own(&home, "tool-output")).len(), 1, "nothing is left under another name");
    }
}
