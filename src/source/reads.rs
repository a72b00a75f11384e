//! Reads of a file in whole pages, and their count.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes to whose multiples a scan's reads keep, in the file and in memory: a page, or a part of one. Some processors
/// copy a page several times slower where either side is off by a byte.
pub(super) const PAGE: usize = 4 << 10;

/// Fills `room` from `start` in the file on, which must both be where a page starts; how much of it, less than all only
/// at the file's end and after an error. What comes after a short read is read from the start of its page.
pub(super) fn fill(file: &File, start: u64, room: &mut [u8], reads: &ReadCounts) -> (usize, io::Result<()>) {
    let mut filled = 0;
    while filled < room.len() {
        let from = filled - filled % PAGE;
        let (offset, rest) = (start + from as u64, &mut room[from..]);
        reads.note(offset, rest.as_ptr().addr(), rest.len());
        match file.read_at(rest, offset) {
            Ok(count) if from + count > filled => filled = from + count,
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Err(error)),
        }
    }
    (filled, Ok(()))
}

/// What the scans of one file have read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// Bytes read; more than the file has where some were read again.
    pub bytes: u64,
    /// Reads from an offset, or into memory, that is not where a page starts.
    pub unaligned: u64,
}

/// The same while threads add to it.
#[derive(Debug, Default)]
pub(super) struct ReadCounts {
    bytes: AtomicU64,
    unaligned: AtomicU64,
}

impl ReadCounts {
    /// Takes note of a read of `count` bytes from an offset to an address.
    fn note(&self, offset: u64, address: usize, count: usize) {
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        if !offset.is_multiple_of(PAGE as u64) || !address.is_multiple_of(PAGE) {
            self.unaligned.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> Reads {
        Reads { bytes: self.bytes.load(Ordering::Relaxed), unaligned: self.unaligned.load(Ordering::Relaxed) }
    }
}
