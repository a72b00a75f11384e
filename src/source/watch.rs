//! A thread that checks a source every fifth of a second, and reports only changes.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::base::fs::identity::{PathStatus, Snapshot, path_status};

use super::spool::{Spool, StreamProgress};

/// Interval for a file: short enough for a change to be on the screen within 250 ms.
const FILE_EVERY: Duration = Duration::from_millis(200);
/// Interval for a stream that is still arriving.
const STREAM_EVERY: Duration = Duration::from_millis(30);

/// Detects whether a source has changed since the last check, without touching the source. The first check compares with
/// the state that the source knows, so that no change in between is missed.
#[derive(Debug)]
pub struct Probe(Watched);

#[derive(Debug)]
enum Watched {
    File {
        file: Arc<File>,
        path: Option<PathBuf>,
        every: Duration,
        /// The state of file and path, or the error of the system.
        last: Result<(Snapshot, PathStatus), Option<i32>>,
    },
    Stream {
        spool: Arc<Spool>,
        last: (u64, StreamProgress),
    },
}

impl Probe {
    pub(super) fn file(file: Arc<File>, path: Option<PathBuf>, known: Snapshot, status: PathStatus) -> Probe {
        Probe(Watched::File { file, path, every: FILE_EVERY, last: Ok((known, status)) })
    }

    pub(super) fn stream(spool: Arc<Spool>, known: u64) -> Probe {
        Probe(Watched::Stream { spool, last: (known, StreamProgress::Streaming) })
    }

    /// Checks as often as for a stream, for a file that is being written.
    #[must_use]
    pub fn often(mut self) -> Probe {
        if let Watched::File { every, .. } = &mut self.0 {
            *every = STREAM_EVERY;
        }
        self
    }

    pub fn check_once(&mut self) -> bool {
        match &mut self.0 {
            Watched::Stream { spool, last } => {
                let now = (spool.kept(), spool.progress());
                std::mem::replace(last, now) != now
            }
            Watched::File { file, path, last, .. } => {
                let state = |now: Snapshot| (now, path_status(path.as_deref(), &now.identity));
                let now = file.metadata().map(|meta| state(Snapshot::from(&meta)));
                let now = now.map_err(|error| error.raw_os_error());
                std::mem::replace(last, now) != now
            }
        }
    }

    /// Returns the time until the next check; `None` once nothing can change any more.
    fn interval(&self) -> Option<Duration> {
        match &self.0 {
            Watched::File { every, .. } => Some(*every),
            Watched::Stream { spool, .. } => (!spool.ended()).then_some(STREAM_EVERY),
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
