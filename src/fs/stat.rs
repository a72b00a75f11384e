//! The result of fstatat, in types that are the same on all systems.

// The casts are needed on macOS, whose fields are narrower, but not on Linux.
#![allow(clippy::unnecessary_cast)]

use jiff::Timestamp;
use rustix::fs::{FileType, Stat};

use super::identity::{Identity, Stamp};

#[derive(Clone, Copy, Debug)]
pub(crate) struct FileStat {
    pub identity: Identity,
    pub kind: FileType,
    pub mode: u32,
    pub uid: u32,
    pub links: u64,
}

impl From<Stat> for FileStat {
    fn from(stat: Stat) -> FileStat {
        FileStat {
            identity: Identity {
                dev: stat.st_dev as u64,
                ino: stat.st_ino as u64,
                size: stat.st_size as u64,
                modified: Stamp { seconds: stat.st_mtime as i64, nanos: stat.st_mtime_nsec as u32 },
                changed: Stamp { seconds: stat.st_ctime as i64, nanos: stat.st_ctime_nsec as u32 }.hashed(),
            },
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: stat.st_mode as u32 & 0o7777,
            uid: stat.st_uid,
            links: stat.st_nlink as u64,
        }
    }
}

/// Converts a file system's time, clamping it to the range of a timestamp.
pub(crate) fn timestamp(stamp: Stamp) -> Timestamp {
    let nearest = if stamp.seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::new(stamp.seconds, stamp.nanos.min(999_999_999) as i32).unwrap_or(nearest)
}
