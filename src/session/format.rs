//! Sessions in files: how all agents that keep them so are found, listed and opened.

use std::path::{Path, PathBuf};

use crate::base::env::Env;

use super::document::{DocumentSession, ReadDocument};
use super::find::{self, FoundFile};
use super::model::SessionFacts;
use super::reader::{
    FormatInfo, LogPaths, LogReader, LogSession, OpenResult, ReadProgress, SessionFile, SessionFormat,
    TakeFault, TakeSession,
};
use super::record::is_packed;
use super::watch::{ReadSession, WatchedPaths, WatchedSession};

/// The sessions of an agent that keeps them in files.
#[derive(Debug)]
pub struct FileFormat {
    pub info: FormatInfo,
    /// Finds the files with the main conversations. What cannot be looked at is reported to `fault`.
    pub find: fn(env: &Env, fault: TakeFault) -> Vec<FoundFile>,
    /// Whether a file has a main conversation: `head` is its first 64 KiB.
    pub is_session: fn(main: &Path, head: &[u8]) -> bool,
    pub id: fn(main: &Path) -> &str,
    /// Reads what a list shows, as [`SessionFormat::glance`] does.
    pub glance: fn(main: &Path, head: &[u8], tail: &[u8]) -> SessionFacts,
    pub records: RecordFiles,
}

/// What the records of a session lie in, and what reads them.
#[derive(Debug)]
pub enum RecordFiles {
    /// Logs of a JSON value a line. The first function returns what finds all of them, in which all is that there is of a
    /// session.
    Logs(fn(main: &Path) -> LogPaths, fn() -> Box<dyn LogReader>),
    /// JSON documents, each of which the agent writes anew as a whole.
    Documents(fn(main: &Path) -> LogPaths, ReadDocument),
    /// A file for each record.
    Single(WatchedPaths, ReadSession),
}

impl FileFormat {
    fn session(&self, file: FoundFile) -> SessionFile {
        SessionFile {
            format: self.info.name,
            id: (self.id)(&file.path).to_owned(),
            path: file.path,
            size: file.size,
            modified: file.modified,
            facts: file.facts,
        }
    }
}

impl SessionFormat for FileFormat {
    fn info(&self) -> FormatInfo {
        self.info
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        (self.find)(env, fault).into_iter().for_each(|file| found(self.session(file)));
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        (self.is_session)(path, head).then(|| find::found_file(path).map(|file| self.session(file)))?
    }

    fn glance(&self, file: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        (self.glance)(&file.path, head, tail)
    }

    /// The bytes of a compressed log are not searched.
    fn logs(&self, file: &SessionFile) -> Vec<PathBuf> {
        match self.records {
            RecordFiles::Logs(logs, _) if !is_packed(&file.path) => logs(&file.path)(),
            _ => Vec::new(),
        }
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        let agent = self.info.agent;
        match self.records {
            RecordFiles::Logs(logs, reader) => LogSession::open(agent, logs(&file.path), reader, progress),
            RecordFiles::Documents(documents, read) => {
                DocumentSession::open(agent, documents(&file.path), read, progress)
            }
            RecordFiles::Single(paths, read) => {
                WatchedSession::open(agent, file, paths, Box::new(read), progress)
            }
        }
    }
}

/// Finds the one file of a session that has no other.
pub fn only_file(main: &Path) -> LogPaths {
    let files = vec![main.to_owned()];
    Box::new(move || files.clone())
}

/// Finds the files of a session anew each time.
pub fn files_by(main: &Path, files: fn(&Path) -> Vec<PathBuf>) -> LogPaths {
    let main = main.to_owned();
    Box::new(move || files(&main))
}
