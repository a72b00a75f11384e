//! Overspill's own store: where it is, that its directories are private, and which of its spills the user keeps.

pub(crate) mod id;
pub(crate) mod record;
pub(crate) mod write;

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, fchmod, flock, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use super::{Entry, Env};
use crate::base::fs::directory::{self, DirectoryFault, NO_OTHERS, failed};
use id::is_own;
use record::{CopyRecord, Record};

const SPILLS: &str = "tool-output";
pub(super) const LOCK: &str = ".lock";

/// Returns `$XDG_DATA_HOME/overspill`, by default under `~/.local/share`, on both Linux and macOS.
pub fn own_home(env: &Env) -> io::Result<PathBuf> {
    let home = env.dir_or("XDG_DATA_HOME", ".local/share").map(|data| data.join("overspill"));
    let words = "no place for the store: HOME is unset or relative; set XDG_DATA_HOME to an absolute path";
    home.ok_or_else(|| io::Error::other(words))
}

/// Overspill's own store, with its directories open and checked to be private to the user.
#[derive(Debug)]
pub struct OwnStore {
    pub(super) home: OwnedFd,
    pub(super) spills: OwnedFd,
    root: PathBuf,
}

impl OwnStore {
    /// Opens the store, if it exists; fails if it is a link, belongs to somebody else, or is open to others.
    pub fn open(env: &Env) -> io::Result<Option<OwnStore>> {
        Ok(open_in_home(SPILLS, env)?.map(|(home, spills, root)| OwnStore { home, spills, root }))
    }

    /// Opens the store, creating what is missing: directories with mode 0700, whatever the umask.
    pub fn create(env: &Env) -> io::Result<OwnStore> {
        let (home, spills, root) = make_in_home(SPILLS, env)?;
        Ok(OwnStore { home, spills, root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Tries to take the lock for cleaning, at intervals of 50 ms; dropping the file releases it.
    pub(super) fn lock(&self, tries: u32) -> io::Result<Option<File>> {
        let file = new_file(&self.home, LOCK, OFlags::RDWR)?;
        for left in (0..tries).rev() {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) if left > 0 => std::thread::sleep(Duration::from_millis(50)),
                Err(Errno::WOULDBLOCK) => break,
                done => return done.map(|()| Some(file)).map_err(Into::into),
            }
        }
        Ok(None)
    }
}

/// Opens `name` in `at` for writing, creating it with mode 0600 whatever the umask. Never waits for a FIFO's reader.
pub(super) fn new_file(at: &OwnedFd, name: &str, flags: OFlags) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let other = || io::Error::other("is not a regular file; remove it");
    let file = openat(at, name, flags, mode).map_err(|error| match error {
        // A link, a FIFO that nobody reads, a directory.
        Errno::LOOP | Errno::NXIO | Errno::ISDIR => other(),
        error => error.into(),
    })?;
    // What this call has created is a regular file, and must not be left behind by a look at it that fails.
    let is_new = flags.contains(OFlags::EXCL);
    if !is_new && FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(other());
    }
    fchmod(&file, mode)?;
    Ok(File::from(file))
}

/// Opens overspill's directory of data, and one in it, whose path it returns, too.
fn open_in_home(name: &str, env: &Env) -> io::Result<Option<(OwnedFd, OwnedFd, PathBuf)>> {
    let home_path = own_home(env)?;
    let Some(home) = open(CWD, &home_path, &home_path, env)? else { return Ok(None) };
    let path = home_path.join(name);
    Ok(open(&home, Path::new(name), &path, env)?.map(|dir| (home, dir, path)))
}

fn make_in_home(name: &str, env: &Env) -> io::Result<(OwnedFd, OwnedFd, PathBuf)> {
    let home_path = own_home(env)?;
    if let Some(parent) = home_path.parent() {
        directory::make_all(parent).map_err(|error| failed(parent, error))?;
    }
    let home = make(CWD, &home_path, &home_path, env)?;
    let path = home_path.join(name);
    let dir = make(home.as_fd(), Path::new(name), &path, env)?;
    Ok((home, dir, path))
}

