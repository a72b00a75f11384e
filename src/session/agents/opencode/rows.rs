//! opencode since 1.2, and Kilo: a database with a row for each session, message and part.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::name;
use crate::session::database::{self, Database, DatabaseError, RowBuffer, RowRecords, RowsOf, TableRows};
use crate::session::find;
use crate::session::json::Tape;
use crate::session::model::SessionFacts;
use crate::session::reader::{
    OpenResult, OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
    TakeFault, TakeSession,
};
use crate::session::transcript::Transcript;
use crate::session::watch::PathWatch;

use super::history::SessionHistory;

/// The parts of messages.
const PARTS: RowsOf = RowsOf::plain("part", "data");

/// The sessions of opencode in a database.
#[derive(Debug)]
pub(crate) struct OpencodeRows;

/// The sessions of Kilo in a database.
#[derive(Debug)]
pub(crate) struct KiloRows;

impl SessionFormat for OpencodeRows {
    fn agent(&self) -> &'static str {
        "opencode"
    }

    fn seen(&self) -> &'static str {
        "1.18.33"
    }

    fn find(&self, env: &Env, progress: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        for path in databases(env, fault) {
            sessions(&path, "opencode", progress, found, fault);
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let is_kilo = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"kilo"));
        (!is_kilo).then(|| newest(path, head, "opencode"))?
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        file.facts.clone()
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        RowsSession::open("opencode", file, read, progress)
    }
}

impl SessionFormat for KiloRows {
    fn agent(&self) -> &'static str {
        "kilo"
    }

    fn seen(&self) -> &'static str {
        "7.7.9"
    }

    fn find(&self, env: &Env, progress: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let Some(dir) = find::data_dir(env, "kilo") else { return };
        sessions(&dir.join("kilo.db"), "kilo", progress, found, fault);
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        newest(path, head, "kilo")
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        file.facts.clone()
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        RowsSession::open("kilo", file, read, progress)
    }
}

/// Returns opencode's databases: a channel of releases has one of its own.
pub(super) fn databases(env: &Env, fault: &mut dyn FnMut(String)) -> Vec<PathBuf> {
    let Some(dir) = find::data_dir(env, "opencode") else { return Vec::new() };
    let named = env.var("OPENCODE_DB").map(|path| dir.join(path));
    let is_database = |name: &str| name.starts_with("opencode") && name.ends_with(".db");
    let others = find::files(&dir, is_database, fault).into_iter().map(|file| file.path);
    named.into_iter().chain(others).filter(|path| path.is_file()).collect()
}

/// Returns the session of a database that was changed last, for a database that is named by its path.
fn newest(path: &Path, head: &[u8], format: &'static str) -> Option<SessionFile> {
    if !Database::is_one(head) {
        return None;
    }
    let mut all = Vec::new();
    sessions(path, format, &(), &mut |session| all.push(session), &mut |_| {});
    all.into_iter().max_by_key(|session| session.modified)
}

/// Finds the sessions of a database; those of sub-agents are part of their parents.
fn sessions(
    path: &Path,
    format: &'static str,
    progress: &dyn ReadProgress,
    found: &mut dyn FnMut(SessionFile),
    fault: &mut dyn FnMut(String),
) {
    if !path.is_file() {
        return;
    }
    match listed(path, format, progress) {
        Ok(sessions) => sessions.into_iter().for_each(found),
        Err(error) => fault(format!("{}: {error}", path.display())),
    }
}

fn listed(
    path: &Path,
    format: &'static str,
    progress: &dyn ReadProgress,
) -> Result<Vec<SessionFile>, DatabaseError> {
    let mut database = Database::open(path, progress)?;
    database.whole(progress, |connection| {
        let columns = connection.columns("session")?;
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let parent = if columns.contains("parent_id") { "parent_id" } else { "NULL" };
        // opencode 2 leaves the rows of the sessions that it took over.
        let is_taken = !connection.columns("session_v2")?.is_empty();
        let others = if is_taken { "WHERE id NOT IN (SELECT id FROM session_v2)" } else { "" };
        let sql = format!(
            "SELECT id, {parent}, directory, {}, version, time_created, time_updated FROM session {others}",
            database::title("title")
        );
        let mut sessions = Vec::new();
        connection.each(&sql, &[], &mut |row| {
            let facts = SessionFacts {
                id: row.text(0).unwrap_or_default(),
                parent: row.text(1),
                cwd: row.text(2),
                title: row.title(3, RowsOf::plain("session", "title")),
                version: row.text(4),
                origin: None,
                model: None,
                started: row.number(5).and_then(clock::number),
                ended: row.number(6).and_then(clock::number),
            };
            if facts.parent.is_none() {
                sessions.push(SessionFile::in_database(format, path, facts));
            }
            true
        })?;
        Ok(sessions)
    })
}

