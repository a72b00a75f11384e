//! Sessions in the tables of a database: how all agents that keep them so are listed, opened and followed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::base::env::Env;

use super::database::{Database, DatabaseError, RowRecords, RowsOf, TableRow, TableRows};
use super::model::SessionFacts;
use super::reader::{
    FormatInfo, OpenResult, ReadProgress, SessionFile, SessionFormat, TakeFault, TakeSession,
};
use super::transcript::Transcript;
use super::watch::WatchedSession;

/// Lists the sessions of the database at a path; none if its tables are another agent's.
pub type ListTables = fn(path: &Path, rows: &TableRows) -> Result<Vec<SessionFacts>, DatabaseError>;

/// Reads the calls of a session. [`DatabaseError::GivenUp`] ends it.
pub type ReadTables = fn(of: &TableSession, out: &mut Transcript) -> Result<(), DatabaseError>;

pub struct TableSession<'a> {
    pub file: &'a SessionFile,
    pub rows: &'a TableRows<'a>,
    pub progress: &'a dyn ReadProgress,
}

#[derive(Debug)]
pub struct TableFormat {
    pub info: FormatInfo,
    /// Returns where the databases of an environment may be. What must not be read is reported to `fault`.
    pub databases: fn(env: &Env, fault: &mut dyn FnMut(String)) -> Vec<PathBuf>,
    pub list: ListTables,
    pub read: ReadTables,
}

impl SessionFormat for TableFormat {
    fn info(&self) -> FormatInfo {
        self.info
    }

    fn find(&self, env: &Env, progress: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        for path in (self.databases)(env, fault).into_iter().filter(|path| path.is_file()) {
            match self.list_sessions(&path, progress) {
                Ok(sessions) => sessions.into_iter().for_each(&mut *found),
                Err(error) => fault(format!("{}: {error}", path.display())),
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
            let mut found = Vec::new();
            self.rows.each(sql, &[session], &mut |row| {
                found.push((row.text(0).unwrap_or_default(), row.title(1, titles)));
                true
            })?;
            Ok(found)
        })
    }
}
