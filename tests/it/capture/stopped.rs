//! Ctrl-C once, twice, three times, other signals, and a reader that closes the pipe: bar 26.

use std::fs;
use std::io::Read;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{record, spill, wait_until};
use crate::common::home::{Home, Ran, finish};
use crate::common::session::Session;

/// Starts a script under `overspill run`, and waits until it has created the file `ready`.
fn started(home: &Home, script: &str) -> Child {
    // A shell reports the commands that are killed, which does not matter here.
    let script = format!("exec 2> /dev/null\n{script}\n: > ready; while :; do sleep 0.02; done");
    let child = home.command(&["run", "--keep", "always", "--", "sh", "-c", &script]).spawn().unwrap();
    wait_until("the command is ready", || home.at("ready").exists());
    child
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Sends INT repeatedly, each time after the command has created its file for the previous one.
fn interrupted(script: &str, heard: &[&str]) -> (Home, Ran) {
    let home = Home::new();
    let child = started(&home, script);
    send(&child, Signal::INT);
    for name in heard {
        wait_until(name, || home.at(name).exists());
        send(&child, Signal::INT);
    }
    (home, finish(child))
}

#[test]
fn the_first_interrupt_sends_int_and_finishes_the_spill() {
    let (home, ran) = interrupted("echo before", &[]);
    assert_eq!((ran.status, ran.text()), (130, "before\n"));
    assert_eq!(fs::read(spill(&home)).unwrap(), b"before\n");
    let record = record(&home, &spill(&home));
    assert_eq!(
        (&record["stopped"], &record["exit"]),
        (&"signal 2".into(), &serde_json::json!({"signal": 2}))
    );
}

#[test]
fn a_command_that_traps_int_chooses_its_exit_status() {
    let (home, ran) = interrupted("trap 'echo caught; exit 9' INT", &[]);
    assert_eq!((ran.status, ran.text()), (9, "caught\n"));
    assert_eq!(fs::read(spill(&home)).unwrap(), b"caught\n");
}

#[test]
fn the_second_interrupt_sends_term() {
    let (home, ran) = interrupted("trap ': > int' INT; trap 'echo told; exit 8' TERM", &["int"]);
    assert_eq!((ran.status, ran.text()), (8, "told\n"));
    assert_eq!(fs::read(spill(&home)).unwrap(), b"told\n");
}

#[test]
fn the_third_interrupt_sends_kill_2_seconds_after_term() {
    let before = Instant::now();
    let (home, ran) = interrupted("trap ': > int' INT; trap ': > term' TERM; echo alive", &["int", "term"]);
    assert_eq!((ran.status, ran.text()), (130, "alive\n"));
    let took = before.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(6), "{took:?}");
    assert_eq!(record(&home, &spill(&home))["exit"], serde_json::json!({"signal": 9}));
}

#[test]
fn a_signal_reaches_the_whole_process_group() {
    let home = Home::new();
    // TERM, since a shell's background commands ignore INT.
    let inner = "sh -c 'trap \": > heard; exit\" TERM; : > inner; while :; do sleep 0.02; done' &";
    let child = started(&home, inner);
    wait_until("the inner one is ready", || home.at("inner").exists());
    send(&child, Signal::TERM);
    wait_until("it heard", || home.at("heard").exists());
    assert_eq!(finish(child).status, 143);
}

#[test]
fn other_signals_are_passed_on() {
    // What `nohup` ignores, a child would ignore as well; what has a handler here, a child has by default.
    signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::default()).unwrap();
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)] {
        let home = Home::new();
        let child = started(&home, "echo before; ulimit -c 0");
        send(&child, signal);
        let ran = finish(child);
        assert_eq!((ran.status, ran.text()), (status, "before\n"));
        spill(&home);
    }
}

#[test]
fn a_closed_stdout_exits_141_quietly() {
    let home = Home::new();
    let words =
        ["run", "--max-lines", "900000", "--max-bytes", "9m", "--keep", "always", "--", "seq", "1", "500000"];
    let mut child = home.command(&words).spawn().unwrap();
    let mut first = [0; 2];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let ran = finish(child);
    assert_eq!((&first, ran.status, ran.stderr.as_str()), (b"1\n", 141, ""));
    assert_eq!(fs::metadata(spill(&home)).unwrap().len(), super::sequence(500_000).len() as u64);
}

#[test]
fn a_closed_reader_stops_the_command_only_with_sigpipe_kill() {
    for (flag, record_says) in [("kill", "its reader had gone".into()), ("spill", serde_json::Value::Null)] {
        let home = Home::new();
        let script = "echo before; : > ready; while ! [ -e go ]; do sleep 0.02; done; exit 4";
        let words = ["run", "--sigpipe", flag, "--keep", "always", "--", "sh", "-c", script];
        let mut child = home.command(&words).spawn().unwrap();
        wait_until("the command is ready", || home.at("ready").exists());
        drop(child.stdout.take());
        if flag == "spill" {
            home.file("go", "");
        }
        let ran = finish(child);
        assert_eq!((ran.status, ran.stderr.as_str()), (141, ""), "{flag}");
        assert_eq!(fs::read(spill(&home)).unwrap(), b"before\n");
        assert_eq!(record(&home, &spill(&home))["stopped"], record_says);
    }
}

