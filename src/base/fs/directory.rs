//! Directories that others must not read or write: created for one user alone, and checked before use.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, chmodat, fstat, mkdirat, openat};
use rustix::io::Errno;
use rustix::path::Arg;

use super::identity::FileStat;

/// Permission bits that a private directory must not have.
pub(crate) const NO_OTHERS: u32 = 0o077;
/// Permission bits that a directory must not have if others may only read it.
pub(crate) const NO_OTHER_WRITERS: u32 = 0o022;

/// The sticky bit: only the owner of a file may move it.
const STICKY: u32 = 0o1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryFault {
    NotADirectory,
    Foreign,
    Exposed,
    System(Errno),
}

impl DirectoryFault {
    /// Says what is wrong with a directory, and the remedy: another one in the variable, or this mode for `chmod`.
    pub(crate) fn explain(self, path: &Path, variable: &str, mode: &str) -> io::Error {
        let words = match self {
            DirectoryFault::System(error) => return failed(path, error),
            DirectoryFault::NotADirectory => "is a symbolic link or not a directory; move it away",
            DirectoryFault::Foreign => {
                &format!("belongs to another user; set {variable} to a directory of yours")
            }
            DirectoryFault::Exposed => &format!("is open to others; run `chmod {mode}` on it"),
        };
        io::Error::other(format!("{}: {words}", path.display()))
    }
}

/// Adds the path to an error of the system.
pub(crate) fn failed(path: &Path, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl From<Errno> for DirectoryFault {
    fn from(error: Errno) -> DirectoryFault {
        DirectoryFault::System(error)
    }
}

/// Opens a directory that must not be a link, must belong to `uid`, and must not have the `forbidden` bits.
pub(crate) fn open(at: impl AsFd, name: &Path, uid: u32, forbidden: u32) -> Result<OwnedFd, DirectoryFault> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = match openat(at, name, flags, Mode::empty()) {
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(DirectoryFault::NotADirectory),
        dir => dir?,
    };
    let facts = FileStat::from(fstat(&dir)?);
    if facts.uid != uid {
        Err(DirectoryFault::Foreign)
    } else if facts.mode & forbidden != 0 {
        Err(DirectoryFault::Exposed)
    } else {
        Ok(dir)
    }
}

/// Opens a file in a directory for reading; follows no link of its own, and never waits for a FIFO's writer.
pub(crate) fn open_file(at: impl AsFd, name: impl Arg) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty()).map(File::from)
}

/// Opens a shared directory, perhaps a link: of `uid`, or sticky, so that no other user can move its files.
pub(crate) fn open_shared(path: &Path, uid: u32) -> Result<OwnedFd, DirectoryFault> {
    let dir = openat(CWD, path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let facts = FileStat::from(fstat(&dir)?);
    let is_sticky = facts.mode & STICKY != 0;
    if is_sticky || facts.uid == uid { Ok(dir) } else { Err(DirectoryFault::Foreign) }
}

/// Creates a directory of mode 0700 if it is missing, by a chmod after it: a umask may take away the user's bits.
pub(crate) fn make(at: BorrowedFd<'_>, name: &Path) -> Result<(), Errno> {
    match mkdirat(at, name, Mode::RWXU) {
        Ok(()) => chmodat(at, name, Mode::RWXU, AtFlags::empty()),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a directory and its missing parents, each of mode 0700 whatever the umask.
pub(crate) fn make_all(path: &Path) -> Result<(), Errno> {
    match make(CWD, path) {
        Err(Errno::NOENT) => {
            make_all(path.parent().filter(|parent| !parent.as_os_str().is_empty()).ok_or(Errno::NOENT)?)?;
            make(CWD, path)
        }
        // What macOS returns for the root.
        Err(Errno::ISDIR) => Ok(()),
        made => made,
    }
}
