//! The surroundings a store is looked for in, passed in so that tests need no machine of their own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Home directory, environment variables, user, and how to ask whether a process lives.
#[derive(Clone, Debug)]
pub struct Env {
    home: PathBuf,
    vars: BTreeMap<OsString, OsString>,
    uid: u32,
    alive: fn(u32) -> bool,
}

impl Env {
    /// This process's own surroundings.
    pub fn from_process() -> Env {
        let mut vars: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        if let Some(here) = current_directory(vars.get(OsStr::new("PWD"))) {
            vars.insert("PWD".into(), here);
        }
        Env {
            // A relative one would change with the directory in which overspill is started.
            home: etcetera::home_dir().ok().filter(|home| home.is_absolute()).unwrap_or_default(),
            vars,
            uid: rustix::process::geteuid().as_raw(),
            alive: process_exists,
        }
    }

    /// A home directory and nothing else: no variable set, no process alive.
    pub fn hermetic(home: &Path) -> Env {
        Env {
            home: home.to_owned(),
            vars: BTreeMap::new(),
            uid: rustix::process::geteuid().as_raw(),
            alive: |_| false,
        }
    }

    /// The same with one variable set.
    #[must_use]
    pub fn with_var(mut self, name: &str, value: impl Into<OsString>) -> Env {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// The same with another way to ask whether a process lives.
    #[must_use]
    pub fn with_alive(mut self, alive: fn(u32) -> bool) -> Env {
        self.alive = alive;
        self
    }

    /// The home directory; empty if unknown.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// A variable's value. Unset and empty are the same, and so is a relative path in an XDG
    /// directory variable, which its specification says to ignore.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        let value = self.vars.get(OsStr::new(name)).filter(|value| !value.is_empty())?;
        let ignored = name.starts_with("XDG_") && Path::new(value).is_relative();
        (!ignored).then_some(value)
    }

    /// The effective user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Whether a process of this number exists, of whatever user.
    pub fn alive(&self, pid: u32) -> bool {
        (self.alive)(pid)
    }
}

/// The current directory, where `named`, which a shell sets and keeps links in, is not it.
fn current_directory(named: Option<&OsString>) -> Option<OsString> {
    let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let named = named.map(Path::new).filter(|path| path.is_absolute()).and_then(identity);
    match named.is_some() && named == identity(Path::new(".")) {
        true => None,
        false => std::env::current_dir().ok().map(PathBuf::into_os_string),
    }
}

fn process_exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}
