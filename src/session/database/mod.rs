//! Agents' databases, read so that nothing beside them is ever created or changed.
//!
//! A database in write-ahead mode has two files beside it, which even a reader would create. Without them nobody has it
//! open, and it is read as one that does not change (and again, if it did). With both it is opened for reading only. With
//! the log alone, which the agent left behind, a private copy of both is read; it is made once, not for each session, and
//! has no name from the moment on at which it can be read.

mod records;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::reader::SessionError;

pub use records::{RowRecords, RowsOf};

/// The first bytes of every database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The largest database with its log that is copied, in bytes.
const MOST_COPIED: u64 = 2 << 30;

/// How long to wait for an agent that is writing.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often to read again what changed while it was read.
const TRIES: usize = 4;

/// Why a database cannot be read. No message quotes anything in it.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The system's error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The database's.
    #[error("the database cannot be read: {0}")]
    Sql(&'static str),
    /// It is too large to be copied.
    #[error(
        "the agent left a log beside its database, and both are over 2 GB, too large for a private copy; start the agent once, which takes the log in"
    )]
    TooLarge,
    /// It changed each time it was read.
    #[error("the database changes while it is read; try again")]
    Changing,
    /// The reading was given up.
    #[error("given up")]
    GivenUp,
}

impl DatabaseError {
    /// Returns the error of the session that is in the database at `path`.
    pub fn of(self, path: &Path) -> SessionError {
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
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => "it is locked by the agent; try again",
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => "it is damaged, or not a database",
            Some(Code::PermissionDenied | Code::CannotOpen | Code::ReadOnly) => "permission denied",
            Some(Code::OutOfMemory) => "not enough memory",
            Some(Code::TooBig) => "a value is too large",
            Some(_) => "an error of the database",
            None => "its tables are not those that are known",
        })
    }
}

/// A database that is open for reading.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    access: Access,
}

/// How a database is read.
#[derive(Debug)]
enum Access {
    /// As one that does not change, by what it was when it was opened.
    Immutable(Connection, Vec<FileState>),
    /// Together with whoever writes it.
    Shared(Connection),
    /// A copy, which several readers may share.
    Copy(Arc<Mutex<Connection>>),
}

/// The copy that was made last.
#[derive(Debug)]
struct LastCopy {
    path: PathBuf,
    of: Vec<FileState>,
    connection: Arc<Mutex<Connection>>,
}

static LAST_COPY: Mutex<Option<LastCopy>> = Mutex::new(None);

/// What tells whether a file changed: its length, time and number; nothing if it is not there.
type FileState = Option<(u64, i64, i64, u64)>;

impl Database {
    /// Returns the files whose state tells whether a database may have changed: itself and its log.
    pub fn files(path: &Path) -> [PathBuf; 2] {
        [path.to_owned(), beside(path, "-wal")]
    }

    /// Whether the first bytes of a file are those of a database.
    pub fn is_one(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Opens a database for reading.
    ///
    /// # Errors
    /// It cannot be opened, or would have to be copied and is too large.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("is not a regular file").into());
        }
        let log = length(&beside(path, "-wal"));
        let shared = length(&beside(path, "-shm"));
        let access = match (log, shared) {
            (None | Some(0), _) => {
                let states = states(path);
                Access::Immutable(connect(path, "mode=ro&immutable=1")?, states)
            }
            (Some(_), Some(_)) => Access::Shared(connect(path, "mode=ro")?),
            (Some(log), None) => Access::Copy(copied(path, log)?),
        };
        Ok(Self { path: path.to_owned(), access })
    }

    /// Whether the database may stay open between looks. While it is open together with the agent, the agent cannot take
    /// in its log when it ends.
    fn may_stay_open(&self) -> bool {
        !matches!(self.access, Access::Shared(_))
    }

    /// Reads what `work` reads, as it was at one moment.
    ///
    /// # Errors
    /// What `work` fails with; or the database changed each time.
    pub fn whole<T>(
        &mut self,
        mut work: impl FnMut(&TableRows) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        for _ in 0..TRIES {
            let done = self.once(&mut work);
            if self.is_as_opened() {
                return done;
            }
            *self = Self::open(&self.path)?;
        }
        Err(DatabaseError::Changing)
    }

    fn once<T>(
        &self,
        work: &mut impl FnMut(&TableRows) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let shared;
        let connection = match &self.access {
            Access::Immutable(connection, _) | Access::Shared(connection) => connection,
            Access::Copy(connection) => {
                shared = connection.lock().unwrap_or_else(PoisonError::into_inner);
                &shared
            }
        };
        let transaction = connection.unchecked_transaction()?;
        let done = work(&TableRows { connection: &transaction });
        // Nothing was written: to end it is all.
        let _ = transaction.rollback();
        done
    }

    fn is_as_opened(&self) -> bool {
        match &self.access {
            Access::Immutable(_, before) => *before == states(&self.path),
            Access::Shared(_) | Access::Copy(_) => true,
        }
    }
}

