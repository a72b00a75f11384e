//! Agents' databases, read so that nothing beside them is ever created or changed.
//!
//! A database in write-ahead mode has two files beside it, which even a reader would create. Without them nobody has it
//! open, and it is read as one that does not change (and again, if it did). With both it is opened for reading only. With
//! the log alone, which the agent left behind, a private copy of both is read.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::reader::SessionError;
use super::record::{LONGEST_RECORD, RecordSource};

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
    connection: Connection,
    access: Access,
}

/// How a database is read.
#[derive(Debug)]
enum Access {
    /// As one that does not change, by what it was when it was opened.
    Immutable(Vec<FileState>),
    /// Together with whoever writes it.
    Shared,
    /// A copy, which is deleted at the end.
    Copy { _directory: tempfile::TempDir },
}

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
        let (connection, access) = match (log, shared) {
            (None | Some(0), _) => {
                let states = states(path);
                (connect(path, "mode=ro&immutable=1")?, Access::Immutable(states))
            }
            (Some(_), Some(_)) => (connect(path, "mode=ro")?, Access::Shared),
            (Some(log), None) => copied(path, log)?,
        };
        Ok(Self { path: path.to_owned(), connection, access })
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
        let transaction = self.connection.unchecked_transaction()?;
        let done = work(&TableRows { connection: &transaction });
        // Nothing was written: to end it is all.
        let _ = transaction.rollback();
        done
    }

    fn is_as_opened(&self) -> bool {
        match &self.access {
            Access::Immutable(before) => *before == states(&self.path),
            Access::Shared | Access::Copy { .. } => true,
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

/// Copies a database and its log into a private directory, and opens the copy, which takes the log in.
fn copied(path: &Path, log: u64) -> Result<(Connection, Access), DatabaseError> {
    if length(path).unwrap_or(0).saturating_add(log) > MOST_COPIED {
        return Err(DatabaseError::TooLarge);
    }
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
            return Ok((connection, Access::Copy { _directory: directory }));
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

/// A column of a table that holds records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsOf {
    /// The table.
    pub table: &'static str,
    /// The column with the record's JSON.
    pub column: &'static str,
}

/// Records in rows, looked up by the number of the row. The database is open from the first look on.
#[derive(Debug)]
pub struct RowRecords {
    path: PathBuf,
    rows: RowsOf,
    database: Mutex<Option<Database>>,
}

impl RowRecords {
    /// Takes the path of the database, and where the records are in it.
    pub fn new(path: impl Into<PathBuf>, rows: RowsOf) -> Self {
        Self { path: path.into(), rows, database: Mutex::new(None) }
    }

    fn look_up(
        &self,
        database: &mut Database,
        row: i64,
        range: &Range<u64>,
    ) -> Result<Vec<u8>, DatabaseError> {
        let RowsOf { table, column } = self.rows;
        let length = range.end.saturating_sub(range.start).min(LONGEST_RECORD as u64);
        // As a blob, so that places are bytes.
        let sql = format!(
            "SELECT substr(CAST({column} AS BLOB), {}, {length}) FROM {table} WHERE rowid = {row}",
            range.start.saturating_add(1)
        );
        database.whole(|rows| {
            let mut found = Err(DatabaseError::Io(io::ErrorKind::NotFound.into()));
            rows.each(&sql, &[], &mut |row| {
                found = Ok(row.bytes(0).unwrap_or_default().to_vec());
                false
            })?;
            found
        })
    }
}

impl RecordSource for RowRecords {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self, row: i64, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut open = self.database.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let opened = match open.take() {
            Some(database) => Ok(database),
            None => Database::open(&self.path),
        };
        let found = opened.and_then(|mut database| {
            let found = self.look_up(&mut database, row, &range);
            *open = Some(database);
            found
        });
        found.map_err(|error| match error {
            DatabaseError::Io(error) => error,
            error => io::Error::other(error.to_string()),
        })
    }
}
