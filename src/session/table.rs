//! Sessions in the tables of a database: how all agents that keep them so are listed, opened and followed.

use std::path::{Path, PathBuf};

use crate::env::Env;

use super::database::{Database, DatabaseError, TableRows};
use super::model::SessionFacts;
use super::reader::{
    OpenResult, OpenedSession, ReadProgress, SessionError, SessionFile, SessionFormat, TakeFault, TakeSession,
};
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

/// The sessions of an agent that keeps them in tables.
#[derive(Debug)]
pub struct TableFormat {
    /// The agent, and the name of the form.
    pub agent: &'static str,
    /// The versions of the agent whose tables were seen by the writers of the reader.
    pub seen: &'static str,
    /// Returns where the databases of an environment may be. What must not be read goes to `fault`, in words.
    pub databases: fn(env: &Env, fault: &mut dyn FnMut(String)) -> Vec<PathBuf>,
    /// Lists the sessions of a database.
    pub list: ListTables,
    /// Reads the calls of a session.
    pub read: ReadTables,
}

impl SessionFormat for TableFormat {
    fn agent(&self) -> &'static str {
        self.agent
    }

    fn seen(&self) -> &'static str {
        self.seen
    }

    fn find(&self, env: &Env, progress: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        for path in (self.databases)(env, fault).into_iter().filter(|path| path.is_file()) {
            match self.listed(&path, progress) {
                Ok(sessions) => sessions.into_iter().for_each(&mut *found),
                Err(error) => fault(format!("{}: {error}", path.display())),
            }
        }
    }

    /// Returns the session that was changed last.
    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let sessions = Database::is_one(head).then(|| self.listed(path, &()).ok())??;
        sessions.into_iter().max_by_key(|session| session.modified)
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        file.facts.clone()
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        TableSession::open(self, file, progress)
    }
}

impl TableFormat {
    fn listed(&self, path: &Path, progress: &dyn ReadProgress) -> Result<Vec<SessionFile>, DatabaseError> {
        Database::open(path, progress)?.whole(progress, |rows| (self.list)(path, rows))
    }
}

/// A session in a database.
struct TableSession {
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
    fn open(
        format: &TableFormat,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        let TableFormat { agent, read, .. } = *format;
        let (file, watch) = (file.clone(), PathWatch::default());
        let mut session = Self { file, watch, read, transcript: Transcript::new(agent) };
        session.refresh(progress)?;
        Ok(Box::new(session))
    }

    fn transcript_now(&self, progress: &dyn ReadProgress) -> Result<Transcript, DatabaseError> {
        Database::open(&self.file.path, progress)?.whole(progress, |rows| {
            let mut out = Transcript::new(self.transcript.agent);
            out.facts = self.file.facts.clone();
            (self.read)(&self.file, rows, progress, &mut out)?;
            out.derive_fates();
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
