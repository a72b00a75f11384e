//! A log that an agent writes: what it is by now, and its bytes, read where they are asked for.
//!
//! It is not mapped, since a session may have hundreds of logs, and a map's pages count towards the process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::fs::identity::{Identity, Stamp};

use super::bytes::LogBytes;
use super::file::FileRecords;
use super::open::{open_regular, read, same};

/// How many bytes before the old end are compared when a log has grown.
const TAIL: u64 = 4 << 10;

/// How a log has changed.
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
    touched: Option<Stamp>,
    /// What a compressed log is read through.
    packed: Option<LogBytes>,
}

impl LogFile {
    /// Looks at a log for the first time.
    ///
    /// # Errors
    /// The system's; or it is not a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (file, meta) = open_regular(path)?;
        let seen = Identity::from(&meta);
        let tail = read(&file, seen.size.saturating_sub(TAIL)..seen.size)?;
        let packed = LogBytes::packed(path, file, seen);
        Ok(Self { path: path.to_owned(), seen, tail, touched: None, packed })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn fault(&self) -> Option<String> {
        self.packed.as_ref().and_then(LogBytes::fault)
    }

    /// Whether the log is compressed, so that its text has another length.
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// Returns the size in bytes as of the last look.
    pub fn size(&self) -> u64 {
        self.seen.size
    }

    /// Looks again: one stat of the path, and the 4 KiB before the old end if the log has grown.
    ///
    /// # Errors
    /// The system's. A log that is gone is none: what was read stays.
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
        if now.size == self.seen.size {
            return Ok(self.compare_times(&now));
        }
        self.grow()
    }

    fn compare_times(&mut self, now: &Identity) -> LogChange {
        if now.modified == self.seen.modified {
            return LogChange::Same;
        }
        if self.touched == Some(now.modified) {
            return LogChange::Replaced;
        }
        self.touched = Some(now.modified);
        LogChange::Same
    }

    fn grow(&mut self) -> io::Result<LogChange> {
        let (file, meta) = open_regular(&self.path)?;
        let (old, now) = (self.seen.size, Identity::from(&meta));
        let is_same = now.same_file(&self.seen) && now.size >= old;
        if !is_same || self.is_packed() || read(&file, old.saturating_sub(TAIL)..old)? != self.tail {
            return Ok(LogChange::Replaced);
        }
        self.tail = read(&file, now.size.saturating_sub(TAIL)..now.size)?;
        (self.seen, self.touched) = (now, None);
        Ok(LogChange::Grown)
    }

    /// Opens the log as it was seen.
    ///
    /// # Errors
    /// The system's; or another file has its name by now.
    pub(super) fn reopen(&self) -> io::Result<LogBytes> {
        match &self.packed {
            Some(packed) => Ok(packed.clone()),
            None => Ok(LogBytes::Plain(Arc::new(same(&self.path, &self.seen)?))),
        }
    }

    /// Returns what looks up records of the log. If it is to `keep_open` the file, they can be read though that is deleted
    /// or replaced; else the file is opened for each look, as there may be hundreds.
    pub fn records(&self, keep_open: bool) -> io::Result<FileRecords> {
        let bytes = if keep_open || self.is_packed() { Some(self.reopen()?) } else { None };
        Ok(FileRecords::of_log(&self.path, self.seen, bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::time::{Duration, SystemTime};

    use super::super::RecordSource;
    use super::*;

    #[test]
    fn growth_rewrites_and_replacement_are_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\n").unwrap();
        let mut log = LogFile::open(&path).unwrap();
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
    fn a_log_of_the_same_length_is_rewritten_if_its_time_stays_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\n").unwrap();
        let mut log = LogFile::open(&path).unwrap();
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
        let log = LogFile::open(&path).unwrap();
        let (open, by_name) = (log.records(true).unwrap(), log.records(false).unwrap());
        assert_eq!(by_name.read(0, 1..99).unwrap(), b"ne\n");
        let other = dir.path().join("other");
        std::fs::write(&other, "two\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(open.read(0, 0..3).unwrap(), b"one");
        assert!(by_name.read(0, 0..3).is_err());
        assert!(LogFile::open(dir.path()).is_err());
    }
}
