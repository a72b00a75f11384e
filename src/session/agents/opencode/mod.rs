//! opencode since 1.2, and Kilo, which is built on it: a database with a row for each session, message and part.

mod history;
mod messages;
mod tree;

use std::path::{Path, PathBuf};

use crate::base::env::Env;
use crate::session::database::{self, DatabaseError, RowBuffer, RowsOf, TableRows};
use crate::session::find;
use crate::session::json::Tape;
use crate::session::model::SessionFacts;
use crate::session::reader::FormatInfo;
use crate::session::table::{TableFormat, TableSession};
use crate::session::transcript::Transcript;

use history::SessionHistory;

pub(crate) use messages::OPENCODE_MESSAGES;
pub(crate) use tree::OPENCODE_TREE;

const PARTS: RowsOf = RowsOf::plain("part", "data");

pub(crate) const OPENCODE_ROWS: TableFormat = TableFormat {
    info: FormatInfo::new("opencode", "1.18.33"),
    databases,
    list: |path, rows| if is_kilo(path) { Ok(Vec::new()) } else { list(path, rows) },
    read,
};

pub(crate) const KILO_ROWS: TableFormat = TableFormat {
    info: FormatInfo::new("kilo", "7.7.9"),
    databases: |env, _| find::data_dir(env, "kilo").map(|dir| dir.join("kilo.db")).into_iter().collect(),
    list,
    read,
};

/// Whether a database is Kilo's, by its name: the tables are alike.
fn is_kilo(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"kilo"))
}

/// Returns opencode's databases: a channel of releases has one of its own.
fn databases(env: &Env, fault: &mut dyn FnMut(String)) -> Vec<PathBuf> {
    let Some(dir) = find::data_dir(env, "opencode") else { return Vec::new() };
    let named = env.var("OPENCODE_DB").map(|path| dir.join(path));
    let is_database = |name: &str| name.starts_with("opencode") && name.ends_with(".db");
    let others = find::files(&dir, is_database, fault).into_iter().map(|file| file.path);
    named.into_iter().chain(others).filter(|path| path.is_file()).collect()
}

/// Lists the sessions; those of sub-agents are part of their parents.
fn list(_: &Path, rows: &TableRows) -> Result<Vec<SessionFacts>, DatabaseError> {
    let columns = rows.columns("session")?;
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let parent = database::or_null(&columns, "parent_id");
    // opencode 2 leaves the rows of the sessions that it took over.
    let is_taken = !rows.columns("session_v2")?.is_empty();
    let others = if is_taken { "WHERE id NOT IN (SELECT id FROM session_v2)" } else { "" };
    let sql = format!(
        "SELECT id, {parent}, directory, {}, version, time_created, time_updated FROM session {others}",
        database::title("title")
    );
    let mut sessions = rows.all(&sql, |row| SessionFacts {
        id: row.text(0).unwrap_or_default(),
        parent: row.text(1),
        cwd: row.text(2),
        title: row.title(3, RowsOf::plain("session", "title")),
        version: row.text(4),
        started: row.time(5),
        ended: row.time(6),
        ..SessionFacts::default()
    })?;
    sessions.retain(|facts| facts.parent.is_none());
    Ok(sessions)
}

fn read(of: &TableSession, out: &mut Transcript) -> Result<(), DatabaseError> {
    let source = of.add_source(PARTS, out);
    let sql = format!(
        "SELECT part.rowid, part.message_id, {} FROM part LEFT JOIN message ON message.id = part.message_id
        WHERE part.session_id = ? ORDER BY message.time_created, message.rowid, part.rowid",
        database::record("part.data")
    );
    for (session, thread) in threads(of, "session", out)? {
        let mut history = history(of.rows, &session, thread)?;
        let mut buffer = RowBuffer::default();
        of.each_record(&sql, &session, out, &mut |row, out| {
            let message = row.text(1).unwrap_or_default();
            if let Some(record) = row.record(2, PARTS, &mut buffer, &mut out.unread) {
                let is_known = history.part(&message, record, row.place(source), out);
                out.unread.known += u64::from(is_known);
            }
        })?;
        history.derive_events(reverted(of.rows, &session)?.as_deref(), out);
    }
    Ok(())
}

fn history(rows: &TableRows, session: &str, thread: u32) -> Result<SessionHistory, DatabaseError> {
    let sql = format!(
        "SELECT id, {}, time_created FROM message WHERE session_id = ? ORDER BY time_created, rowid",
        database::record("data")
    );
    let (mut history, mut tape) = (SessionHistory::new(thread), Tape::default());
    rows.each(&sql, &[session], &mut |row| {
        let message = row.bytes(1).and_then(|data| tape.read(data).ok());
        let at = row.time(2);
        history.add_message(&row.text(0).unwrap_or_default(), at, message);
        true
    })?;
    Ok(history)
}

/// Returns the message of a session from which on the person took all back, if so.
fn reverted(rows: &TableRows, session: &str) -> Result<Option<String>, DatabaseError> {
    let (mut found, mut tape) = (None, Tape::default());
    if rows.columns("session")?.contains("revert") {
        let sql = format!("SELECT {} FROM session WHERE id = ?", database::record("revert"));
        rows.each(&sql, &[session], &mut |row| {
            let revert = row.bytes(0).and_then(|data| tape.read(data).ok());
            found = revert.and_then(|revert| revert.name("messageID"));
            false
        })?;
    }
    Ok(found)
}

/// Returns the ids of a session and of those of its sub-agents in a table, with the threads that they are.
fn threads(
    of: &TableSession,
    table: &'static str,
    out: &mut Transcript,
) -> Result<Vec<(String, u32)>, DatabaseError> {
    let sql = format!("SELECT id, {} FROM {table} WHERE parent_id = ?", database::title("title"));
    of.threads(&sql, RowsOf::plain(table, "title"), out)
}
