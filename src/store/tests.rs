//! Stores in a home directory made for the test.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

use super::*;

pub(super) const NOW: &str = "2026-11-21T12:00:00Z";

pub(super) fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// A home directory.
pub(super) struct Home {
    pub dir: TempDir,
    pub env: Env,
}

impl Home {
    pub fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let tmp = dir.path().join("tmp");
        fs::create_dir(&tmp).unwrap();
        let env = Env::hermetic(&dir.path().join("home")).with_var("TMPDIR", tmp);
        Home { dir, env }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("home").join(path)
    }

    /// A file with that content, last modified so many hours before now.
    pub fn file(&self, path: &Path, content: &[u8], hours: u64) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        age(path, hours);
        path.to_owned()
    }

    pub fn opencode(&self, name: &str, content: &[u8], hours: u64) -> PathBuf {
        self.file(&self.at(".local/share/opencode/tool-output").join(name), content, hours)
    }

    pub fn list(&self, store: &str) -> Vec<Entry> {
        self.list_with(&Stores::builtin(), store)
    }

    pub fn list_with(&self, stores: &Stores, store: &str) -> Vec<Entry> {
        let mut entries = list(stores.named(store), &self.env, now()).entries;
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        entries
    }
}

pub(super) fn age(path: &Path, hours: u64) {
    let then = SystemTime::from(now()) - Duration::from_secs(hours * 3600);
    File::open(path).unwrap().set_modified(then).unwrap();
}

pub(super) const ID: &str = "tool_e26cf08d5001AbCdEfGhIjKlMn";
const OTHER: &str = "tool_0118bbe93001AbCdEfGhIjKlMn";

fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

#[test]
fn opencode_is_listed_with_its_seven_days() {
    let home = Home::new();
    home.opencode(ID, b"hello", 24);
    home.opencode(OTHER, b"old", 24 * 8);
    home.opencode("notes.txt", b"not ours to show", 1);
    let entries = home.list("opencode");
    assert_eq!(ids(&entries), [OTHER, ID]);
    assert!(matches!(entries[0].left(now()), Left::Overdue(over) if over == SignedDuration::from_hours(24)));
    assert!(matches!(entries[1].left(now()), Left::For(left) if left == SignedDuration::from_hours(24 * 6)));
    let entry = &entries[1];
    assert_eq!(
        (entry.size(), &*entry.agent, &entry.status, entry.rule),
        (5, "opencode", &Status::Ok, Rule::Mtime)
    );
    assert_eq!(entry.made.unwrap().to_string(), "2026-05-14T14:06:02.965Z".to_string());
    assert_eq!(first_line(entry).unwrap(), b"hello");
}

