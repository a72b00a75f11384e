//! File system helpers: identities, private directories, free disk space, small files, non-blocking streams.

#[cfg(feature = "app")]
pub(crate) mod blocking;
pub(crate) mod directory;
pub(crate) mod identity;
pub(crate) mod plain_file;
pub(crate) mod room;
