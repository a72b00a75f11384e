//! Deletes entries one name at a time, each only if it is still what was listed.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use jiff::Timestamp;
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::base::fs::directory::{failed, open_file};
use crate::base::fs::identity::FileStat;
use crate::store::own::id::is_own;
use crate::store::own::{LOCK, new_file};
use crate::store::root::RootError;
use crate::store::spec::OWN;
use crate::store::spec::pattern::PathFacts;
use crate::store::{
    CleanRule, DeleteReason, Entry, Env, OwnStore, PlannedDelete, Stores, Trigger, clean_plan, list,
};
use crate::text::label;

const LOG: &str = "deletions.log";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteMode {
    /// By a rule: a file with other hard links is not deleted.
    Bulk,
    /// By the user, individually, after being told of any other hard links.
    Single,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteOutcome {
    Deleted,
    AlreadyGone,
    Stayed(Reason),
}

impl DeleteOutcome {
    /// Returns what became of the entry in a word, and why it stayed.
    pub fn words(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Deleted => ("deleted", None),
            Self::AlreadyGone => ("already gone", None),
            Self::Stayed(why) => (if self.is_failure() { "failed" } else { "kept" }, Some(why.as_str())),
        }
    }

    /// Whether it stayed, though it did not change, was not in use and was not marked since the listing.
    pub fn is_failure(&self) -> bool {
        use Reason::{Changed, InUse, Kept, OtherCleaning};
        matches!(self, Self::Stayed(why) if !matches!(why, Changed | InUse | Kept | OtherCleaning))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    Changed,
    Name,
    NotAFile,
    Foreign,
    Exposed,
    OtherMount,
    HardLinked,
    InUse,
    Kept,
    OtherCleaning,
    System(String),
}

impl Reason {
    pub fn as_str(&self) -> &str {
        match self {
            Reason::Changed => "changed since it was listed",
            Reason::Name => "not a name of its store",
            Reason::NotAFile => "not a regular file",
            Reason::Foreign => "belongs to another user",
            Reason::Exposed => "its directory is open to others",
            Reason::OtherMount => "on another mount",
            Reason::HardLinked => "has other names (hard link)",
            Reason::InUse => "being written, or open in a viewer",
            Reason::Kept => "kept",
            Reason::OtherCleaning => "another cleaning is running",
            Reason::System(message) => message,
        }
    }
}

#[derive(Debug)]
pub struct Cleaner {
    pub(crate) store: OwnStore,
    log: File,
    /// Where and why the log could not be written, if so: deletions may then be missing from it.
    pub(crate) unlogged: Option<String>,
    _lock: File,
}

impl Cleaner {
    /// Takes the lock for cleaning, if no other process holds it. Creates overspill's own directory if it is missing.
    pub fn start(env: &Env) -> io::Result<Option<Cleaner>> {
        Self::start_within(env, 1)
    }

    /// Tries so many times, at intervals of 50 ms, to take the lock.
    pub fn start_within(env: &Env, tries: u32) -> io::Result<Option<Cleaner>> {
        let store = OwnStore::create(env)?;
        let named = |name| {
            let path = store.root().with_file_name(name);
            move |error| failed(&path, error)
        };
        let Some(lock) = store.lock(tries).map_err(named(LOCK))? else { return Ok(None) };
        let log = new_file(&store.home, LOG, OFlags::WRONLY | OFlags::APPEND).map_err(named(LOG))?;
        Ok(Some(Cleaner { store, log, unlogged: None, _lock: lock }))
    }

    pub fn delete(
        &mut self,
        entry: &Entry,
        why: DeleteReason,
        mode: DeleteMode,
        env: &Env,
        now: Timestamp,
    ) -> DeleteOutcome {
        match entry.is_own().then(|| self.store.is_kept(&entry.id())) {
            Some(Err(error)) => return DeleteOutcome::Stayed(Reason::System(error.to_string())),
            Some(Ok(true)) if why != (DeleteReason::Requested { knows_kept: true }) => {
                return DeleteOutcome::Stayed(Reason::Kept);
            }
            Some(Ok(_)) | None => {}
        }
        let outcome = delete(entry, mode, env);
        if outcome == DeleteOutcome::Deleted {
            self.note(entry, why, now);
            if entry.is_own() {
                // A record that is left behind is removed by the next cleaning; a mark without a spill means nothing.
                let _ = self.store.forget(&entry.id(), env);
            }
        }
        outcome
    }

    /// Logs name, size, age and rule, but no content. A failure to write the log stops nothing.
    fn note(&mut self, entry: &Entry, why: DeleteReason, now: Timestamp) {
        let line = serde_json::json!({
            "at": now.to_string(),
            "path": entry.path().to_string_lossy(),
            "size": entry.size(),
            "age_seconds": entry.age(now).as_secs(),
            "rule": why.as_str(),
        });
        // Escaped like JSON on standard output.
        let mut bytes = Vec::new();
        let written = label::quote::write_json(&mut bytes, &line, None);
        bytes.push(b'\n');
        if let Err(error) = written.and_then(|()| self.log.write_all(&bytes)) {
            let path = self.store.root().with_file_name(LOG);
            self.unlogged = Some(format!("{}: not all deletions are logged: {error}", path.display()));
        }
    }
}

/// Removes what is overdue from overspill's own store, once per run; nothing while another process is cleaning.
pub fn sweep(stores: &Stores, env: &Env, now: Timestamp) -> io::Result<()> {
    let Some(mut cleaner) = Cleaner::start(env)? else { return Ok(()) };
    // What the user keeps must be known.
    cleaner.store.kept(env).map_err(|error| failed(cleaner.store.root(), error))?;
    let entries = list(stores.named(OWN), env, now).entries;
    let rule = CleanRule { older_than: None, max_total: None, asked: Trigger::Automatic };
    for PlannedDelete { index, why } in clean_plan(&entries, now, &rule).to_delete {
        cleaner.delete(&entries[index], why, DeleteMode::Bulk, env, now);
    }
    Ok(())
}

/// Deletes one entry through the descriptor of its directory; checks all again but the cleaning lock and what is kept.
pub fn delete(entry: &Entry, mode: DeleteMode, env: &Env) -> DeleteOutcome {
    try_delete(entry, mode, env).err().unwrap_or(DeleteOutcome::Deleted)
}

impl From<Errno> for DeleteOutcome {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::AlreadyGone,
            Errno::LOOP => Self::Stayed(Reason::Changed),
            error => Self::Stayed(Reason::System(io::Error::from(error).to_string())),
        }
    }
}

