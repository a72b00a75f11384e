//! A user at the terminal: the progress line of a command, and Ctrl-Z.

use std::process::Command;

use super::wait_until;
use crate::common::home::Home;
use crate::common::session::Session;

/// Reports that it runs, and ends once it may.
const SCRIPT: &str = "echo begun; echo $$ > pid; while ! [ -e go ]; do sleep 0.02; done; echo at last";

#[test]
fn progress_appears_after_a_second_and_is_erased() {
    let home = Home::new();
    let mut session = Session::start(&home, &["run", "--", "sh", "-c", SCRIPT]);
    session.wait_for("6 B, 1 line, ");
    session.wait_for("B/s, 1 s");
    home.file("go", "");
    assert_eq!(session.ended(), 0);
    let rows: Vec<_> = session.seen().text().lines().map(|row| row.trim_end().to_owned()).collect();
    assert_eq!(rows, ["begun", "at last"]);
}

/// Whether the command is stopped; its shell may also be waiting for a process just forked that is stopped.
fn is_stopped(home: &Home) -> bool {
    let pid = std::fs::read_to_string(home.at("pid")).unwrap();
    let state = Command::new("ps").args(["-o", "state=", "-p", pid.trim()]).output().unwrap();
    matches!(state.stdout.first(), Some(b'T' | b'D'))
}

/// Runs under a shell with job control, is stopped by Ctrl-Z once `is_up`, continues with `fg`, and ends.
fn stops_and_goes_on(words: &str, is_up: impl Fn(&Session) -> bool, leave: impl Fn(&mut Session)) {
    let home = Home::new();
    home.file("script", SCRIPT);
    let line =
        format!("set -m; $overspill run {words}; echo stopped; read again; fg > /dev/null; echo ended $?");
    let mut session = Session::shell(&home, &line);
    wait_until("it runs", || home.at("pid").metadata().is_ok_and(|meta| meta.len() > 0));
    wait_until("it is up", || is_up(&session));
    let modes = session.modes();
    session.keys("\x1a").wait_for("stopped");
    wait_until("the command is stopped", || is_stopped(&home));
    assert_eq!(session.modes(), session.before, "{words}");
    session.keys("\r");
    wait_until("the command goes on", || !is_stopped(&home));
    wait_until("the terminal is as it was taken", || session.modes() == modes);
    home.file("go", "");
    leave(&mut session);
    session.wait_for("at last").wait_for("ended 0");
    session.ended();
    assert_eq!(session.modes(), session.before, "{words}");
}

#[test]
fn ctrl_z_stops_the_command_and_overspill() {
    stops_and_goes_on("-- sh script", |_| true, |_| ());
}

#[test]
fn ctrl_z_stops_a_command_in_a_group_of_its_own() {
    stops_and_goes_on("-- sh script < /dev/null 2> /dev/null", |_| true, |_| ());
}

#[test]
fn ctrl_z_stops_a_command_with_a_terminal_of_its_own() {
    stops_and_goes_on("--pty -- sh script", |session| session.modes() != session.before, |_| ());
}

#[test]
fn ctrl_z_on_the_screens_stops_the_command_they_show() {
    let is_up = |session: &Session| session.seen().text().contains("still running");
    stops_and_goes_on("-i --print -- sh script", is_up, |session| {
        session.wait_gone("still running");
        session.keys("q");
    });
}
