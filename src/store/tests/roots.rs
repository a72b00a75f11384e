//! Tests that nothing is deleted through links of others, or on another mount than the root.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;

/// Creates a file of the user's elsewhere, named like the files of the attacked store.
fn precious(home: &Home, path: &str) -> PathBuf {
    home.file(&home.dir.path().join("elsewhere").join(path), b"precious", 2_000)
}

fn state(env: &Env, store: &str) -> Vec<RootState> {
    let stores = Stores::builtin();
    let reports = list(stores.named(store), env, now()).reports;
    reports.into_iter().flat_map(|(_, roots)| roots).map(|root| root.state).collect()
}

fn is_refused_link(state: &RootState) -> bool {
    matches!(state, RootState::Unreadable(why) if why.contains("symbolic link"))
}

#[test]
fn does_not_follow_a_link_inside_a_project() {
    let home = Home::new();
    let outside = precious(&home, "shell-output/output-1.log");
    let project = home.at("project");
    fs::create_dir_all(&project).unwrap();
    symlink(outside.parent().unwrap().parent().unwrap(), project.join(".crush")).unwrap();
    let env = home.env.clone().with_var("PWD", &project);
    assert!(list(Stores::builtin().named("crush"), &env, now()).entries.is_empty());
    let states = state(&env, "crush");
    assert!(states.iter().all(is_refused_link), "{states:?}");
    fs::remove_file(project.join(".crush")).unwrap();
    fs::create_dir(project.join(".crush")).unwrap();
    symlink(outside.parent().unwrap(), project.join(".crush/shell-output")).unwrap();
    let states = state(&env, "crush");
    assert!(states.iter().all(is_refused_link), "{states:?}");
    assert_eq!(fs::read(outside).unwrap(), b"precious");
}

#[test]
fn follows_a_link_that_leads_to_a_project() {
    let home = Home::new();
    let path = home.file(&home.at("real/.crush/shell-output/output-1.log"), b"x", 1);
    symlink(home.at("real"), home.at("link")).unwrap();
    let env = home.env.clone().with_var("PWD", home.at("link"));
    let entries = list(Stores::builtin().named("crush"), &env, now()).entries;
    assert_eq!(entries.len(), 1);
    assert_eq!(delete(&entries[0], DeleteMode::Bulk, &env), DeleteOutcome::Deleted);
    assert!(!path.exists());
}

/// Creates a directory that everyone can write to, like /tmp, with a store in it.
fn shared(home: &Home) -> (PathBuf, Env) {
    let shared = home.dir.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, PermissionsExt::from_mode(0o1777)).unwrap();
    let env = home.env.clone().with_var("TMPDIR", &shared);
    (shared.join("agent-overflow"), env)
}

fn in_shared(env: &Env, root: &Path) -> (Vec<Entry>, Option<RootState>) {
    let listing = list(Stores::builtin().named("t15"), env, now());
    let reports = listing.reports.into_iter().flat_map(|(_, roots)| roots);
    let state = reports.into_iter().find(|report| report.root == root).map(|report| report.state);
    (listing.entries.into_iter().filter(|entry| entry.place().path == root).collect(), state)
}

#[test]
fn a_link_in_a_shared_directory_is_not_followed() {
    let home = Home::new();
    let (root, env) = shared(&home);
    let name = "grep-01234567.txt";
    let outside = precious(&home, name);
    symlink(outside.parent().unwrap(), &root).unwrap();
    let (entries, state) = in_shared(&env, &root);
    assert!(entries.is_empty() && is_refused_link(&state.unwrap()));
    fs::remove_file(&root).unwrap();
    home.file(&root.join(name), b"x", 2_000);
    let (entries, state) = in_shared(&env, &root);
    assert_eq!((entries.len(), state), (1, Some(RootState::Listed)), "a plain directory is listed");
}

#[test]
fn does_not_delete_through_a_link_made_after_listing() {
    let home = Home::new();
    let (root, env) = shared(&home);
    let name = "grep-01234567.txt";
    let path = home.file(&root.join(name), b"x", 2_000);
    let (entries, _) = in_shared(&env, &root);
    let moved = root.with_file_name("moved");
    fs::rename(&root, &moved).unwrap();
    symlink(&moved, &root).unwrap();
    let outcome = delete(&entries[0], DeleteMode::Bulk, &env);
    assert_eq!(outcome, DeleteOutcome::Stayed(Reason::Changed));
    assert!(entries[0].open().is_err());
    assert!(path.exists());
}

#[test]
fn a_moved_directory_in_the_home_is_still_found() {
    let home = Home::new();
    let path = home.file(&home.dir.path().join("disk").join(ID), b"x", 1);
    let root = home.at(".local/share/opencode/tool-output");
    fs::create_dir_all(root.parent().unwrap()).unwrap();
    symlink(path.parent().unwrap(), &root).unwrap();
    assert_eq!(delete(&only(&home, "opencode"), DeleteMode::Bulk, &home.env), DeleteOutcome::Deleted);
    assert!(!path.exists());
}

#[test]
fn a_root_of_another_user_is_refused() {
    if !super::skip::is_root("give a directory away") {
        return;
    }
    let home = Home::new();
    let (root, env) = shared(&home);
    let path = home.file(&root.join("grep-01234567.txt"), b"x", 2_000);
    std::os::unix::fs::chown(&root, Some(65_534), None).unwrap();
    let (entries, state) = in_shared(&env, &root);
    assert!(entries.is_empty() && path.exists());
    assert!(matches!(state, Some(RootState::Unreadable(why)) if why.contains("another user")));
}

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
    let name = "store::tests::roots::files_on_other_mounts_are_never_deleted";
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