/// Reads a session and those of its sub-agents from a database.
pub(super) type ReadRows =
    fn(&TableRows, &'static str, &SessionFile, &dyn ReadProgress) -> Result<Transcript, DatabaseError>;

/// A session and those of its sub-agents, in a database.
pub(super) struct RowsSession {
    file: SessionFile,
    watch: PathWatch,
    transcript: Transcript,
    read: ReadRows,
}

impl RowsSession {
    /// Reads a session of an agent.
    ///
    /// # Errors
    /// The database cannot be read, or reading was given up.
    pub(super) fn open(
        agent: &'static str,
        file: &SessionFile,
        read: ReadRows,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        let (file, watch) = (file.clone(), PathWatch::default());
        let mut session = Self { file, watch, transcript: Transcript::new(agent), read };
        session.refresh(progress)?;
        Ok(Box::new(session))
    }

    fn read(&self, progress: &dyn ReadProgress) -> Result<Transcript, DatabaseError> {
        let mut database = Database::open(&self.file.path, progress)?;
        database.whole(progress, |connection| {
            (self.read)(connection, self.transcript.agent, &self.file, progress)
        })
    }
}

fn read(
    connection: &TableRows,
    agent: &'static str,
    file: &SessionFile,
    progress: &dyn ReadProgress,
) -> Result<Transcript, DatabaseError> {
    let mut out = Transcript::new(agent);
    out.facts = file.facts.clone();
    let source = out.add_source(Arc::new(RowRecords::new(file.path.clone(), PARTS)));
    for (session, thread) in connection.threads("session", file, &mut out)? {
        let mut history = connection.history(&session, thread)?;
        let sql = format!(
            "SELECT part.rowid, part.message_id, {} FROM part LEFT JOIN message ON message.id = part.message_id
            WHERE part.session_id = ? ORDER BY message.time_created, message.rowid, part.rowid",
            database::record("part.data")
        );
        let (mut buffer, mut done, mut is_wanted) = (RowBuffer::default(), 0, true);
        connection.each(&sql, &[&session], &mut |row| {
            out.unread.records += 1;
            done += 1;
            is_wanted = progress.step(done, done);
            let place = RecordPlace { source, row: row.integer(0).unwrap_or(0), start: 0 };
            let message = row.text(1).unwrap_or_default();
            if let Some(record) = row.record(2, PARTS, &mut buffer, &mut out.unread) {
                let is_known = history.part(&message, record, place, &mut out);
                out.unread.known += u64::from(is_known);
            }
            is_wanted
        })?;
        if !is_wanted {
            return Err(DatabaseError::GivenUp);
        }
        history.settle(connection.reverted(&session)?.as_deref(), &mut out);
    }
    out.derive_fates();
    Ok(out)
}

impl OpenedSession for RowsSession {
    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn refresh(&mut self, progress: &dyn ReadProgress) -> Result<bool, SessionError> {
        if !self.watch.has_changed(&Database::files(&self.file.path)) {
            return Ok(false);
        }
        let transcript = match self.read(progress) {
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

/// What is read of the tables of sessions.
pub(super) trait OfSessions {
    /// Returns the messages of a session, without their parts.
    fn history(&self, session: &str, thread: u32) -> Result<SessionHistory, DatabaseError>;

    /// Returns the message of a session from which on the person took all back, if so.
    fn reverted(&self, session: &str) -> Result<Option<String>, DatabaseError>;

    /// Returns the ids of a session and of those of its sub-agents, with the threads that they are.
    fn threads(
        &self,
        table: &'static str,
        file: &SessionFile,
        out: &mut Transcript,
    ) -> Result<Vec<(String, u32)>, DatabaseError>;
}

impl OfSessions for TableRows<'_> {
    fn history(&self, session: &str, thread: u32) -> Result<SessionHistory, DatabaseError> {
        let sql = format!(
            "SELECT id, {}, time_created FROM message WHERE session_id = ? ORDER BY time_created, rowid",
            database::record("data")
        );
        let (mut history, mut tape) = (SessionHistory::new(thread), Tape::default());
        self.each(&sql, &[session], &mut |row| {
            let message = row.bytes(1).and_then(|data| tape.read(data).ok());
            history.add_message(
                &row.text(0).unwrap_or_default(),
                row.number(2).and_then(clock::number),
                message,
            );
            true
        })?;
        Ok(history)
    }

    fn reverted(&self, session: &str) -> Result<Option<String>, DatabaseError> {
        let (mut found, mut tape) = (None, Tape::default());
        if self.columns("session")?.contains("revert") {
            let sql = format!("SELECT {} FROM session WHERE id = ?", database::record("revert"));
            self.each(&sql, &[session], &mut |row| {
                let revert = row.bytes(0).and_then(|data| tape.read(data).ok());
                found = revert.and_then(|revert| name(revert, "messageID"));
                false
            })?;
        }
        Ok(found)
    }

    fn threads(
        &self,
        table: &'static str,
        file: &SessionFile,
        out: &mut Transcript,
    ) -> Result<Vec<(String, u32)>, DatabaseError> {
        let mut threads = vec![(file.id.clone(), 0)];
        let sql = format!("SELECT id, {} FROM {table} WHERE parent_id = ?", database::title("title"));
        self.each(&sql, &[&file.id], &mut |row| {
            let id = row.text(0).unwrap_or_default();
            let thread = out.thread_id(&id);
            if let Some(thread) = out.threads.get_mut(thread as usize) {
                let title = row.title(1, RowsOf::plain(table, "title"));
                thread.name = title.unwrap_or_default().into();
            }
            threads.push((id, thread));
            true
        })?;
        Ok(threads)
    }
}
