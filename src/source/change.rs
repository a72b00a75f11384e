//! What happened to a file's content, and its last bytes, which tell growth from a rewrite.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How much before the old end is compared when a file has grown.
const TAIL: u64 = 4 << 10;

/// What happened to the content since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    Same,
    /// Bytes were added at the end; what was found before `from` (the old length) still holds.
    Grown {
        /// Offset in bytes of the first new one.
        from: u64,
    },
    /// The file is shorter: a new generation.
    Truncated,
    /// The content was rewritten: a new generation.
    Replaced,
}

/// The bytes before `end`, at most 4 KiB; fewer if the file has been cut meanwhile. By pread, so
/// that a fault is an error here, not a signal.
pub(super) fn read_tail(file: &File, end: u64) -> io::Result<Vec<u8>> {
    let start = end.saturating_sub(TAIL);
    let mut tail = vec![0; (end - start) as usize];
    let mut filled = 0;
    while filled < tail.len() {
        match file.read_at(&mut tail[filled..], start + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    tail.truncate(filled);
    Ok(tail)
}
