//! Opens what the user views: files through a guarded memory map, pipes, and standard input.
//!
//! A [`Source`] is read through a [`MapView`]: a cheap clone of the current mapping that stays valid however the file
//! changes. The bytes behind it may change at any moment, and bytes past a truncation read as zeros. So copy a window
//! out before decoding it, and call [`Source::refresh`] for every frame and every chunk of a scan. A worker's late
//! result is dropped if its view's generation is no longer the source's.

mod file;
#[cfg(feature = "records")]
mod frames;
mod guard;
mod map;
mod open;
mod refresh;
mod scan;
mod spool;
mod watch;

pub use crate::base::fs::identity::{FileTime, Identity, PathStatus};
pub use file::{Change, FileLock, Source};
pub use map::{MapView, Reads, is_hole};
pub use open::OpenError;
pub use refresh::Unsteady;
pub use scan::{Buffer, ViewSupply, count, line_feeds, measure, share_out};
pub use spool::StreamProgress;
pub use watch::{Probe, Watcher};

#[cfg(feature = "app")]
pub(crate) use {
    crate::base::fs::blocking::stdin,
    crate::base::fs::identity::{Snapshot, await_write},
    map::release_code,
    open::metadata,
};
#[cfg(feature = "records")]
pub(crate) use {
    file::{fill, read_tail},
    frames::Frames,
    map::PAGE,
    spool::{temporary_file, with_remedy},
};

#[cfg(test)]
mod tests;