/// Opens with the parameters of a URI, in which some characters of a path mean something else.
fn connect(path: &Path, parameters: &str) -> Result<Connection, DatabaseError> {
    let mut uri = "file:".to_owned();
    for byte in std::path::absolute(path)?.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' | 0..=32 | 127..=255 => uri.push_str(&format!("%{byte:02X}")),
            byte => uri.push(char::from(*byte)),
        }
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("{uri}?{parameters}"), flags)?;
    connection.busy_timeout(PATIENCE)?;
    // Nothing in a hostile file may run: no functions of its own, no trusted schema.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Returns a copy of a database with its log taken in: the last one, if nothing changed since.
fn copied(path: &Path, log: u64) -> Result<Arc<Mutex<Connection>>, DatabaseError> {
    let mut last = LAST_COPY.lock().unwrap_or_else(PoisonError::into_inner);
    let now = states(path);
    if let Some(copy) = last.as_ref().filter(|copy| copy.path == path && copy.of == now) {
        return Ok(Arc::clone(&copy.connection));
    }
    if length(path).unwrap_or(0).saturating_add(log) > MOST_COPIED {
        return Err(DatabaseError::TooLarge);
    }
    *last = None;
    let (connection, of) = copy(path)?;
    let connection = Arc::new(Mutex::new(connection));
    *last = Some(LastCopy { path: path.to_owned(), of, connection: Arc::clone(&connection) });
    Ok(connection)
}

/// Copies a database and its log into a private directory, and opens the copy, which takes the log in. Then the directory
/// is deleted: what is open stays readable.
fn copy(path: &Path) -> Result<(Connection, Vec<FileState>), DatabaseError> {
    let directory = tempfile::Builder::new()
        .prefix("overspill-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()?;
    let copy = directory.path().join("copy.db");
    for _ in 0..TRIES {
        let before = states(path);
        fs::copy(path, &copy)?;
        fs::copy(beside(path, "-wal"), beside(&copy, "-wal"))?;
        if before == states(path) {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&copy, flags)?;
            connection.pragma_update(None, "trusted_schema", false)?;
            // One file, into which the log is taken.
            connection.pragma_update(None, "locking_mode", "exclusive")?;
            connection.pragma_update(None, "journal_mode", "delete")?;
            return Ok((connection, before));
        }
    }
    Err(DatabaseError::Changing)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|meta| meta.len())
}

/// Returns what tells whether the database or its log changed.
fn states(path: &Path) -> Vec<FileState> {
    let state = |path: PathBuf| {
        let meta = fs::metadata(path).ok()?;
        Some((meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino()))
    };
    vec![state(path.to_owned()), state(beside(path, "-wal"))]
}

/// The rows of a database at one moment.
#[derive(Debug)]
pub struct TableRows<'a> {
    connection: &'a Connection,
}

impl TableRows<'_> {
    /// Returns the names of a table's columns; none if there is no such table.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn columns(&self, table: &str) -> Result<BTreeSet<String>, DatabaseError> {
        let mut names = BTreeSet::new();
        self.each("SELECT name FROM pragma_table_info(?)", &[table], &mut |row| {
            names.extend(row.text(0));
            true
        })?;
        Ok(names)
    }

    /// Hands the rows of a query to `take`, as long as that returns true.
    ///
    /// # Errors
    /// The database cannot be read, or has not these tables.
    pub fn each(
        &self,
        sql: &str,
        parameters: &[&str],
        take: &mut dyn FnMut(TableRow) -> bool,
    ) -> Result<(), DatabaseError> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            if !take(TableRow { row }) {
                break;
            }
        }
        Ok(())
    }
}

/// A row of a query. A value of another kind than asked for is `None`.
#[derive(Debug)]
pub struct TableRow<'a> {
    row: &'a rusqlite::Row<'a>,
}

impl TableRow<'_> {
    /// Returns the bytes of a text or a blob.
    pub fn bytes(&self, column: usize) -> Option<&[u8]> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns a text; what is not UTF-8 is replaced.
    pub fn text(&self, column: usize) -> Option<String> {
        self.bytes(column).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Returns a whole number.
    pub fn integer(&self, column: usize) -> Option<i64> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a number.
    pub fn number(&self, column: usize) -> Option<f64> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Integer(number) => Some(number as f64),
            ValueRef::Real(number) => Some(number),
            _ => None,
        }
    }
}
