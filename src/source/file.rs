//! A source: a mapped file or a spooled stream, and how it changes.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::fs::identity::{Identity, PathStatus, Snapshot};

use super::map::{MapView, next_generation};
use super::open::{Access, FollowLinks, OpenError, open};
use super::spool::{Limit, Spool, StreamProgress};
use super::watch::Probe;

/// The longest file that is copied if it cannot be mapped, in bytes: with its holes, a longer one would be read for hours.
const MAX_COPY: u64 = 1 << 40;

/// How many bytes before the old end are compared when a file has grown.
const TAIL: u64 = 4 << 10;

/// How the content has changed since the last refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Same,
    /// Bytes were appended; anything found before is still valid.
    Grown,
    /// The file is shorter: a new generation.
    Truncated,
    /// The content was rewritten: a new generation.
    Replaced,
}

/// Whether an entry of a store is locked while it is open for viewing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLock {
    /// No cleaning by overspill deletes it meanwhile.
    Shared,
    None,
}

#[derive(Debug)]
pub struct Source {
    pub(super) path: Option<PathBuf>,
    pub(super) backing: Backing,
    pub(super) view: MapView,
    pub(super) path_status: PathStatus,
    pub(super) error: Option<Arc<io::Error>>,
    /// How its file is compressed, and the length of that in bytes; `None` if it is not.
    #[cfg(feature = "records")]
    pub(crate) packed: Option<(&'static str, u64)>,
}

#[derive(Debug)]
pub(super) enum Backing {
    File { file: Arc<File>, look: Snapshot, tail: Vec<u8> },
    Spool(Arc<Spool>),
}

impl Source {
    /// Opens a path given by the user, following links. A regular file is mapped; a device, a FIFO, or a file that
    /// cannot be mapped (as under /proc) is copied by a thread. Never blocks: a FIFO without a writer is
    /// [`StreamProgress::Waiting`]. Directories, sockets, block devices and terminals are refused.
    pub fn open(path: &Path) -> Result<Source, OpenError> {
        Source::from_opened(path, open(path, FollowLinks::Follow)?)
    }

    /// Same as [`Source::open`], but of a file compressed as gzip or zstd, by its first bytes, the text.
    #[cfg(feature = "records")]
    pub fn open_unpacked(path: &Path) -> Result<Source, OpenError> {
        let opened = open(path, FollowLinks::Follow)?;
        let failed = |source| OpenError::Io { path: path.to_owned(), source };
        if let Access::File(file, meta) = &opened
            && let Some((form, text)) = super::frames::unpacked(file).map_err(failed)?
        {
            let spool = Spool::start(StreamProgress::Streaming, Limit::Bytes(u64::MAX), || Ok(text));
            let mut source = Source::spooled(Some(path), spool.map_err(failed)?);
            source.packed = Some((form, meta.len()));
            return Ok(source);
        }
        Source::from_opened(path, opened)
    }

    /// Same as [`Source::open`] for an entry of a store: refuses links and all but regular files, and holds a shared
    /// lock so that overspill's cleaners do not delete the file meanwhile.
    pub fn open_entry(path: &Path) -> Result<Source, OpenError> {
        let source = Source::open_entry_unlocked(path)?;
        if let Backing::File { file, .. } = &source.backing {
            // While a writer is active it holds the lock itself, which is just as good.
            let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockShared);
        }
        Ok(source)
    }

    /// Like [`Source::open_entry`], but without a lock, so that the entry can be deleted.
    pub fn open_entry_unlocked(path: &Path) -> Result<Source, OpenError> {
        Source::from_opened(path, open(path, FollowLinks::Refuse)?)
    }

