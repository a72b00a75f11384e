//! A thread that checks a source every fifth of a second, and reports only changes.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::base::fs::identity::{Identity, PathStatus, Snapshot, path_status};

use super::spool::{Spool, StreamProgress};

/// Interval for a file: short enough for a change to be on the screen within 250 ms.
const FILE_EVERY: Duration = Duration::from_millis(200);
/// Interval for a stream that is still arriving.
const STREAM_EVERY: Duration = Duration::from_millis(30);

/// Detects whether a source has changed since the last check, without touching the source.
#[derive(Debug)]
pub struct Probe {
    watched: WatchedSource,
    last: SourceState,
}

#[derive(Debug)]
enum WatchedSource {
    File { file: Arc<File>, path: Option<PathBuf>, every: Duration },
    Spool(Arc<Spool>),
}

#[derive(Debug, PartialEq)]
enum SourceState {
    File(Snapshot, PathStatus),
    Stream(u64, StreamProgress),
    Unreadable(Option<i32>),
}

impl Probe {
    // Both start from the state that the source knows, so that no change in between is missed.

    pub(super) fn file(file: Arc<File>, path: Option<PathBuf>, known: Snapshot, status: PathStatus) -> Probe {
        Probe {
            watched: WatchedSource::File { file, path, every: FILE_EVERY },
            last: SourceState::File(known, status),
        }
    }

    pub(super) fn spool(spool: Arc<Spool>, known: u64) -> Probe {
        Probe {
            watched: WatchedSource::Spool(spool),
            last: SourceState::Stream(known, StreamProgress::Streaming),
        }
    }

    /// Checks as often as for a stream, for a file that is being written.
    #[must_use]
    pub fn often(mut self) -> Probe {
        if let WatchedSource::File { every, .. } = &mut self.watched {
            *every = STREAM_EVERY;
        }
        self
    }

    pub fn check_once(&mut self) -> bool {
        let now = self.look();
        let changed = now != self.last;
        self.last = now;
        changed
    }

    /// Returns the time until the next check; `None` once nothing can change any more.
    fn interval(&self) -> Option<Duration> {
        match &self.watched {
            WatchedSource::File { every, .. } => Some(*every),
            WatchedSource::Spool(spool) => (!spool.ended()).then_some(STREAM_EVERY),
        }
    }

    fn look(&self) -> SourceState {
        match &self.watched {
            WatchedSource::Spool(spool) => SourceState::Stream(spool.kept(), spool.progress()),
            WatchedSource::File { file, path, .. } => match file.metadata() {
                Err(error) => SourceState::Unreadable(error.raw_os_error()),
                Ok(meta) => {
                    let status = path_status(path.as_deref(), &Identity::from(&meta));
                    SourceState::File(Snapshot::from(&meta), status)
                }
            },
        }
    }
}

#[derive(Debug)]
pub struct Watcher {
    _stop: Sender<()>,
}

impl Watcher {
    /// Starts watching. `changed` is called after each change, on the watcher's thread; it returns false to stop.
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