fn stay(allowed: bool, reason: Reason) -> Result<(), DeleteOutcome> {
    if allowed { Ok(()) } else { Err(DeleteOutcome::Stayed(reason)) }
}

fn try_delete(entry: &Entry, mode: DeleteMode, env: &Env) -> Result<(), DeleteOutcome> {
    stay(name_fits(entry), Reason::Name)?;
    let dir = directory(entry, env)?;
    let look = || statat(&dir, entry.name(), AtFlags::SYMLINK_NOFOLLOW).map(FileStat::from);
    // Identity is checked only under the lock below: while another cleaner deletes the file, its ctime changes.
    may_go(&look()?, entry, mode, env)?;
    let file = open_file(&dir, entry.name())?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Err(DeleteOutcome::Stayed(Reason::InUse)),
        locked => locked?,
    }
    // Name first: another cleaner may have deleted it, which changes the open file too.
    let judge = |facts: FileStat| {
        may_go(&facts, entry, mode, env)?;
        stay(facts.identity == entry.identity, Reason::Changed)
    };
    judge(look()?)?;
    judge(fstat(&file)?.into())?;
    Ok(unlinkat(&dir, entry.name(), AtFlags::empty())?)
}

fn may_go(facts: &FileStat, entry: &Entry, mode: DeleteMode, env: &Env) -> Result<(), DeleteOutcome> {
    stay(facts.kind == FileType::RegularFile, Reason::NotAFile)?;
    stay(facts.uid == env.uid(), Reason::Foreign)?;
    stay(facts.identity.dev == entry.place().root_dev, Reason::OtherMount)?;
    stay(facts.links <= 1 || mode == DeleteMode::Single, Reason::HardLinked)
}

/// Whether the name is a single component and fits its store's pattern (the exact form for overspill's own store).
fn name_fits(entry: &Entry) -> bool {
    let name = entry.name().as_encoded_bytes();
    let single =
        ![&b""[..], b".", b".."].contains(&name) && !name.iter().any(|byte| matches!(byte, b'/' | 0));
    let ours = is_own(name.strip_prefix(b".tmp-").unwrap_or(name));
    single && (ours || !entry.is_own()) && entry.store().file_rule(name, &mut PathFacts::default()).is_some()
}

/// Opens the entry's directory, if it is still the one that was listed.
fn directory(entry: &Entry, env: &Env) -> Result<OwnedFd, DeleteOutcome> {
    let place = entry.place();
    let dir = if entry.is_own() {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        openat(CWD, &place.path, flags, Mode::empty())?
    } else {
        place.root.open_below(&place.path).map_err(|error| match error {
            RootError::System(error) => error.into(),
            RootError::Link(_) => DeleteOutcome::Stayed(Reason::Changed),
            RootError::Foreign => DeleteOutcome::Stayed(Reason::Foreign),
        })?
    };
    let facts = FileStat::from(fstat(&dir)?);
    stay(facts.identity.same_file(&entry.place().identity), Reason::Changed)?;
    if entry.is_own() {
        stay(facts.uid == env.uid(), Reason::Foreign)?;
        stay(facts.mode & 0o077 == 0, Reason::Exposed)?;
    }
    Ok(dir)
}
