//! Opens a store's root, following only links that nobody but the user or the system can have created.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::base::fs::identity::FileStat;
use crate::store::{Env, UnsetVariable};

use super::spec::expand;

/// Maximum number of links on the way to a directory.
const MAX_LINKS: u32 = 40;

/// Passing through a directory does not need the permission to list it.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = OFlags::RDONLY;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Where a store begins, and which part of its path belongs to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub path: PathBuf,
    /// The part of the path that may go through any link: everything in the home directory (the user may have moved a
    /// directory), the way to the project for a project's root, nothing elsewhere.
    trusted: PathBuf,
    /// Whether links of the system are followed beyond `trusted`; in a project none are.
    links: Links,
    uid: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    None,
    OfSystem,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RootError {
    #[error("{0} is a symbolic link that others may have made, and is not followed")]
    Link(String),
    #[error("it belongs to another user")]
    Foreign,
    #[error("{}", std::io::Error::from(*.0))]
    System(Errno),
}

impl From<Errno> for RootError {
    fn from(error: Errno) -> RootError {
        RootError::System(error)
    }
}

impl Root {
    /// Returns the root that a pattern stands for.
    pub(crate) fn new(pattern: &str, env: &Env) -> Result<Root, UnsetVariable> {
        let path = expand::root(pattern, env)?;
        let uid = env.uid();
        if !pattern.starts_with(['/', '~', '$']) {
            let project = path.ancestors().nth(Path::new(pattern).components().count());
            let trusted = project.unwrap_or(Path::new("")).to_owned();
            return Ok(Root { path, trusted, links: Links::None, uid });
        }
        let home = env.home();
        let is_own = !home.as_os_str().is_empty() && home != Path::new("/") && is_under(&path, home);
        let trusted = if is_own { path.clone() } else { PathBuf::new() };
        Ok(Root { path, trusted, links: Links::OfSystem, uid })
    }

    /// Opens the root; it must belong to the user or the system.
    pub(crate) fn open(&self) -> Result<OwnedFd, RootError> {
        let rest = self.path.strip_prefix(&self.trusted).unwrap_or(&self.path);
        let start = if self.trusted.as_os_str().is_empty() {
            openat(CWD, if self.path.is_absolute() { "/" } else { "." }, DIRECTORY | THROUGH, Mode::empty())?
        } else {
            openat(CWD, &self.trusted, DIRECTORY | THROUGH, Mode::empty())?
        };
        let dir = self.walk(start, rest)?;
        let dir = openat(&dir, ".", DIRECTORY | OFlags::RDONLY, Mode::empty())?;
        let owner = FileStat::from(fstat(&dir)?).uid;
        if rest.as_os_str().is_empty() || owner == self.uid || owner == 0 {
            Ok(dir)
        } else {
            Err(RootError::Foreign)
        }
    }

    /// Opens a directory at or below the root, following no link below it.
    pub(crate) fn open_below(&self, path: &Path) -> Result<OwnedFd, RootError> {
        let mut dir = self.open()?;
        for name in path.strip_prefix(&self.path).map_err(|_| Errno::NOENT)? {
            dir = openat(&dir, name, DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY, Mode::empty())?;
        }
        Ok(dir)
    }

    /// Opens `rest` from `dir`, one component at a time.
    fn walk(&self, mut dir: OwnedFd, rest: &Path) -> Result<OwnedFd, RootError> {
        let mut names: VecDeque<OsString> = names(rest).collect();
        let mut links = 0;
        while let Some(name) = names.pop_front() {
            let error = match openat(&dir, &name, DIRECTORY | OFlags::NOFOLLOW | THROUGH, Mode::empty()) {
                Ok(next) => {
                    dir = next;
                    continue;
                }
                Err(error) => error,
            };
            if !matches!(error, Errno::LOOP | Errno::NOTDIR) {
                return Err(error.into());
            }
            let Some(target) = self.link(&dir, &name)? else { return Err(error.into()) };
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::LOOP.into());
            }
            if target.is_absolute() {
                dir = openat(CWD, "/", DIRECTORY | THROUGH, Mode::empty())?;
            }
            self::names(&target).rev().for_each(|name| names.push_front(name));
        }
        Ok(dir)
    }

    /// Returns the target of a link that may be followed: one that root created where only root can. `None` if it is
    /// not a link.
    fn link(&self, dir: &OwnedFd, name: &OsStr) -> Result<Option<PathBuf>, RootError> {
        let link = FileStat::from(statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?);
        if link.kind != FileType::Symlink {
            return Ok(None);
        }
        let above = FileStat::from(fstat(dir)?);
        let is_systems = link.uid == 0 && above.uid == 0 && above.mode & 0o022 == 0;
        if self.links == Links::None || !is_systems {
            return Err(RootError::Link(name.to_string_lossy().into_owned()));
        }
        let target = readlinkat(dir.as_fd(), name, Vec::new())?;
        Ok(Some(PathBuf::from(OsString::from_vec(target.into_bytes()))))
    }
}

/// Whether a path is in a directory and does not leave it again.
fn is_under(path: &Path, dir: &Path) -> bool {
    path.strip_prefix(dir).is_ok_and(|rest| !rest.components().any(|name| name == Component::ParentDir))
}

/// Returns the components to walk through, including `..` but not the root.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + use<'_> {
    path.components().filter_map(|name| match name {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}
