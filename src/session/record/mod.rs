//! Where records are read from: lines of a file, whole small files, and rows of a table.

mod blocks;
mod bytes;
mod file;
mod long;
mod pass;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::base::fs::identity::Identity;

pub use bytes::{LogSearch, is_packed, unpack};
pub use file::{FileRecords, LogChange, LogFile, read_json};
pub use long::Gap;
pub use pass::{LogStep, records};

/// The longest document that is read, and the most of any file at once, in bytes. Longer is not readable.
pub const MAX_DOCUMENT: usize = 256 << 20;

/// The longest record of a log that is read whole, in bytes: of a longer one all but the middles of long strings, or its
/// beginning.
pub const MAX_RECORD: usize = 16 << 20;

/// A file or a table of an agent's records. Reading never changes it.
pub trait RecordSource: Debug + Send + Sync {
    /// Returns the file, which may be a database.
    fn path(&self) -> &Path;

    /// Returns bytes of a record: of a file by their place in it, of a table by the row and the place in its record. There
    /// may be fewer than asked for.
    ///
    /// # Errors
    /// The system's; or the file was replaced since it was first read.
    fn read(&self, row: i64, range: Range<u64>) -> io::Result<Vec<u8>>;

    /// Returns the state in which a file was read; `None` for a table.
    fn seen(&self) -> Option<Identity> {
        None
    }
}

/// Opens a regular file for reading; never blocks, not even for a FIFO without a writer.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let meta = file.metadata()?;
    if meta.is_file() { Ok((file, meta)) } else { Err(io::Error::other("is not a regular file")) }
}

/// Fills `room` from a place in a file. Returns how many bytes there were; fewer only at the end.
pub fn fill(file: &File, start: u64, room: &mut [u8]) -> io::Result<usize> {
    let filled = crate::source::fill(file, start, room)?;
    #[cfg(test)]
    READ.set(READ.get() + filled);
    Ok(filled)
}

/// Reads a range of the bytes of a file, at most [`MAX_DOCUMENT`]; fewer only at the end.
pub fn read(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let len = range.end.min(file.metadata()?.len()).saturating_sub(range.start);
    let mut bytes = vec![0; len.min(MAX_DOCUMENT as u64) as usize];
    let filled = fill(file, range.start, &mut bytes)?;
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
thread_local! {
    /// How many bytes of files this thread has read.
    pub static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Opens a file that was seen before.
fn same(path: &Path, seen: &Identity) -> io::Result<File> {
    let (file, meta) = open_regular(path)?;
    if Identity::from(&meta).same_file(seen) {
        Ok(file)
    } else {
        Err(io::Error::other("the file was replaced since it was read"))
    }
}
