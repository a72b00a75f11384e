//! Writes spills into overspill's own store, so that a partial one never has a final name.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};

use jiff::Timestamp;
use rustix::fs::{AtFlags, FlockOperation, OFlags, RenameFlags, flock, linkat, renameat_with, unlinkat};
use rustix::io::Errno;

use crate::base::fs::read_some;
use crate::base::fs::room::{nearly_full, room};
use crate::store::{Entry, EntryStatus, Env, OwnStore, new_id};

use super::new_file;
use super::record::{CopyRecord, Record, RunRecord};

/// Maximum size of an output that is copied to be kept, in bytes: the same as the default cap of a capture.
const MAX_KEPT: u64 = 100 << 20;
const BUFFER: usize = 1 << 20;
const TOO_LARGE: &str = "larger than 100 MB, the limit for copies that are kept; use `cp` instead";
/// Error if an entry or a copy of it is kept already.
pub const KEPT_ALREADY: &str = "kept already";
pub const UNFINISHED: &str = "it is unfinished: still being written, or interrupted";

/// A spill being written: `.tmp-<name>`, mode 0600, locked. Dropping it removes it; after a kill it stays, unfinished.
#[derive(Debug)]
pub struct NewSpill {
    file: File,
    dir: OwnedFd,
    root: PathBuf,
    id: String,
    done: bool,
}

impl OwnStore {
    pub fn begin(&self, now: Timestamp) -> io::Result<NewSpill> {
        loop {
            let dir = self.spills.try_clone()?;
            match NewSpill::begin_in(dir, self.root().to_owned(), next_id(now)?) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                begun => return begun,
            }
        }
    }

    /// Copies an entry of another store into overspill's own, kept, with a record of what it is a copy of. Returns the
    /// new id; an error leaves nothing behind. `step` is told the bytes copied, and gives up by returning false.
    pub fn adopt(
        &self,
        (entry, record): (&Entry, CopyRecord),
        env: &Env,
        now: Timestamp,
        step: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<String> {
        if self.kept(env)?.has_copy_of(entry) {
            return Err(io::Error::other(KEPT_ALREADY));
        }
        let from = entry.open()?;
        let spill = self.begin(now)?;
        copy_whole(entry, &from, spill.file(), step)?;
        // The age of the copy is that of the original. A time in the future would stop every automatic cleaning.
        spill.file().set_modified(entry.modified().min(now).into())?;
        let id = spill.id().to_owned();
        let path = spill.path().to_string_lossy().into_owned();
        let record = Record::Copy(CopyRecord { path, ..record });
        let done =
            record.write(env, &id, false).and_then(|()| self.keep(&id)).and_then(|()| spill.finish(false));
        if let Err(error) = done {
            self.forget(&id, env)?;
            return Err(error);
        }
        Ok(id)
    }

    /// Saves bytes as a spill, with the record of the run that printed them, if one did, and marks it as kept. Returns its
    /// path; an error leaves nothing behind.
    pub fn save(
        &self,
        (bytes, run): (&[u8], Option<RunRecord>),
        env: &Env,
        now: Timestamp,
        step: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<PathBuf> {
        let spill = self.begin(now)?;
        if bytes.len() as u64 > room(spill.file())? {
            return Err(nearly_full());
        }
        copy_all(bytes, spill.file(), step)?;
        let id = spill.id().to_owned();
        let path = spill.path().to_string_lossy().into_owned();
        run.map(|run| Record::Run(RunRecord { path, ..run }).write(env, &id, false)).transpose()?;
        self.keep(&id).and_then(|()| spill.finish(false)).inspect_err(|_| drop(self.forget(&id, env)))
    }
}

fn copy_whole(entry: &Entry, from: &File, to: &File, step: &mut dyn FnMut(u64) -> bool) -> io::Result<()> {
    let (size, room) = (from.metadata()?.len(), room(to)?);
    match flock(from, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => return Err(io::Error::other(UNFINISHED)),
        // Where locks are not supported, its name and status must do.
        _ if entry.status == EntryStatus::Unfinished => return Err(io::Error::other(UNFINISHED)),
        _ if size > MAX_KEPT => return Err(io::Error::other(TOO_LARGE)),
        _ if size > room => return Err(nearly_full()),
        _ => {}
    }
    // One byte more, to notice if the file grows meanwhile.
    let copied = copy_all(from.take(size + 1), to, step)?;
    if copied == size && from.metadata()?.len() == size {
        Ok(())
    } else {
        Err(io::Error::other("it changed while it was copied; try again"))
    }
}

fn copy_all(mut from: impl Read, mut to: &File, step: &mut dyn FnMut(u64) -> bool) -> io::Result<u64> {
    let (mut copied, mut buffer) = (0, vec![0; BUFFER]);
    loop {
        let count = read_some(&mut from, &mut buffer)?;
        if count == 0 {
            return Ok(copied);
        }
        to.write_all(&buffer[..count])?;
        copied += count as u64;
        if !step(copied) {
            return Err(io::Error::other("given up"));
        }
    }
}

impl NewSpill {
    /// Creates a spill named `name` in `dir`, whose path is `root`; `AlreadyExists` if another process writes it.
    pub fn begin_in(dir: OwnedFd, root: PathBuf, name: String) -> io::Result<NewSpill> {
        let file = new_file(&dir, &temporary(&name), OFlags::RDWR | OFlags::EXCL)?;
        // From here on, dropping it on an error removes the file.
        let spill = NewSpill { file, dir, root, id: name, done: false };
        flock(&spill.file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(spill)
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn path(&self) -> PathBuf {
        self.root.join(&self.id)
    }

    pub fn temporary_path(&self) -> PathBuf {
        self.root.join(temporary(&self.id))
    }

    /// Gives the file its final name, never replacing another; `durable` flushes it first. An error removes it.
    pub fn finish(mut self, durable: bool) -> io::Result<PathBuf> {
        if durable {
            self.file.sync_all()?;
        }
        rename_without_replacing(&self.dir, &temporary(&self.id), &self.id)?;
        self.done = true;
        if durable {
            rustix::fs::fsync(&self.dir)?;
        }
        Ok(self.path())
    }
}

impl Drop for NewSpill {
    fn drop(&mut self) {
        if !self.done {
            let _ = unlinkat(&self.dir, Path::new(&temporary(&self.id)), AtFlags::empty());
        }
    }
}

fn temporary(id: &str) -> String {
    format!(".tmp-{id}")
}

fn rename_without_replacing(dir: &OwnedFd, from: &str, to: &str) -> io::Result<()> {
    match renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
        // Some file systems do not support this; a hard link never replaces a file either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            linkat(dir, from, dir, to, AtFlags::empty())?;
            Ok(unlinkat(dir, from, AtFlags::empty())?)
        }
        result => Ok(result?),
    }
}

pub(crate) fn next_id(now: Timestamp) -> io::Result<String> {
    static COUNTER: AtomicU16 = AtomicU16::new(1);
    Ok(new_id(now, COUNTER.fetch_add(1, Ordering::Relaxed), random()?))
}

pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
