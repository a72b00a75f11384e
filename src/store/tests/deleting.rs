//! Tests what must never be deleted, and what must be: bars 13 to 20 of the table of faults.

use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Barrier;

use jiff::SignedDuration;

use crate::source::Identity;
use crate::store::*;

use super::{BY_HAND, Home, ID, now, old, old_id, only, plan, stayed};

#[test]
fn deletes_only_plain_files_without_other_names() {
    let home = Home::new();
    let outside = home.file(&home.at("outside"), b"precious", 24 * 9);
    let root = OwnStore::create(&home.env).unwrap().root().to_owned();
    symlink(&outside, root.join(old_id(1, 240))).unwrap();
    fs::create_dir(root.join(old_id(2, 240))).unwrap();
    fs::hard_link(&outside, root.join(old_id(3, 240))).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.join(old_id(4, 240))).status().unwrap().success());
    // A socket's path must be short, so it is created elsewhere.
    let _socket = std::os::unix::net::UnixListener::bind(home.dir.path().join("s")).unwrap();
    fs::rename(home.dir.path().join("s"), root.join(old_id(5, 240))).unwrap();
    let entries = home.list("overspill");
    assert_eq!(entries.len(), 5);
    let rule = CleanRule { older_than: Some(SignedDuration::ZERO), max_total: Some(0), ..BY_HAND };
    assert_eq!(plan(&entries, &rule).to_delete, []);
    let mut reasons: Vec<_> = entries.iter().map(|entry| stayed(entry, &home)).collect();
    reasons.sort_by_key(|reason| *reason == Reason::HardLinked);
    assert_eq!(reasons[..4], [Reason::NotAFile, Reason::NotAFile, Reason::NotAFile, Reason::NotAFile]);
    assert_eq!(reasons[4], Reason::HardLinked);
    assert_eq!(fs::read(&outside).unwrap(), b"precious");
    let linked = entries.iter().find(|entry| entry.status == EntryStatus::HardLinked).unwrap();
    assert_eq!(delete(linked, DeleteMode::Single, &home.env), DeleteOutcome::Deleted);
    assert!(outside.exists());
}

#[test]
fn a_foreign_owner_is_left_alone() {
    let home = Home::new();
    old(&home, 1, 240);
    if super::skip::is_root("give a file away") {
        let path = only(&home, "overspill").path();
        std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
        let entry = only(&home, "overspill");
        assert_eq!(entry.status, EntryStatus::ForeignOwner);
        assert_eq!(stayed(&entry, &home), Reason::Foreign);
    }
}

