//! Which file a file is, and in which state: the facts that reveal changes.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use rustix::fs::{FileType, Stat};

/// A time as a file system records it: whole seconds since 1970, UTC, and nanoseconds. Packed: there may be millions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(Rust, packed(4))]
pub struct FileTime {
    pub seconds: i64,
    /// 0 to 999,999,999.
    pub nanos: u32,
}

impl FileTime {
    /// Hashes all of it to 32 bits; times within the same second never collide.
    pub(crate) fn hashed(self) -> u32 {
        (self.seconds as u32).wrapping_mul(0x9e37_79b9) ^ self.nanos
    }
}

/// An output as agents' records know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedFile {
    /// The path by which they name it.
    pub path: PathBuf,
    /// Where it is, if it is a kept copy.
    pub copy: Option<PathBuf>,
    /// When its text was written, if it is a copy whose original was changed or deleted since.
    pub written: Option<Timestamp>,
}

/// The facts by which a listed file is recognized before it is opened or deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    pub dev: u64,
    pub ino: u64,
    /// Length in bytes.
    pub size: u64,
    pub modified: FileTime,
    /// A hash of the ctime, which nobody can set back.
    pub changed: u32,
}

impl Identity {
    pub fn same_file(&self, other: &Identity) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

impl From<&Metadata> for Identity {
    fn from(meta: &Metadata) -> Identity {
        Identity {
            dev: meta.dev(),
            ino: meta.ino(),
            size: meta.size(),
            modified: FileTime { seconds: meta.mtime(), nanos: meta.mtime_nsec() as u32 },
            changed: FileTime { seconds: meta.ctime(), nanos: meta.ctime_nsec() as u32 }.hashed(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FileStat {
    pub identity: Identity,
    pub accessed: FileTime,
    pub kind: FileType,
    pub mode: u32,
    pub uid: u32,
    pub links: u64,
}

// The casts are needed on macOS, whose fields are narrower, but not on Linux.
#[allow(clippy::unnecessary_cast)]
impl From<Stat> for FileStat {
    fn from(stat: Stat) -> FileStat {
        FileStat {
            identity: Identity {
                dev: stat.st_dev as u64,
                ino: stat.st_ino as u64,
                size: stat.st_size as u64,
                modified: FileTime { seconds: stat.st_mtime as i64, nanos: stat.st_mtime_nsec as u32 },
                changed: FileTime { seconds: stat.st_ctime as i64, nanos: stat.st_ctime_nsec as u32 }
                    .hashed(),
            },
            accessed: FileTime { seconds: stat.st_atime as i64, nanos: stat.st_atime_nsec as u32 },
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: stat.st_mode as u32 & 0o7777,
            uid: stat.st_uid,
            links: stat.st_nlink as u64,
        }
    }
}

/// Converts a file system's time, clamping it to the range of a timestamp.
pub(crate) fn timestamp(stamp: FileTime) -> Timestamp {
    let nearest = if stamp.seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::new(stamp.seconds, stamp.nanos.min(999_999_999) as i32).unwrap_or(nearest)
}

/// The result of one fstat: the identity, and what distinguishes a rewrite from a rename or a chmod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub identity: Identity,
    changed: FileTime,
    owned: (u64, u32, u32, u32),
}

impl Snapshot {
    /// Adopts what a rename changes: the ctime.
    pub(crate) fn renamed(&mut self, now: &Snapshot) {
        self.changed = now.changed;
        self.identity.changed = now.identity.changed;
    }

    /// The same if the file could not be queried: the ctime of the next query does not count.
    pub(crate) fn renamed_unseen(&mut self) {
        self.owned = (u64::MAX, 0, 0, 0);
    }

    /// Whether the content may have been rewritten between `self` and the later `now` without changing its length. A
    /// changed ctime alone also counts, since an mtime can be set back; but not if the links, mode or owner (or,
    /// according to `renamed`, the name) changed, which alter the ctime too.
    pub(crate) fn rewritten(&self, now: &Snapshot, renamed: bool) -> bool {
        self.identity.modified != now.identity.modified
            || (self.changed != now.changed && self.owned == now.owned && !renamed)
    }
}

impl From<&Metadata> for Snapshot {
    fn from(meta: &Metadata) -> Snapshot {
        Snapshot {
            identity: Identity::from(meta),
            changed: FileTime { seconds: meta.ctime(), nanos: meta.ctime_nsec() as u32 },
            owned: (meta.nlink(), meta.mode(), meta.uid(), meta.gid()),
        }
    }
}

/// How long a clock of a file system may stand still: a second change within that may leave no trace.
const TICK: Duration = Duration::from_millis(10);

impl Snapshot {
    /// Returns how long to wait until a later change leaves a trace.
    pub(crate) fn until_traced(&self) -> Option<Duration> {
        let since = |stamp: FileTime| {
            let at = Duration::new(u64::try_from(stamp.seconds).ok()?, stamp.nanos);
            SystemTime::now().duration_since(UNIX_EPOCH.checked_add(at)?).ok()
        };
        let newest = self.identity.modified.max(self.changed);
        TICK.checked_sub(since(newest)?).filter(|left| !left.is_zero())
    }
}

/// Waits for a write in progress. On most file systems this seek waits for the writer; on XFS only a read does.
pub(crate) fn await_write(file: &File) {
    let _ = rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStatus {
    /// It still names the open file.
    Current,
    /// It names another file.
    Renamed,
    /// It names nothing; the open file stays readable.
    Gone,
    /// There is no path, as for a stream.
    None,
}

/// Compares what `path` names now with the open file. A path that cannot be queried counts as unchanged.
pub(crate) fn path_status(path: Option<&Path>, open: &Identity) -> PathStatus {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match path.map(std::fs::metadata) {
        None => PathStatus::None,
        Some(Err(error)) if matches!(error.kind(), NotFound | NotADirectory) => PathStatus::Gone,
        Some(Err(_)) => PathStatus::Current,
        Some(Ok(meta)) if Identity::from(&meta).same_file(open) => PathStatus::Current,
        Some(Ok(_)) => PathStatus::Renamed,
    }
}
