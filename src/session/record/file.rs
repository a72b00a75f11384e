//! Files of records: documents, read whole; and logs, followed as they grow.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::fs::identity::{FileTime, Identity};
use crate::session::json::{Json, Tape};
use crate::source::read_tail;

use super::bytes::{UnpackedLog, is_packed};
use super::{MAX_DOCUMENT, RecordSource, open_regular, read, same};

/// A log or a document, which is opened for each look unless it is kept open.
#[derive(Clone, Debug)]
pub struct FileRecords {
    path: PathBuf,
    /// The only file that is read under this path.
    seen: Identity,
    open: Option<Arc<File>>,
}

impl FileRecords {
    /// Reads a whole file, which must be a regular one; nothing of one that is longer than 256 MiB.
    pub fn whole(path: impl Into<PathBuf>, keep_open: bool) -> io::Result<(Self, Vec<u8>)> {
        let path = path.into();
        let (file, meta) = open_regular(&path)?;
        let len = if meta.len() > MAX_DOCUMENT as u64 { 0 } else { meta.len() };
        let (seen, bytes) = (Identity::from(&meta), read(&file, 0..len)?);
        Ok((Self { path, seen, open: keep_open.then(|| Arc::new(file)) }, bytes))
    }
}

/// Reads a file that is one JSON value; `None` if it cannot be read or is no JSON.
pub fn read_json<T>(path: impl Into<PathBuf>, take: impl FnOnce(Json) -> T) -> Option<T> {
    let (_, bytes) = FileRecords::whole(path, false).ok()?;
    let mut tape = Tape::default();
    tape.read(bytes.trim_ascii()).ok().map(take)
}

impl RecordSource for FileRecords {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self, _: i64, range: Range<u64>) -> io::Result<Vec<u8>> {
        match &self.open {
            Some(file) => read(file, range),
            None => read(&same(&self.path, &self.seen)?, range),
        }
    }

    fn seen(&self) -> Option<Identity> {
        Some(self.seen)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogChange {
    /// Not at all, or it is gone, or only its time changed so far.
    Same,
    Grown,
    /// It is another file, or was rewritten.
    Replaced,
}

/// A log as it was when it was last looked at.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    seen: Identity,
    tail: Vec<u8>,
    /// The time of a change that did not alter the length: an appending writer changes the time first.
    touched: Option<FileTime>,
    unpacked: Option<UnpackedLog>,
}

impl LogFile {
    /// Looks at a log for the first time; fails if it is not a regular file. A compressed one is unpacked, as long as `wanted`
    /// says to go on.
    pub fn open(path: &Path, wanted: &dyn Fn() -> bool) -> io::Result<Self> {
        let (file, meta) = open_regular(path)?;
        let seen = Identity::from(&meta);
        let tail = read_tail(&file, seen.size)?;
        let unpacked = is_packed(path).then(|| UnpackedLog::new(file, seen.size, wanted)).transpose()?;
        Ok(Self { path: path.to_owned(), seen, tail, touched: None, unpacked })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn fault(&self) -> Option<&str> {
        self.unpacked.as_ref()?.fault.as_deref()
    }

    /// Returns the size of the text in bytes as of the last look.
    pub fn size(&self) -> u64 {
        self.unpacked.as_ref().map_or(self.seen.size, |unpacked| unpacked.len)
    }

    /// Looks again: one stat of the path, and the 4 KiB before the old end if the log has grown.
    ///
    /// # Errors
    /// The system's. A deleted log is no error: what was read stays.
    pub fn refresh(&mut self) -> io::Result<LogChange> {
        let now = match std::fs::metadata(&self.path) {
            Ok(meta) if meta.is_file() => Identity::from(&meta),
            Ok(_) => return Ok(LogChange::Replaced),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LogChange::Same),
            Err(error) => return Err(error),
        };
        if !now.same_file(&self.seen) || now.size < self.seen.size {
            return Ok(LogChange::Replaced);
        }
        if now.size > self.seen.size {
            return self.grow();
        }
        let is_rewritten =
            now.modified != self.seen.modified && self.touched.replace(now.modified) == Some(now.modified);
        Ok(if is_rewritten { LogChange::Replaced } else { LogChange::Same })
    }

