//! Directories that hold spills: private, checked before use, and cleaned of what killed writers left behind.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, flock, fstat, statat, unlinkat};

use crate::base::fs::directory::{self, NO_OTHER_WRITERS, NO_OTHERS, failed};
use crate::base::fs::identity::{FileStat, timestamp};
use crate::store::{Env, YOUNG};

pub(crate) fn open_private(path: &Path, env: &Env) -> io::Result<OwnedFd> {
    directory::open(CWD, path, env.uid(), NO_OTHERS).map_err(|fault| fault.explain(path, "TMPDIR", "700"))
}

pub(crate) fn private_dir(path: &Path, env: &Env) -> io::Result<OwnedFd> {
    make(path)?;
    open_private(path, env)
}

/// Opens an agent's own directory. Others may read it if the agent allows that, but must not be able to write to it.
pub(crate) fn agents_dir(path: &Path, env: &Env) -> io::Result<OwnedFd> {
    if let Some(parent) = path.parent() {
        directory::make_all(parent).map_err(|error| failed(parent, error))?;
    }
    make(path)?;
    directory::open(CWD, path, env.uid(), NO_OTHER_WRITERS)
        .map_err(|fault| fault.explain(path, "TMPDIR", "go-w"))
}

/// Opens a shared directory such as /tmp: owned by the user, or sticky, so that no other user can move files away.
pub(crate) fn shared_dir(path: &Path, env: &Env) -> io::Result<OwnedFd> {
    directory::open_shared(path, env.uid()).map_err(|fault| fault.explain(path, "TMPDIR", "+t"))
}

fn make(path: &Path) -> io::Result<()> {
    directory::make(CWD, path).map_err(|error| failed(path, error))
}

/// Removes a file, if it is a regular file of this user, with one name, that no process is writing. Returns its bytes if
/// removed.
pub(crate) fn remove(dir: &OwnedFd, name: &std::ffi::CStr, env: &Env) -> Option<u64> {
    let facts = FileStat::from(statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?);
    if facts.links > 1 || facts.kind != FileType::RegularFile || facts.uid != env.uid() {
        return None;
    }
    let file = directory::open_file(dir, name).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let open = FileStat::from(fstat(&file).ok()?);
    let is_same = open.identity.same_file(&facts.identity);
    (is_same && unlinkat(dir, name, AtFlags::empty()).is_ok()).then_some(facts.identity.size)
}

/// Removes what killed writers left behind over an hour ago: names with the prefix `.tmp-` and then a fitting name.
pub(crate) fn sweep(dir: &OwnedFd, env: &Env, now: Timestamp, fits: impl Fn(&str) -> bool) {
    let Ok(entries) = Dir::read_from(dir) else { return };
    for found in entries.flatten() {
        let name = found.file_name();
        if !name.to_str().ok().and_then(|name| name.strip_prefix(".tmp-")).is_some_and(&fits) {
            continue;
        }
        let Ok(stat) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if now.duration_since(timestamp(FileStat::from(stat).identity.modified)) > YOUNG {
            remove(dir, name, env);
        }
    }
}
