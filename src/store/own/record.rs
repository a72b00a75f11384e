//! What is recorded beside overspill's own store of a spill: the run that printed it, or the output that it is a copy of.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, Dir, statat, unlinkat};
use serde::{Deserialize, Serialize};

use crate::base::fs::directory::open_file;
use crate::base::fs::identity::{FileStat, RecordedFile, timestamp};
use crate::store::{Entry, Env, NewSpill, StoredForm, YOUNG};
#[cfg(feature = "app")]
use crate::text::label::quote;

use super::{OwnStore, make_in_home, open_in_home, own_home};

const RECORDS: &str = "records";
const ENDING: &str = ".json";
/// Maximum length of a record; a longer file is not overspill's.
const MAX_BYTES: u64 = 1 << 20;
const MAX_POLICIES: usize = 64;

/// The system's report on a finished process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProcessStatus {
    /// Exited with this status: 0 to 255.
    Code(u8),
    /// Killed by the signal of this number.
    Signal(i32),
}

/// A size in bytes and lines. A last line without a line feed counts, unlike in `wc -l`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OutputSize {
    pub bytes: u64,
    pub lines: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Record {
    Run(RunRecord),
    Copy(CopyRecord),
}

/// The record of an output that was kept as a copy: what was known of the original. Any string may be hostile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CopyRecord {
    pub path: String,
    /// The path of the original, which notices print.
    pub original: String,
    pub modified: Timestamp,
    pub agent: String,
    pub tool: Option<String>,
    pub session: Option<String>,
    pub project: Option<String>,
    pub holds: StoredForm,
    /// The command that printed it, in one line; empty if not known.
    pub command: String,
    /// The policies that may have cut it, most likely first; none if its store names none.
    pub policies: Vec<String>,
    /// The parameters of the first that were set, with their values.
    pub parameters: BTreeMap<String, String>,
    pub limits_from: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunRecord {
    pub path: String,
    /// Command and arguments; empty for a stream. What an agent ran is one line of its shell.
    pub command: Vec<String>,
    pub directory: String,
    /// The tool that it stood for.
    pub tool: Option<String>,
    /// The agent that ran it, if it was not `overspill run`: its model got what the agent cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `stdout` (including standard error, unless captured separately) or `stderr`.
    pub stream: String,
    /// Whether standard error was captured separately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub split: bool,
    /// The path that notices print, if it is not that of the spill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
    pub start: Timestamp,
    /// When the command and its output had both ended.
    pub end: Timestamp,
    /// How the command ended; none for a stream.
    pub exit: Option<ProcessStatus>,
    /// The exit status that notices tell; none also in older records.
    #[serde(default)]
    pub exit_code: Option<u8>,
    /// Why it stopped: a forwarded signal, a timeout, a reader that was gone; or how a stream ended early.
    pub stopped: Option<String>,
    /// The size of everything that was printed.
    pub seen: OutputSize,
    /// The size of what is in the spill.
    pub kept: OutputSize,
    /// Why that is not everything: `cap`, `disk full`, `failed`.
    pub truncated: Option<String>,
    pub policy: String,
    /// The parameters that were set, with their values: those of the preview, as the command ended, lowered to the headroom.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
}

impl CopyRecord {
    /// Returns what an entry itself says; what cut it, and where the copy is, is left open.
    pub fn new(entry: &Entry) -> Self {
        let owned = |name: Option<&str>| name.map(str::to_owned);
        Self {
            original: entry.path().to_string_lossy().into_owned(),
            modified: entry.modified(),
            agent: entry.agent().to_owned(),
            tool: owned(entry.tool()),
            session: owned(entry.session()),
            project: owned(entry.project()),
            holds: entry.holds(),
            ..Self::default()
        }
    }

    /// Returns how agents' records know the copy at this path.
    pub(crate) fn recorded_file(&self, copy: PathBuf) -> RecordedFile {
        let path = PathBuf::from(&self.original);
        let now = path.symlink_metadata().and_then(|meta| meta.modified());
        let now = now.ok().and_then(|modified| Timestamp::try_from(modified).ok());
        let written = (now != Some(self.modified)).then_some(self.modified);
        RecordedFile { path, copy: Some(copy), written }
    }

    pub fn is_of(&self, entry: &Entry) -> bool {
        self.modified == entry.modified() && *self.original == *entry.path().to_string_lossy()
    }
}

impl RunRecord {
    /// Returns the exit status that notices tell. Older records have the command's own alone.
    #[cfg(feature = "app")]
    pub(crate) fn notice_exit_code(&self) -> Option<i32> {
        let own = match self.exit {
            Some(ProcessStatus::Code(code)) if self.stopped.is_none() => Some(code),
            _ => None,
        };
        self.exit_code.or(own).map(i32::from)
    }