#[test]
fn a_file_swapped_after_listing_is_kept() {
    let home = Home::new();
    let path = old(&home, 1, 240);
    let listed = only(&home, "overspill");
    let swaps: [&dyn Fn(); 3] = [
        &|| drop(File::options().append(true).open(&path).unwrap().write_all(b"more")),
        &|| {
            fs::remove_file(&path).unwrap();
            home.file(&path, b"0123456789", 239);
        },
        &|| {
            fs::remove_file(&path).unwrap();
            symlink(home.at("x"), &path).unwrap();
        },
    ];
    for swap in swaps {
        swap();
        let reason = stayed(&listed, &home);
        assert!(matches!(reason, Reason::Changed | Reason::NotAFile), "{reason:?}");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(delete(&listed, DeleteMode::Bulk, &home.env), DeleteOutcome::AlreadyGone);
}

/// A file system may reuse the inode of a deleted file; here the same file is rewritten instead.
#[test]
fn another_file_of_the_same_inode_size_and_time_is_kept() {
    let home = Home::new();
    let path = old(&home, 1, 240);
    let listed = only(&home, "overspill");
    let is_new = |path: &Path| Identity::from(&path.metadata().unwrap()).changed != listed.identity.changed;
    // The clock of a file system may be coarse.
    while !is_new(&path) {
        home.file(&path, b"abcdefghij", 240);
    }
    let now = Identity::from(&path.metadata().unwrap());
    assert!(now.same_file(&listed.identity));
    assert_eq!((now.size, now.modified), (listed.identity.size, listed.identity.modified));
    assert_eq!(stayed(&listed, &home), Reason::Changed);
    assert_eq!(fs::read(&path).unwrap(), b"abcdefghij");
}

#[test]
fn a_swapped_directory_is_not_touched() {
    let home = Home::new();
    let path = home.opencode(ID, b"x", 240);
    let listed = only(&home, "opencode");
    let dir = path.parent().unwrap();
    fs::rename(dir, dir.with_extension("old")).unwrap();
    fs::create_dir(dir).unwrap();
    fs::rename(dir.with_extension("old").join(ID), &path).unwrap();
    assert_eq!(stayed(&listed, &home), Reason::Changed);
}

#[test]
fn a_file_open_in_a_viewer_is_kept() {
    let home = Home::new();
    let path = old(&home, 1, 240);
    let entry = only(&home, "overspill");
    let viewer = crate::source::Source::open_entry(&path).unwrap();
    assert_eq!(stayed(&entry, &home), Reason::InUse);
    drop(viewer);
    let _glance = crate::source::Source::open_entry_unlocked(&path).unwrap();
    assert_eq!(delete(&entry, DeleteMode::Bulk, &home.env), DeleteOutcome::Deleted);
}

#[test]
fn a_kept_spill_is_deleted_only_if_the_user_knows_that_it_is_kept() {
    let home = Home::new();
    old(&home, 1, 240);
    let entry = only(&home, "overspill");
    let store = OwnStore::create(&home.env).unwrap();
    store.keep(&entry.id()).unwrap();
    assert!(store.keep("../x").is_err());
    let kept = only(&home, "overspill");
    assert_eq!((entry.is_kept(), kept.is_kept(), kept.left(now())), (false, true, TimeLeft::Open));
    let decided = |rule| clean_plan(std::slice::from_ref(&kept), now(), rule);
    assert_eq!(decided(&BY_HAND), CleanPlan::default());
    let older = CleanRule { older_than: Some(SignedDuration::from_hours(1)), ..BY_HAND };
    assert_eq!((decided(&older).to_delete, decided(&older).skipped), (vec![], vec![(0, SkipReason::Kept)]));
    let mut cleaner = Cleaner::start(&home.env).unwrap().unwrap();
    let mut delete = |why| cleaner.delete(&entry, why, DeleteMode::Single, &home.env, now());
    assert_eq!(delete(DeleteReason::Requested { knows_kept: false }), DeleteOutcome::Stayed(Reason::Kept));
    assert_eq!(delete(DeleteReason::Requested { knows_kept: true }), DeleteOutcome::Deleted);
    assert!(!store.is_kept(&entry.id()).unwrap(), "the mark goes with it");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let home = Home::new();
    let outside = home.file(&home.at("outside"), b"precious", 240);
    old(&home, 1, 240);
    let entry = only(&home, "overspill");
    for name in ["../../../../outside", "..", ".", "", "/etc/passwd", "notes", ".lock"] {
        let named = Entry { name: std::ffi::OsStr::new(name).into(), ..entry.clone() };
        assert_eq!(
            delete(&named, DeleteMode::Single, &home.env),
            DeleteOutcome::Stayed(Reason::Name),
            "{name}"
        );
    }
    assert!(outside.exists());
}

#[test]
fn refuses_a_root_that_is_open_to_others_or_a_link() {
    let home = Home::new();
    old(&home, 1, 240);
    let entry = only(&home, "overspill");
    let root = own_home(&home.env).unwrap().join("tool-output");
    fs::set_permissions(&root, PermissionsExt::from_mode(0o750)).unwrap();
    let refusal = format!("{}: is open to others; run `chmod 700` on it", root.display());
    assert_eq!(OwnStore::open(&home.env).unwrap_err().to_string(), refusal);
    assert_eq!(stayed(&entry, &home), Reason::Exposed);
    fs::set_permissions(&root, PermissionsExt::from_mode(0o700)).unwrap();
    let moved = root.with_extension("moved");
    fs::rename(&root, &moved).unwrap();
    symlink(&moved, &root).unwrap();
    assert!(OwnStore::create(&home.env).unwrap_err().to_string().contains("is a symbolic link"));
    assert!(matches!(stayed(&entry, &home), Reason::System(_) | Reason::Changed));
}

#[test]
fn eight_cleaners_at_once() {
    const FILES: u16 = 2_000;
    let home = Home::new();
    let mut young = Vec::new();
    for n in 0..FILES {
        match n % 4 {
            0 => young.push(old(&home, n, 24)),
            _ => drop(old(&home, n, 240)),
        }
    }
    let entries = home.list("overspill");
    let to_delete = plan(&entries, &BY_HAND).to_delete;
    let barrier = Barrier::new(8);
    let clean = || {
        barrier.wait();
        let count = |outcome| match outcome {
            DeleteOutcome::Deleted => 1u32,
            // Another thread holds its lock right now, and deletes it.
            DeleteOutcome::AlreadyGone | DeleteOutcome::Stayed(Reason::InUse) => 0,
            DeleteOutcome::Stayed(reason) => panic!("{reason:?}"),
        };
        to_delete
            .iter()
            .map(|to_delete| count(delete(&entries[to_delete.index], DeleteMode::Bulk, &home.env)))
            .sum::<u32>()
    };
    let deleted: u32 = std::thread::scope(|scope| {
        let cleaners: Vec<_> = (0..8).map(|_| scope.spawn(clean)).collect();
        cleaners.into_iter().map(|cleaner| cleaner.join().unwrap()).sum()
    });
    assert_eq!((deleted, to_delete.len()), (u32::from(FILES) * 3 / 4, usize::from(FILES) * 3 / 4));
    assert!(young.iter().all(|path| path.exists()));
    assert_eq!(home.list("overspill").len(), young.len());
}

#[test]
fn a_spill_has_its_name_only_when_it_is_whole() {
    let home = Home::new();
    let store = OwnStore::create(&home.env).unwrap();
    let mut spill = store.begin(now()).unwrap();
    let path = spill.path();
    spill.file().write_all(b"whole").unwrap();
    assert!(!path.exists() && spill.temporary_path().exists());
    assert_eq!(spill.finish(true).unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    spill = store.begin(now()).unwrap();
    fs::write(spill.path(), b"other").unwrap();
    let (taken, temporary) = (spill.path(), spill.temporary_path());
    assert!(spill.finish(false).is_err());
    assert_eq!(fs::read(taken).unwrap(), b"other");
    assert!(!temporary.exists());
}

/// Kills a writer in the middle, several times: every file with a final name is complete.
#[test]
fn a_killed_writer_leaves_no_partial_spill() {
    const CHILD: &str = "OVERSPILL_TEST_WRITER_HOME";
    const SIZE: usize = 256 << 10;
    if let Some(home) = std::env::var_os(CHILD) {
        let store = OwnStore::create(&Env::hermetic(Path::new(&home))).unwrap();
        loop {
            let spill = store.begin(now()).unwrap();
            for _ in 0..SIZE / 4096 {
                spill.file().write_all(&[b'x'; 4096]).unwrap();
            }
            spill.finish(false).unwrap();
            std::io::stdout().write_all(b"\nwritten\n").unwrap();
        }
    }
    let home = Home::new();
    for round in 1..=8 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "--nocapture",
            "store::tests::deleting::a_killed_writer_leaves_no_partial_spill",
        ]);
        child.env(CHILD, home.at("")).stdout(std::process::Stdio::piped());
        let mut child = child.spawn().unwrap();
        let said = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(said.map_while(Result::ok).filter(|line| line == "written").take(round).count(), round);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // The files' times are real, so the clock must be too.
    let mut entries = list(Stores::builtin().named("overspill"), &home.env, jiff::Timestamp::now()).entries;
    assert!(entries.iter().filter(|entry| entry.status == EntryStatus::Ok).count() >= 36);
    assert!(
        entries
            .iter()
            .filter(|entry| entry.status == EntryStatus::Ok)
            .all(|entry| entry.size() == SIZE as u64)
    );
    entries.retain(|entry| entry.status == EntryStatus::Unfinished);
    let swept = entries.iter().map(|entry| delete(entry, DeleteMode::Bulk, &home.env));
    assert!(swept.into_iter().all(|outcome| outcome == DeleteOutcome::Deleted));
}

