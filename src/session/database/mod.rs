//! Agents' databases, read so that nothing beside them is ever created or changed.
//!
//! A database in write-ahead mode has two files beside it, which even a reader would create. Without them, nobody has
//! it open: it is read as one that does not change (and again, if it did). With both, it is opened for reading only.
//! With the log alone, which the agent left behind, a private copy of both is read: one for all sessions, without a
//! name as soon as it can be read.

mod connect;
mod records;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, RowIndex};

use super::content;
use super::model::SessionFacts;
use super::reader::{ReadProgress, SessionError};

use connect::{FileStates, beside, length, states};

pub use connect::check_database_in_project;
pub use records::{RowBuffer, RowRecords, RowsOf};

const MAGIC: &[u8] = b"SQLite format 3\0";

/// How often to read or copy again what changed meanwhile.
const TRIES: usize = 4;

/// The longest text that is taken from a row, in bytes: names, paths and titles are texts, records are not.
const MAX_TEXT: usize = 64 << 10;
const DAMAGED: &str = "it is damaged, or not a database";

/// How many rows of any query are read at least, whatever the size of the file.
const MIN_ROWS: u64 = 1000;

/// How many steps of SQLite's machine lie between two looks at the clock. A step may load a value of the greatest length.
const STEPS: i32 = 200;

/// Why a database cannot be read. No message quotes anything in it.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the database cannot be read: {0}")]
    Sql(&'static str),
    #[error(
        "the agent left a log too large to copy (over 64 MB, or 512 MB with the database); start the agent once to merge it"
    )]
    TooLarge,
    #[error(
        "a transaction is unfinished (it has a -journal file); try again, or start the agent once to roll it back"
    )]
    Unfinished,
    /// A table is a view, a virtual table, or has computed columns.
    #[error("a table of the agent's is a view, a virtual table, or computed, and is not read")]
    Computed,
    #[error("it takes too long for its size; it is not read again until it changes")]
    TooSlow,
    #[error("the database changes while it is read; try again")]
    Changing,
    #[error("given up")]
    GivenUp,
}

pub type Result<T, E = DatabaseError> = std::result::Result<T, E>;

impl DatabaseError {
    /// Returns the error of the session that is in the database at `path`.
    pub fn at(self, path: &Path) -> SessionError {
        match self {
            Self::GivenUp => SessionError::GivenUp,
            error => SessionError::Unreadable { path: path.to_owned(), why: error.to_string() },
        }
    }
}

impl From<rusqlite::Error> for DatabaseError {
    /// Keeps the kind of an error only: its text may quote what is in the database.
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        Self::Sql(match error.sqlite_error_code() {
            Some(Code::OperationInterrupted) => return Self::TooSlow,
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => "it is locked by the agent; try again",
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => DAMAGED,
            Some(Code::PermissionDenied | Code::CannotOpen | Code::ReadOnly) => "permission denied",
            Some(Code::OutOfMemory) => "not enough memory",
            Some(Code::TooBig) => "a value is larger than 16 MB",
            Some(_) => "an error of the database",
            None => "its tables are not those that are known",
        })
    }
}

#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    /// The tables from which rows may be read, in lower case.
    tables: Vec<&'static str>,
    access: Access,
    /// The length of all its files, in bytes.
    len: u64,
    time: Duration,
}

#[derive(Debug)]
enum Access {
    /// As one that does not change, by what it was when it was opened.
    Immutable(Connection, FileStates),
    /// Together with whoever writes it. While it is open, the agent cannot take in its log when it ends.
    Shared(Connection),
    /// A copy, which several readers may share.
    Copy(Arc<Mutex<Connection>>),
}

impl Database {
    /// Returns the files whose state tells whether a database may have changed: itself, its log and its journal.
    pub fn files(path: &Path) -> [PathBuf; 3] {
        [path.to_owned(), beside(path, "-wal"), beside(path, "-journal")]
    }

