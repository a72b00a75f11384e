//! How sessions are found, listed, opened and followed: in files, as logs or as JSON documents, and in the tables of a database.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::base::env::Env;
use crate::source::OpenError;

use super::body::{RecordedResult, ResultBody};
use super::database::{self, Database, DatabaseError, RowRecords, RowsOf, TableRow, TableRows};
use super::find::{self, FoundFile};
use super::json::{Json, Kind, Tape};
use super::model::{Citation, SessionFacts};
use super::reader::{
    FindFiles, FindWatch, LogReader, LogSession, OpenedSession, ReadProgress, RecordPlace, SessionFile,
    SessionResult, TakeSession,
};
use super::record::{FileRecords, is_packed};
use super::transcript::Transcript;
use super::watch::{ReadSession, WatchedPaths, WatchedSession};

/// What a form of an agent's records is called, for what it was made, and what is peculiar to the agent. What it says of the
/// agent is the same in all forms of one.
#[derive(Clone, Copy, Debug)]
pub struct FormatInfo {
    /// The agent: the first part of its policies' names.
    pub agent: &'static str,
    pub name: &'static str,
    /// The versions with whose records the reader was tested: `1.0.86 to 2.1.330`; or `the source of 3.52`.
    pub made_for: &'static str,
    /// The agent whose tools this one has, and so its policies.
    pub policies_of: Option<&'static str>,
    /// Takes that part out of a result which a policy makes; of several results the one of `output`.
    pub body: fn(recorded: &RecordedResult, output: &[u8]) -> io::Result<ResultBody>,
    /// The parameters of policies that only this agent records, by name, each with what reads it.
    pub parameters: &'static [(&'static str, ReadParameter)],
    /// Returns the size in bytes of an output, if it is recorded beside the notice, not in it.
    pub size_beside: fn(cite: &Citation) -> Option<u64>,
    /// Whether the files that hold a tool's outputs have the line about the exit status already.
    pub saves_exit: fn(tool: &str) -> bool,
    /// Whether a copy for the screen, of at most this many bytes, says that it was cut.
    pub is_cut_copy: fn(copy: &str, most: usize) -> bool,
    /// Whether notices print the path of a file as the call gave it, in place of the absolute one.
    pub prints_given_path: bool,
    /// Whether the sessions of one day lie together, in place of those of one project.
    pub is_by_day: bool,
}

pub type ReadParameter = fn(recorded: &RecordedResult) -> Option<String>;

impl FormatInfo {
    pub const fn new(agent: &'static str, made_for: &'static str) -> Self {
        Self {
            agent,
            name: agent,
            made_for,
            policies_of: None,
            body: |recorded, _| Ok(ResultBody::after(recorded, None)),
            parameters: &[],
            size_beside: |_| None,
            saves_exit: |_| false,
            is_cut_copy: |_, _| false,
            prints_given_path: false,
            is_by_day: false,
        }
    }
}

/// A form of an agent's records.
#[derive(Debug)]
pub struct SessionFormat {
    pub info: FormatInfo,
    /// Finds the files with the main conversations, or databases. What cannot be looked at is reported to `watch`.
    pub find: fn(env: &Env, watch: FindWatch) -> Vec<FoundFile>,
    /// Whether a file has a main conversation, or is a database: `head` is its first 64 KiB.
    pub is_session: fn(main: &Path, head: &[u8]) -> bool,
    pub id: fn(main: &Path) -> Cow<'_, str>,
    /// Reads what a list shows from the first and last 64 KiB; `tail` is empty after a whole file.
    pub glance: fn(file: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts,
    pub records: RecordFiles,
}

#[derive(Debug)]
pub enum RecordFiles {
    /// Logs of a JSON value a line, in which all is that there is of a session.
    Logs(FindFiles, fn() -> Box<dyn LogReader>),
    /// JSON documents, each of which the agent writes anew as a whole.
    Documents(FindFiles, ReadDocument),
    /// Files with the paths by which a change is noticed, by what was read of them before, and what reads them into a transcript
    /// that has its facts so far.
    Watched(
        fn(&SessionFile, &Transcript) -> Vec<PathBuf>,
        fn(&SessionFile, &dyn ReadProgress, &mut Transcript) -> SessionResult<()>,
    ),
    Tables {
        /// All tables from which rows are read, in lower case: none of them may be a view.
        names: &'static [&'static str],
        /// Lists the sessions of the database at a path; none if its tables are another agent's.
        list: fn(path: &Path, rows: &TableRows) -> database::Result<Vec<SessionFacts>>,
        /// Reads the calls of a session. [`DatabaseError::GivenUp`] ends it.
        read: fn(of: &TableSession, out: &mut Transcript) -> database::Result<()>,
    },
}

