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
    let error = own.adopt(entry, now(), &mut |_| true).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
    assert_eq!(fs::read_dir(own.root()).unwrap().count(), 0);
    assert!(own.kept().unwrap().is_empty());
}

#[test]
fn what_is_still_being_written_is_not_copied() {
    let home = Home::new();
    let (entry, writer) = entry(&home, 5);
    rustix::fs::flock(&writer, rustix::fs::FlockOperation::LockExclusive).unwrap();
    is_not_copied(&home, &entry, "unfinished");
    drop(writer);
    OwnStore::create(&home.env).unwrap().adopt(&entry, now(), &mut |_| true).unwrap();
}

#[test]
fn no_more_is_copied_than_is_saved_of_an_output() {
    let home = Home::new();
    let (entry, _file) = entry(&home, (100 << 20) + 1);
    is_not_copied(&home, &entry, "larger than 100 MB");
}

#[test]
fn a_copy_that_is_given_up_leaves_nothing() {
    let home = Home::new();
    let (entry, _file) = entry(&home, 9 << 20);
    let own = OwnStore::create(&home.env).unwrap();
    let mut told = Vec::new();
    let error = own.adopt(&entry, now(), &mut |bytes| {
        told.push(bytes >> 20);
        told.len() < 2
    });
    assert_eq!((error.unwrap_err().to_string().as_str(), &told[..]), ("given up", &[1, 2][..]));
    assert_eq!(fs::read_dir(own.root()).unwrap().count(), 0);
    assert!(own.kept().unwrap().is_empty());
    let id = own.adopt(&entry, now(), &mut |_| true).unwrap();
    assert_eq!(fs::metadata(own.root().join(id)).unwrap().len(), 9 << 20);
}
