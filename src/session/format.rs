//! How sessions are found, listed, opened and followed: in files, as logs or as JSON documents, and in the tables of a database.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::base::env::Env;
use crate::source::OpenError;

use super::database::{Database, DatabaseError, RowRecords, RowsOf, TableRow, TableRows};
use super::find::{self, FoundFile};
use super::json::{Json, Kind, Tape};
use super::model::SessionFacts;
use super::reader::{
    FindFiles, FindWatch, FormatInfo, LogReader, LogSession, OpenResult, ReadProgress, RecordPlace,
    SessionError, SessionFile, SessionFormat, TakeSession,
};
use super::record::{FileRecords, is_packed};
use super::transcript::Transcript;
use super::watch::{ReadSession, WatchedPaths, WatchedSession};

#[derive(Debug)]
pub struct FileFormat {
    pub info: FormatInfo,
    /// Finds the files with the main conversations. What cannot be looked at is reported to `watch`.
    pub find: fn(env: &Env, watch: FindWatch) -> Vec<FoundFile>,
    /// Whether a file has a main conversation: `head` is its first 64 KiB.
    pub is_session: fn(main: &Path, head: &[u8]) -> bool,
    pub id: fn(main: &Path) -> Cow<'_, str>,
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

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, watch: FindWatch) {
        (self.find)(env, watch).into_iter().for_each(|file| found(self.session(file)));
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
            RecordFiles::Logs(logs, reader) => {
                Ok(Box::new(LogSession::open(agent, &file.path, logs, reader, progress)?))
            }
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
        // Kept open, a document can be looked at after the agent put another in its place.
        match FileRecords::whole(path, true) {
            Ok(file) => read_document(path, file, read, out),
            Err(error) if number == 0 => return Err(OpenError::new(path, error).into()),
            Err(_) => continue,
        }
        progress.try_step(number as u64 + 1, paths.len() as u64)?;
    }
    Ok(())
}

fn read_document(
    path: &Path,
    (records, bytes): (FileRecords, Vec<u8>),
    read: ReadDocument,
    out: &mut Transcript,
) {
    let (number, mut tape) = (out.add_source(Arc::new(records)), Tape::default());
    match tape.read(&bytes) {
        Ok(document) => read(document, RecordPlace::new(number, 0, 0), path, out),
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

/// Whether these members stand before a long one at the start of a document.
pub fn has_before(head: &[u8], long: &str, keys: &[&str]) -> bool {
    before_member(head, long, |start| keys.iter().all(|key| start.get(key).is_some())) == Some(true)
}

pub struct TableSession<'a> {
    pub file: &'a SessionFile,
    pub rows: &'a TableRows<'a>,
    pub progress: &'a dyn ReadProgress,
}

#[derive(Debug)]
pub struct TableFormat {
    pub info: FormatInfo,
    /// Returns where the databases of an environment may be. What must not be read is reported to `watch`.
    pub databases: fn(env: &Env, watch: FindWatch) -> Vec<PathBuf>,
    /// Lists the sessions of the database at a path; none if its tables are another agent's.
    pub list: fn(path: &Path, rows: &TableRows) -> Result<Vec<SessionFacts>, DatabaseError>,
    /// Reads the calls of a session. [`DatabaseError::GivenUp`] ends it.
    pub read: fn(of: &TableSession, out: &mut Transcript) -> Result<(), DatabaseError>,
}

impl SessionFormat for TableFormat {
    fn info(&self) -> FormatInfo {
        self.info
    }

    fn find(&self, env: &Env, progress: &dyn ReadProgress, found: TakeSession, watch: FindWatch) {
        for path in (self.databases)(env, watch).into_iter().filter(|path| path.is_file()) {
            match self.list_sessions(&path, progress) {
                Ok(sessions) => sessions.into_iter().for_each(&mut *found),
                Err(error) => drop(watch(Some(format!("{}: {error}", path.display())))),
            }
        }
    }

    /// Returns the session that was changed last.
    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let sessions = Database::is_one(head).then(|| self.list_sessions(path, &()).ok())??;
        sessions.into_iter().max_by_key(|session| session.modified)
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        file.facts.clone()
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        let read = self.read;
        let read = move |file: &SessionFile, progress: &dyn ReadProgress, out: &mut Transcript| {
            let found = Database::open(&file.path, progress).and_then(|mut database| {
                database.whole(progress, |rows| {
                    // It may be tried again.
                    let mut found = out.clone();
                    read(&TableSession { file, rows, progress }, &mut found).map(|()| found)
                })
            });
            *out = found.map_err(|error| error.at(&file.path))?;
            Ok(())
        };
        let paths = |file: &SessionFile, _: &Transcript| Database::files(&file.path).into();
        WatchedSession::open(self.info.agent, file, Box::new(paths), Box::new(read), progress)
    }
}

impl TableFormat {
    fn list_sessions(
        &self,
        path: &Path,
        progress: &dyn ReadProgress,
    ) -> Result<Vec<SessionFile>, DatabaseError> {
        let all = Database::open(path, progress)?.whole(progress, |rows| (self.list)(path, rows))?;
        let session = |facts: SessionFacts| SessionFile {
            format: self.info.name,
            path: path.to_owned(),
            id: facts.id.clone(),
            size: 0,
            modified: facts.ended.map(SystemTime::from).filter(|time| *time >= SystemTime::UNIX_EPOCH),
            facts,
        };
        Ok(all.into_iter().map(session).collect())
    }
}

impl TableSession<'_> {
    /// Adds a column with records to the sources. Returns the number of the source.
    pub fn add_source(&self, rows: RowsOf, out: &mut Transcript) -> u32 {
        out.add_source(Arc::new(RowRecords::new(&self.file.path, rows)))
    }

    /// Hands the records of a session to `take`, and counts them. `sql` has the session's id as its only parameter.
    pub fn each_record(
        &self,
        sql: &str,
        session: &str,
        out: &mut Transcript,
        take: &mut dyn FnMut(&TableRow, &mut Transcript),
    ) -> Result<(), DatabaseError> {
        let mut is_wanted = true;
        self.rows.each(sql, &[session], &mut |row| {
            out.unread.records += 1;
            is_wanted = self.progress.step(out.unread.records, out.unread.records);
            take(&row, out);
            is_wanted
        })?;
        if is_wanted { Ok(()) } else { Err(DatabaseError::GivenUp) }
    }

    /// Returns the ids as [`Transcript::family`] does. `sql` selects ids and titles of a session's sub-agents.
    pub fn threads(
        &self,
        sql: &str,
        titles: RowsOf,
        out: &mut Transcript,
    ) -> Result<Vec<(String, u32)>, DatabaseError> {
        out.family(&self.file.id, &|session| {
            self.rows.all(sql, &[session], |row| (row.text(0).unwrap_or_default(), row.title(1, titles)))
        })
    }
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
