//! File system helpers: identities, private directories, free disk space, small files, non-blocking streams.

#[cfg(feature = "app")]
pub(crate) mod blocking;
pub(crate) mod directory;
pub(crate) mod identity;
pub(crate) mod plain_file;
pub(crate) mod room;

use std::io::{self, Read};

/// Reads once more if a signal came before there was anything.
pub(crate) fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
