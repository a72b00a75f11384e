//! Reads files in whole pages, and counts the reads.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Alignment in bytes of a scan's reads, in the file and in memory: a page, or part of one. Some processors copy a page
/// several times slower if either side is off by a byte.
pub(super) const PAGE: usize = 4 << 10;

/// Fills `room` from offset `start` of the file; both must be page-aligned. Returns how many bytes were read; less than
/// all only at the end of the file and after an error. After a short read, reading resumes at the start of that page.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// Bytes read; more than the file has if some were read again.
    pub bytes: u64,
    /// Reads from an offset, or into memory, that is not page-aligned.
    pub unaligned: u64,
    pub seeks: u64,
}

/// [`Reads`] that threads add to.
#[derive(Debug, Default)]
pub(super) struct ReadCounts {
    bytes: AtomicU64,
    unaligned: AtomicU64,
    seeks: AtomicU64,
}

impl ReadCounts {
    fn note(&self, offset: u64, address: usize, count: usize) {
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        if !offset.is_multiple_of(PAGE as u64) || !address.is_multiple_of(PAGE) {
            self.unaligned.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn note_seek(&self) {
        self.seeks.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Reads {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Reads { bytes: get(&self.bytes), unaligned: get(&self.unaligned), seeks: get(&self.seeks) }
    }
}
