//! A disk that cannot take the output: bars 19 and 22.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{own, record, run, sequence, spill, spills};
use crate::common::home::{Home, Ran, finish};

/// Runs a command with a limit on file size, in blocks of 512 bytes.
fn limited(home: &Home, blocks: u32, words: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_overspill")]);
    command.args(words).current_dir(home.work()).env_clear().envs(home.env());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

#[test]
fn a_full_disk_does_not_stop_the_command() {
    for blocks in [0, 1, 2, 100, 255, 256, 257, 1000] {
        let home = Home::new();
        let script = "seq 1 200000; echo at the end; exit 9";
        let ran = limited(&home, blocks, &["run", "--direction", "tail", "--", "sh", "-c", script]);
        assert_eq!(ran.status, 9, "{blocks}: {}", ran.stderr);
        assert!(ran.text().contains("saved to: <not saved>") && ran.text().ends_with("200000\nat the end\n"));
        assert!(
            ran.stderr.contains("could not be saved") && ran.stderr.contains("too large"),
            "{}",
            ran.stderr
        );
        for spill in spills(&home) {
            let kept = fs::read(&spill).unwrap();
            assert!(sequence(200_000).as_bytes().starts_with(&kept) && !kept.is_empty());
            let record = record(&home, &spill);
            assert_eq!(
                (&record["truncated"], &record["kept"]["bytes"]),
                (&"disk full".into(), &kept.len().into())
            );
            assert_eq!(record["seen"]["lines"], 200_001);
            assert!(ran.stderr.contains(spill.to_str().unwrap()));
        }
    }
}

#[test]
fn go_opencode_reports_a_failed_save_in_its_own_words() {
    let home = Home::new();
    let ran = limited(&home, 100, &["run", "-p", "go-opencode/bash", "--", "seq", "1", "100000"]);
    let start = "<stdout truncated: 100,001 lines total>\n\n--- First 500 lines ---\n1\n2\n";
    assert!(ran.text().starts_with(start) && ran.text().ends_with("99999\n100000\n"), "{}", ran.text());
}

#[test]
fn run_refuses_an_unsafe_own_store_with_the_remedy() {
    type Make = fn(&Path);
    let cases: [(&str, Make); 3] = [
        ("chmod 700", |root| {
            fs::create_dir(root).unwrap();
            fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("symbolic link", |root| symlink("/tmp", root).unwrap()),
        ("not a directory", |root| fs::write(root, "").unwrap()),
    ];
    for (words, make) in cases {
        let home = Home::new();
        make(&own(&home, "").components().collect::<PathBuf>());
        let ran = run(&home, &[], "seq 1 50000; exit 2");
        assert_eq!(ran.status, 2);
        assert!(ran.text().contains("<not saved>"), "{}", ran.text());
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}

#[test]
fn a_relative_home_is_named_as_the_reason() {
    let home = Home::new();
    let mut command = home.command(&["run", "--", "seq", "5000"]);
    let ran = finish(command.env("HOME", "relative").env_remove("XDG_DATA_HOME").spawn().unwrap());
    assert!(ran.stderr.contains("HOME is unset or relative; set XDG_DATA_HOME"), "{}", ran.stderr);
}

#[test]
fn prints_the_preview_even_if_nothing_can_be_saved() {
    let home = Home::new();
    let mut command = home.command(&["run", "--", "sh", "-c", "seq 1 50000; exit 2"]);
    command.env("XDG_DATA_HOME", home.file("file", ""));
    let ran = finish(command.spawn().unwrap());
    assert_eq!(ran.status, 2);
    assert!(ran.text().starts_with("1\n2\n") && ran.text().contains("<not saved>"));
}

#[test]
fn a_name_already_taken_is_never_replaced() {
    let home = Home::new();
    assert_eq!(run(&home, &["--keep", "always"], "echo first").status, 0);
    let first = spill(&home);
    for _ in 0..20 {
        run(&home, &["--keep", "always"], "echo more");
    }
    assert_eq!(fs::read(first).unwrap(), b"first\n");
    assert_eq!(spills(&home).len(), 21);
}