    /// Whether the first bytes of a file are those of a database.
    pub fn is_one(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Opens a database to read rows of these tables, by their names in lower case.
    pub fn open(path: &Path, tables: &[&'static str], progress: &dyn ReadProgress) -> Result<Self> {
        connect::check(path)?;
        let log = length(&beside(path, "-wal"));
        let len = length(path).unwrap_or(0).saturating_add(log.unwrap_or(0));
        let time = connect::time_for(len);
        if connect::is_slow(path, time) {
            return Err(DatabaseError::TooSlow);
        }
        let shared = length(&beside(path, "-shm"));
        let access = match (log, shared) {
            (None | Some(0), _) => {
                let states = states(path);
                Access::Immutable(connect::read_only(path, "mode=ro&immutable=1")?, states)
            }
            (Some(_), Some(_)) => Access::Shared(connect::read_only(path, "mode=ro")?),
            (Some(_), None) => Access::Copy(connect::private_copy(path)?),
        };
        let opened = Self { path: path.to_owned(), tables: tables.to_vec(), access, len, time };
        opened.bounded(progress, |connection| connect::check_plain(connection, tables))?;
        Ok(opened)
    }

    /// Does some work on the connection, which ends when it is not wanted any more, or takes too long.
    fn bounded<T>(
        &self,
        progress: &dyn ReadProgress,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        let shared;
        let connection = match &self.access {
            Access::Immutable(connection, _) | Access::Shared(connection) => connection,
            Access::Copy(connection) => {
                shared = crate::base::lock(connection);
                &shared
            }
        };
        let begun = Instant::now();
        let (wanted, end) = (progress.wanted_check(), begun + self.time);
        let is_given_up = move || wanted.as_ref().is_some_and(|wanted| !wanted());
        let is_over = is_given_up.clone();
        let is_over = move || is_over() || Instant::now() >= end;
        connection.progress_handler(STEPS, Some(is_over))?;
        let done = work(connection);
        connection.progress_handler(0, None::<fn() -> bool>)?;
        let is_given_up = is_given_up();
        let is_too_slow = matches!(done, Err(DatabaseError::TooSlow)) && !is_given_up;
        connect::spend(&self.path, if is_too_slow { Duration::MAX } else { begun.elapsed() });
        match done {
            Err(DatabaseError::TooSlow) if is_given_up => Err(DatabaseError::GivenUp),
            done => done,
        }
    }

    /// Reads what `work` reads, as it was at one moment.
    pub fn whole<T>(
        &mut self,
        progress: &dyn ReadProgress,
        mut work: impl FnMut(&TableRows) -> Result<T>,
    ) -> Result<T> {
        for _ in 0..TRIES {
            let done = self.bounded(progress, |connection| {
                let transaction = connection.unchecked_transaction()?;
                // Twice the rows that a file of this size can hold: in a damaged one, a page may be reached in many ways.
                let max_rows = (self.len / 3).max(MIN_ROWS);
                let done = work(&TableRows { connection: &transaction, max_rows });
                // Nothing was written: to end it is all.
                let _ = transaction.rollback();
                done
            });
            match &self.access {
                Access::Immutable(_, before) if *before != states(&self.path) => {}
                _ => return done,
            }
            *self = Self::open(&self.path, &self.tables, progress)?;
        }
        Err(DatabaseError::Changing)
    }
}

/// The rows of a database at one moment.
#[derive(Debug)]
pub struct TableRows<'a> {
    connection: &'a Connection,
    max_rows: u64,
}

impl TableRows<'_> {
    /// Returns the names of a table's columns; none if there is no such table.
    pub fn columns(&self, table: &str) -> Result<BTreeSet<String>> {
        let names = self.all("SELECT name FROM pragma_table_info(?)", &[table], |row| row.text(0))?;
        Ok(names.into_iter().flatten().collect())
    }

