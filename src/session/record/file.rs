//! Records in files: a large document, mapped; or logs and small files, opened when they are looked at.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::fs::identity::Identity;
use crate::session::json::{Json, Tape};
use crate::source::MapView;

use super::bytes::LogBytes;
use super::open::{open_regular, read, read_range, same};
use super::{MAX_DOCUMENT, RecordSource};

/// A document that is read through a map.
#[derive(Clone, Debug)]
pub struct MappedRecords {
    path: PathBuf,
    view: MapView,
}

impl MappedRecords {
    /// Takes the view of the file that the spans were made with.
    pub fn new(path: impl Into<PathBuf>, view: MapView) -> Self {
        Self { path: path.into(), view }
    }
}

impl RecordSource for MappedRecords {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self, _: i64, range: Range<u64>) -> io::Result<Vec<u8>> {
        let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(self.view.len());
        let range = at(range.start)..at(range.end);
        if self.view.lost_at().is_some_and(|lost| lost < range.end as u64) {
            return Err(io::Error::other("the file was cut short since it was read"));
        }
        Ok(self.view.get(range).unwrap_or_default().to_vec())
    }
}

/// A log, or a small file, which is opened for each look unless it is kept open.
#[derive(Clone, Debug)]
pub struct FileRecords {
    path: PathBuf,
    /// The only file that is read under this path; `None` for any.
    seen: Option<Identity>,
    bytes: Option<LogBytes>,
}

impl FileRecords {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), seen: None, bytes: None }
    }

    /// Takes a log as it was seen, and what of it is kept open.
    pub(super) fn of_log(path: &Path, seen: Identity, bytes: Option<LogBytes>) -> Self {
        Self { path: path.to_owned(), seen: Some(seen), bytes }
    }

    /// Reads the whole file: a regular one of at most 256 MiB.
    ///
    /// # Errors
    /// The system's; or it is not a regular file, or too large.
    pub fn whole(&self) -> io::Result<Vec<u8>> {
        let (file, meta) = open_regular(&self.path)?;
        if meta.len() > MAX_DOCUMENT as u64 {
            return Err(io::Error::other("the file is larger than 256 MiB"));
        }
        read(&file, 0..meta.len())
    }
}

/// Reads a file that is one JSON value; `None` if it cannot be read or is no JSON.
pub fn read_json<T>(path: impl Into<PathBuf>, take: impl FnOnce(Json) -> T) -> Option<T> {
    let bytes = FileRecords::new(path).whole().ok()?;
    let mut tape = Tape::default();
    tape.read(bytes.trim_ascii()).ok().map(take)
}

impl RecordSource for FileRecords {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self, _: i64, range: Range<u64>) -> io::Result<Vec<u8>> {
        match (&self.bytes, &self.seen) {
            (Some(LogBytes::Plain(file)), _) => read(file, range),
            (Some(packed), _) => read_range(range, |start, room| packed.fill(start, room)),
            (None, Some(seen)) => read(&same(&self.path, seen)?, range),
            (None, None) => read(&open_regular(&self.path)?.0, range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_is_read_in_parts_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        std::fs::write(&path, "0123456789").unwrap();
        let records = FileRecords::new(&path);
        assert_eq!(records.whole().unwrap(), b"0123456789");
        assert_eq!(records.read(0, 8..20).unwrap(), b"89");
        assert_eq!(records.read(0, 20..30).unwrap(), b"");
        assert!(FileRecords::new(dir.path()).whole().is_err());
    }
}