fn open(at: impl AsFd, name: &Path, path: &Path, env: &Env) -> io::Result<Option<OwnedFd>> {
    match directory::open(at, name, env.uid(), NO_OTHERS) {
        Err(DirectoryFault::System(Errno::NOENT)) => Ok(None),
        opened => opened.map(Some).map_err(|fault| fault.explain(path, "XDG_DATA_HOME", "700")),
    }
}

fn make(at: BorrowedFd<'_>, name: &Path, path: &Path, env: &Env) -> io::Result<OwnedFd> {
    directory::make(at, name).map_err(|error| failed(path, error))?;
    open(at, name, path, env)?.ok_or_else(|| failed(path, Errno::NOENT))
}

const KEPT: &str = "kept";

#[derive(Clone, Debug, Default)]
pub struct KeptIds {
    /// The ids in overspill's own store that no cleaning deletes.
    pub ids: BTreeSet<String>,
    /// By id the records of those that are copies.
    pub(crate) copies: HashMap<String, Arc<CopyRecord>>,
}

impl KeptIds {
    /// Returns those of the user's store; none if they cannot be read.
    pub fn load(env: &Env) -> KeptIds {
        let store = OwnStore::open(env).ok().flatten();
        store.and_then(|store| store.kept(env).ok()).unwrap_or_default()
    }

    pub fn has(&self, entry: &Entry) -> bool {
        entry.is_kept() || self.has_copy_of(entry)
    }

    pub fn has_copy_of(&self, entry: &Entry) -> bool {
        self.copies.values().any(|copy| copy.is_of(entry))
    }
}

impl OwnStore {
    /// Exempts one of overspill's own spills from cleaning. `id` must be one of its ids.
    pub fn keep(&self, id: &str) -> io::Result<()> {
        if !is_own(id.as_bytes()) {
            return Err(io::Error::other("only a spill in overspill's own store can be kept in place"));
        }
        directory::make(self.home.as_fd(), Path::new(KEPT))?;
        new_file(&self.kept_dir()?, id, OFlags::WRONLY).map(drop)
    }

    /// Removes the exemption of a spill and its record, if there are any, because the spill is gone.
    pub(crate) fn forget(&self, id: &str, env: &Env) -> io::Result<()> {
        if !is_own(id.as_bytes()) {
            return Ok(());
        }
        record::remove(env, id);
        match self.kept_dir().and_then(|kept| Ok(unlinkat(kept, id, AtFlags::empty())?)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Whether an id is exempt; on an error, a cleaner must not delete the entry.
    pub fn is_kept(&self, id: &str) -> io::Result<bool> {
        let mark = is_own(id.as_bytes()).then(|| format!("{KEPT}/{id}"));
        match mark.map(|mark| statat(&self.home, mark, AtFlags::SYMLINK_NOFOLLOW)) {
            None | Some(Err(Errno::NOENT)) => Ok(false),
            Some(Ok(_)) => Ok(true),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Returns the exempt ids, with the records of those that are copies; on an error, a cleaner must delete nothing.
    pub fn kept(&self, env: &Env) -> io::Result<KeptIds> {
        let dir = match self.kept_dir() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(KeptIds::default()),
            dir => dir?,
        };
        let mut kept = KeptIds::default();
        for found in Dir::read_from(dir)? {
            let id = found?.file_name().to_string_lossy().into_owned();
            if !is_own(id.as_bytes()) {
                continue;
            }
            if statat(&self.spills, &*id, AtFlags::SYMLINK_NOFOLLOW).is_ok()
                && let Some(Record::Copy(copy)) = Record::read(env, &id)
            {
                kept.copies.insert(id.clone(), Arc::new(copy));
            }
            kept.ids.insert(id);
        }
        Ok(kept)
    }

    fn kept_dir(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.home, KEPT, flags, Mode::empty())?)
    }
}
