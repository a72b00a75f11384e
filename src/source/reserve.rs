//! The space on a disk that is left to others.

use std::io;
use std::os::fd::AsFd;

/// Nothing that we write takes the last gigabyte of a disk, or the last twentieth if that is less.
const KEEP_FREE: u64 = 1 << 30;

/// Bytes that may still be written to the disk on which a file lies.
///
/// # Errors
/// What the system says.
pub fn room(file: impl AsFd) -> io::Result<u64> {
    let disk = rustix::fs::fstatvfs(file)?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Ok(room_of(bytes(disk.f_bavail), bytes(disk.f_blocks)))
}

/// Of a disk of `total` bytes with so many `free`.
fn room_of(free: u64, total: u64) -> u64 {
    free.saturating_sub(KEEP_FREE.min(total / 20))
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
