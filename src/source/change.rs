//! How a file's content has changed, and its last bytes, which distinguish growth from a rewrite.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How many bytes before the old end are compared when a file has grown.
const TAIL: u64 = 4 << 10;

/// How the content has changed since the last refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Same,
    /// Bytes were appended; anything found before `from` (the old length) is still valid.
    Grown {
        from: u64,
    },
    /// The file is shorter: a new generation.
    Truncated,
    /// The content was rewritten: a new generation.
    Replaced,
}

/// Reads the bytes before `end`, at most 4 KiB; fewer if the file has been truncated meanwhile. Uses pread, so that a
/// fault is an error here and not a signal.
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
