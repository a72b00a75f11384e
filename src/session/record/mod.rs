//! Where records are read from: lines of a file, whole small files, and rows of a table.

mod blocks;
mod bytes;
mod file;
mod log;
mod open;
mod packed;
mod pass;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::path::Path;

pub use bytes::holds;
pub use file::{FileRecords, MappedRecords, read_json};
pub use log::{LogChange, LogFile};
#[cfg(test)]
pub use open::READ;
pub use open::{fill, open_regular, read};
pub use packed::{is_packed, unpack};
pub use pass::{LogStep, records};

/// The longest document that is read, in bytes, and the most that is read of a file at once. A longer document counts as not
/// readable.
pub const MAX_DOCUMENT: usize = 256 << 20;

/// The longest record of a log that is read whole, in bytes: of a longer one its beginning is.
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
}
