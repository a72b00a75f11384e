//! Temporary directories that others can write to: another user's files are never followed nor deleted, and their owner
//! is shown. Run as an ordinary user, ahead of whom others can place files, and not only as root, who may do
//! everything.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::{fs, io};

use crate::common::home::{Ran, finish};
use crate::common::skip;
use crate::stores_cli::stocked::Stocked;

const USER: u32 = 65_534;
const ANOTHER: u32 = 12_345;

/// A home directory of an ordinary user, whose temporary directory everyone can write to.
fn home() -> Stocked {
    let home = Stocked::new();
    fs::set_permissions(home.dir("."), PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(home.dir("tmp"), PermissionsExt::from_mode(0o1777)).unwrap();
    for name in ["home", "data", "config", "state", "work"] {
        chown(home.dir(name), Some(USER), None).unwrap();
    }
    home
}

/// Runs the program as that user, if that is possible.
fn run(home: &Stocked, words: &[&str]) -> io::Result<Ran> {
    Ok(finish(home.command(words).uid(USER).gid(USER).spawn()?))
}

/// Creates a file that everyone can read, and its directory, owned by this user.
fn put(home: &Stocked, path: &str, owner: u32) -> PathBuf {
    let path = home.put(&home.dir("tmp").join(path), "theirs\n", 2_000);
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    chown(&path, Some(owner), Some(owner)).unwrap();
    let dir = path.parent().unwrap();
    if dir != home.dir("tmp") {
        chown(dir, Some(owner), Some(owner)).unwrap();
    }
    path
}

#[test]
fn other_users_files_in_a_shared_directory_are_left_alone() {
    if !skip::is_root("run the program as two users") {
        return;
    }
    let home = home();
    let file = put(&home, "pi-bash-0123456789abcdef.log", ANOTHER);
    let inside = put(&home, "opencode-theirs/bash-1-stdout.txt", ANOTHER);
    let mine = put(&home, "opencode-mine/bash-1-stdout.txt", USER);
    // A directory of theirs with a file of ours in it, and a link of theirs to a directory of ours.
    let planted = put(&home, "opencode-planted/bash-1-stdout.txt", USER);
    chown(planted.parent().unwrap(), Some(ANOTHER), None).unwrap();
    let elsewhere = put(&home, "precious/bash-1-stdout.txt", USER);
    let link = home.dir("tmp/opencode-link");
    symlink(home.dir("tmp/precious"), &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(ANOTHER), None).unwrap();

    let Ok(ran) = run(&home, &["clean", "--all", "--yes", "--older-than", "1d"]) else {
        return skip::skipped("another user may not enter the directory of the program");
    };
    assert_eq!(ran.status, 1, "{}{}", ran.text(), ran.stderr);
    let said = format!("{}{}", ran.text(), ran.stderr);
    assert!(said.contains(planted.to_str().unwrap()), "what cannot be deleted is named: {said}");
    assert!(!mine.exists(), "what is one's own is cleaned: {}{}", ran.text(), ran.stderr);
    for path in [&file, &inside] {
        let ran = run(&home, &["rm", "--yes", path.to_str().unwrap()]).unwrap();
        assert_eq!(ran.status, 1, "{}{}", ran.text(), ran.stderr);
    }
    for kept in [&file, &inside, &planted, &elsewhere] {
        assert!(kept.exists(), "{}", kept.display());
    }
    let shown = run(&home, &["show", file.to_str().unwrap()]).unwrap();
    assert!(shown.text().contains("12345 (another user)"), "{}{}", shown.text(), shown.stderr);
    assert!(link.symlink_metadata().is_ok());
}

/// hermes keeps results in one place for all users: its store, with that place in this home's temporary directory.
fn with_hermes(home: &Stocked) {
    let place = home.dir("tmp/hermes-results");
    let store = include_str!("../../../assets/stores/hermes.toml");
    let moved = store.replace("/tmp/hermes-results", place.to_str().unwrap());
    assert_ne!(moved, store);
    fs::write(home.dir("config/overspill/stores/hermes.toml"), moved).unwrap();
}

#[test]
fn other_users_files_in_the_hermes_directory_are_left_alone() {
    if !skip::is_root("run the program as two users") {
        return;
    }
    let clean = |home: &Stocked| run(home, &["clean", "--all", "--yes", "--older-than", "1d"]);
    // A place of one's own that all can write to.
    let home = home();
    with_hermes(&home);
    let theirs = put(&home, "hermes-results/theirs.txt", ANOTHER);
    let mine = put(&home, "hermes-results/mine.txt", USER);
    fs::set_permissions(mine.parent().unwrap(), PermissionsExt::from_mode(0o777)).unwrap();
    let Ok(ran) = clean(&home) else {
        return skip::skipped("another user may not enter the directory of the program");
    };
    assert!(!mine.exists() && theirs.exists(), "{}{}", ran.text(), ran.stderr);
    let ran = run(&home, &["rm", "--yes", theirs.to_str().unwrap()]).unwrap();
    assert!(ran.status == 1 && theirs.exists(), "{}{}", ran.text(), ran.stderr);
    let shown = run(&home, &["show", theirs.to_str().unwrap()]).unwrap();
    assert!(shown.text().contains("12345 (another user)"), "{}{}", shown.text(), shown.stderr);

    // Someone else made the place; then it is a link of theirs to a directory of one's own.
    let planted = put(&home, "hermes-results/planted.txt", USER);
    chown(planted.parent().unwrap(), Some(ANOTHER), None).unwrap();
    let ran = clean(&home).unwrap();
    assert!(planted.exists() && ran.stderr.contains("another user"), "{}{}", ran.text(), ran.stderr);
    fs::remove_dir_all(planted.parent().unwrap()).unwrap();
    let elsewhere = put(&home, "precious/notes.txt", USER);
    symlink(home.dir("tmp/precious"), home.dir("tmp/hermes-results")).unwrap();
    let ran = clean(&home).unwrap();
    assert!(elsewhere.exists() && ran.stderr.contains("hermes-results"), "{}{}", ran.text(), ran.stderr);
}
