//! A home directory with outputs in its stores.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::common::home::{Home, Ran};

/// Two ids as created by opencode.
pub const ID: &str = "tool_c8d4f08d5001AbCdEfGhIjKlMn";
pub const OTHER: &str = "tool_0118bbe93001AbCdEfGhIjKlMn";

/// A home directory for one test. No root of any store is outside of it.
pub struct Stocked(Home);

impl std::ops::Deref for Stocked {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.0
    }
}

impl Stocked {
    pub fn new() -> Stocked {
        let home = Stocked(Home::new());
        // The shipped roots are fixed paths under /tmp, which belong to whoever runs the tests.
        let t15 =
            "agent = \"t15\"\nsource = \"a test\"\nconfidence = \"source\"\nkeeps_none = \"not in tests\"\n";
        let stores = home.dir("config/overspill/stores");
        fs::create_dir_all(&stores).unwrap();
        fs::write(stores.join("t15.toml"), t15).unwrap();
        home
    }

    /// Returns a path beside the directories of [`Home::env`]: `data`, `home`, `config`, `tmp`.
    pub fn dir(&self, path: &str) -> PathBuf {
        self.work().parent().unwrap().join(path)
    }

    /// Returns the directory of overspill's own spills, creating it if necessary.
    pub fn own_root(&self) -> PathBuf {
        let root = self.dir("data/overspill/tool-output");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&root).unwrap();
        root
    }

    /// Creates a spill of overspill's own, this many hours old; `n` makes it unique.
    pub fn own(&self, n: u16, content: impl AsRef<[u8]>, hours: u64) -> PathBuf {
        let path = self.own_root().join(own_id(n, hours));
        self.put(&path, content, hours);
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        path
    }

    /// Creates a file anywhere, last modified this many hours ago.
    pub fn put(&self, path: &Path, content: impl AsRef<[u8]>, hours: u64) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        age(path, hours);
        path.to_owned()
    }

    /// Returns the ids printed by `list`, in its order.
    pub fn listed(&self, flags: &[&str]) -> Vec<String> {
        let ran = self.run(&[&["list", "--json"], flags].concat()).ok();
        ran.json()
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Returns the log of deletions; empty if there is none.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir("data/overspill/deletions.log")).unwrap_or_default()
    }
}

/// Returns an id for overspill's own store, created this many hours ago.
pub fn own_id(n: u16, hours: u64) -> String {
    let made = Timestamp::try_from(ago(hours)).unwrap();
    let mut random = [0; 12];
    random[..2].copy_from_slice(&n.to_be_bytes().map(|byte| byte % 62));
    overspill::internals::store::new_id(made, n, random)
}

pub fn age(path: &Path, hours: u64) {
    let times = FileTimes::new().set_accessed(ago(hours)).set_modified(ago(hours));
    File::open(path).unwrap().set_times(times).unwrap();
}

fn ago(hours: u64) -> SystemTime {
    SystemTime::now() - Duration::from_secs(hours * 3600)
}

/// Returns the last component of a path.
pub fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Checks for status 0, whatever is on standard error.
#[track_caller]
pub fn done(ran: Ran) -> Ran {
    assert_eq!(ran.status, 0, "{}{}", ran.stdout.escape_ascii(), ran.stderr);
    ran
}