    fn grow(&mut self) -> io::Result<LogChange> {
        let (file, meta) = open_regular(&self.path)?;
        let (old, now) = (self.seen.size, Identity::from(&meta));
        let is_same = now.same_file(&self.seen) && now.size >= old;
        if !is_same || self.unpacked.is_some() || read_tail(&file, old)? != self.tail {
            return Ok(LogChange::Replaced);
        }
        self.tail = read_tail(&file, now.size)?;
        (self.seen, self.touched) = (now, None);
        Ok(LogChange::Grown)
    }

    /// Opens the log as it was seen; fails if another file has its name by now.
    pub(super) fn reopen(&self) -> io::Result<Arc<File>> {
        match &self.unpacked {
            Some(unpacked) => Ok(unpacked.text.clone()),
            None => same(&self.path, &self.seen).map(Arc::new),
        }
    }

    /// Looks up records: in the file kept open, even if it is deleted or replaced, or opened for each look.
    pub fn records(&self, keep_open: bool) -> io::Result<FileRecords> {
        let open = if keep_open || self.unpacked.is_some() { Some(self.reopen()?) } else { None };
        Ok(FileRecords { path: self.path.clone(), seen: self.seen, open })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, SystemTime};

    use super::super::RecordSource;
    use super::*;

    #[test]
    fn a_small_file_is_read_in_parts_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        std::fs::write(&path, "0123456789").unwrap();
        let (records, whole) = FileRecords::whole(&path, false).unwrap();
        assert_eq!(whole, b"0123456789");
        assert_eq!(records.read(0, 8..20).unwrap(), b"89");
        assert_eq!(records.read(0, 20..30).unwrap(), b"");
        assert!(FileRecords::whole(dir.path(), false).is_err());
    }

    #[test]
    fn growth_rewrites_and_replacement_are_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\n").unwrap();
        let mut log = LogFile::open(&path, &|| true).unwrap();
        assert_eq!(log.refresh().unwrap(), LogChange::Same);
        File::options().append(true).open(&path).unwrap().write_all(b"two\n").unwrap();
        assert_eq!((log.refresh().unwrap(), log.size()), (LogChange::Grown, 8));
        assert_eq!(log.refresh().unwrap(), LogChange::Same);
        std::fs::write(&path, "ONE\ntwo\nthree\n").unwrap();
        assert_eq!(log.refresh().unwrap(), LogChange::Replaced, "longer, and what was there is not");
        std::fs::write(&path, "one\n").unwrap();
        assert_eq!(log.refresh().unwrap(), LogChange::Replaced, "shorter");
        let other = dir.path().join("other");
        std::fs::write(&other, "one\ntwo\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(log.refresh().unwrap(), LogChange::Replaced, "another file");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(log.refresh().unwrap(), LogChange::Same, "gone");
    }

    #[test]
    fn a_lasting_mtime_change_without_growth_is_a_rewrite() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\n").unwrap();
        let mut log = LogFile::open(&path, &|| true).unwrap();
        let touch = |seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        };
        touch(1);
        assert_eq!(log.refresh().unwrap(), LogChange::Same, "bytes may follow");
        File::options().append(true).open(&path).unwrap().write_all(b"two\n").unwrap();
        assert_eq!(log.refresh().unwrap(), LogChange::Grown);
        touch(2);
        assert_eq!(log.refresh().unwrap(), LogChange::Same);
        assert_eq!(log.refresh().unwrap(), LogChange::Replaced);
    }

    #[test]
    fn records_of_a_replaced_log_are_read_only_if_it_was_kept_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\n").unwrap();
        let log = LogFile::open(&path, &|| true).unwrap();
        let (open, by_name) = (log.records(true).unwrap(), log.records(false).unwrap());
        assert_eq!(by_name.read(0, 1..99).unwrap(), b"ne\n");
        let other = dir.path().join("other");
        std::fs::write(&other, "two\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(open.read(0, 0..3).unwrap(), b"one");
        assert!(by_name.read(0, 0..3).is_err());
        assert!(LogFile::open(dir.path(), &|| true).is_err());
    }
}