/// The umask belongs to the process, so this runs in a child process.
#[test]
fn modes_do_not_depend_on_the_umask() {
    const CHILD: &str = "OVERSPILL_TEST_UMASK_HOME";
    if let Some(home) = std::env::var_os(CHILD) {
        let store = OwnStore::create(&Env::hermetic(Path::new(&home))).unwrap();
        let path = store.begin(now()).unwrap().finish(false).unwrap();
        store.keep(path.file_name().unwrap().to_str().unwrap()).unwrap();
        return;
    }
    for umask in ["000", "022", "277", "177", "777"] {
        let home = tempfile::tempdir().unwrap();
        let test = std::env::current_exe().unwrap();
        let script = format!(
            "umask {umask}; exec \"$0\" --exact store::tests::deleting::modes_do_not_depend_on_the_umask"
        );
        let mut child = std::process::Command::new("sh");
        child.arg("-c").arg(script).arg(test).env(CHILD, home.path()).stdout(std::process::Stdio::null());
        assert!(child.status().unwrap().success(), "{umask}");
        let own = home.path().join(".local/share/overspill");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        for above in [".local", ".local/share"] {
            assert_eq!(mode(&home.path().join(above)), 0o700, "{umask} {above}");
        }
        assert_eq!(
            (mode(&own), mode(&own.join("tool-output")), mode(&own.join("kept"))),
            (0o700, 0o700, 0o700)
        );
        for dir in ["tool-output", "kept"] {
            let file = fs::read_dir(own.join(dir)).unwrap().next().unwrap().unwrap().path();
            assert_eq!(mode(&file), 0o600, "{umask} {dir}");
        }
    }
}
