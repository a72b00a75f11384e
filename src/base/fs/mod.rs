//! File system helpers: identities, private directories, free disk space, small files, and input and output
//! that may be non-blocking.

#[cfg(feature = "app")]
pub(crate) mod blocking;
pub(crate) mod directory;
pub(crate) mod identity;
pub(crate) mod plain_file;
pub(crate) mod room;
