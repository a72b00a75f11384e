//! Records in the rows of a database, looked up by their place.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::session::record::{LONGEST_RECORD, RecordSource};

use super::{Database, DatabaseError};

/// A column of a table that holds records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsOf {
    /// The table.
    pub table: &'static str,
    /// The column with the record's JSON.
    pub column: &'static str,
}

/// Records in rows, looked up by the number of the row. Unless an agent has it open, too, the database is open from the
/// first look on.
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
        let mut open = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match open.take() {
            Some(database) => Ok(database),
            None => Database::open(&self.path),
        };
        let found = opened.and_then(|mut database| {
            let found = self.look_up(&mut database, row, &range);
            *open = Some(database).filter(Database::may_stay_open);
            found
        });
        found.map_err(|error| match error {
            DatabaseError::Io(error) => error,
            error => io::Error::other(error.to_string()),
        })
    }
}
