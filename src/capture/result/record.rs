//! The record of a run, stored beside the spill: what was run, when, how it ended, and how much was saved.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::capture::process::exit::{Ended, ProcessStatus};
use crate::capture::spill::dir::{make_parents, open_private, private_dir};
use crate::fs::stat::{FileStat, timestamp};
use crate::store::{Env, NewSpill, own_home};

const RECORDS: &str = "records";
const ENDING: &str = ".json";
/// Maximum length of a record; a longer file is not overspill's.
const MOST_BYTES: u64 = 1 << 20;
/// How long a record without a spill is kept: the spill may be about to get its final name.
const GRACE: SignedDuration = SignedDuration::from_hours(1);

/// What the caller knows about a run.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The command and its arguments; empty for a stream.
    pub command: Vec<String>,
    /// The directory it ran in.
    pub directory: PathBuf,
    /// The tool that it stands for.
    pub tool: Option<String>,
    /// The policy's name.
    pub policy: String,
    /// The policy's parameters that were set.
    pub parameters: BTreeMap<String, String>,
}

/// How a recorded command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Exited with this status.
    Code(u8),
    /// Killed by the signal of this number.
    Signal(i32),
}

/// A size in bytes and lines. A last line without a line feed counts, unlike in `wc -l`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OutputSize {
    /// Bytes.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
}

/// The record of one spill, as stored in `records/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The path of the spill.
    pub path: String,
    /// Command and arguments; empty for a stream.
    pub command: Vec<String>,
    /// The directory it ran in.
    pub directory: String,
    /// The tool that it stood for.
    pub tool: Option<String>,
    /// `stdout` (including standard error, unless captured separately) or `stderr`.
    pub stream: String,
    /// When it started.
    pub start: Timestamp,
    /// When the command and its output had both ended.
    pub end: Timestamp,
    /// How the command ended; none for a stream.
    pub exit: Option<Exit>,
    /// Why it was stopped: by a forwarded signal, by a timeout, or because its reader was gone; or that a stream was
    /// abandoned or could not be read to its end.
    pub stopped: Option<String>,
    /// The size of everything that was printed.
    pub seen: OutputSize,
    /// The size of what is in the spill.
    pub kept: OutputSize,
    /// Why that is not everything: `cap`, `disk full`, `failed`.
    pub truncated: Option<String>,
    /// The policy that made the preview.
    pub policy: String,
    /// The parameters that were set, with their values: those of the preview, lowered to the headroom.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
}

impl Record {
    /// Writes the record for the spill of this file name, atomically; with `durable`, flushes it to disk.
    pub(crate) fn write(&self, env: &Env, name: &str, durable: bool) -> io::Result<()> {
        let (path, dir) = create(env)?;
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        let record = NewSpill::begin_in(dir, path, format!("{name}{ENDING}"))?;
        record.file().write_all(&text)?;
        record.finish(durable).map(drop)
    }

    /// Reads the record for the spill of this file name; none if missing or unreadable. Commands and paths are
    /// unescaped: escape them before they reach a terminal.
    pub fn read(env: &Env, name: &str) -> Option<Record> {
        let dir = open(env).ok()??;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&dir, format!("{name}{ENDING}"), flags, Mode::empty()).ok()?;
        let mut text = Vec::new();
        std::fs::File::from(file).take(MOST_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Returns the names of the spills that have records; empty if they cannot be listed.
    pub fn names(env: &Env) -> BTreeSet<String> {
        let Ok(Some(dir)) = open(env) else { return BTreeSet::new() };
        let Ok(found) = Dir::read_from(&dir) else { return BTreeSet::new() };
        let name = |entry: rustix::fs::DirEntry| {
            Some(entry.file_name().to_str().ok()?.strip_suffix(ENDING)?.to_owned())
        };
        found.flatten().filter_map(name).collect()
    }

    /// Deletes records that are over an hour old and whose spills are gone; called once per run. Returns how many.
    ///
    /// # Errors
    /// The system's error.
    pub fn sweep(env: &Env, now: Timestamp) -> io::Result<u64> {
        let Some(dir) = open(env)? else { return Ok(0) };
        let mut swept = 0;
        for found in Dir::read_from(&dir)? {
            let name = found?.file_name().to_string_lossy().into_owned();
            if is_orphan(&dir, &name, env, now) {
                swept += u64::from(unlinkat(&dir, &name, AtFlags::empty()).is_ok());
            }
        }
        Ok(swept)
    }
}

/// Whether a record is over an hour old and its spill is gone.
fn is_orphan(dir: &OwnedFd, name: &str, env: &Env, now: Timestamp) -> bool {
    let Ok(stat) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    let modified = timestamp(FileStat::from(stat).identity.modified);
    if now.duration_since(modified) <= GRACE {
        return false;
    }
    match name.strip_suffix(ENDING).filter(|name| !name.starts_with('.')) {
        // Left behind by a killed writer.
        None => name.starts_with(".tmp-"),
        Some(spill) => Record::read(env, spill)
            .is_some_and(|record| std::path::Path::new(&record.path).symlink_metadata().is_err_and(is_gone)),
    }
}

fn is_gone(error: io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

impl From<Ended> for Exit {
    fn from(ended: Ended) -> Exit {
        match ended.status {
            ProcessStatus::Code(code) => Exit::Code(code),
            ProcessStatus::Signal(signal) => Exit::Signal(signal),
        }
    }
}

/// Deletes the record for the spill of this file name.
pub(crate) fn remove(env: &Env, name: &str) {
    if let Ok(Some(dir)) = open(env) {
        // The record may not exist.
        let _ = unlinkat(&dir, format!("{name}{ENDING}"), AtFlags::empty());
    }
}

fn directory(env: &Env) -> io::Result<PathBuf> {
    Ok(own_home(env).map_err(io::Error::other)?.join(RECORDS))
}

fn open(env: &Env) -> io::Result<Option<OwnedFd>> {
    match open_private(&directory(env)?, env) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.raw() == Some(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn create(env: &Env) -> io::Result<(PathBuf, OwnedFd)> {
    let path = directory(env)?;
    let home = path.parent().unwrap_or(&path);
    make_parents(home)?;
    private_dir(home, env)?;
    let dir = private_dir(&path, env)?;
    Ok((path, dir))
}
