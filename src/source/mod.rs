//! Opening what is looked at: files by a guarded memory map, pipes and standard input.
//!
//! A [`Source`] is looked at through a [`MapView`]: a cheap clone of the current mapping that stays
//! valid however the file changes. The bytes behind it may change at any moment, and bytes past a
//! cut read as zeros, so: copy a window out, then decode it, and ask [`Source::refresh`] at every
//! frame and every chunk of a scan. A late result of a worker is dropped when its view's
//! generation is no longer the source's.

mod awaited;
mod buffer;
mod change;
mod file;
mod guard;
mod map;
mod open;
mod reads;
mod refresh;
mod scan;
mod spool;
mod temporary;
mod watch;

pub use crate::fs::identity::{Identity, PathStatus, Stamp};
pub use awaited::Awaited;
pub use buffer::Buffer;
pub use change::Change;
pub use file::{Hold, Source};
pub use map::{MapView, is_hole};
pub use open::OpenError;
pub use reads::Reads;
pub use scan::{count, line_feeds, measure, share_out};
pub use spool::StreamProgress;
pub use watch::{Probe, Watcher};

#[cfg(test)]
mod tests;
