//! What the file system says, and what must be true of it: identities, private directories, room on the disk, small files,
//! output that may not block.

pub(crate) mod directory;
pub(crate) mod identity;
#[cfg(feature = "app")]
pub(crate) mod patient;
pub(crate) mod plain_file;
pub(crate) mod room;
pub(crate) mod stat;
