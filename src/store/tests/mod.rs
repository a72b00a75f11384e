//! Stores in a home directory created for the test.

mod cleaning;
mod deleting;
mod keeping;
mod laws;
mod listing;
mod roots;
#[allow(dead_code, reason = "the tests of whole programs use the rest")]
#[path = "../../../tests/it/common/skip.rs"]
mod skip;

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

use super::*;

pub(crate) const NOW: &str = "2026-11-21T12:00:00Z";

pub(crate) fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// A home directory.
pub(crate) struct Home {
    pub dir: TempDir,
    pub env: Env,
}

impl Home {
    pub(crate) fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let tmp = dir.path().join("tmp");
        fs::create_dir(&tmp).unwrap();
        let env = Env::hermetic(&dir.path().join("home")).with_var("TMPDIR", tmp);
        Home { dir, env }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("home").join(path)
    }

    /// Creates a file with this content, last modified this many hours ago.
    pub(crate) fn file(&self, path: &Path, content: &[u8], hours: u64) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        age(path, hours);
        path.to_owned()
    }

    pub(crate) fn opencode(&self, name: &str, content: &[u8], hours: u64) -> PathBuf {
        self.file(&self.at(".local/share/opencode/tool-output").join(name), content, hours)
    }

    pub(crate) fn list(&self, store: &str) -> Vec<Entry> {
        self.list_with(&Stores::builtin(), store)
    }

    pub(crate) fn list_with(&self, stores: &Stores, store: &str) -> Vec<Entry> {
        let mut entries = list(stores.named(store), &self.env, now()).entries;
        entries.sort_by(|a, b| a.id().cmp(&b.id()));
        entries
    }
}

pub(crate) fn age(path: &Path, hours: u64) {
    let then = SystemTime::from(now()) - Duration::from_secs(hours * 3600);
    let times = FileTimes::new().set_accessed(then).set_modified(then);
    File::open(path).unwrap().set_times(times).unwrap();
}

pub(crate) const ID: &str = "tool_e26cf08d5001AbCdEfGhIjKlMn";
pub(crate) const OTHER: &str = "tool_0118bbe93001AbCdEfGhIjKlMn";

pub(crate) const BY_HAND: CleanRule = CleanRule { older_than: None, max_total: None, asked: Trigger::ByHand };

pub(crate) fn own_id(n: u16) -> String {
    new_id(now(), n, [0; 12])
}

/// Creates a spill in overspill's own store, this many hours old.
pub(crate) fn own(home: &Home, n: u16, hours: u64) -> PathBuf {
    let store = OwnStore::create(&home.env).unwrap();
    home.file(&store.root().join(own_id(n)), b"0123456789", hours)
}

/// Creates one with an id of that age: own ids carry the time too, and the younger of both counts.
pub(crate) fn old(home: &Home, n: u16, hours: u64) -> PathBuf {
    let store = OwnStore::create(&home.env).unwrap();
    let then = now().checked_sub(SignedDuration::from_hours(hours as i64)).unwrap();
    home.file(&store.root().join(new_id(then, n, [(n >> 12) as u8; 12])), b"0123456789", hours)
}

pub(crate) fn plan(entries: &[Entry], rule: &CleanRule) -> CleanPlan {
    clean_plan(entries, now(), rule)
}

pub(crate) fn only(home: &Home, store: &str) -> Entry {
    let mut entries = home.list(store);
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

pub(crate) fn stayed(entry: &Entry, home: &Home) -> Reason {
    match delete(entry, DeleteMode::Bulk, &home.env) {
        DeleteOutcome::Stayed(reason) => {
            assert!(fs::symlink_metadata(entry.path()).is_ok());
            reason
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn old_id(n: u16, hours: i64) -> String {
    new_id(now().checked_sub(SignedDuration::from_hours(hours)).unwrap(), n, [0; 12])
}