    /// Releases the lock of [`Source::open_entry`], because the user has chosen to delete the file or views another.
    pub fn unlock(&self) {
        if let Backing::File { file, .. } = &self.backing {
            let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingUnlock);
        }
    }

    /// Copies `reader` on a thread into an unlinked temporary file (mode 0600, in the system's temporary directory), at
    /// its own speed. When the disk is nearly full the rest is read and dropped, and [`Source::progress`] reports that.
    pub fn stream(reader: impl Read + Send + 'static) -> io::Result<Source> {
        Ok(Source::spooled(None, Spool::start(StreamProgress::Streaming, Limit::Disk, || Ok(reader))?))
    }

    #[cfg(feature = "app")]
    pub fn stdin() -> io::Result<Source> {
        Source::stream(crate::base::fs::blocking::stdin()?)
    }

    fn from_opened(path: &Path, opened: Access) -> Result<Source, OpenError> {
        match opened {
            Access::Stream(spool) => Ok(Source::spooled(Some(path), spool)),
            Access::File(file, meta) => Source::mapped(path, file, Snapshot::from(&meta)),
        }
    }

    fn mapped(path: &Path, file: File, look: Snapshot) -> Result<Source, OpenError> {
        let size = look.identity.size;
        let Ok(view) = MapView::map(&file, size, next_generation()) else {
            if size > MAX_COPY {
                return Err(OpenError::TooLarge(path.to_owned()));
            }
            let spool = Spool::start(StreamProgress::Streaming, Limit::Disk, || Ok(file));
            let failed = |source| OpenError::Io { path: path.to_owned(), source };
            return Ok(Source::spooled(Some(path), spool.map_err(failed)?));
        };
        // Without a tail to compare, growth counts as a rewrite, which is no reason not to open the file.
        let tail = read_tail(&file, size).unwrap_or_default();
        Ok(Source {
            path: Some(path.to_owned()),
            backing: Backing::File { file: Arc::new(file), look, tail },
            view,
            path_status: PathStatus::Current,
            error: None,
            #[cfg(feature = "records")]
            packed: None,
        })
    }

    fn spooled(path: Option<&Path>, spool: Arc<Spool>) -> Source {
        Source {
            path: path.map(Path::to_owned),
            backing: Backing::Spool(spool),
            view: MapView::empty(next_generation()),
            path_status: PathStatus::None,
            error: None,
            #[cfg(feature = "records")]
            packed: None,
        }
    }

    /// Returns the bytes as of the last [`Source::refresh`].
    pub fn view(&self) -> MapView {
        self.view.clone()
    }

    pub fn generation(&self) -> u64 {
        self.view.generation()
    }

    pub fn len(&self) -> u64 {
        self.view.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the state of the stream; a file is always [`StreamProgress::Complete`].
    pub fn progress(&self) -> StreamProgress {
        match &self.backing {
            Backing::File { .. } => StreamProgress::Complete,
            Backing::Spool(spool) => spool.progress(),
        }
    }

    /// Whether nothing more will arrive, and [`Source::view`] has everything. A file may still grow.
    pub fn is_complete(&self) -> bool {
        match &self.backing {
            Backing::File { .. } => true,
            Backing::Spool(spool) => spool.ended() && spool.kept() == self.len(),
        }
    }

    /// Returns which file it is, and its state as of the last refresh; `None` for a stream.
    pub fn identity(&self) -> Option<Identity> {
        match &self.backing {
            Backing::File { look, .. } => Some(look.identity),
            Backing::Spool(_) => None,
        }
    }

    pub fn path_status(&self) -> PathStatus {
        self.path_status
    }

    /// Returns the error of the last refresh, or of the stream's thread. The view remains usable.
    pub fn error(&self) -> Option<Arc<io::Error>> {
        match &self.backing {
            Backing::Spool(spool) => spool.error(),
            Backing::File { .. } => self.error.clone(),
        }
    }

    /// Blocks until a stream has ended, then refreshes; returns immediately for a file.
    pub fn wait(&mut self) -> Change {
        self.wait_for(u64::MAX)
    }

    /// Blocks until a stream has `bytes` or has ended, then refreshes.
    pub fn wait_for(&mut self, bytes: u64) -> Change {
        if let Backing::Spool(spool) = &self.backing {
            spool.wait(bytes);
        }
        self.refresh()
    }

    /// Records that overspill itself has given the file another path, or none; file and content stay the same.
    pub fn moved_to(&mut self, path: Option<PathBuf>) {
        if let Backing::File { file, look, .. } = &mut self.backing {
            match file.metadata() {
                Ok(now) => look.renamed(&Snapshot::from(&now)),
                Err(_) => look.renamed_unseen(),
            }
        }
        self.path = path;
        self.path_status = if self.path.is_some() { PathStatus::Current } else { PathStatus::None };
    }

    /// Opens the path again, and switches to what it names now. On failure, and without a path, nothing changes.
    #[cfg(feature = "records")]
    pub fn reopen(&mut self) -> Result<(), OpenError> {
        if let Some(path) = &self.path {
            *self = match self.backing {
                Backing::File { .. } => Source::open(path)?,
                Backing::Spool(_) => Source::open_unpacked(path)?,
            };
        }
        Ok(())
    }

    /// Returns what a [`Watcher`](super::Watcher) needs to find out when a refresh is due.
    pub fn probe(&self) -> Probe {
        match &self.backing {
            Backing::File { file, look, .. } => {
                Probe::file(Arc::clone(file), self.path.clone(), *look, self.path_status)
            }
            Backing::Spool(spool) => Probe::stream(Arc::clone(spool), self.len()),
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Backing::Spool(spool) = &self.backing {
            spool.abandon();
        }
    }
}

/// Reads at most 4 KiB before `end`; fewer if the file was truncated. With pread a fault is an error, not a signal.
pub(crate) fn read_tail(file: &File, end: u64) -> io::Result<Vec<u8>> {
    let start = end.saturating_sub(TAIL);
    let mut tail = vec![0; (end - start) as usize];
    let filled = fill(file, start, &mut tail)?;
    tail.truncate(filled);
    Ok(tail)
}

/// Fills `room` from a place in a file. Returns how many bytes there were; fewer only at the end.
pub(crate) fn fill(file: &File, start: u64, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match file.read_at(&mut room[filled..], start + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
