//! Which of overspill's own spills the user keeps, and which outputs of agents they are copies of.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::base::fs::directory;
use crate::store::{Entry, Env};

use super::id::is_own;
use super::record::{self, CopyRecord, Record};
use super::{OwnStore, new_file};

const KEPT: &str = "kept";

#[derive(Clone, Debug, Default)]
pub struct KeptIds {
    /// The ids in overspill's own store that no cleaning deletes.
    pub ids: BTreeSet<String>,
    /// By id the records of those that are copies.
    copies: HashMap<String, Arc<CopyRecord>>,
}

impl KeptIds {
    pub fn has(&self, entry: &Entry) -> bool {
        entry.is_kept() || self.has_copy_of(entry)
    }

    pub fn has_copy_of(&self, entry: &Entry) -> bool {
        self.copies.values().any(|copy| copy.is_of(entry))
    }

    pub(crate) fn copy(&self, name: &str) -> Option<&Arc<CopyRecord>> {
        self.copies.get(name)
    }
}

impl OwnStore {
    /// Exempts one of overspill's own spills from cleaning. `id` must be one of its ids.
    ///
    /// # Errors
    /// The system's error, or that this is not such an id.
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

    /// Whether an id is exempt.
    ///
    /// # Errors
    /// The system's error; a cleaner must then not delete the entry.
    pub fn is_kept(&self, id: &str) -> io::Result<bool> {
        let mark = is_own(id.as_bytes()).then(|| format!("{KEPT}/{id}"));
        match mark.map(|mark| statat(&self.home, mark, AtFlags::SYMLINK_NOFOLLOW)) {
            None | Some(Err(Errno::NOENT)) => Ok(false),
            Some(Ok(_)) => Ok(true),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Returns the exempt ids, with the records of those that are copies.
    ///
    /// # Errors
    /// The system's error; a cleaner must then delete nothing.
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
