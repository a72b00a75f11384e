//! How commands end, and overspill's exit status: bars 24, 25 and 27.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{record, run, sequence, spill, spills};
use crate::common::home::{Home, finish};

#[test]
fn exits_with_the_commands_status() {
    let home = Home::new();
    for status in [0, 1, 7, 255] {
        let ran = run(&home, &[], &format!("echo said; exit {status}"));
        assert_eq!((ran.status, ran.text(), ran.stderr.as_str()), (status, "said\n", ""));
    }
}

#[test]
fn death_by_signal_n_exits_128_plus_n() {
    let home = Home::new();
    for (signal, status) in [("KILL", 137), ("TERM", 143), ("SEGV", 139), ("INT", 130)] {
        let ran = run(&home, &[], &format!("echo said; kill -{signal} $$"));
        assert_eq!((ran.status, ran.text()), (status, "said\n"), "{signal}");
    }
}

#[test]
fn not_found_and_not_executable_are_as_in_shells() {
    let home = Home::new();
    home.run(&["run", "--", "no-such-command"]).fails(127, &["no-such-command", "not found"]);
    let file = home.file("script", "echo never\n");
    let file = file.to_str().unwrap();
    home.run(&["run", "--", file]).fails(126, &["script", "not an executable file"]);
    home.run(&["run", "--", "/"]).fails(126, &["/"]);
    let lost = home.file("lost", "#!/nonexistent/interpreter\n");
    fs::set_permissions(&lost, PermissionsExt::from_mode(0o700)).unwrap();
    home.run(&["run", "--", "./lost"]).fails(126, &["./lost: the interpreter that it names is not there"]);
    home.run(&["run", "--", ""]).fails(127, &["'': command not found; its name is empty"]);
    home.run(&["run"]).fails(2, &["CMD"]);
}

#[test]
fn a_timeout_exits_124() {
    let home = Home::new();
    let ran = run(&home, &["--timeout", "0.2", "--keep", "always"], "echo begun; sleep 60");
    assert_eq!((ran.status, ran.text()), (124, "begun\n"));
    assert_eq!(record(&home, &spill(&home))["stopped"], "timeout");
    let before = Instant::now();
    let ran = run(&home, &["--timeout", "0.2"], "trap '' TERM; echo begun; while :; do sleep 1; done");
    assert_eq!((ran.status, ran.text()), (124, "begun\n"));
    assert!(before.elapsed() >= Duration::from_secs(2), "killed without the time to end");
}

#[test]
fn a_timeout_is_named_as_the_agent_does() {
    let home = Home::new();
    let after = |words: &[&str]| run(&home, &[&["--timeout", "0.2"], words].concat(), "echo begun; sleep 60");
    let opencode = after(&["-p", "opencode/shell"]).text().to_owned();
    assert!(
        opencode.contains(" after exceeding timeout 200 ms. ") && !opencode.contains("aborted"),
        "{opencode}"
    );
    assert_eq!(after(&["-p", "pi/bash"]).text(), "begun\n\n\nCommand timed out after 1 seconds");
    let set = after(&["-p", "pi/bash", "--set", "timeout_s=7"]);
    assert!(set.text().ends_with("\nCommand timed out after 7 seconds"), "{}", set.text());
    let aborted = "Command was aborted before completion";
    for (policy, end) in [
        ("goose/shell", "begun\n\nCommand timed out after 1 seconds".to_owned()),
        ("crush/bash", format!("begun\n\n{aborted}")),
        (
            "go-opencode/bash",
            format!("begun\n\n\n\nCommand execution timed out or was interrupted\n{aborted}"),
        ),
        // Agents of which it is not known what they tell.
        ("grok/bash", "exit: …\nbegun\n".to_owned()),
        ("claude-code/bash", "begun".to_owned()),
    ] {
        assert_eq!(after(&["-p", policy, "--keep", "always"]).text(), end, "{policy}");
    }
    // Those that were saved show it again.
    for path in super::spills(&home) {
        let again = home.run(&["preview", path.to_str().unwrap()]).ok();
        assert!(!again.text().contains("124"), "{}", again.text());
    }
}

#[test]
fn does_not_wait_for_a_silent_background_process() {
    let home = Home::new();
    let before = Instant::now();
    let ran = run(&home, &["--keep", "always"], "sleep 20 & echo done; exit 5");
    assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
    assert_eq!((ran.status, ran.text()), (5, "done\n"));
    assert!(ran.stderr.contains("background process"), "{}", ran.stderr);
    assert_eq!(fs::read(spill(&home)).unwrap(), b"done\n");
}