impl SessionFormat {
    /// A form in [`RecordFiles::Tables`] of the databases that `find` returns.
    pub const fn in_tables(
        info: FormatInfo,
        find: fn(env: &Env, watch: FindWatch) -> Vec<FoundFile>,
        records: RecordFiles,
    ) -> Self {
        Self {
            info,
            find,
            is_session: |_, head| Database::is_one(head),
            id: |_| Cow::Borrowed(""),
            glance: |session, _, _| session.facts.clone(),
            records,
        }
    }

    /// Returns the tables that are read; none of files.
    pub fn tables(&self) -> &'static [&'static str] {
        if let RecordFiles::Tables { names, .. } = self.records { names } else { &[] }
    }

    /// Finds sessions without reading them, while `progress` and `watch` want it.
    pub fn find(&self, env: &Env, progress: &dyn ReadProgress, found: TakeSession, watch: FindWatch) {
        for file in (self.find)(env, watch) {
            match self.sessions_in(&file, progress) {
                Ok(sessions) => sessions.into_iter().for_each(&mut *found),
                Err(error) => drop(watch(Some(format!("{}: {error}", file.path.display())))),
            }
        }
    }

    /// Returns what `find` would for a file of any name, if it is such records, of a database the session that was changed
    /// last; `head` is its first 64 KiB.
    pub fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let file = (self.is_session)(path, head).then(|| find::found_file(path))??;
        self.sessions_in(&file, &()).ok()?.into_iter().max_by_key(|session| session.modified)
    }

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

    fn sessions_in(
        &self,
        file: &FoundFile,
        progress: &dyn ReadProgress,
    ) -> database::Result<Vec<SessionFile>> {
        let (path, session) = (&file.path, self.session(file.clone()));
        let RecordFiles::Tables { names, list, .. } = self.records else { return Ok(vec![session]) };
        let all = Database::open(path, names, progress)?.whole(progress, |rows| list(path, rows))?;
        let of_rows = |facts: SessionFacts| {
            let modified = facts.ended.map(SystemTime::from).filter(|time| *time >= SystemTime::UNIX_EPOCH);
            SessionFile { id: facts.id.clone(), size: 0, modified, facts, ..session.clone() }
        };
        Ok(all.into_iter().map(of_rows).collect())
    }

    /// Returns the logs outside of which nothing is in the session; none if it has other records. The bytes of a compressed log
    /// are not searched.
    pub fn logs(&self, file: &SessionFile) -> Vec<PathBuf> {
        match self.records {
            RecordFiles::Logs(logs, _) if !is_packed(&file.path) => logs(&file.path),
            _ => Vec::new(),
        }
    }

    /// Reads a session whole, by places.
    ///
    /// # Errors
    /// The file cannot be opened or read, or reading was given up. Records that are not understood are no error:
    /// [`Transcript::unread`] counts them.
    pub fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> SessionResult<Box<dyn OpenedSession>> {
        let agent = self.info.agent;
        let (paths, read): (Box<WatchedPaths>, Box<ReadSession>) = match self.records {
            RecordFiles::Logs(logs, reader) => {
                return Ok(Box::new(LogSession::open(agent, &file.path, logs, reader, progress)?));
            }
            RecordFiles::Documents(documents, read) => (
                Box::new(move |file, _| documents(&file.path)),
                Box::new(move |file, progress, out| {
                    read_documents(&documents(&file.path), read, progress, out)
                }),
            ),
            RecordFiles::Watched(paths, read) => (Box::new(paths), Box::new(read)),
            RecordFiles::Tables { names, read, .. } => (
                Box::new(|file, _| Database::files(&file.path).into()),
                Box::new(move |file, progress, out| {
                    let found = Database::open(&file.path, names, progress).and_then(|mut database| {
                        database.whole(progress, |rows| {
                            // It may be tried again.
                            let mut found = out.clone();
                            read(&TableSession { file, rows, progress }, &mut found).map(|()| found)
                        })
                    });
                    *out = found.map_err(|error| error.at(&file.path))?;
                    Ok(())
                }),
            ),
        };
        WatchedSession::open(agent, file, paths, read, progress)
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
) -> SessionResult<()> {
    for (number, path) in paths.iter().enumerate() {
        // Kept open, a document can be looked at after the agent put another in its place.
        let (records, bytes) = match FileRecords::whole(path, true) {
            Ok(found) => found,
            Err(error) if number == 0 => return Err(OpenError::new(path, error).into()),
            Err(_) => continue,
        };
        let (source, mut tape) = (out.add_source(Arc::new(records)), Tape::default());
        match tape.read(&bytes) {
            Ok(document) => read(document, RecordPlace::new(source, 0, 0), path, out),
            // Half of it, while the agent writes; or something else.
            Err(_) => {
                out.unread.records += 1;
                out.unread.broken += 1;
            }
        }
        progress.try_step(number as u64 + 1, paths.len() as u64)?;
    }
    Ok(())
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
    ) -> database::Result<()> {
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
    ) -> database::Result<Vec<(String, u32)>> {
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
