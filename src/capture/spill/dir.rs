//! Directories that hold spills: made for us alone, checked before use, and rid of what killed writers left.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, chmodat, flock, fstat, mkdirat, openat,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::store::{Env, make_dirs};

/// A temporary file younger than this may still get its name.
const YOUNG: SignedDuration = SignedDuration::from_hours(1);

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DirError {
    #[error("{}: is a symbolic link or no directory; move it away", .0.display())]
    NotADirectory(PathBuf),
    #[error("{}: belongs to another user; set TMPDIR to a directory of yours", .0.display())]
    Foreign(PathBuf),
    #[error("{}: is open to others; run `chmod {remedy}` on it", path.display())]
    Exposed { path: PathBuf, remedy: &'static str },
    #[error("{}: {}", .0.display(), io::Error::from(*.1))]
    Io(PathBuf, Errno),
}

impl DirError {
    /// What the system said, if it was the system.
    pub(crate) fn raw(&self) -> Option<Errno> {
        match self {
            DirError::Io(_, errno) => Some(*errno),
            DirError::NotADirectory(_) | DirError::Foreign(_) | DirError::Exposed { .. } => None,
        }
    }
}

impl From<DirError> for io::Error {
    fn from(error: DirError) -> io::Error {
        let kind = error.raw().map_or(io::ErrorKind::Other, |errno| errno.kind());
        io::Error::new(kind, error.to_string())
    }
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Makes the directories that are to hold `path`; none is checked.
pub(crate) fn make_parents(path: &Path) -> Result<(), DirError> {
    let Some(parent) = path.parent() else { return Ok(()) };
    make_dirs(parent).map_err(|error| DirError::Io(parent.to_owned(), error))
}

/// A directory of ours alone, if it is there.
pub(crate) fn open_private(path: &Path, env: &Env) -> Result<OwnedFd, DirError> {
    checked(path, env, 0o077, "700")
}

/// A directory of ours alone, made if it is not there.
pub(crate) fn private_dir(path: &Path, env: &Env) -> Result<OwnedFd, DirError> {
    make(path)?;
    open_private(path, env)
}

/// An agent's own directory: others may read it if the agent lets them, but not write to it.
pub(crate) fn agents_dir(path: &Path, env: &Env) -> Result<OwnedFd, DirError> {
    make_parents(path)?;
    make(path)?;
    checked(path, env, 0o022, "go-w")
}

/// A directory that all share, such as /tmp: ours, or sticky, so that no one can move our files away.
pub(crate) fn shared_dir(path: &Path, env: &Env) -> Result<OwnedFd, DirError> {
    let io = |error: Errno| DirError::Io(path.to_owned(), error);
    let dir = openat(CWD, path, DIRECTORY, Mode::empty()).map_err(io)?;
    let stat = fstat(&dir).map_err(io)?;
    let sticky = Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX);
    match sticky || stat.st_uid == env.uid() {
        true => Ok(dir),
        false => Err(DirError::Foreign(path.to_owned())),
    }
}

/// Makes one directory of mode 0700, whatever the umask; one that is there is left as it is.
fn make(path: &Path) -> Result<(), DirError> {
    let made = match mkdirat(CWD, path, Mode::RWXU) {
        Ok(()) => chmodat(CWD, path, Mode::RWXU, AtFlags::empty()),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error),
    };
    made.map_err(|error| DirError::Io(path.to_owned(), error))
}

/// Opens a directory that must be no link, must be ours, and must not have the forbidden bits.
fn checked(path: &Path, env: &Env, forbidden: u32, remedy: &'static str) -> Result<OwnedFd, DirError> {
    let io = |error: Errno| DirError::Io(path.to_owned(), error);
    let dir = match openat(CWD, path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(DirError::NotADirectory(path.to_owned())),
        dir => dir.map_err(io)?,
    };
    let stat = fstat(&dir).map_err(io)?;
    // The type differs between systems.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast)]
    let mode = stat.st_mode as u32;
    match () {
        () if stat.st_uid != env.uid() => Err(DirError::Foreign(path.to_owned())),
        () if mode & forbidden != 0 => Err(DirError::Exposed { path: path.to_owned(), remedy }),
        () => Ok(dir),
    }
}

/// Removes one file, if it is a regular one of ours that nobody is writing; its bytes, if it is gone.
pub(crate) fn remove(dir: &OwnedFd, name: &std::ffi::CStr, env: &Env) -> Option<u64> {
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let ours = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_uid == env.uid();
    if !ours {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(dir, name, flags, Mode::empty()).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let same = fstat(&file).is_ok_and(|open| (open.st_dev, open.st_ino) == (stat.st_dev, stat.st_ino));
    (same && unlinkat(dir, name, AtFlags::empty()).is_ok()).then_some(stat.st_size as u64)
}

/// Removes what writers that were killed left behind over an hour ago: `.tmp-` and a name that fits.
pub(crate) fn sweep(dir: &OwnedFd, env: &Env, now: Timestamp, fits: impl Fn(&str) -> bool) {
    let Ok(entries) = Dir::read_from(dir) else { return };
    for found in entries.flatten() {
        let name = found.file_name();
        let is_left = name.to_str().ok().and_then(|name| name.strip_prefix(".tmp-")).is_some_and(&fits);
        if is_left && is_old(dir, name, now) {
            remove(dir, name, env);
        }
    }
}

fn is_old(dir: &OwnedFd, name: &std::ffi::CStr, now: Timestamp) -> bool {
    let Ok(stat) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    Timestamp::from_second(stat.st_mtime).is_ok_and(|modified| now.duration_since(modified) > YOUNG)
}
