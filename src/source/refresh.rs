//! Follows a file that changes while it is open, and reads until what was read is of one content.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use crate::base::fs::identity::{PathStatus, Snapshot, await_write, path_status};

use super::file::{Backing, Change, Source, read_tail};
use super::map::{MapView, next_generation};

impl Source {
    /// Checks for changes (fstat of the file, stat of the path: microseconds) and updates the view. Reads content only
    /// when the file has grown: the 4 KiB before the old end. On failure everything stays; see [`Source::error`].
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
        } else if let Some(lost) = self.view.lost_at()
            && file.read_at(&mut [0], lost)? == 1
        {
            // A truncation and regrowth within one tick of the clock leave no other trace.
            Change::Replaced
        } else {
            self.note(now, None);
            return Ok(Change::Same);
        };
        self.renew(file, now, change)
    }

    /// A file of the same length does not count as rewritten at once: a writer changes the time first.
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
        if size <= self.len() {
            return Ok(Change::Same);
        }
        self.view = match self.view.grown(size) {
            Some(view) => view,
            None => MapView::map(file, size, self.generation())?,
        };
        Ok(Change::Grown)
    }

    fn renew(&mut self, file: &File, now: Snapshot, change: Change) -> io::Result<Change> {
        let size = now.identity.size;
        let tail = read_tail(file, size)?;
        self.view = MapView::map(file, size, next_generation())?;
        self.note(now, Some(tail));
        Ok(change)
    }

    fn note(&mut self, now: Snapshot, new_tail: Option<Vec<u8>>) {
        if let Backing::File { look, tail, .. } = &mut self.backing {
            *look = now;
            if let Some(new_tail) = new_tail {
                *tail = new_tail;
            }
        }
    }

    /// Whether a longer file begins with its old content: none of that was found lost, and its end is the same.
    fn is_continued(&self, file: &File) -> io::Result<bool> {
        match &self.backing {
            Backing::File { .. } if self.view.lost_at().is_some() => Ok(false),
            Backing::File { tail, look, .. } => Ok(read_tail(file, look.identity.size)? == *tail),
            Backing::Spool(_) => Ok(true),
        }
    }
}

/// Why a reading does not count: it may mix several contents.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Unsteady {
    #[error("cut or rewritten while it was read; run this again once nothing writes to it")]
    Replaced,
    #[error("{0}")]
    Unreadable(Arc<io::Error>),
}

/// How often to wait for a file that keeps changing.
const TRIES: usize = 3;

impl Source {
    /// Calls `read`, once more if the source was cut or rewritten meanwhile; fails if that was no better.
    pub fn read_steadily<T>(
        &mut self,
        again: &mut dyn FnMut() -> bool,
        read: &mut dyn FnMut(&mut Source) -> T,
    ) -> Result<T, Unsteady> {
        for is_last in [false, true] {
            self.await_trace();
            let generation = self.generation();
            let made = read(self);
            if self.is_still(generation)? {
                return Ok(made);
            }
            if is_last || !again() {
                break;
            }
        }
        Err(Unsteady::Replaced)
    }

    /// Waits until the bytes are those of the last change that was seen, and any later one is sure to be seen.
    fn await_trace(&mut self) {
        for _ in 0..TRIES {
            let Backing::File { look, .. } = &self.backing else { return };
            let Some(left) = look.until_traced() else { break };
            std::thread::sleep(left);
            self.refresh();
        }
        if let Backing::File { file, .. } = &self.backing {
            await_write(file);
            let _ = file.read_at(&mut [0], 0);
        }
    }

    /// Refreshes, and returns whether the content is still that of a generation.
    pub fn is_still(&mut self, generation: u64) -> Result<bool, Unsteady> {
        self.refresh();
        match (&self.backing, &self.error) {
            (Backing::File { .. }, Some(error)) => Err(Unsteady::Unreadable(Arc::clone(error))),
            _ => Ok(self.generation() == generation),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use crate::source::ViewSupply;
    use crate::text::supply::Supply;

    use super::*;

    /// Reads a file of 10,000 `a` while `change` is made to it before each reading, numbered from 0; returns how often it
    /// was read, and the last bytes that were read if they are of one content.
    fn read(change: impl Fn(&std::path::Path, u32)) -> (u32, Result<Vec<u8>, String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, [b'a'; 10_000]).unwrap();
        let mut source = Source::open(&path).unwrap();
        let mut times = 0;
        let made = source.read_steadily(&mut || true, &mut |source| {
            change(&path, times);
            times += 1;
            let view = source.view();
            ViewSupply::from(&view).read(0..view.len()).to_vec()
        });
        (times, made.map_err(|error| error.to_string()))
    }

    #[test]
    fn a_file_cut_or_rewritten_meanwhile_is_read_once_more() {
        let first = |change: fn(&std::path::Path)| {
            read(move |path, times| {
                if times == 0 {
                    change(path)
                }
            })
        };
        assert_eq!(first(|_| ()), (1, Ok(vec![b'a'; 10_000])));
        assert_eq!(first(|path| fs::write(path, [b'b'; 10_000]).unwrap()), (2, Ok(vec![b'b'; 10_000])));
        let cut =
            |path: &std::path::Path| File::options().write(true).open(path).unwrap().set_len(7).unwrap();
        assert_eq!(first(cut), (2, Ok(vec![b'a'; 7])));
    }

    #[test]
    fn appended_bytes_do_not_change_the_content() {
        use std::io::Write;
        let append = |path: &std::path::Path, _| {
            File::options().append(true).open(path).unwrap().write_all(b"more").unwrap();
        };
        assert_eq!(read(append), (1, Ok(vec![b'a'; 10_000])));
    }

    #[test]
    fn gives_up_on_a_file_rewritten_twice() {
        let rewrite = |path: &std::path::Path, times| fs::write(path, [b'b' + times as u8; 20]).unwrap();
        let (times, made) = read(rewrite);
        assert_eq!(times, 2);
        assert!(made.unwrap_err().contains("cut or rewritten while it was read"));
    }

    #[test]
    fn read_steadily_stops_when_a_retry_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "one").unwrap();
        let mut source = Source::open(&path).unwrap();
        let made = source.read_steadily(&mut || false, &mut |_| fs::write(&path, "other!").unwrap());
        assert!(matches!(made, Err(Unsteady::Replaced)));
    }

    #[test]
    fn a_file_cut_and_regrown_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, [b'a'; 100_000]).unwrap();
        let mut source = Source::open(&path).unwrap();
        let generation = source.generation();
        let view = source.view();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        let read = ViewSupply::from(&view).read(0..100_000).to_vec();
        fs::write(&path, [b'a'; 100_001]).unwrap();
        assert_eq!(read, [0; 100_000], "what is not there any more reads as zeros");
        assert!(!source.is_still(generation).unwrap());
    }

    #[test]
    fn a_write_in_progress_is_awaited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, vec![b'a'; 32 << 20]).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let contents = [vec![b'b'; 32 << 20], vec![b'c'; 32 << 20]];
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for content in contents.iter().cycle().take(10) {
                    file.write_all_at(content, 0).unwrap();
                }
            });
            while !writer.is_finished() {
                let mut source = Source::open(&path).unwrap();
                let ends = source.read_steadily(&mut || true, &mut |source| {
                    let view = source.view();
                    (view[0], view[view.len() - 1])
                });
                assert!(ends.as_ref().map_or(true, |(first, last)| first == last), "{ends:?}");
            }
        });
    }
}
