//! Tests entries on another mount than their store's root: in a namespace of the test's own, if the machine allows one.

use std::fs;
use std::process::Command;

use jiff::SignedDuration;

use crate::store::*;

use super::{BY_HAND, Home, old, only, plan, stayed};

/// Set in the namespace, where this test runs again and may mount.
const INSIDE: &str = "OVERSPILL_TEST_MAY_MOUNT";

#[test]
fn files_on_other_mounts_are_never_deleted() {
    if std::env::var_os(INSIDE).is_some() {
        return in_a_namespace();
    }
    let may_mount = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/tmp"]).output();
    if !may_mount.is_ok_and(|ran| ran.status.success()) {
        return super::skip::skipped("this machine lets nobody mount in a namespace of their own");
    }
    let name = "store::tests::mounts::files_on_other_mounts_are_never_deleted";
    let mut again = Command::new("unshare");
    again.arg("-rm").arg(std::env::current_exe().unwrap()).args(["--exact", name, "--nocapture"]);
    let ran = again.env(INSIDE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

fn mount(words: &[&str]) {
    assert!(Command::new("mount").args(words).status().unwrap().success(), "{words:?}");
}

/// A whole store on its own file system is like any other; a single file that is mounted into it is not.
fn in_a_namespace() {
    let home = Home::new();
    let root = OwnStore::create(&home.env).unwrap().root().to_owned();
    mount(&["-t", "tmpfs", "-o", "mode=0700", "none", root.to_str().unwrap()]);
    let path = old(&home, 1, 24 * 9);
    assert_eq!(only(&home, "overspill").status, EntryStatus::Ok, "the root's own file system");

    let elsewhere = home.file(&home.at("elsewhere"), b"precious", 24 * 9);
    mount(&["--bind", elsewhere.to_str().unwrap(), path.to_str().unwrap()]);
    let entry = only(&home, "overspill");
    assert_eq!((entry.status, &*entry.status.describe()), (EntryStatus::OtherMount, "another mount"));
    let rule = CleanRule { older_than: Some(SignedDuration::ZERO), max_total: Some(0), ..BY_HAND };
    let plan = plan(std::slice::from_ref(&entry), &rule);
    assert_eq!(plan.to_delete, []);
    assert_eq!(plan.skipped, [(0, SkipReason::Unusual(EntryStatus::OtherMount))]);
    assert_eq!(stayed(&entry, &home), Reason::OtherMount);
    assert_eq!(delete(&entry, DeleteMode::Single, &home.env), DeleteOutcome::Stayed(Reason::OtherMount));
    assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}
