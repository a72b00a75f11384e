//! The environment in which stores are looked up, passed in so that tests are independent of the machine.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

/// Returns the time. A clock set outside the years that a [`Timestamp`] holds counts as the nearest time that it does.
pub fn now() -> Timestamp {
    nearest(SystemTime::now())
}

fn nearest(time: SystemTime) -> Timestamp {
    let end = if time < SystemTime::UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(end)
}

/// Home directory, environment variables, user, and how to find out whether a process is alive.
#[derive(Clone, Debug)]
pub struct Env {
    home: PathBuf,
    vars: BTreeMap<OsString, OsString>,
    uid: u32,
    pub(crate) alive: fn(u32) -> bool,
}

impl Env {
    pub fn from_process() -> Env {
        let mut vars: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        if let Some(here) = current_directory(vars.get(OsStr::new("PWD"))) {
            vars.insert("PWD".into(), here);
        }
        Env {
            // A relative one would depend on the directory in which overspill is started.
            home: etcetera::home_dir().ok().filter(|home| home.is_absolute()).unwrap_or_default(),
            vars,
            uid: rustix::process::geteuid().as_raw(),
            alive: process_exists,
        }
    }

    /// Returns an environment with only a home directory: no variables set, no process alive.
    pub fn hermetic(home: &Path) -> Env {
        Env {
            home: home.to_owned(),
            vars: BTreeMap::new(),
            uid: rustix::process::geteuid().as_raw(),
            alive: |_| false,
        }
    }

    #[must_use]
    pub fn with_var(mut self, name: &str, value: impl Into<OsString>) -> Env {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Returns the home directory; empty if unknown.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns a variable's value. An empty one counts as unset.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns the directory that a variable names. A relative one counts as unset: it would depend on where overspill is
    /// started, and not on where the agent was.
    pub fn dir(&self, name: &str) -> Option<PathBuf> {
        self.var(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Returns the directory that a variable names, else the one below the home directory; `None` without a home.
    pub fn dir_or(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        self.dir(name).or_else(|| self.in_home(below_home))
    }

    /// Returns a path below the home directory, if that is known.
    pub fn in_home(&self, path: &str) -> Option<PathBuf> {
        (!self.home.as_os_str().is_empty()).then(|| self.home.join(path))
    }

    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Whether a process with this id exists, whichever user it belongs to.
    pub fn alive(&self, pid: u32) -> bool {
        (self.alive)(pid)
    }
}

/// Returns the current directory, unless `named` is it: a shell sets that one and keeps links in it.
fn current_directory(named: Option<&OsString>) -> Option<OsString> {
    let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let named = named.map(Path::new).filter(|path| path.is_absolute()).and_then(identity);
    if named.is_some() && named == identity(Path::new(".")) {
        None
    } else {
        std::env::current_dir().ok().map(PathBuf::into_os_string)
    }
}

fn process_exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_past_the_year_9999_reads_as_the_last_time() {
        let far = Duration::from_secs(260_000_000_000);
        assert_eq!(nearest(SystemTime::UNIX_EPOCH + far), Timestamp::MAX);
        assert_eq!(nearest(SystemTime::UNIX_EPOCH - 2 * far), Timestamp::MIN);
        assert_eq!(nearest(SystemTime::UNIX_EPOCH), Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn a_relative_directory_is_ignored() {
        let env = Env::hermetic(Path::new("/home/me")).with_var("TMPDIR", "here").with_var("TMP", "/there");
        assert_eq!((env.dir("TMPDIR"), env.dir("TMP")), (None, Some("/there".into())));
        assert_eq!(env.dir_or("TMPDIR", ".tmp"), Some("/home/me/.tmp".into()));
        assert_eq!(env.var("TMPDIR"), Some(OsStr::new("here")));
    }
}