    pub fn all<T>(&self, sql: &str, parameters: &[&str], read: impl Fn(&TableRow) -> T) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.each(sql, parameters, &mut |row| {
            found.push(read(&row));
            true
        })?;
        Ok(found)
    }

    /// Returns the sessions in a table, those of which a clause is true; none if there is no such table. `facts` is what is
    /// selected, as `name AS title, (SELECT ..) AS ended`; of a column that some versions do not have, nothing.
    pub fn sessions(
        &self,
        table: &'static str,
        facts: &'static str,
        clause: &str,
    ) -> Result<Vec<SessionFacts>> {
        let (columns, mut titles) = (self.columns(table)?, RowsOf::plain(table, "title"));
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = "SELECT id".to_owned();
        for (column, field) in facts.split(", ").filter_map(|fact| fact.split_once(" AS ")) {
            let value = if column.starts_with('(') { column } else { or_null(&columns, column) };
            let is_title = field == "title";
            titles.column = if is_title { column } else { titles.column };
            let value = if is_title { title(value) } else { value.to_owned() };
            sql += &format!(", {value} AS {field}");
        }
        self.all(&format!("{sql} FROM {table} {clause}"), &[], |row| SessionFacts {
            id: row.text("id").unwrap_or_default(),
            version: row.text("version"),
            cwd: row.text("cwd"),
            title: row.title("title", titles),
            parent: row.text("parent"),
            origin: row.text("origin"),
            model: row.text("model"),
            started: row.time("started"),
            ended: row.time("ended"),
        })
    }

    /// Hands the rows of a query to `take`, as long as that returns true.
    ///
    /// # Errors
    /// The database cannot be read, has not these tables, or seems to have more rows than it can hold.
    pub fn each(&self, sql: &str, parameters: &[&str], take: &mut dyn FnMut(TableRow) -> bool) -> Result<()> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
        for _ in 0..self.max_rows {
            match rows.next()? {
                Some(row) if take(TableRow { row, connection: self.connection }) => {}
                _ => return Ok(()),
            }
        }
        Err(DatabaseError::Sql(DAMAGED))
    }
}

/// Returns the SQL for a column that holds records. One of over 16 MB is not loaded: its length stands for it, by which
/// [`TableRow::record`] knows that its beginning is to be read.
pub fn record(column: &str) -> String {
    at_most(column, &format!("octet_length({column})"))
}

/// Returns the SQL for a column that holds titles. One of over 16 MB is not loaded: the number of its row stands for it, by
/// which [`TableRow::title`] reads its beginning.
pub fn title(column: &str) -> String {
    at_most(column, "rowid")
}

/// Returns the SQL for a column that some versions of a table do not have.
pub fn or_null(columns: &BTreeSet<String>, column: &'static str) -> &'static str {
    if columns.contains(column) { column } else { "NULL" }
}

fn at_most(column: &str, instead: &str) -> String {
    format!("CASE WHEN octet_length({column}) > {} THEN {instead} ELSE {column} END", connect::MAX_VALUE)
}

/// A row of a query. A value of another kind than asked for is `None`.
#[derive(Debug)]
pub struct TableRow<'a> {
    row: &'a rusqlite::Row<'a>,
    connection: &'a Connection,
}

impl TableRow<'_> {
    pub fn bytes(&self, column: impl RowIndex) -> Option<&[u8]> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns a text, of a long one the first 64 KiB; what is not UTF-8 is replaced.
    pub fn text(&self, column: impl RowIndex) -> Option<String> {
        let bytes = self.bytes(column)?;
        Some(String::from_utf8_lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes)).into_owned())
    }

    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.row.get_ref(column), Ok(ValueRef::Null))
    }

    pub fn integer(&self, column: impl RowIndex) -> Option<i64> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a time that is a number, or text in UTC without a zone.
    pub fn time(&self, column: impl RowIndex) -> Option<Timestamp> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Integer(number) => content::timestamp(number as f64),
            ValueRef::Real(number) => content::timestamp(number),
            ValueRef::Text(text) => {
                let time: DateTime = str::from_utf8(text).ok()?.parse().ok()?;
                TimeZone::UTC.to_timestamp(time).ok()
            }
            _ => None,
        }
    }
}
