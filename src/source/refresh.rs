//! Follows a file that changes while it is open: finds out what has changed, and updates the view.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use crate::base::fs::identity::{PathStatus, Snapshot, path_status};

use super::file::{Backing, Change, Source, read_tail};
use super::map::MapView;
use super::map::next_generation;

impl Source {
    /// Checks for changes (fstat of the file, stat of the path: microseconds) and updates the view. Content is read
    /// only when the file has grown: the 4 KiB before the old end. On failure everything stays as it was; see
    /// [`Source::error`].
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

    fn refresh_file(&mut self, file: &File) -> io::Result<Change> {
        let Backing::File { look: before, .. } = self.backing else { return Ok(Change::Same) };
        let now = Snapshot::from(&file.metadata()?);
        self.path_status = path_status(self.path.as_deref(), &now.identity);
        let (old, size) = (before.identity.size, now.identity.size);
        let change = if size < old {
            Change::Truncated
        } else if size > old {
            if self.is_continued(file)? { return self.grow_file(file, now) } else { Change::Replaced }
        } else if before.rewritten(&now, self.path_status != PathStatus::Current) {
            return self.await_growth(file, now);
        } else if self.lost_pages_are_back(file)? {
            Change::Replaced
        } else {
            self.note(now, None);
            return Ok(Change::Same);
        };
        self.renew(file, now, change)
    }

    /// Waits a moment before a file of the same length counts as rewritten, since a writer changes the time first and
    /// the length shortly after.
    fn await_growth(&mut self, file: &File, seen: Snapshot) -> io::Result<Change> {
        std::thread::sleep(Duration::from_millis(1));
        let now = Snapshot::from(&file.metadata()?);
        if now.identity.size > seen.identity.size && self.is_continued(file)? {
            return self.grow_file(file, now);
        }
        let change =
            if now.identity.size < seen.identity.size { Change::Truncated } else { Change::Replaced };
        self.renew(file, now, change)
    }

    fn grow_file(&mut self, file: &File, now: Snapshot) -> io::Result<Change> {
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
            None => MapView::map(file, size, self.generation())?,
        };
        Ok(Change::Grown { from })
    }

    fn renew(&mut self, file: &File, now: Snapshot, change: Change) -> io::Result<Change> {
        let size = now.identity.size;
        let tail = read_tail(file, size)?;
        self.view = MapView::map(file, size, next_generation())?;
        self.note(now, Some(tail));
        Ok(change)
    }

    /// A truncation and regrowth within one tick of the file system's clock leave no other trace than the pages lost in
    /// between. Fails only if a page cannot be read at all.
    fn lost_pages_are_back(&self, file: &File) -> io::Result<bool> {
        match self.view.lost_at() {
            Some(offset) => Ok(file.read_at(&mut [0], offset)? == 1),
            None => Ok(false),
        }
    }

    fn note(&mut self, now: Snapshot, new_tail: Option<Vec<u8>>) {
        if let Backing::File { look, tail, .. } = &mut self.backing {
            *look = now;
            if let Some(new_tail) = new_tail {
                *tail = new_tail;
            }
        }
    }

    /// Whether a longer file begins with what it had: nothing of that was found lost, and the end of it is the same.
    fn is_continued(&self, file: &File) -> io::Result<bool> {
        match &self.backing {
            Backing::File { .. } if self.view.lost_at().is_some() => Ok(false),
            Backing::File { tail, look, .. } => Ok(read_tail(file, look.identity.size)? == *tail),
            Backing::Spool(_) => Ok(true),
        }
    }
}