#[test]
fn waits_2_seconds_for_a_noisy_background_process() {
    let home = Home::new();
    let before = Instant::now();
    let script = "(while :; do echo noise; sleep 0.05; done) & seq 1 200000; exit 5";
    let ran = run(&home, &["--keep", "always"], script);
    let took = before.elapsed();
    assert!(took >= Duration::from_millis(1900) && took < Duration::from_millis(3500), "{took:?}");
    assert_eq!(ran.status, 5);
    let spilled = fs::read_to_string(spill(&home)).unwrap();
    assert!(spilled.ends_with("noise\n"));
    assert!(spilled.replace("noise\n", "") == sequence(200_000), "some of the command's own is lost");
}

#[test]
fn both_streams_keep_their_order() {
    let home = Home::new();
    let script = "i=0; while [ $i -lt 2000 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done";
    run(&home, &["--keep", "always"], script);
    let expected: String = (0..2000).map(|n| format!("o{n}\ne{n}\n")).collect();
    assert!(fs::read_to_string(spill(&home)).unwrap() == expected);
}

#[test]
fn split_gives_each_stream_its_own_file_and_preview() {
    let home = Home::new();
    let ran = run(&home, &["--split", "--keep", "always"], "echo out; echo err >&2; exit 3");
    assert_eq!((ran.status, ran.text()), (3, "out\n"));
    assert!(ran.stderr.starts_with("err\n"), "{}", ran.stderr);
    let mut streams: Vec<_> = spills(&home)
        .iter()
        .map(|spill| (record(&home, spill)["stream"].to_string(), fs::read_to_string(spill).unwrap()))
        .collect();
    streams.sort();
    let expected =
        [("\"stderr\"", "err\n"), ("\"stdout\"", "out\n")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(streams, expected);
}

#[test]
fn split_joins_both_streams_if_the_policy_takes_both() {
    let home = Home::new();
    let ran = run(&home, &["--split", "-p", "basic/stdout-stderr"], "echo out; echo err >&2");
    assert_eq!(ran.text(), "out\n\n\n[STDERR]\nerr\n");
}

#[test]
fn passes_standard_input_to_the_command() {
    let home = Home::new();
    let ran = home.pipe("from us\n", &["run", "--", "cat"]);
    assert_eq!(ran.text(), "from us\n");
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_inherits_no_descriptors_or_signal_masks() {
    let home = Home::new();
    let script = "ls /proc/self/fd | wc -l; grep -E 'Sig(Blk|Ign)' /proc/self/status";
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let without_us = finish(command.spawn().unwrap());
    assert_eq!(run(&home, &[], script).text(), without_us.text());
}

#[test]
fn an_uncut_output_leaves_no_files() {
    let home = Home::new();
    run(&home, &[], "seq 1 100").ok();
    assert_eq!(spills(&home).len(), 0);
    let large =
        run(&home, &["-p", "opencode/output", "--max-bytes", "9m", "--max-lines", "9999999"], "seq 1 100000");
    assert!(large.ok().text() == sequence(100_000));
    assert_eq!(super::names(&super::own(&home, "tool-output")), Vec::<String>::new());
}

#[test]
fn a_timeout_beyond_the_clock_never_fires() {
    let home = Home::new();
    let ran = run(&home, &["--timeout", "1e19"], "echo said; exit 7");
    assert_eq!((ran.status, ran.text(), ran.stderr.as_str()), (7, "said\n", ""));
}

/// Only Linux has a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_failure_of_overspill_itself_exits_125() {
    let home = Home::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let ran =
        finish(home.command(&["run", "--", "sh", "-c", "seq 5000; exit 7"]).stdout(full).spawn().unwrap());
    assert_eq!(ran.status, 125);
    assert!(ran.stderr.contains("standard output: No space left"), "{}", ran.stderr);
    assert!(ran.stderr.contains(spill(&home).to_str().unwrap()), "{}", ran.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_loses_no_status() {
    let home = Home::new();
    let mut command = home.command(&["run", "--keep", "always", "--", "sh", "-c", "echo said; exit 7"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let ran = finish(command.stderr(full).spawn().unwrap());
    assert_eq!((ran.status, ran.text()), (7, "said\n"));
    assert_eq!(fs::read(spill(&home)).unwrap(), b"said\n");
    for status in [0, 7] {
        let line = format!("echo said; echo more >&2; exit {status}");
        let mut command = home.command(&["run", "--split", "--", "sh", "-c", &line]);
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = finish(command.stderr(full).spawn().unwrap());
        assert_eq!((ran.status, ran.text()), (status, "said\n"));
    }
}
