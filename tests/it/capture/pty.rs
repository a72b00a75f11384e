//! The command's own terminal: what it is, what is typed in it, how it ends.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{run, sequence, spill, wait_until};
use crate::common::home::Home;
use crate::common::session::Session;

#[test]
fn all_three_streams_are_a_terminal_and_it_controls_the_command() {
    let home = Home::new();
    let script = "tty < /dev/tty; test -t 0 && test -t 1 && test -t 2 && stty size; ps -o tpgid=,pgid= -p $$";
    let ran = run(&home, &["--pty"], script).ok();
    let lines: Vec<_> = ran.text().split("\r\n").collect();
    assert_eq!((lines[0], lines[1]), ("/dev/tty", "24 80"), "{lines:?}");
    let ids: Vec<_> = lines[2].split_whitespace().collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "{lines:?}");
}

#[test]
fn both_streams_come_in_order_with_the_terminal_s_line_ends() {
    let home = Home::new();
    let script = "i=0; while [ $i -lt 500 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done";
    run(&home, &["--pty", "--keep", "always"], script);
    let expected: String = (0..500).map(|n| format!("o{n}\r\ne{n}\r\n")).collect();
    assert!(fs::read_to_string(spill(&home)).unwrap() == expected);
}

#[test]
fn pty_reads_all_output_before_the_end() {
    let home = Home::new();
    let ran = run(&home, &["--pty", "--max-lines=900000", "--max-bytes=9m"], "seq 1 100000; exit 6");
    assert_eq!(ran.status, 6);
    assert!(ran.text().replace("\r\n", "\n") == sequence(100_000));
}

#[test]
fn pty_types_piped_input_and_then_ends_it() {
    let home = Home::new();
    for (input, expected) in [("two\nlines\n", "two\r\nlines\r\n"), ("no end", "no end"), ("", "")] {
        let ran = home.pipe(input, &["run", "--pty", "--", "cat"]).ok();
        assert_eq!(ran.text(), expected, "{input:?}");
    }
}

#[test]
fn exit_statuses_are_the_same_with_pty() {
    let home = Home::new();
    assert_eq!(run(&home, &["--pty"], "kill -TERM $$").status, 143);
    assert_eq!(run(&home, &["--pty", "--timeout", "0.2"], "sleep 60").status, 124);
    home.run(&["run", "--pty", "--", "no-such-command"]).fails(127, &["not found"]);
    home.run(&["run", "--pty", "--", "/"]).fails(126, &["/"]);
    home.run(&["run", "--pty", "--split", "--", "true"]).fails(2, &["--split"]);
}

#[test]
fn pty_does_not_wait_for_a_background_process() {
    let home = Home::new();
    let before = Instant::now();
    let ran = run(&home, &["--pty"], "trap '' HUP; sleep 20 & echo done; exit 5");
    assert!(before.elapsed() < Duration::from_secs(3), "{:?}", before.elapsed());
    assert_eq!((ran.status, ran.text()), (5, "done\r\n"));
    assert!(ran.stderr.contains("background process"), "{}", ran.stderr);
}

/// Runs a shell under `run --pty` in a terminal, and waits until it reports that it is ready.
fn in_a_terminal(home: &Home, script: &str) -> Session {
    let script = format!("{script}; : > ready; while :; do sleep 0.02; done");
    let session = Session::start(home, &["run", "--pty", "--keep", "always", "--", "sh", "-c", &script]);
    wait_until("the command is ready", || home.at("ready").exists());
    session
}

#[test]
fn pty_passes_keys_to_the_command_and_restores_the_terminal() {
    let home = Home::new();
    let mut session =
        Session::start(&home, &["run", "--pty", "--", "sh", "-c", "read -r line; echo got $line"]);
    session.keys("typed\r").wait_for("got typed");
    assert_eq!(session.ended(), 0);
    assert_eq!(session.modes(), session.before);
}

#[test]
fn the_pty_follows_the_size_of_the_terminal() {
    let home = Home::new();
    let script = "trap 'stty size >> sizes' WINCH; stty size >> sizes";
    let mut session = in_a_terminal(&home, script);
    session.resize(100, 30);
    wait_until("it heard", || fs::read_to_string(home.at("sizes")).unwrap() == "24 80\n30 100\n");
}

#[test]
fn a_second_ctrl_c_sends_term() {
    let home = Home::new();
    let mut session = in_a_terminal(&home, "trap ': > int' INT; trap 'echo told; exit 8' TERM");
    session.keys("\x03");
    wait_until("INT", || home.at("int").exists());
    session.keys("\x03");
    assert_eq!(session.ended(), 8);
    assert!(fs::read(spill(&home)).unwrap().ends_with(b"told\r\n"));
    assert_eq!(session.modes(), session.before);
}

#[test]
fn a_signal_to_overspill_leaves_the_terminal_modes_unchanged() {
    let home = Home::new();
    let mut session = in_a_terminal(&home, "echo before");
    session.signal(Signal::TERM);
    assert_eq!(session.ended(), 143);
    assert_eq!(session.modes(), session.before);
}
