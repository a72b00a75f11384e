//! Captures through the library, as started by a screen or an agent.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use overspill::capture::{
    Group, HOLD, Location, Options, Request, Running, SinkLimits, Stdin, Streams, drain, start,
};
use overspill::internals::source::{Change, Source};
use overspill::internals::store::Env;
use overspill::preview::{Catalog, Policy, Stream};

use super::{names, sequence, wait_until};

fn options(hold: usize) -> Options {
    Options {
        streams: Streams::Together,
        stdin: Stdin::Null,
        group: Group::Own,
        timeout: Some(Duration::from_secs(30)),
        limits: SinkLimits { hold, ..SinkLimits::default() },
        ..Options::default()
    }
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn home() -> (tempfile::TempDir, Location) {
    let home = tempfile::tempdir().unwrap();
    let place = Location::own(&Env::hermetic(home.path()), Timestamp::now());
    (home, place)
}

fn policy() -> Policy {
    Catalog::builtin().get("opencode/output").unwrap()
}

/// Waits for the growing file of a command.
fn growing(running: &Running) -> Source {
    let progress = Arc::clone(running.progress(Stream::Stdout).unwrap());
    wait_until("it spills", || progress.spill().is_some());
    Source::open(progress.spill().unwrap()).unwrap()
}

#[test]
fn a_source_can_read_the_spill_while_it_grows() {
    let (home, place) = home();
    let fifo = home.path().join("go");
    crate::common::home::fifo(&fifo);
    let script = format!("seq 1 3000; read go < {}; seq 1 3000", fifo.display());
    let running = start(shell(&script), &options(0), &place).unwrap();
    let mut source = growing(&running);
    let half = sequence(3000);
    wait_until("half of it is there", || {
        source.refresh();
        source.len() == half.len() as u64
    });
    let generation = source.generation();
    std::fs::write(&fifo, "go\n").unwrap();
    let finished = running.wait().unwrap().finish(&Request::new(policy()), &place).unwrap();
    assert_eq!(source.refresh(), Change::Grown);
    assert_eq!((&*source.view(), source.generation()), (half.repeat(2).as_bytes(), generation));
    let saved = finished.saved.stdout.as_ref().unwrap();
    assert_eq!(std::fs::read_to_string(saved).unwrap(), half.repeat(2));
}

#[test]
fn a_capture_that_is_dropped_leaves_no_file() {
    let (home, place) = home();
    let captured = start(shell("seq 1 50000"), &options(0), &place).unwrap().wait().unwrap();
    let path = captured.stdout.temporary_path().unwrap();
    assert!(path.exists());
    drop(captured);
    assert!(!path.exists());
    assert_eq!(names(&home.path().join(".local/share/overspill/records")), Vec::<String>::new());
}

#[test]
fn drain_captures_a_stream_like_a_command() {
    let (_home, place) = home();
    let text = sequence(50_000);
    let captured = drain(std::io::Cursor::new(text.clone()), options(HOLD).limits, &place).unwrap();
    assert_eq!((captured.ended, captured.stdout.seen.lines), (None, 50_000));
    let finished = captured.finish(&Request::new(policy()), &place).unwrap();
    let text_of = finished.preview.text(&finished.input());
    assert!(finished.preview.truncated && text_of.starts_with("1\n2\n"));
    assert_eq!(std::fs::read_to_string(finished.saved.stdout.as_ref().unwrap()).unwrap(), text);
}

#[test]
fn a_reader_that_fails_keeps_what_came() {
    struct Failing(u8);
    impl std::io::Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            if self.0 > 2 {
                return Err(std::io::Error::from_raw_os_error(libc::EIO));
            }
            buffer[..2].copy_from_slice(b"ok");
            Ok(2)
        }
    }
    let (_home, place) = home();
    let captured = drain(Failing(0), options(HOLD).limits, &place).unwrap();
    assert_eq!(captured.failure.as_ref().unwrap().raw_os_error(), Some(libc::EIO));
    let finished = captured.finish(&Request::new(policy()), &place).unwrap();
    assert_eq!(finished.preview.text(&finished.input()), "okok");
    assert!(finished.warnings[0].contains("could not be read to its end"));
}

#[test]
fn cleans_once_and_only_before_a_spill() {
    let (_home, place) = home();
    let times = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&times);
    let place = place.after(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let deliver = |script: &str| {
        let captured = start(shell(script), &options(HOLD), &place).unwrap().wait().unwrap();
        captured.finish(&Request::new(policy()), &place).unwrap();
    };
    deliver("echo little");
    assert_eq!(times.load(Ordering::Relaxed), 0);
    deliver("seq 1 3000");
    deliver("seq 1 300000");
    assert_eq!(times.load(Ordering::Relaxed), 1);
}

#[test]
fn the_signal_that_killed_the_command_is_known_once_it_is_over() {
    for (script, killer) in [("kill -INT $$", Some(2)), ("kill -TERM $$", Some(15)), ("exit 2", None)] {
        let (_home, place) = home();
        let running = start(shell(script), &options(HOLD), &place).unwrap();
        let control = running.control();
        running.wait().unwrap();
        assert!(!control.ask(2));
        let found = [2, 15].into_iter().find(|signal| control.was_killed_by(*signal));
        assert_eq!(found, killer, "{script}");
    }
}

#[test]
fn a_missing_working_directory_is_named() {
    let (home, place) = home();
    let gone = home.path().join("gone");
    for program in ["true", "/bin/sh"] {
        let mut command = Command::new(program);
        command.current_dir(&gone);
        let error = start(command, &options(HOLD), &place).unwrap_err();
        let words = format!("{program}: its working directory {} is not there", gone.display());
        assert_eq!((error.to_string(), error.exit_code()), (words, 126));
    }
}
