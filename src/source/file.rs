//! What is looked at: a mapped file or a spooled stream, and how it changes under us.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::fs::identity::{Identity, Look, PathStatus, path_status};

use super::map::View;
use super::open::{Links, OpenError, Opened, open};
use super::spool::{Limit, Progress, Spool};
use super::watch::Probe;

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

/// A file or stream that is looked at.
#[derive(Debug)]
pub struct Source {
    path: Option<PathBuf>,
    backing: Backing,
    view: View,
    path_status: PathStatus,
    error: Option<Arc<io::Error>>,
}

#[derive(Debug)]
enum Backing {
    File { file: Arc<File>, look: Look, tail: Vec<u8> },
    Spool(Arc<Spool>),
}

impl Source {
    /// Opens what the user named; a symbolic link is followed. A regular file is mapped; a
    /// character device, a FIFO, or a file that cannot be mapped (as under /proc) is copied by a
    /// thread into an unlinked temporary file. Never blocks: a FIFO without a writer is
    /// [`Progress::Waiting`].
    ///
    /// # Errors
    /// [`OpenError`] names the thing and the remedy; directories, sockets, block devices and
    /// terminals are refused.
    pub fn open(path: &Path) -> Result<Source, OpenError> {
        Source::from_opened(path, open(path, Links::Follow)?)
    }

