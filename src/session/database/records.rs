//! Records in the rows of a database, looked up by their place.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::{Connection, ErrorCode, MAIN_DB, RowIndex};

use crate::base::lock;
use crate::session::json::{Json, Tape};
use crate::session::reader::RecordPlace;
use crate::session::record::{MAX_DOCUMENT, MAX_RECORD, RecordSource, unpack};
use crate::session::transcript::ReadReport;

use super::{Access, Database, DatabaseError, MAX_TEXT, Result, TableRow, TableRows};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsOf {
    pub table: &'static str,
    pub column: &'static str,
    /// Whether each record is compressed by itself, as zstd. Places are those in its text.
    pub is_packed: bool,
}

impl RowsOf {
    pub const fn plain(table: &'static str, column: &'static str) -> Self {
        Self { table, column, is_packed: false }
    }
}

/// Records in rows, by number. Unless an agent has it open, too, the database is open from the first look on.
#[derive(Debug)]
pub struct RowRecords {
    path: PathBuf,
    rows: RowsOf,
    database: Mutex<Option<Database>>,
}

impl RowRecords {
    pub fn new(path: impl Into<PathBuf>, rows: RowsOf) -> Self {
        Self { path: path.into(), rows, database: Mutex::new(None) }
    }
}

#[derive(Debug, Default)]
pub struct RowBuffer {
    tape: Tape,
    beginning: Vec<u8>,
    text: Vec<u8>,
}

impl TableRow<'_> {
    /// Returns the place of the row's record; the first column must be the number of the row.
    pub fn place(&self, source: u32) -> RecordPlace<'static> {
        RecordPlace::new(source, self.integer(0).unwrap_or(0), 0)
    }

    /// Returns the record in a column selected by [`record`](super::record); the first column must be the number of the
    /// row. Only the beginning of one over 16 MB is read. The report counts those, and what is not readable.
    pub fn record<'a>(
        &'a self,
        column: usize,
        rows: RowsOf,
        buffer: &'a mut RowBuffer,
        report: &mut ReadReport,
    ) -> Option<Json<'a>> {
        let RowBuffer { tape, beginning, text } = buffer;
        let mut found = self.value(column, rows, beginning);
        if rows.is_packed {
            let unpacked = found.and_then(|(packed, is_whole)| unpack_record(packed, is_whole));
            found = unpacked.map(|(unpacked, is_whole)| {
                *text = unpacked;
                (&text[..], is_whole)
            });
        }
        let record = found.and_then(|(bytes, is_whole)| {
            let record = if is_whole { tape.read(bytes) } else { tape.read_beginning(bytes) };
            Some((record.ok()?, is_whole))
        });
        report.broken += u64::from(record.is_none());
        report.long += u64::from(matches!(record, Some((_, false))));
        record.map(|(record, _)| record)
    }

    /// The same for a column with text that is not JSON.
    pub fn text_record<'a>(
        &'a self,
        column: usize,
        rows: RowsOf,
        beginning: &'a mut Vec<u8>,
        report: &mut ReadReport,
    ) -> Option<&'a [u8]> {
        let found = self.value(column, rows, beginning);
        report.broken += u64::from(found.is_none());
        report.long += u64::from(matches!(found, Some((_, false))));
        found.map(|(bytes, _)| bytes)
    }

    /// Returns a title that was selected by [`title`](super::title); of one of over 16 MB the beginning.
    pub fn title(&self, column: impl RowIndex + Copy, rows: RowsOf) -> Option<String> {
        let Some(row) = self.integer(column) else { return self.text(column) };
        let mut beginning = Vec::new();
        read_value(self.connection, rows, row, 0..MAX_TEXT as u64, &mut beginning).ok()?;
        Some(format!("(over 16 MB) {}", String::from_utf8_lossy(&beginning)))
    }

    /// Returns the bytes of a value, of a long one the beginning, and whether that is all of it.
    fn value<'a>(
        &'a self,
        column: usize,
        rows: RowsOf,
        beginning: &'a mut Vec<u8>,
    ) -> Option<(&'a [u8], bool)> {
        if self.integer(column).is_none() {
            return self.bytes(column).map(|bytes| (bytes, true));
        }
        read_value(self.connection, rows, self.integer(0)?, 0..MAX_RECORD as u64, beginning).ok()?;
        Some((beginning, false))
    }
}

/// Returns the text of a compressed record, and whether that is all of it: no more than [`MAX_RECORD`] bytes are unpacked,
/// and there may be no more than the beginning of it. Returns `None` if it is damaged.
fn unpack_record(packed: &[u8], is_whole: bool) -> Option<(Vec<u8>, bool)> {
    let (mut text, is_sound) = unpack(packed, MAX_RECORD + 1);
    let is_long = text.len() > MAX_RECORD;
    text.truncate(MAX_RECORD);
    (is_long || !is_whole || is_sound).then_some((text, is_whole && !is_long))
}

/// Reads a range of the bytes of a value; less where it ends. A value of any length may be read so, without loading it whole.
fn read_value(
    connection: &Connection,
    rows: RowsOf,
    row: i64,
    range: Range<u64>,
    into: &mut Vec<u8>,
) -> Result<()> {
    let value = connection.blob_open(MAIN_DB, rows.table, rows.column, row, true);
    let value = value.map_err(|error| match error.sqlite_error_code() {
        // The row is missing, or its value is not text.
        Some(ErrorCode::Unknown) => DatabaseError::Io(io::ErrorKind::NotFound.into()),
        _ => error.into(),
    })?;
    let len = value.len() as u64;
    let (start, end) = (range.start.min(len), range.end.min(len));
    into.clear();
    into.resize(end.saturating_sub(start) as usize, 0);
    Ok(value.read_at_exact(into, start as usize)?)
}

impl RecordSource for RowRecords {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self, row: i64, range: Range<u64>) -> io::Result<Vec<u8>> {
        let len = range.end.saturating_sub(range.start).min(MAX_DOCUMENT as u64);
        let range = range.start..range.start.saturating_add(len);
        let read = if self.rows.is_packed { 0..MAX_RECORD as u64 } else { range.clone() };
        let (mut open, mut found) = (lock(&self.database), Vec::new());
        let opened = open.take().map_or_else(|| Database::open(&self.path, &[self.rows.table], &()), Ok);
        let done = opened.and_then(|mut database| {
            let read =
                |rows: &TableRows| read_value(rows.connection, self.rows, row, read.clone(), &mut found);
            let done = database.whole(&(), read);
            *open = Some(database).filter(|open| !matches!(open.access, Access::Shared(_)));
            done
        });
        done.map_err(|error| match error {
            DatabaseError::Io(error) => error,
            error => io::Error::other(error.to_string()),
        })?;
        if self.rows.is_packed {
            let (text, _) = unpack(&found, MAX_RECORD);
            let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(text.len());
            found = text[at(range.start)..at(range.end)].to_vec();
        }
        Ok(found)
    }
}
