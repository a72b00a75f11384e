//! Copies a stream into an unlinked temporary file, in a directory with enough room, which is then read like any other.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::base::fs::room::RoomWatch;
use crate::base::lock;

const CHUNK: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamProgress {
    /// A FIFO that nobody has opened for writing yet.
    Waiting,
    Streaming,
    /// The stream has ended, and all of it is available.
    Complete,
    /// Not all of it was kept: the disk is (nearly) full, a device exceeded 64 MiB, or reading failed; see the error.
    CutShort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// As much as the disk can take; the rest is read and dropped, so that the writer never blocks.
    Disk,
    /// This many bytes, or what the disk can take: for devices, which might never end, and for what a file unpacks to.
    Bytes(u64),
}

#[derive(Debug)]
pub(super) struct Spool {
    pub file: File,
    kept: AtomicU64,
    seen: AtomicU64,
    abandoned: AtomicBool,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug)]
struct State {
    progress: StreamProgress,
    error: Option<Arc<io::Error>>,
    ended: bool,
}

impl Spool {
    /// Starts a thread that copies the reader returned by `open`; `open` itself may block (as for a FIFO).
    pub(crate) fn start<R: Read>(
        progress: StreamProgress,
        limit: Limit,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<Arc<Spool>> {
        let spool = Arc::new(Spool {
            file: temporary_file()?,
            kept: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            abandoned: AtomicBool::new(false),
            state: Mutex::new(State { progress, error: None, ended: false }),
            moved: Condvar::new(),
        });
        let worker = Arc::clone(&spool);
        std::thread::Builder::new().name("stream".into()).spawn(move || worker.drain(open, limit))?;
        Ok(spool)
    }

    pub(crate) fn kept(&self) -> u64 {
        self.kept.load(Ordering::Acquire)
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    pub(crate) fn progress(&self) -> StreamProgress {
        self.state().progress
    }

    pub(crate) fn ended(&self) -> bool {
        self.state().ended
    }

    pub(crate) fn error(&self) -> Option<Arc<io::Error>> {
        self.state().error.clone()
    }

    pub(crate) fn wait(&self, enough: u64) {
        let waiting = |state: &mut State| !state.ended && self.kept() < enough;
        drop(self.moved.wait_while(self.state(), waiting).unwrap_or_else(PoisonError::into_inner));
    }

    /// Tells the thread that nobody uses the stream any more: it stops at its next read.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    fn drain<R: Read>(&self, open: impl FnOnce() -> io::Result<R>, limit: Limit) {
        // A decoder may panic over a hostile file: tell the waiting reader.
        let copied =
            catch_unwind(AssertUnwindSafe(|| open().and_then(|mut reader| self.copy(&mut reader, limit))));
        let result =
            copied.unwrap_or_else(|_| Err(io::Error::other("it cannot be decoded, by a fault in overspill")));
        let mut state = self.state();
        match result {
            Ok(()) if state.progress != StreamProgress::CutShort => state.progress = StreamProgress::Complete,
            Ok(()) => {}
            Err(error) => {
                state.progress = StreamProgress::CutShort;
                state.error.get_or_insert(Arc::new(error));
            }
        }
        state.ended = true;
        self.moved.notify_all();
    }

    fn copy(&self, reader: &mut impl Read, limit: Limit) -> io::Result<()> {
        let (mut chunk, mut room) = (vec![0; CHUNK], RoomWatch::default());
        self.state().progress = StreamProgress::Streaming;
        while !self.abandoned.load(Ordering::Acquire) {
            let wanted = match limit {
                Limit::Bytes(_) if self.progress() == StreamProgress::CutShort => return Ok(()),
                Limit::Disk => CHUNK,
                Limit::Bytes(most) => usize::try_from(most - self.seen()).unwrap_or(CHUNK).min(CHUNK),
            };
            if wanted == 0 {
                self.cut_short(None);
                return Ok(());
            }
            match reader.read(&mut chunk[..wanted]) {
                Ok(0) => return Ok(()),
                Ok(count) => self.keep(&chunk[..count], &mut room),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn keep(&self, bytes: &[u8], room: &mut RoomWatch) {
        let seen = self.seen.fetch_add(bytes.len() as u64, Ordering::AcqRel);
        if self.progress() == StreamProgress::CutShort {
            return;
        }
        let is_room = room.check(&self.file, seen).map_err(with_remedy);
        let written = is_room.and_then(|()| self.file.write_all_at(bytes, seen));
        match written {
            Ok(()) => {
                self.kept.store(seen + bytes.len() as u64, Ordering::Release);
                self.moved.notify_all();
            }
            Err(error) => self.cut_short(Some(error)),
        }
    }

    fn cut_short(&self, error: Option<io::Error>) {
        let mut state = self.state();
        state.progress = StreamProgress::CutShort;
        state.error = error.map(Arc::new);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Where to go if the temporary directory is missing or full.
const OTHERS: [&str; 2] = ["/var/tmp", "/tmp"];

/// Creates an unlinked file of mode 0600 in the system's temporary directory, or else in another one with room.
pub(crate) fn temporary_file() -> io::Result<File> {
    // A relative one would depend on the directory in which overspill is started.
    let given = Some(std::env::temp_dir()).filter(|dir| dir.is_absolute());
    in_one_of(&given.into_iter().chain(OTHERS.map(PathBuf::from)).collect::<Vec<_>>())
}

fn in_one_of(dirs: &[PathBuf]) -> io::Result<File> {
    let (mut full, mut first_fault) = (None, None);
    for dir in dirs {
        match tempfile::tempfile_in(dir) {
            Ok(file) if RoomWatch::default().check(&file, 0).is_ok() => return Ok(file),
            Ok(file) => full = full.or(Some(file)),
            Err(error) => {
                let dir = dir.display();
                let words =
                    format!("no temporary file in {dir}: {error}; set TMPDIR to a directory with room");
                first_fault = first_fault.or(Some(io::Error::new(error.kind(), words)));
            }
        }
    }
    full.ok_or_else(|| first_fault.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

/// Adds what to do about it, if the disk is nearly full.
pub(crate) fn with_remedy(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::StorageFull => io::Error::new(
            io::ErrorKind::StorageFull,
            "the temporary directory's disk is nearly full; set TMPDIR to a directory with room",
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn endless_input_is_read_up_to_its_limit() {
        let spool =
            Spool::start(StreamProgress::Streaming, Limit::Bytes(100_000), || Ok(io::repeat(b'x'))).unwrap();
        spool.wait(u64::MAX);
        assert_eq!(
            (spool.kept(), spool.seen(), spool.progress()),
            (100_000, 100_000, StreamProgress::CutShort)
        );
        assert!(spool.error().is_none());
    }

    #[test]
    fn a_stream_that_cannot_be_opened_says_why() {
        let open = || Err::<io::Empty, _>(io::Error::from_raw_os_error(libc::EACCES));
        let spool = Spool::start(StreamProgress::Waiting, Limit::Disk, open).unwrap();
        spool.wait(1);
        assert_eq!(spool.error().unwrap().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_reader_that_panics_ends_the_stream() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("a hostile file")
            }
        }
        let spool = Spool::start(StreamProgress::Streaming, Limit::Disk, || Ok(Broken)).unwrap();
        spool.wait(1);
        assert_eq!((spool.progress(), spool.error().is_some()), (StreamProgress::CutShort, true));
    }

    #[test]
    fn an_abandoned_stream_is_closed() {
        struct ChannelReader(std::sync::mpsc::Receiver<()>);
        impl Read for ChannelReader {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.recv().map_err(io::Error::other)?;
                buffer[0] = b'x';
                Ok(1)
            }
        }
        let (feed, fed) = sync_channel(0);
        let spool = Spool::start(StreamProgress::Streaming, Limit::Disk, || Ok(ChannelReader(fed))).unwrap();
        feed.send(()).unwrap();
        spool.wait(1);
        spool.abandon();
        let _ = feed.send(());
        assert!(feed.send(()).is_err(), "the reader is dropped after at most one more read");
    }

    #[test]
    fn a_directory_that_is_missing_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("none");
        assert!(in_one_of(&[missing.clone(), dir.path().to_owned()]).is_ok());
        let error = in_one_of(&[missing.clone(), "/proc".into()]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let words = error.to_string();
        assert!(words.contains(missing.to_str().unwrap()) && words.contains("set TMPDIR"), "{words}");
    }
}
