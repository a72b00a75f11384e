//! Copies from a reader to a sink through a few rotating buffers, so that reading rarely waits for the disk.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock};

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

/// Reads into the sink until the end or the first error, which it returns. Without a second thread, one does both.
pub(crate) fn take_all(
    reader: impl Read + Send,
    mut sink: Sink<Spill>,
    progress: &Progress,
) -> (Sink<Spill>, Option<io::Error>) {
    let (give_empty, empty) = channel();
    let (give_full, full) = channel();
    for _ in 0..BUFFERS {
        // Cannot fail: the receiver is right here. Buffers are allocated on first use.
        let _ = give_empty.send(Vec::new());
    }
    // If no thread can be started, the closure is dropped with everything it owns.
    let reader = Mutex::new(Some(reader));
    let take = || crate::base::lock(&reader).take();
    let failure = std::thread::scope(|scope| {
        let run = || take().map_or(Ok(()), |reader| read_ahead(reader, empty, give_full));
        match std::thread::Builder::new().name("read".into()).spawn_scoped(scope, run) {
            Ok(reading) => {
                // Gone if this panics: the reader would wait for ever.
                let give_empty = give_empty;
                for (buffer, count) in full {
                    sink.push(&buffer[..count]);
                    progress.note(&sink);
                    // The reader may have ended and need no more buffers.
                    let _ = give_empty.send(buffer);
                }
                reading.join().unwrap_or_else(|_| Err(io::Error::other("the reader failed"))).err()
            }
            Err(_) => take().and_then(|reader| in_turn(reader, &mut sink, progress).err()),
        }
    });
    (sink, failure)
}

fn in_turn(mut reader: impl Read, sink: &mut Sink<Spill>, progress: &Progress) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = read(&mut reader, &mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        sink.push(&buffer[..count]);
        progress.note(sink);
    }
}

/// Passes on a reader's bytes in the buffers that are given back, with how many of them are in use.
fn read_ahead(
    mut reader: impl Read,
    empty: Receiver<Vec<u8>>,
    full: Sender<(Vec<u8>, usize)>,
) -> io::Result<()> {
    for mut buffer in empty {
        buffer.resize(BUFFER, 0);
        let count = read(&mut reader, &mut buffer)?;
        if count == 0 || full.send((buffer, count)).is_err() {
            break;
        }
    }
    Ok(())
}

fn read(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::spill::sink::{SinkLimits, SinkState};
    use crate::text::units::TotalsMask;

    #[test]
    fn one_thread_takes_what_two_do() {
        let limits = SinkLimits { hold: 1 << 20, cap: u64::MAX, want: TotalsMask::NOTHING };
        let content: Vec<u8> =
            (0..3 * BUFFER + 5).map(|at| if at % 80 == 0 { b'\n' } else { b'x' }).collect();
        let new = || Sink::new(limits, Box::new(|| Err(io::ErrorKind::Unsupported.into())));
        let (mut sink, progress) = (new(), Progress::default());
        in_turn(&content[..], &mut sink, &progress).unwrap();
        let (both, failure) = take_all(&content[..], new(), &Progress::default());
        assert!(failure.is_none() && progress.bytes() == content.len() as u64);
        for taken in [sink, both] {
            assert!(matches!(taken.state, SinkState::Held(held, _) if held == content));
            assert_eq!(taken.counter.line_feeds(), progress.line_feeds());
        }
    }
}