#[test]
fn a_store_that_is_not_there_is_said() {
    let home = Home::new();
    let stores = Stores::builtin();
    let spec = stores.named("opencode").next().unwrap();
    let reports = scan(spec, &home.env, now(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(reports[0].state, RootState::Absent);
    assert_eq!(reports[0].root, home.at(".local/share/opencode/tool-output"));
}

#[test]
fn a_scan_stops_when_told() {
    let home = Home::new();
    home.opencode(ID, b"1", 1);
    home.opencode(OTHER, b"2", 1);
    let stores = Stores::builtin();
    let spec = stores.named("opencode").next().unwrap();
    let reports = scan(spec, &home.env, now(), &mut |_| ControlFlow::Break(()));
    assert_eq!((reports[0].entries, &reports[0].state), (1, &RootState::Stopped));
}

#[test]
fn what_only_looks_like_a_spill_is_marked() {
    let home = Home::new();
    let real = home.opencode(ID, b"x", 1);
    let dir = real.parent().unwrap();
    symlink(&real, dir.join(OTHER)).unwrap();
    fs::create_dir(dir.join("tool_1118bbe93001AbCdEfGhIjKlMn")).unwrap();
    fs::hard_link(&real, dir.join("second name")).unwrap();
    let future = home.opencode("tool_2118bbe93001AbCdEfGhIjKlMn", b"y", 0);
    File::open(&future).unwrap().set_modified(SystemTime::from(now()) + Duration::from_secs(301)).unwrap();
    let statuses: Vec<_> = home.list("opencode").into_iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [Status::SymbolicLink, Status::NotAFile, Status::FutureTime, Status::HardLinked]);
}

#[test]
fn a_linked_entry_is_not_read() {
    let home = Home::new();
    let real = home.file(&home.at("secret"), b"secret", 1);
    let link = home.at(".local/share/opencode/tool-output").join(ID);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    assert!(first_line(&home.list("opencode")[0]).is_err());
}

#[test]
fn odd_names_are_listed_as_they_are() {
    let home = Home::new();
    let toml = "agent = \"any\"\nsource = \"test\"\nconfidence = \"source\"\n[[store]]\nroots = [\"~/any\"]\npath = ['(?s).+']\nholds = \"raw\"\nretention = { by = \"never\" }\n";
    fs::create_dir_all(home.at("stores")).unwrap();
    fs::write(home.at("stores/any.toml"), toml).unwrap();
    let mut stores = Stores::default();
    stores.load_dir(&home.at("stores")).unwrap();
    let names: [&[u8]; 4] = [b"a\nb", b"\x1b[2J", b"\xff\xfe", &[b'n'; 255]];
    for name in names {
        home.file(&home.at("any").join(std::ffi::OsStr::from_bytes(name)), b"", 1);
    }
    let entries = home.list_with(&stores, "any");
    let mut listed: Vec<_> = entries.iter().map(|entry| entry.name.as_bytes()).collect();
    listed.sort();
    let mut expected = names.to_vec();
    expected.sort();
    assert_eq!(listed, expected);
    assert!(entries.iter().all(|entry| entry.expires == Expiry::Never));
}

#[test]
fn a_file_is_known_by_its_path_alone() {
    let env = Env::hermetic(Path::new("/home/me"));
    let stores = Stores::builtin();
    let of = |path: &str| stores.store_of(Path::new(path), &env).map(|spec| spec.name.as_str());
    assert_eq!(of(&format!("/home/me/.local/share/opencode/tool-output/{ID}")), Some("opencode"));
    assert_eq!(of("/home/me/.local/share/opencode/tool-output/other"), None);
    assert_eq!(of(&format!("/home/me/.local/share/opencode/tool-output/x/{ID}")), None);
    assert_eq!(of("/etc/passwd"), None);
    let moved = env.clone().with_var("XDG_DATA_HOME", "/data");
    let path = PathBuf::from(format!("/data/overspill/tool-output/{}", new_id(now(), 1, [0; 12])));
    assert_eq!(stores.store_of(&path, &moved).unwrap().name, "overspill");
    assert_eq!(own_root(&moved).unwrap(), Path::new("/data/overspill/tool-output"));
}

#[test]
fn every_description_compiled_in_is_right() {
    Stores::builtin().check().unwrap();
    assert!(Stores::builtin().specs.len() >= 2);
}

#[test]
fn mistakes_in_a_users_file_are_said_with_their_line() {
    let home = Home::new();
    fs::create_dir_all(home.at("stores")).unwrap();
    fs::write(home.at("stores/bad.toml"), "agent = \"x\"\nsorce = \"y\"\n").unwrap();
    let error = Stores::builtin().load_dir(&home.at("stores")).unwrap_err().to_string();
    assert!(error.contains("bad.toml") && error.contains("line 2") && error.contains("sorce"), "{error}");
}

#[test]
fn an_id_or_a_prefix_of_just_one() {
    let home = Home::new();
    home.opencode(ID, b"1", 1);
    home.opencode("tool_e26cf08d5002AbCdEfGhIjKlMn", b"2", 1);
    let stores = Stores::builtin();
    let resolved = |typed: &str| match resolve(typed, &stores.specs, &home.env, now()) {
        Resolved::One(entry) => entry.id,
        Resolved::Several(entries) => format!("{}", entries.len()),
        Resolved::None => "none".into(),
    };
    assert_eq!(resolved(ID), ID);
    assert_eq!(resolved("tool_e26cf08d5001"), ID);
    assert_eq!(resolved("tool_e2"), "2");
    assert_eq!((resolved("x").as_str(), resolved("").as_str()), ("none", "none"));
}
