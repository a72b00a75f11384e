//! Tests copying other agents' entries: only complete ones of an acceptable size.

use std::fs::{self, File};

use crate::store::{Entry, OwnStore};

use super::{Home, ID, now};

/// Creates an opencode entry of this many bytes, with its file open for writing.
fn entry(home: &Home, size: u64) -> (Entry, File) {
    let path = home.opencode(ID, b"", 24);
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(size).unwrap();
    (home.list("opencode").remove(0), file)
}

/// Checks that the entry is not copied, for this reason, and that nothing is left behind.
#[track_caller]
fn is_not_copied(home: &Home, entry: &Entry, why: &str) {
    let own = OwnStore::create(&home.env).unwrap();
    let error = own.adopt(entry, now()).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
    assert_eq!(fs::read_dir(own.root()).unwrap().count(), 0);
    assert!(own.kept().unwrap().is_empty());
}

#[test]
fn what_is_still_being_written_is_not_copied() {
    let home = Home::new();
    let (entry, writer) = entry(&home, 5);
    writer.lock().unwrap();
    is_not_copied(&home, &entry, "unfinished");
    drop(writer);
    OwnStore::create(&home.env).unwrap().adopt(&entry, now()).unwrap();
}

#[test]
fn no_more_is_copied_than_is_saved_of_an_output() {
    let home = Home::new();
    let (entry, _file) = entry(&home, (100 << 20) + 1);
    is_not_copied(&home, &entry, "larger than 100 MB");
}