    /// Returns the command in one line, as a shell takes it.
    #[cfg(feature = "app")]
    fn written_command(&self) -> String {
        let word = |argument: &String| match self.agent {
            Some(_) => argument.clone(),
            None => quote::word(argument.as_bytes()),
        };
        self.command.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[cfg(feature = "app")]
    pub(crate) fn is_whole(&self) -> bool {
        self.kept.bytes >= self.seen.bytes
    }
}

/// Returns the command of a run, or of the original of a kept copy: its words, and as a shell takes them; else empty.
#[cfg(feature = "app")]
pub(crate) fn commands(entry: &Entry, run: Option<&RunRecord>) -> [String; 2] {
    let original = || entry.copy().map(|copy| copy.command.clone()).unwrap_or_default();
    run.map_or_else(|| [original(), original()], |run| [run.command.join(" "), run.written_command()])
}

impl Record {
    /// Writes the record for the spill of this file name, atomically; with `durable`, flushes it to disk.
    pub(crate) fn write(&self, env: &Env, name: &str, durable: bool) -> io::Result<()> {
        let (_, dir, path) = make_in_home(RECORDS, env)?;
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        let record = NewSpill::begin_in(dir, path, format!("{name}{ENDING}"))?;
        record.file().write_all(&text)?;
        record.finish(durable).map(drop)
    }

    /// Reads the record for a spill's name, if it can. Escape commands and paths before they reach a terminal.
    pub fn read(env: &Env, name: &str) -> Option<Record> {
        let dir = records(env).ok()??;
        let file = open_file(&dir, format!("{name}{ENDING}")).ok()?;
        let mut text = Vec::new();
        file.metadata().ok()?.is_file().then_some(file)?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
        match serde_json::from_slice(&text).ok()? {
            Record::Copy(copy) if copy.agent.is_empty() || copy.policies.len() > MAX_POLICIES => None,
            record => Some(record),
        }
    }

    /// Reads the record for a spill in overspill's own store.
    pub fn find(env: &Env, spill: &Path) -> Option<Record> {
        let store = OwnStore::open(env).ok()??;
        let directory = spill.parent()?.canonicalize().ok()?;
        let is_own = directory == store.root().canonicalize().ok()?;
        Record::read(env, spill.file_name()?.to_str().filter(|_| is_own)?)
    }

    /// Reads the record of the run that printed an output; its path counts, since several stores may have the name.
    pub fn find_run(env: &Env, spill: &Path) -> Option<RunRecord> {
        let name = spill.file_name()?.to_str()?;
        // Most outputs are of agents and have none: one call tells.
        own_home(env).ok()?.join(RECORDS).join(format!("{name}{ENDING}")).symlink_metadata().ok()?;
        match Record::read(env, name)? {
            Record::Run(run) => Some(run).filter(|run| spill == Path::new(&run.path)),
            Record::Copy(_) => None,
        }
    }

    /// Returns the policies that may have cut it, most likely first, the parameters set, and where its limits are from.
    #[cfg(feature = "app")]
    pub(crate) fn cut_policies(&self) -> (&[String], &BTreeMap<String, String>, &str) {
        match self {
            Record::Run(run) => (std::slice::from_ref(&run.policy), &run.parameters, "run"),
            Record::Copy(copy) => (&copy.policies, &copy.parameters, &copy.limits_from),
        }
    }

    fn path(&self) -> &Path {
        Path::new(match self {
            Record::Run(run) => &run.path,
            Record::Copy(copy) => &copy.path,
        })
    }

    /// Returns the names of the spills that have records; empty if they cannot be listed.
    pub fn names(env: &Env) -> BTreeSet<String> {
        let Ok(Some(dir)) = records(env) else { return BTreeSet::new() };
        let Ok(found) = Dir::read_from(&dir) else { return BTreeSet::new() };
        let name = |entry: rustix::fs::DirEntry| {
            Some(entry.file_name().to_str().ok()?.strip_suffix(ENDING)?.to_owned())
        };
        found.flatten().filter_map(name).collect()
    }

    /// Deletes records that are over an hour old and whose spills are gone; called once per run.
    pub fn sweep(env: &Env, now: Timestamp) -> io::Result<()> {
        let Some(dir) = records(env)? else { return Ok(()) };
        for found in Dir::read_from(&dir)? {
            let name = found?.file_name().to_string_lossy().into_owned();
            if is_orphan(&dir, &name, env, now) {
                let _ = unlinkat(&dir, &name, AtFlags::empty());
            }
        }
        Ok(())
    }
}

/// Whether a record is over an hour old and its spill is gone.
fn is_orphan(dir: &OwnedFd, name: &str, env: &Env, now: Timestamp) -> bool {
    let Ok(stat) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    let modified = timestamp(FileStat::from(stat).identity.modified);
    if now.duration_since(modified) <= YOUNG {
        return false;
    }
    let is_gone = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
    match name.strip_suffix(ENDING).filter(|name| !name.starts_with('.')) {
        // Left behind by a killed writer.
        None => name.starts_with(".tmp-"),
        Some(spill) => Record::read(env, spill)
            .is_some_and(|record| record.path().symlink_metadata().is_err_and(is_gone)),
    }
}

pub(crate) fn remove(env: &Env, name: &str) {
    if let Ok(Some(dir)) = records(env) {
        // The record may not exist.
        let _ = unlinkat(&dir, format!("{name}{ENDING}"), AtFlags::empty());
    }
}

fn records(env: &Env) -> io::Result<Option<OwnedFd>> {
    Ok(open_in_home(RECORDS, env)?.map(|(_, dir, _)| dir))
}
