//! The bytes of a log by place, whether it is compressed or not; and a search for some of them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memmem::Finder;
use rustix::fs::{SeekFrom, seek};

use crate::base::fs::identity::Identity;

use super::open::{fill, open_regular};
use super::packed::{PackedText, is_packed};

/// How many bytes of a log are searched at once.
const CHUNK: usize = 256 << 10;

/// What a log is read through.
#[derive(Clone)]
pub(super) enum LogBytes {
    Plain(Arc<File>),
    Packed(Arc<Mutex<PackedText>>),
}

impl LogBytes {
    /// Takes a log that is compressed; `None` if its name does not say so.
    pub(super) fn packed(path: &Path, file: File, seen: Identity) -> Option<Self> {
        is_packed(path).then(|| Self::Packed(Arc::new(Mutex::new(PackedText::new(path, file, seen)))))
    }

    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::Packed(text) => lock(text).fault().map(str::to_owned),
        }
    }

    /// Fills `room` from a place in the log. Returns how many bytes there were; fewer only at the end.
    ///
    /// # Errors
    /// The system's; or what is compressed cannot be decoded.
    pub(super) fn fill(&self, start: u64, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => fill(file, start, room),
            Self::Packed(text) => lock(text).fill(start, room),
        }
    }

    /// Returns the first place from `at` on that is in no hole of the file; `end` if there is none. A hole has no line feed.
    pub(super) fn after_hole(&self, at: u64, end: u64) -> u64 {
        let Self::Plain(file) = self else { return at };
        match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.clamp(at, end.max(at)),
            Err(rustix::io::Errno::NXIO) => end.max(at),
            Err(_) => at,
        }
    }
}

fn lock(text: &Mutex<PackedText>) -> MutexGuard<'_, PackedText> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for LogBytes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if matches!(self, Self::Plain(_)) { "Plain" } else { "Packed" })
    }
}

/// Whether a log holds what `finder` looks for, as long as `wanted` says to go on. Holes are not read. A log that cannot be
/// read holds nothing.
pub fn holds(path: &Path, finder: &Finder, room: &mut Vec<u8>, wanted: &mut dyn FnMut() -> bool) -> bool {
    let Ok((file, meta)) = open_regular(path) else { return false };
    let bytes = LogBytes::Plain(Arc::new(file));
    let overlap = finder.needle().len().saturating_sub(1);
    room.resize(CHUNK + overlap, 0);
    let (mut at, mut kept) = (0, 0);
    while wanted() {
        let left = usize::try_from(meta.len().saturating_sub(at)).unwrap_or(usize::MAX);
        let want = left.min(room.len() - kept);
        let Ok(read) = bytes.fill(at, &mut room[kept..kept + want]) else { return false };
        let filled = kept + read;
        if finder.find(&room[..filled]).is_some() {
            return true;
        }
        if read < want || read == left {
            return false;
        }
        at += read as u64;
        let next = bytes.after_hole(at, meta.len());
        kept = if next > at { 0 } else { overlap };
        room.copy_within(filled - kept..filled, 0);
        at = next;
    }
    false
}
