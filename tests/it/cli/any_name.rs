//! Names that are not UTF-8: every command accepts them.
#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::cli::EXAMPLE;
use crate::common::home::{Home, Ran, finish};

const NAME: &[u8] = b"\xff\xfe.log";

/// Runs the program with these arguments, then one that is not UTF-8.
fn run(home: &Home, words: &[&str], last: &[u8]) -> Ran {
    finish(home.command(words).arg(OsStr::from_bytes(last)).spawn().unwrap())
}

#[test]
fn a_file_whose_name_is_not_utf_8_can_be_given_to_every_command() {
    let home = Home::new();
    fs::write(home.work().join(OsStr::from_bytes(NAME)), EXAMPLE).unwrap();
    for words in [&[][..], &["preview"], &["read"]] {
        assert!(run(&home, words, NAME).ok().text().contains("bbbb"), "{words:?}");
    }
    assert_eq!(run(&home, &["show", "--json"], NAME).ok().json()["size"], EXAMPLE.len());
    assert!(!run(&home, &["compare", "--json"], NAME).ok().json().as_array().unwrap().is_empty());
    run(&home, &["rm", "--yes"], NAME).fails(1, &["is not a stored output"]);
}

#[test]
fn saved_as_and_stderr_take_any_file_name() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    fs::write(home.work().join(OsStr::from_bytes(NAME)), "its errors\n").unwrap();
    let words = ["preview", "out", "--max-lines", "1", "--saved-as"];
    assert!(run(&home, &words, b"/s/\xff").ok().text().contains("/s/\u{fffd}"));
    run(&home, &["preview", "-p", "basic/stdout-stderr", "out", "--stderr"], NAME).ok();
}

#[test]
fn a_command_and_its_arguments_may_have_any_name() {
    let home = Home::new();
    let ran = run(&home, &["run", "--", "printf", "%s"], NAME);
    assert_eq!((ran.status, &ran.stdout[..]), (0, "\u{fffd}\u{fffd}.log".as_bytes()), "{}", ran.stderr);
    run(&home, &["run", "--"], b"./\xff").fails(127, &["not found"]);
}

#[test]
fn a_choice_that_is_not_utf_8_is_refused_with_the_valid_values() {
    let home = Home::new();
    let keep = "`\u{fffd}` is not a value of --keep; write one of always, cut, never";
    run(&home, &["run", "--keep"], b"\xff").fails(2, &[keep]);
    let direction = "`\u{fffd}` is not a value of --direction; write one of head, tail";
    run(&home, &["preview", "--direction"], b"\xff").fails(2, &[direction]);
}

#[test]
fn a_text_that_is_not_utf_8_is_refused_with_its_option() {
    let home = Home::new();
    for (words, name) in [
        (&["preview", "-p"][..], "--policy"),
        (&["-q", "list", "--agent"], "--agent"),
        (&["tune", "--find"], "--find"),
        (&["grep", "-i"], "REGEX"),
    ] {
        let said = format!("`a<FF>` is not a value of {name}; it is not UTF-8");
        run(&home, words, b"a\xff").fails(2, &[&said]);
    }
    run(&home, &["preview", "-p", "pi/bash"], b"--set=\xff").fails(2, &["`--set=<FF>` is not UTF-8"]);
}

#[test]
fn ids_that_are_not_utf_8_are_told_apart_by_their_bytes() {
    let home = Home::new();
    let dir = home.work().with_file_name("home").join(".hermes/cache/terminal-output");
    fs::create_dir_all(&dir).unwrap();
    let [meant, other] = [b"a\xff", b"a\xfe"].map(|name| dir.join(OsStr::from_bytes(name)));
    for path in [&meant, &other] {
        fs::write(path, EXAMPLE).unwrap();
    }
    assert_eq!(run(&home, &["preview"], b"a\xff").status, 0);
    run(&home, &["preview"], b"a").fails(2, &["2 ids: a<FE>, a<FF>"]);
    run(&home, &["rm", "--yes"], b"a\xff");
    assert!(!meant.exists() && other.exists());
}

#[test]
fn a_relative_home_is_ignored() {
    let home = Home::new();
    let mut command = home.command(&["run", "--keep", "always", "--", "echo", "x"]);
    let ran = finish(command.env("HOME", "relative").env_remove("XDG_DATA_HOME").spawn().unwrap());
    assert_eq!((ran.status, ran.text()), (0, "x\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("HOME"), "{}", ran.stderr);
    assert!(!home.at("relative").exists());
}
