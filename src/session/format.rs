//! Sessions in files: how all agents that keep them so are found, listed and opened, be it as logs or as JSON documents.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::env::Env;
use crate::source::Source;

use super::find::{self, FoundFile};
use super::json::{Json, Kind, Tape};
use super::model::SessionFacts;
use super::reader::{
    FindFiles, FormatInfo, LogReader, LogSession, OpenResult, ReadProgress, RecordPlace, SessionError,
    SessionFile, SessionFormat, TakeFault, TakeSession,
};
use super::record::{MAX_DOCUMENT, MappedRecords, RecordSource, is_packed};
use super::transcript::Transcript;
use super::watch::{ReadSession, WatchedPaths, WatchedSession};

#[derive(Debug)]
pub struct FileFormat {
    pub info: FormatInfo,
    /// Finds the files with the main conversations. What cannot be looked at is reported to `fault`.
    pub find: fn(env: &Env, fault: TakeFault) -> Vec<FoundFile>,
    /// Whether a file has a main conversation: `head` is its first 64 KiB.
    pub is_session: fn(main: &Path, head: &[u8]) -> bool,
    pub id: fn(main: &Path) -> Cow<'_, str>,
    /// Reads what a list shows, as [`SessionFormat::glance`] does.
    pub glance: fn(main: &Path, head: &[u8], tail: &[u8]) -> SessionFacts,
    pub records: RecordFiles,
}

#[derive(Debug)]
pub enum RecordFiles {
    /// Logs of a JSON value a line, in which all is that there is of a session.
    Logs(FindFiles, fn() -> Box<dyn LogReader>),
    /// JSON documents, each of which the agent writes anew as a whole.
    Documents(FindFiles, ReadDocument),
    Single(WatchedPaths, ReadSession),
}

impl FileFormat {
    pub(super) fn session(&self, file: FoundFile) -> SessionFile {
        SessionFile {
            format: self.info.name,
            id: (self.id)(&file.path).into_owned(),
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
            RecordFiles::Logs(logs, _) if !is_packed(&file.path) => logs(&file.path),
            _ => Vec::new(),
        }
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        let agent = self.info.agent;
        match self.records {
            RecordFiles::Logs(logs, reader) => LogSession::open(agent, &file.path, logs, reader, progress),
            RecordFiles::Documents(documents, read) => {
                let paths = move |file: &SessionFile, _: &Transcript| documents(&file.path);
                let read = move |file: &SessionFile, progress: &dyn ReadProgress, out: &mut Transcript| {
                    read_documents(&documents(&file.path), read, progress, out)
                };
                WatchedSession::open(agent, file, Box::new(paths), Box::new(read), progress)
            }
            RecordFiles::Single(paths, read) => {
                WatchedSession::open(agent, file, Box::new(paths), Box::new(read), progress)
            }
        }
    }
}

pub fn only_file(main: &Path) -> Vec<PathBuf> {
    vec![main.to_owned()]
}

/// Reads a document and counts its records. `path` is its file; the main conversation's is source 0.
pub type ReadDocument = fn(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript);

/// Reads documents of at most 256 MiB each, the main one first. Those after the first may be missing.
fn read_documents(
    paths: &[PathBuf],
    read: ReadDocument,
    progress: &dyn ReadProgress,
    out: &mut Transcript,
) -> Result<(), SessionError> {
    for (number, path) in paths.iter().enumerate() {
        match Source::open(path) {
            Ok(source) => read_document(&source, read, out),
            Err(error) if number == 0 => return Err(error.into()),
            Err(_) => continue,
        }
        if !progress.step(number as u64 + 1, paths.len() as u64) {
            return Err(SessionError::GivenUp);
        }
    }
    Ok(())
}

fn read_document(source: &Source, read: ReadDocument, out: &mut Transcript) {
    let (view, records) = (source.view(), Arc::new(MappedRecords::new(source)));
    let number = out.add_source(records.clone());
    let bytes = if view.len() > MAX_DOCUMENT { &[][..] } else { &view[..] };
    let mut tape = Tape::default();
    match tape.read(bytes) {
        Ok(document) => read(document, RecordPlace { source: number, row: 0, start: 0 }, records.path(), out),
        // Half of it, while the agent writes; or something else.
        Err(_) => {
            out.unread.records += 1;
            out.unread.broken += 1;
        }
    }
}

/// Counts the records of a list, all as known, and returns it; no list counts as one record that is not known.
pub fn count_records<'a>(list: Option<Json<'a>>, out: &mut Transcript) -> Option<Json<'a>> {
    let list = list.filter(|list| list.kind() == Kind::Array);
    let known = list.map_or(0, |list| list.items().count() as u64);
    out.unread.known += known;
    out.unread.records += if list.is_some() { known } else { 1 };
    list
}

/// Reads the members before a long one, from the start of a document: `take` gets an object with them, `{}` if there are
/// none, and is not called at all without the long member.
pub fn before_member<T>(head: &[u8], long: &str, take: impl FnOnce(Json) -> T) -> Option<T> {
    // In a string the quotes would have backslashes before them.
    let at = memchr::memmem::find(head, format!("\"{long}\"").as_bytes())?;
    let start = head[..at].trim_ascii_end();
    let mut whole = start.strip_suffix(b",").unwrap_or(start).to_vec();
    whole.push(b'}');
    let mut tape = Tape::default();
    tape.read(&whole).ok().map(take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_document_is_read() {
        let id = |head: &str| {
            before_member(head.as_bytes(), "history", |start| start.get("id").and_then(|id| id.int()))
        };
        assert_eq!(id("{\"id\": 1,\n \"history\": [{\"half"), Some(Some(1)));
        assert_eq!(id("{\"t\": \"a \\\"history\\\" b\", \"id\": 2, \"history\": []}"), Some(Some(2)));
        assert_eq!(id("{\"history\": []}"), Some(None));
        assert_eq!(id("{\"id\": 1}"), None);
        assert_eq!(id("[1, {\"history\""), None);
    }
}
