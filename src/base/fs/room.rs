//! The free space on a disk, and how much of it is left for others.

use std::io;
use std::os::fd::AsFd;

/// Overspill never uses the last gigabyte of a disk, or the last twentieth if that is less.
const KEEP_FREE: u64 = 1 << 30;

/// Returns how many bytes may still be written to a file's disk.
pub(crate) fn room(file: impl AsFd) -> io::Result<u64> {
    let disk = rustix::fs::fstatvfs(file)?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Ok(room_of(bytes(disk.f_bavail), bytes(disk.f_blocks)))
}

fn room_of(free: u64, total: u64) -> u64 {
    free.saturating_sub(KEEP_FREE.min(total / 20))
}

/// Free space is checked once per this many bytes, and more often when there is little.
const LOOK_EVERY: u64 = 16 << 20;

#[derive(Debug, Default)]
pub(crate) struct RoomWatch {
    look_at: u64,
}

impl RoomWatch {
    /// Checks whether a file may grow beyond its `written` bytes; `StorageFull` if the disk is nearly full.
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

pub(crate) fn nearly_full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "the disk is nearly full; `overspill clean` makes room")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_leaves_the_smaller_of_1_gib_and_a_twentieth_free() {
        const GIB: u64 = 1 << 30;
        let rooms = [10 * GIB, GIB, 0].map(|free| room_of(free, 1000 * GIB));
        assert_eq!(rooms, [9 * GIB, 0, 0]);
        assert_eq!((room_of(GIB / 20, GIB), room_of(GIB / 20 + 1, GIB)), (0, 1));
    }
}
