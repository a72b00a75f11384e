//! Copies from a reader to a sink through a few rotating buffers, so that reading rarely waits for the disk.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use crate::base::fs::read_some;

use super::Spill;
use super::sink::{Sink, StopReason};

/// Bytes of a buffer: what one thread has read is still in the cache when the other writes it.
const BUFFER: usize = 128 << 10;
/// Number of buffers: together they are all the memory that a stream uses, however long.
const BUFFERS: usize = 4;

#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    line_feeds: AtomicU64,
    spill: OnceLock<PathBuf>,
    stopped: OnceLock<StopReason>,
}

impl Progress {
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn line_feeds(&self) -> u64 {
        self.line_feeds.load(Ordering::Relaxed)
    }

    /// Returns the path of the growing file, once created: it stays the same file when it gets its final name.
    pub fn spill(&self) -> Option<&Path> {
        self.spill.get().map(PathBuf::as_path)
    }

    /// Returns why the file has stopped growing while bytes still arrive, if so.
    pub fn stopped(&self) -> Option<&StopReason> {
        self.stopped.get()
    }

    pub(crate) fn note(&self, sink: &Sink<Spill>) {
        self.bytes.store(sink.counter.bytes, Ordering::Relaxed);
        self.line_feeds.store(sink.counter.line_feeds(), Ordering::Relaxed);
        if let Some(spill) = sink.file() {
            self.spill.get_or_init(|| spill.file.temporary_path());
        }
        if let Some(stopped) = &sink.stopped {
            self.stopped.get_or_init(|| stopped.clone());
        }
    }
}

/// A thread that reads ahead of the sink, once that gives it buffers.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    give_empty: Sender<Vec<u8>>,
    full: Receiver<(Vec<u8>, usize)>,
    thread: JoinHandle<io::Result<()>>,
}

impl ReadAhead {
    pub(crate) fn start(reader: impl Read + Send + 'static) -> io::Result<ReadAhead> {
        let (give_empty, empty) = channel();
        let (give_full, full) = channel();
        let run = move || read_ahead(reader, empty, give_full);
        let thread = thread::Builder::new().name("read".into()).spawn(run)?;
        Ok(ReadAhead { give_empty, full, thread })
    }

    /// Reads into the sink until the end or the first error, which it returns.
    pub(crate) fn take_all(
        self,
        mut sink: Sink<Spill>,
        progress: &Progress,
    ) -> (Sink<Spill>, Option<io::Error>) {
        // Allocated on first use. The reader may have ended and need no buffers, here and below.
        (0..BUFFERS).for_each(|_| _ = self.give_empty.send(Vec::new()));
        for (buffer, count) in self.full {
            sink.push(&buffer[..count]);
            progress.note(&sink);
            let _ = self.give_empty.send(buffer);
        }
        (sink, join(self.thread).err())
    }
}

pub(crate) fn join<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the capture failed")))
}

/// Passes on a reader's bytes in the buffers that are given back, with how many of them are in use.
fn read_ahead(
    mut reader: impl Read,
    empty: Receiver<Vec<u8>>,
    full: Sender<(Vec<u8>, usize)>,
) -> io::Result<()> {
    for mut buffer in empty {
        buffer.resize(BUFFER, 0);
        let count = read_some(&mut reader, &mut buffer)?;
        if count == 0 || full.send((buffer, count)).is_err() {
            break;
        }
    }
    Ok(())
}
