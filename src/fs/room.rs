//! The room on a disk, and the part of it that is left to others.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Nothing that overspill writes takes the last gigabyte of a disk, or the last twentieth if that is less.
const KEEP_FREE: u64 = 1 << 30;

/// Bytes that may still be written to the disk on which a file lies.
///
/// # Errors
/// What the system says.
pub(crate) fn room(file: impl AsFd) -> io::Result<u64> {
    let disk = rustix::fs::fstatvfs(file)?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Ok(room_of(bytes(disk.f_bavail), bytes(disk.f_blocks)))
}

/// Of a disk of `total` bytes with so many `free`.
fn room_of(free: u64, total: u64) -> u64 {
    free.saturating_sub(KEEP_FREE.min(total / 20))
}

/// Free space is looked at once in this many bytes, and more often when there is little.
const LOOK_EVERY: u64 = 16 << 20;

/// Watches the room on a disk while a file on it grows.
#[derive(Debug, Default)]
pub(crate) struct RoomWatch {
    look_at: u64,
}

impl RoomWatch {
    /// Whether a file may grow beyond the `written` bytes that it has.
    ///
    /// # Errors
    /// `StorageFull` if the disk is nearly full, or what the system says.
    pub(crate) fn check(&mut self, file: impl AsFd, written: u64) -> io::Result<()> {
        if written < self.look_at {
            return Ok(());
        }
        match room(file)? {
            0 => Err(nearly_full()),
            room => {
                self.look_at = written.saturating_add((room / 2).min(LOOK_EVERY));
                Ok(())
            }
        }
    }
}

/// What is told where no room is left.
pub(crate) fn nearly_full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "the disk is nearly full")
}

/// A file system's room, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub total: u64,
    /// What this user may still fill.
    pub free: u64,
}

/// The room on the file system that `path` lies on.
///
/// # Errors
/// What the system says.
pub fn space(path: &Path) -> io::Result<Space> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(Space {
        total: disk.f_blocks.saturating_mul(disk.f_frsize),
        free: disk.f_bavail.saturating_mul(disk.f_frsize),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_gigabyte_or_twentieth_is_left() {
        const GIB: u64 = 1 << 30;
        let rooms = [10 * GIB, GIB, 0].map(|free| room_of(free, 1000 * GIB));
        assert_eq!(rooms, [9 * GIB, 0, 0]);
        assert_eq!((room_of(GIB / 20, GIB), room_of(GIB / 20 + 1, GIB)), (0, 1));
    }
}