#[test]
fn the_command_can_read_the_terminal_and_gets_ctrl_c() {
    use portable_pty::{CommandBuilder, PtySize, native_pty_system};
    use std::io::Write;

    let home = Home::new();
    let pty = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_overspill"));
    // Short sleeps: a shell that is interrupted between two commands handles the signal after the next.
    let script = "read line; echo got $line; : > ready; while :; do sleep 0.02; done";
    command.args(["run", "--keep", "always", "--", "sh", "-c", script]);
    command.cwd(home.work());
    command.env_clear();
    home.env().into_iter().for_each(|(name, value)| command.env(name, value));
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    let mut reader = pty.master.try_clone_reader().unwrap();
    let drained = std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    let mut keys = pty.master.take_writer().unwrap();
    keys.write_all(b"typed\n").unwrap();
    wait_until("the command has read a line", || home.at("ready").exists());
    keys.write_all(b"\x03").unwrap();
    let mut status = None;
    wait_until("it has ended", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().exit_code(), 130);
    assert_eq!(fs::read(spill(&home)).unwrap(), b"got typed\n");
    drop((keys, pty.master));
    let _ = drained.join();
}

#[test]
fn an_interrupt_ends_overspill_once_the_command_is_over() {
    let home = Home::new();
    let words = ["run", "--max-lines=900000", "--max-bytes=9m", "--keep=always", "--", "seq", "1", "500000"];
    let mut child = home.command(&words).spawn().unwrap();
    // Everything is finished once the preview arrives. The program cannot exit, since nobody reads the rest.
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 2]).unwrap();
    assert_eq!(super::spills(&home).len(), 1);
    send(&child, Signal::INT);
    let mut status = None;
    wait_until("it has ended", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status.unwrap()), Some(2));
}

#[test]
fn an_interrupt_at_the_commands_end_loses_no_output() {
    for _ in 0..20 {
        let home = Home::new();
        let words = ["run", "--keep", "always", "--", "sh", "-c", "trap '' INT TERM; echo out; : > ready"];
        let child = home.command(&words).spawn().unwrap();
        wait_until("the command is about to end", || home.at("ready").exists());
        send(&child, Signal::INT);
        send(&child, Signal::INT);
        finish(child);
        assert_eq!(fs::read(spill(&home)).unwrap(), b"out\n");
    }
}

/// Whether a process runs that has this as its only argument.
fn is_asleep(seconds: &str) -> bool {
    let listed =
        std::process::Command::new("ps").args(["-A", "-o", "stat=", "-o", "args="]).output().unwrap();
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    text.lines().any(|line| !line.starts_with('Z') && line.ends_with(&format!(" sleep {seconds}")))
}

/// At a terminal the command shares the group of overspill, of the script and of what else the script has started.
fn is_stopped_at_a_terminal(flags: &str, stop: &str, status: &str) {
    let home = Home::new();
    // Unlike these, the script and its `cat` are not the command's.
    let [orphan, child, own] = [1, 2, 3].map(|n| format!("{n}{}", std::process::id()));
    let script =
        format!("(sleep {orphan} &); sleep {child} & echo $PPID > over; : > ready; exec sleep {own}");
    home.file("command", script);
    let line = format!(
        "mkfifo fifo; cat fifo & (until [ -e ready ]; do sleep 0.02; done; {stop}) & \
         $overspill run {flags} -- sh command; echo ended $?; \
         until [ -e looked ]; do sleep 0.02; done; echo not killed > fifo; wait"
    );
    let mut session = Session::shell(&home, &line);
    session.wait_for(&format!("ended {status}"));
    // Elsewhere orphans are not found. Once the session ends, the terminal would end them all.
    for seconds in if cfg!(target_os = "linux") { vec![own, child, orphan] } else { vec![own, child] } {
        wait_until(&seconds, || !is_asleep(&seconds));
    }
    home.file("looked", "");
    session.wait_for("not killed");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_timeout_at_a_terminal_ends_all_that_the_command_started_and_nothing_else() {
    is_stopped_at_a_terminal("--timeout 1", ":", "124");
}

#[test]
fn a_signal_at_a_terminal_ends_all_that_the_command_started_and_nothing_else() {
    is_stopped_at_a_terminal("", "kill -TERM $(cat over)", "143");
}

#[test]
fn an_interrupt_that_was_not_typed_reaches_a_command_at_a_terminal() {
    let home = Home::new();
    // A shell that is interrupted between two commands handles the signal after the next.
    home.file("command", "trap 'echo caught; exit 9' INT; kill -INT $PPID; while :; do sleep 0.02; done");
    let mut session = Session::start(&home, &["run", "--", "sh", "command"]);
    session.wait_for("caught");
    assert_eq!(session.ended(), 9);
}

#[test]
fn an_adopted_orphan_is_reaped() {
    let home = Home::new();
    let script = "(sh -c 'echo $$ > pid; exec sleep 0.1' &); until [ -s pid ]; do sleep 0.02; done; \
                  while kill -0 $(cat pid); do sleep 0.02; done; echo gone";
    home.file("command", script);
    let mut session = Session::start(&home, &["run", "--", "sh", "command"]);
    session.wait_for("gone");
    assert_eq!(session.ended(), 0);
}
