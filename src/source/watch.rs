//! One thread that looks every fifth of a second, and speaks only when something changed.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::fs::identity::{Identity, PathStatus, Snapshot, path_status};

use super::spool::{Spool, StreamProgress};

/// A file: often enough that a change is on the screen within 250 ms.
const FILE_EVERY: Duration = Duration::from_millis(200);
/// A stream that is still coming is looked at more often.
const STREAM_EVERY: Duration = Duration::from_millis(30);

/// Tells whether a source has changed since the last look, without touching the source.
#[derive(Debug)]
pub struct Probe {
    watched: Watched,
    last: Seen,
}

#[derive(Debug)]
enum Watched {
    File { file: Arc<File>, path: Option<PathBuf>, every: Duration },
    Spool(Arc<Spool>),
}

#[derive(Debug, PartialEq)]
enum Seen {
    File(Snapshot, PathStatus),
    Stream(u64, StreamProgress),
    Unreadable(Option<i32>),
}

impl Probe {
    // Both start from what the source has taken in, so that nothing between is missed.

    pub(super) fn file(file: Arc<File>, path: Option<PathBuf>, known: Snapshot, status: PathStatus) -> Probe {
        Probe { watched: Watched::File { file, path, every: FILE_EVERY }, last: Seen::File(known, status) }
    }

    pub(super) fn spool(spool: Arc<Spool>, known: u64) -> Probe {
        Probe { watched: Watched::Spool(spool), last: Seen::Stream(known, StreamProgress::Streaming) }
    }

    /// The same, for a file that is being written: it is looked at as often as a stream.
    #[must_use]
    pub fn often(mut self) -> Probe {
        if let Watched::File { every, .. } = &mut self.watched {
            *every = STREAM_EVERY;
        }
        self
    }

    /// Looks once; true if anything differs from the last look.
    pub fn check_once(&mut self) -> bool {
        let now = self.look();
        let changed = now != self.last;
        self.last = now;
        changed
    }

    /// How long to wait until the next look; `None` once nothing can change any more.
    fn interval(&self) -> Option<Duration> {
        match &self.watched {
            Watched::File { every, .. } => Some(*every),
            Watched::Spool(spool) => (!spool.ended()).then_some(STREAM_EVERY),
        }
    }

    fn look(&self) -> Seen {
        match &self.watched {
            Watched::Spool(spool) => Seen::Stream(spool.kept(), spool.progress()),
            Watched::File { file, path, .. } => match file.metadata() {
                Err(error) => Seen::Unreadable(error.raw_os_error()),
                Ok(meta) => {
                    let status = path_status(path.as_deref(), &Identity::from(&meta));
                    Seen::File(Snapshot::from(&meta), status)
                }
            },
        }
    }
}

/// A thread that calls back whenever its probe sees a change. It ends when this is dropped, when
/// the callback says that it has no listener, or when a stream has ended.
#[derive(Debug)]
pub struct Watcher {
    _stop: Sender<()>,
}

impl Watcher {
    /// Starts watching. `changed` is called after each change, from the watcher's thread; it
    /// returns false to stop (for a channel: `move || tx.send(event).is_ok()`).
    ///
    /// # Errors
    /// If no thread can be had.
    pub fn spawn(
        mut probe: Probe,
        mut changed: impl FnMut() -> bool + Send + 'static,
    ) -> std::io::Result<Watcher> {
        let (stop, stopped) = channel::<()>();
        let watch = move || {
            loop {
                let pause = probe.interval();
                if probe.check_once() && !changed() {
                    return;
                }
                let Some(pause) = pause else { return };
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("watch".into()).spawn(watch)?;
        Ok(Watcher { _stop: stop })
    }
}
