//! Sessions in logs of a JSON value a line: how all agents that keep them so are found, listed and opened.

use std::path::{Path, PathBuf};

use crate::base::env::Env;

use super::find::{self, FoundFile};
use super::json::Json;
use super::model::SessionFacts;
use super::reader::{
    FormatInfo, GLANCE, LogPaths, LogReader, LogSession, OpenResult, ReadProgress, SessionFile,
    SessionFormat, TakeFault, TakeSession,
};
use super::record::{is_packed, unpack};

/// The sessions of an agent that keeps them in logs.
#[derive(Debug)]
pub struct LogFormat {
    pub info: FormatInfo,
    /// Finds the logs of the main conversations. What cannot be looked at goes to `fault`, in words.
    pub find: fn(env: &Env, fault: TakeFault) -> Vec<FoundFile>,
    /// Whether a file is such a log: `head` is its first 64 KiB.
    pub is_log: fn(path: &Path, head: &[u8]) -> bool,
    pub id: fn(main: &Path) -> &str,
    /// Returns what finds all logs of a session, in which all is that there is of it.
    pub logs: fn(main: &Path) -> LogPaths,
    pub note_facts: fn(record: Json, facts: &mut SessionFacts),
    pub reader: fn() -> Box<dyn LogReader>,
}

impl LogFormat {
    fn session(&self, file: &FoundFile) -> SessionFile {
        file.session(self.info.agent, (self.id)(&file.path))
    }
}

impl SessionFormat for LogFormat {
    fn info(&self) -> FormatInfo {
        self.info
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        (self.find)(env, fault).iter().for_each(|file| found(self.session(file)));
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        (self.is_log)(path, head).then(|| find::found_file(path).map(|file| self.session(&file)))?
    }

    fn glance(&self, file: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        if is_packed(&file.path) {
            return find::glance(&unpack(head, GLANCE).0, &[], &mut { self.note_facts });
        }
        find::glance(head, tail, &mut { self.note_facts })
    }

    /// The bytes of a compressed log tell nothing.
    fn logs(&self, file: &SessionFile) -> Vec<PathBuf> {
        if is_packed(&file.path) { Vec::new() } else { (self.logs)(&file.path)() }
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        LogSession::open(self.info.agent, (self.logs)(&file.path), self.reader, progress)
    }
}

/// Finds the one log of a session that has no other.
pub fn only_log(main: &Path) -> LogPaths {
    let logs = vec![main.to_owned()];
    Box::new(move || logs.clone())
}

/// Finds the logs of a session anew each time.
pub fn logs_by(main: &Path, logs: fn(&Path) -> Vec<PathBuf>) -> LogPaths {
    let main = main.to_owned();
    Box::new(move || logs(&main))
}
