//! The record of a run, beside the spill: what was run, when, how it ended, and how much is there.

use std::collections::BTreeSet;
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

use super::timeline::Timeline;

const RECORDS: &str = "records";
const ENDING: &str = ".json";
/// A record is at most so long; a longer one is not overspill's.
const MOST_BYTES: u64 = 1 << 20;
/// A record whose spill is gone is kept for so long: the spill may just be getting its name.
const GRACE: SignedDuration = SignedDuration::from_hours(1);

/// What a caller knows of a run.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The command and its arguments; empty for a stream.
    pub command: Vec<String>,
    /// The directory in which it ran.
    pub directory: PathBuf,
    /// The tool that it stands for.
    pub tool: Option<String>,
    /// The policy's name.
    pub policy: String,
}

/// How a recorded command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this status.
    Code(u8),
    /// By a signal of this number.
    Signal(i32),
}

/// A size in bytes and in lines, as `wc -l` counts them but with a last one that has no line feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OutputSize {
    /// Bytes.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
}

/// One spill's record, as its file in `records/` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where the spill is.
    pub path: String,
    /// Command and arguments; empty for a stream.
    pub command: Vec<String>,
    /// Where it ran.
    pub directory: String,
    /// The tool that it stood for.
    pub tool: Option<String>,
    /// `stdout` (with standard error in it, unless they were apart) or `stderr`.
    pub stream: String,
    /// When it began.
    pub start: Timestamp,
    /// When it and its output had ended.
    pub end: Timestamp,
    /// How; none for a stream.
    pub exit: Option<Exit>,
    /// Whether it was stopped: by a signal passed on, because its time was over, or its reader gone; or
    /// whether a stream was left before its end, or could not be read to it.
    pub stopped: Option<String>,
    /// All that it printed.
    pub seen: OutputSize,
    /// What of that is in the spill.
    pub kept: OutputSize,
    /// Why that is not all: `cap`, `disk full`, `failed`.
    pub truncated: Option<String>,
    /// The policy that its preview was made by.
    pub policy: String,
    /// When which stretches of both streams came, where they were apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Timeline>,
}

impl Record {
    /// Writes it for the spill of this file name, whole or not at all; with `durable`, onto the disk.
    pub(crate) fn write(&self, env: &Env, name: &str, durable: bool) -> io::Result<()> {
        let (path, dir) = create(env)?;
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        let record = NewSpill::begin_in(dir, path, format!("{name}{ENDING}"))?;
        record.file().write_all(&text)?;
        record.finish(durable).map(drop)
    }

    /// The record of the spill of this file name, if there is one that can be read. Commands and
    /// paths in it are as they were: clean them before they reach a terminal.
    pub fn read(env: &Env, name: &str) -> Option<Record> {
        let dir = open(env).ok()??;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&dir, format!("{name}{ENDING}"), flags, Mode::empty()).ok()?;
        let mut text = Vec::new();
        std::fs::File::from(file).take(MOST_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The names of the spills that have records; none where they cannot be listed.
    pub fn names(env: &Env) -> BTreeSet<String> {
        let Ok(Some(dir)) = open(env) else { return BTreeSet::new() };
        let Ok(found) = Dir::read_from(&dir) else { return BTreeSet::new() };
        let name = |entry: rustix::fs::DirEntry| {
            Some(entry.file_name().to_str().ok()?.strip_suffix(ENDING)?.to_owned())
        };
        found.flatten().filter_map(name).collect()
    }

    /// Deletes the records whose spills have been gone for an hour, as once a run.
    ///
    /// # Errors
    /// What the system says.
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

/// Whether a record is over an hour old and its spill is not there.
fn is_orphan(dir: &OwnedFd, name: &str, env: &Env, now: Timestamp) -> bool {
    let Ok(stat) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    let modified = timestamp(FileStat::from(stat).identity.modified);
    if now.duration_since(modified) <= GRACE {
        return false;
    }
    match name.strip_suffix(ENDING).filter(|name| !name.starts_with('.')) {
        // What a killed writer left behind.
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

/// Takes a record back.
pub(crate) fn remove(env: &Env, name: &str) {
    if let Ok(Some(dir)) = open(env) {
        // It may not be there.
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
