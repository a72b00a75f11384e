//! Tests copying other agents' entries: only complete ones of an acceptable size, and what is recorded of each.

use std::fs::{self, File};
use std::path::Path;

use crate::store::{
    Cleaner, CopyRecord, DeleteMode, DeleteOutcome, DeleteReason, Entry, EntryStatus, OwnStore, Record,
    StoredForm,
};

use super::{Home, ID, now, only};

/// Copies an entry into overspill's own store.
fn keep(home: &Home, entry: &Entry) -> std::io::Result<String> {
    let record = CopyRecord {
        command: "cargo build".into(),
        policies: vec!["pi/bash".into()],
        parameters: [("max_lines".to_owned(), "7".to_owned())].into(),
        limits_from: "/etc/limits".into(),
        ..CopyRecord::new(entry)
    };
    OwnStore::create(&home.env).unwrap().adopt((entry, record), &home.env, now(), &mut |_| true)
}

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
    let error = keep(home, entry).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
    assert_eq!(fs::read_dir(own.root()).unwrap().count(), 0);
    assert!(own.kept(&home.env).unwrap().ids.is_empty());
}

#[test]
fn a_file_still_being_written_is_not_copied() {
    let home = Home::new();
    let (entry, writer) = entry(&home, 5);
    rustix::fs::flock(&writer, rustix::fs::FlockOperation::LockExclusive).unwrap();
    is_not_copied(&home, &entry, "unfinished");
    drop(writer);
    keep(&home, &entry).unwrap();
}

#[test]
fn a_copy_has_the_same_cap_as_a_capture() {
    let home = Home::new();
    let (entry, _file) = entry(&home, (100 << 20) + 1);
    is_not_copied(&home, &entry, "larger than 100 MB");
}

#[test]
fn a_cancelled_copy_leaves_nothing_behind() {
    let home = Home::new();
    let (entry, _file) = entry(&home, 9 << 20);
    let own = OwnStore::create(&home.env).unwrap();
    let mut told = Vec::new();
    let error = own.adopt((&entry, CopyRecord::new(&entry)), &home.env, now(), &mut |bytes| {
        told.push(bytes >> 20);
        told.len() < 2
    });
    assert_eq!((error.unwrap_err().to_string().as_str(), &told[..]), ("given up", &[1, 2][..]));
    assert_eq!(fs::read_dir(own.root()).unwrap().count(), 0);
    assert!(own.kept(&home.env).unwrap().ids.is_empty());
    let id = keep(&home, &entry).unwrap();
    assert_eq!(fs::metadata(own.root().join(id)).unwrap().len(), 9 << 20);
}

#[test]
fn an_agents_entry_is_copied_once_and_the_copy_names_the_agent() {
    let home = Home::new();
    let path = home.opencode(ID, b"worth keeping", 24);
    let entry = only(&home, "opencode");
    let own = OwnStore::create(&home.env).unwrap();
    let id = keep(&home, &entry).unwrap();
    assert_eq!(fs::read(own.root().join(&id)).unwrap(), b"worth keeping");
    assert!(own.is_kept(&id).unwrap() && path.exists());
    assert_eq!(keep(&home, &entry).unwrap_err().to_string(), "kept already");
    let copy = only(&home, "overspill");
    assert_eq!(
        (copy.agent(), copy.modified(), copy.holds()),
        ("opencode", entry.modified(), StoredForm::Raw)
    );
    assert_eq!(copy.saved_as(), path.to_str().unwrap());
    let kept = own.kept(&home.env).unwrap();
    assert!(copy.is_kept() && !entry.is_kept() && kept.has_copy_of(&entry));
    // What is written there later is another output.
    home.opencode(ID, b"another", 1);
    let later = only(&home, "opencode");
    assert!(!kept.has_copy_of(&later));
    assert!(keep(&home, &entry).is_err(), "it has changed since it was listed");
    keep(&home, &later).unwrap();
    assert_eq!(home.list("overspill").len(), 2);
}

#[test]
fn a_copys_record_is_read_back_and_deleted_with_the_copy() {
    let home = Home::new();
    home.opencode(ID, b"worth keeping", 24);
    let entry = only(&home, "opencode");
    let id = keep(&home, &entry).unwrap();
    let copy = only(&home, "overspill");
    let Some(Record::Copy(record)) = Record::read(&home.env, &id) else { panic!("no record of a copy") };
    let expected = CopyRecord {
        path: copy.path().to_str().unwrap().into(),
        command: "cargo build".into(),
        policies: vec!["pi/bash".into()],
        parameters: [("max_lines".to_owned(), "7".to_owned())].into(),
        limits_from: "/etc/limits".into(),
        ..CopyRecord::new(&entry)
    };
    assert_eq!(record, expected);
    assert_eq!(Record::find(&home.env, &copy.path()), Some(Record::Copy(expected)));
    let file = home.at(".local/share/overspill/records").join(format!("{id}.json"));
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&file).unwrap()) & 0o7777, 0o600);
    let mut cleaner = Cleaner::start(&home.env).unwrap().unwrap();
    let deleted = cleaner.delete(
        &copy,
        DeleteReason::Requested { knows_kept: true },
        DeleteMode::Bulk,
        &home.env,
        now(),
    );
    assert_eq!(deleted, DeleteOutcome::Deleted);
    assert!(!file.exists() && fs::read_dir(home.at(".local/share/overspill/kept")).unwrap().next().is_none());
    assert!(!cleaner.store.kept(&home.env).unwrap().has_copy_of(&entry));
}

#[test]
fn a_copy_without_a_valid_record_counts_as_an_own_output() {
    let home = Home::new();
    home.opencode(ID, b"worth keeping", 24);
    let entry = only(&home, "opencode");
    let id = keep(&home, &entry).unwrap();
    let file = home.at(".local/share/overspill/records").join(format!("{id}.json"));
    let sound = fs::read_to_string(&file).unwrap();
    let many = vec!["\"pi/bash\""; 65].join(",");
    let broken = [
        String::new(),
        "[]".into(),
        sound[..sound.len() / 2].into(),
        sound.replace("\"agent\":\"opencode\"", "\"agent\":7"),
        sound.replace("\"agent\":\"opencode\"", "\"agent\":\"\""),
        sound.replace("\"pi/bash\"", &many),
        sound.replace("\"holds\":\"raw\"", "\"holds\":\"everything\""),
        " ".repeat(2 << 20) + &sound,
    ];
    for text in &broken {
        fs::write(&file, text).unwrap();
        let copy = only(&home, "overspill");
        assert_eq!(
            (copy.agent(), copy.status),
            ("overspill", EntryStatus::Ok),
            "{}",
            &text[..text.len().min(200)]
        );
        assert_eq!(copy.saved_as(), copy.path().to_str().unwrap());
        assert!(!OwnStore::create(&home.env).unwrap().kept(&home.env).unwrap().has_copy_of(&entry));
    }
    fs::remove_file(&file).unwrap();
    for make in [link, fifo] {
        make(&file, &sound);
        assert_eq!(only(&home, "overspill").agent(), "overspill");
        fs::remove_file(&file).unwrap();
    }
}

fn link(file: &Path, sound: &str) {
    let other = file.with_file_name("other");
    fs::write(&other, sound).unwrap();
    std::os::unix::fs::symlink(other, file).unwrap();
}

fn fifo(file: &Path, _: &str) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, file, mode).unwrap();
}