    /// As [`Source::open`], but for an entry of a store: a symbolic link is refused, and while it
    /// is looked at a shared lock keeps our own cleaners from deleting it.
    ///
    /// # Errors
    /// As for `open`, and [`OpenError::Link`].
    pub fn open_entry(path: &Path) -> Result<Source, OpenError> {
        let opened = open(path, Links::Refuse)?;
        if let Opened::File(file, _) = &opened {
            // A writer that is still at it holds the lock itself, and that will do.
            let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockShared);
        }
        Source::from_opened(path, opened)
    }

    /// Gives back the lock of [`Source::open_entry`]: who looks at it has chosen to delete it.
    pub fn let_go(&self) {
        if let Backing::File { file, .. } = &self.backing {
            let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingUnlock);
        }
    }

    /// Drains `reader` on a thread into an unlinked temporary file (mode 0600, in the system's
    /// temporary directory), at its own speed. When the disk is nearly full the rest is drained
    /// and dropped, and [`Source::progress`] says so.
    ///
    /// # Errors
    /// If the temporary file or the thread cannot be made.
    pub fn stream(reader: impl Read + Send + 'static) -> io::Result<Source> {
        Ok(Source::spooled(None, Spool::start(Progress::Streaming, Limit::Disk, || Ok(reader))?))
    }

    /// [`Source::stream`] of standard input.
    ///
    /// # Errors
    /// As for `stream`.
    pub fn stdin() -> io::Result<Source> {
        Source::stream(io::stdin())
    }

    fn from_opened(path: &Path, opened: Opened) -> Result<Source, OpenError> {
        match opened {
            Opened::Stream(spool) => Ok(Source::spooled(Some(path), spool)),
            Opened::File(file, meta) => Source::mapped(path, file, Look::from(&meta))
                .map_err(|source| OpenError::Io { path: path.to_owned(), source }),
        }
    }

    fn mapped(path: &Path, file: File, look: Look) -> io::Result<Source> {
        let size = look.identity.size;
        let Ok(view) = View::map(&file, size, next_generation()) else {
            let spool = Spool::start(Progress::Streaming, Limit::Disk, || Ok(file))?;
            return Ok(Source::spooled(Some(path), spool));
        };
        // Without a tail to compare, growth will count as a rewrite: no reason not to open.
        let tail = read_tail(&file, size).unwrap_or_default();
        Ok(Source {
            path: Some(path.to_owned()),
            backing: Backing::File { file: Arc::new(file), look, tail },
            view,
            path_status: PathStatus::Current,
            error: None,
        })
    }

    fn spooled(path: Option<&Path>, spool: Arc<Spool>) -> Source {
        Source {
            path: path.map(Path::to_owned),
            backing: Backing::Spool(spool),
            view: View::empty(next_generation()),
            path_status: PathStatus::None,
            error: None,
        }
    }

    /// The bytes as of the last [`Source::refresh`].
    pub fn view(&self) -> View {
        self.view.clone()
    }

    /// The current content's number, as [`View::generation`].
    pub fn generation(&self) -> u64 {
        self.view.generation()
    }

    /// Length in bytes as of the last refresh.
    pub fn len(&self) -> u64 {
        self.view.len() as u64
    }

    /// Whether there are no bytes (yet).
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// The path it was opened by.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// How far the stream has come; a file is always [`Progress::Complete`].
    pub fn progress(&self) -> Progress {
        match &self.backing {
            Backing::File { .. } => Progress::Complete,
            Backing::Spool(spool) => spool.progress(),
        }
    }

    /// Whether nothing more will come by itself and [`Source::view`] has it all. True of every
    /// file, even one that may still grow.
    pub fn is_complete(&self) -> bool {
        match &self.backing {
            Backing::File { .. } => true,
            Backing::Spool(spool) => spool.ended() && spool.kept() == self.len(),
        }
    }

    /// Whether this is a copied stream rather than a mapped file.
    pub fn is_stream(&self) -> bool {
        matches!(self.backing, Backing::Spool(_))
    }

    /// Bytes that a stream has given, kept or not; for a file its length.
    pub fn seen(&self) -> u64 {
        match &self.backing {
            Backing::File { .. } => self.len(),
            Backing::Spool(spool) => spool.seen(),
        }
    }

    /// Which file it is, in what state, as of the last refresh; `None` for a stream.
    pub fn identity(&self) -> Option<Identity> {
        match &self.backing {
            Backing::File { look, .. } => Some(look.identity),
            Backing::Spool(_) => None,
        }
    }

    /// What the path says about the open file, as of the last refresh.
    pub fn path_status(&self) -> PathStatus {
        self.path_status
    }

    /// Offset in bytes from which pages of the current view were found lost; see [`View::lost_at`].
    pub fn lost_at(&self) -> Option<u64> {
        self.view.lost_at()
    }

    /// What the last refresh, or the stream's thread, failed with. The view stays usable.
    pub fn error(&self) -> Option<Arc<io::Error>> {
        match &self.backing {
            Backing::Spool(spool) => spool.error(),
            Backing::File { .. } => self.error.clone(),
        }
    }

    /// Looks again (fstat of the file, stat of the path: microseconds) and moves the view to what
    /// is there now. Content is read only when the file has grown: the 4 KiB before the old end.
    /// A failure leaves everything as it was, and [`Source::error`] has it.
    pub fn refresh(&mut self) -> Change {
        let result = match &self.backing {
            Backing::Spool(spool) => {
                let (spool, kept) = (Arc::clone(spool), spool.kept());
                self.grow_to(&spool.file, kept)
            }
            Backing::File { file, .. } => {
                let file = Arc::clone(file);
                self.refresh_file(&file)
            }
        };
        self.error =
            result.as_ref().err().map(|error| Arc::new(io::Error::new(error.kind(), error.to_string())));
        result.unwrap_or(Change::Same)
    }

    /// Blocks until a stream has ended, then refreshes; returns at once for a file.
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

    /// The file has been given another path, or none any more, by ourselves; what is looked at stays the same, and
    /// so does its content.
    pub fn moved_to(&mut self, path: Option<PathBuf>) {
        if let Backing::File { file, look, .. } = &mut self.backing
            && let Ok(now) = file.metadata()
        {
            look.renamed(&Look::from(&now));
        }
        self.path = path;
        self.path_status = if self.path.is_some() { PathStatus::Current } else { PathStatus::None };
    }

    /// Opens the path anew and looks at what it names now. On failure nothing changes.
    ///
    /// # Errors
    /// As for [`Source::open`]; a stream without a path stays as it is.
    pub fn reopen(&mut self) -> Result<(), OpenError> {
        if let Some(path) = &self.path {
            *self = Source::open(path)?;
        }
        Ok(())
    }

    /// What a [`Watcher`](super::Watcher) needs to tell that a refresh is due.
    pub fn probe(&self) -> Probe {
        match &self.backing {
            Backing::File { file, look, .. } => {
                Probe::file(Arc::clone(file), self.path.clone(), *look, self.path_status)
            }
            Backing::Spool(spool) => Probe::spool(Arc::clone(spool), self.len()),
        }
    }

    fn refresh_file(&mut self, file: &File) -> io::Result<Change> {
        let Backing::File { look: before, .. } = self.backing else { return Ok(Change::Same) };
        let now = Look::from(&file.metadata()?);
        self.path_status = path_status(self.path.as_deref(), &now.identity);
        let (old, size) = (before.identity.size, now.identity.size);
        let change = if size < old {
            Change::Truncated
        } else if size > old {
            match self.tail_is_unchanged(file)? {
                true => return self.grow_file(file, now),
                false => Change::Replaced,
            }
        } else if before.rewritten(&now, self.path_status != PathStatus::Current) {
            return self.settle(file, now);
        } else if self.lost_pages_are_back(file)? {
            Change::Replaced
        } else {
            self.note(now, None);
            return Ok(Change::Same);
        };
        self.renew(file, now, change)
    }

    /// A writer moves the time first and the length a moment later; so before a file of the same
    /// length counts as rewritten, it is given that moment.
    fn settle(&mut self, file: &File, seen: Look) -> io::Result<Change> {
        std::thread::sleep(Duration::from_millis(1));
        let now = Look::from(&file.metadata()?);
        if now.identity.size > seen.identity.size && self.tail_is_unchanged(file)? {
            return self.grow_file(file, now);
        }
        let change = match now.identity.size < seen.identity.size {
            true => Change::Truncated,
            false => Change::Replaced,
        };
        self.renew(file, now, change)
    }

    fn grow_file(&mut self, file: &File, now: Look) -> io::Result<Change> {
        let tail = read_tail(file, now.identity.size)?;
        let change = self.grow_to(file, now.identity.size)?;
        self.note(now, Some(tail));
        Ok(change)
    }

    fn grow_to(&mut self, file: &File, size: u64) -> io::Result<Change> {
        let from = self.len();
        if size <= from {
            return Ok(Change::Same);
        }
        self.view = match self.view.grown(size) {
            Some(view) => view,
            None => View::map(file, size, self.generation())?,
        };
        Ok(Change::Grown { from })
    }

    fn renew(&mut self, file: &File, now: Look, change: Change) -> io::Result<Change> {
        let size = now.identity.size;
        let tail = read_tail(file, size)?;
        self.view = View::map(file, size, next_generation())?;
        self.note(now, Some(tail));
        Ok(change)
    }

    /// A cut and a regrowth within one tick of the file system's clock leave no other trace than
    /// the pages that were lost between. An error here is a page that cannot be read at all.
    fn lost_pages_are_back(&self, file: &File) -> io::Result<bool> {
        match self.view.lost_at() {
            Some(offset) => Ok(file.read_at(&mut [0], offset)? == 1),
            None => Ok(false),
        }
    }

    fn note(&mut self, now: Look, new_tail: Option<Vec<u8>>) {
        if let Backing::File { look, tail, .. } = &mut self.backing {
            *look = now;
            if let Some(new_tail) = new_tail {
                *tail = new_tail;
            }
        }
    }

    fn tail_is_unchanged(&self, file: &File) -> io::Result<bool> {
        match &self.backing {
            Backing::File { tail, look, .. } => Ok(read_tail(file, look.identity.size)? == *tail),
            Backing::Spool(_) => Ok(true),
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

/// The bytes before `end`, at most 4 KiB; fewer if the file has been cut meanwhile. By pread, so
/// that a fault is an error here, not a signal.
fn read_tail(file: &File, end: u64) -> io::Result<Vec<u8>> {
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

fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
