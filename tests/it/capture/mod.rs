//! Running commands: bars 20 to 27 of the table of faults, and what is kept, where, and under which name.

mod bounds;
mod disk;
mod ends;
mod few;
mod keep;
mod killed;
mod layouts;
mod library;
mod paused;
mod piped;
mod pty;
mod stopped;
mod watched;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::home::{DEADLINE, Home, Ran};

/// Runs a shell script under `overspill run` with these flags.
fn run(home: &Home, flags: &[&str], script: &str) -> Ran {
    home.run(&[&["run"], flags, &["--", "sh", "-c", script]].concat())
}

/// Returns the directory of this name in overspill's own store.
fn own(home: &Home, name: &str) -> PathBuf {
    home.work().with_file_name("data").join("overspill").join(name)
}

/// Returns the names in a directory, sorted; none if it does not exist.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).map(text).collect();
    names.sort();
    names
}

fn text(name: OsString) -> String {
    name.into_string().expect("UTF-8")
}

/// Returns the finished spills of overspill's own store.
fn spills(home: &Home) -> Vec<PathBuf> {
    let root = own(home, "tool-output");
    names(&root).iter().filter(|name| name.starts_with("tool_")).map(|name| root.join(name)).collect()
}

/// Returns the only spill.
#[track_caller]
pub(crate) fn spill(home: &Home) -> PathBuf {
    let mut spills = spills(home);
    assert_eq!(spills.len(), 1, "{spills:?}");
    spills.remove(0)
}

/// Returns the record of a spill.
#[track_caller]
pub(crate) fn record(home: &Home, spill: &Path) -> serde_json::Value {
    let name = format!("{}.json", spill.file_name().expect("a name").to_string_lossy());
    let text = fs::read(own(home, "records").join(name)).expect("a record");
    serde_json::from_slice(&text).expect("JSON")
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

/// Waits until a condition holds, or fails at the deadline.
#[track_caller]
pub(crate) fn wait_until(what: impl std::fmt::Display, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "never so: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns `1` to `last`, one per line.
fn sequence(last: u32) -> String {
    (1..=last).map(|n| format!("{n}\n")).collect()
}
