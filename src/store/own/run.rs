//! What the record of one of overspill's own runs says of its spill: by which policy and limits the model's share was cut.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use serde::Deserialize;

use crate::env::Env;

use super::OwnStore;

/// Where the records are, in overspill's own directory.
const RECORDS: &str = "records";
/// Maximum length of a record, in bytes; a longer file is not overspill's.
const MOST_BYTES: u64 = 1 << 20;

/// The policy of a run, and how much of its output the spill holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub struct RunNote {
    pub policy: String,
    /// The parameters that the run set, with their values as text.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// What the command printed.
    pub seen: RunSize,
    /// What is in the spill.
    pub kept: RunSize,
}

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
pub struct RunSize {
    pub bytes: u64,
}

impl RunNote {
    /// Whether all that the command printed was saved.
    pub(crate) fn is_whole(&self) -> bool {
        self.kept.bytes >= self.seen.bytes
    }

    /// Reads the note for a spill in overspill's own store; none if there is no such record, or it cannot be read.
    pub fn of(env: &Env, spill: &Path) -> Option<RunNote> {
        let store = OwnStore::open(env).ok()??;
        let name = spill.file_name()?.to_str()?;
        if spill.parent()?.canonicalize().ok()? != store.root().canonicalize().ok()? {
            return None;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let records = openat(store.home(), RECORDS, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let file = File::from(openat(&records, format!("{name}.json"), flags, Mode::empty()).ok()?);
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
