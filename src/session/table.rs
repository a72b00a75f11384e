//! Sessions in the tables of a database: how all agents that keep them so are listed, opened and followed.

use std::path::Path;

use super::database::{Database, DatabaseError, TableRows};
use super::reader::{OpenedSession, ReadProgress, SessionError, SessionFile};
use super::transcript::Transcript;
use super::watch::PathWatch;

/// Lists the sessions of the database at a path; none if its tables are another agent's.
pub type ListTables = fn(path: &Path, rows: &TableRows) -> Result<Vec<SessionFile>, DatabaseError>;

/// Reads the calls of a session. [`DatabaseError::GivenUp`] ends it.
pub type ReadTables = fn(
    file: &SessionFile,
    rows: &TableRows,
    progress: &dyn ReadProgress,
    out: &mut Transcript,
) -> Result<(), DatabaseError>;

/// Finds the sessions of a database, if it is there. What cannot be read goes to `fault`, in words.
pub fn find(
    path: &Path,
    list: ListTables,
    found: &mut dyn FnMut(SessionFile),
    fault: &mut dyn FnMut(String),
) {
    if path.is_file() {
        match listed(path, list) {
            Ok(sessions) => sessions.into_iter().for_each(found),
            Err(error) => fault(format!("{}: {error}", path.display())),
        }
    }
}

/// Returns the session that was changed last, for a database that is named by its path. `head` is the file's start.
pub fn newest(path: &Path, head: &[u8], list: ListTables) -> Option<SessionFile> {
    let sessions = Database::is_one(head).then(|| listed(path, list).ok())??;
    sessions.into_iter().max_by_key(|session| session.modified)
}

fn listed(path: &Path, list: ListTables) -> Result<Vec<SessionFile>, DatabaseError> {
    Database::open(path)?.whole(|rows| list(path, rows))
}

/// A session in a database.
pub struct TableSession {
    file: SessionFile,
    watch: PathWatch,
    read: ReadTables,
    transcript: Transcript,
}

impl TableSession {
    /// Reads a session.
    ///
    /// # Errors
    /// The database cannot be read, or reading was given up.
    pub fn open(
        agent: &'static str,
        file: &SessionFile,
        read: ReadTables,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        let (file, watch) = (file.clone(), PathWatch::default());
        let mut session = Self { file, watch, read, transcript: Transcript::new(agent) };
        session.refresh(progress)?;
        Ok(Box::new(session))
    }

    fn transcript_now(&self, progress: &dyn ReadProgress) -> Result<Transcript, DatabaseError> {
        Database::open(&self.file.path)?.whole(|rows| {
            let mut out = Transcript::new(self.transcript.agent);
            out.facts = self.file.facts.clone();
            (self.read)(&self.file, rows, progress, &mut out)?;
            Ok(out)
        })
    }
}

impl OpenedSession for TableSession {
    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Rows change in any place: all are read again, and the calls compared.
    fn refresh(&mut self, progress: &dyn ReadProgress) -> Result<bool, SessionError> {
        if !self.watch.has_changed(&Database::files(&self.file.path)) {
            return Ok(false);
        }
        let transcript = match self.transcript_now(progress) {
            Ok(transcript) => transcript,
            Err(error) => {
                self.watch = PathWatch::default();
                return Err(error.of(&self.file.path));
            }
        };
        let before = std::mem::replace(&mut self.transcript, transcript);
        Ok(format!("{:?}", before.calls) != format!("{:?}", self.transcript.calls))
    }
}
