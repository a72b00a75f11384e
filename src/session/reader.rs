//! How the reading of records is begun, watched and given up; and the one pass over a log that all readers share.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::source::OpenError;

use super::json::Json;
use super::model::{RecordSpan, SessionFacts};
use super::record::{Gap, LogChange, LogFile, LogStep, records};
use super::transcript::Transcript;

/// How many bytes of the start and of the end of a session's file are read to list it.
pub const GLANCE: usize = 64 << 10;
const MAX_OPEN: usize = 16;

/// How many bytes of a log are read at least before [`ReadProgress::step`] is called again.
const STRIDE: u64 = 256 << 10;

/// A session as it is found: by its path, before anything of it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFile {
    /// The reader's name: the agent's, with the form of its records where it has several.
    pub format: &'static str,
    /// The file with the main conversation, or the database.
    pub path: PathBuf,
    /// The session's id, by its path or by the database's row.
    pub id: String,
    /// Size in bytes of the file, or of what the database holds of the session, if that is known.
    pub size: u64,
    pub modified: Option<SystemTime>,
    /// What is known without reading the file, as from an index that the agent keeps.
    pub facts: SessionFacts,
}

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{}: {why}", path.display())]
    Unreadable {
        path: PathBuf,
        /// Why, in a few words, which quote nothing of the records.
        why: String,
    },
    #[error("given up")]
    GivenUp,
}

pub type SessionResult<T> = Result<T, SessionError>;

/// How far the reading of a session is, and whether it is still wanted.
pub trait ReadProgress: Sync {
    /// Notes that `done` of `total` bytes are read. Returns whether to go on.
    fn step(&self, done: u64, total: u64) -> bool;

    /// Notes a step; fails if the session is wanted no more.
    fn try_step(&self, done: u64, total: u64) -> SessionResult<()> {
        if self.step(done, total) { Ok(()) } else { Err(SessionError::GivenUp) }
    }

    /// Returns the check whether to go on where no steps can be noted, as within a query; `None` if nothing ends the reading.
    fn wanted_check(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
        None
    }
}

impl ReadProgress for () {
    fn step(&self, _: u64, _: u64) -> bool {
        true
    }
}

impl<F: Fn() -> bool + Sync> ReadProgress for F {
    fn step(&self, _: u64, _: u64) -> bool {
        self()
    }
}

pub type TakeSession<'a> = &'a mut dyn FnMut(SessionFile);

/// Takes a message about what could not be looked at, or none before a look. Returns whether to go on.
pub type FindWatch<'a> = &'a mut dyn FnMut(Option<String>) -> bool;

/// A session that was opened, and can be followed as it grows.
pub trait OpenedSession: Send {
    fn transcript(&self) -> &Transcript;

    /// Reads what was added since, or all of it again if the file was rewritten. Returns whether anything changed.
    fn refresh(&mut self, progress: &dyn ReadProgress) -> SessionResult<bool>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace<'a> {
    /// The number of the source, as in [`RecordSpan::source`].
    pub source: u32,
    /// The row of a table; 0 in a file.
    pub row: i64,
    pub start: u64,
    /// What the value that was read leaves out.
    pub gaps: &'a [Gap],
}

impl<'a> RecordPlace<'a> {
    /// The place of a value that was read as it is.
    pub fn new(source: u32, row: i64, start: u64) -> Self {
        Self { source, row, start, gaps: &[] }
    }

    pub fn span(self, value: Json) -> RecordSpan {
        let range = value.range();
        let [start, end] = [range.start, range.end].map(|at| Gap::place(self.gaps, at));
        RecordSpan::new(self.source, self.row, self.start.saturating_add(start), end - start)
    }
}

/// Reads the records of a log, one after the other. What it has to remember between records is its own.
pub trait LogReader: Send {
    /// Begins with a file of the session, the main one first; or goes on with one that has grown.
    fn file(&mut self, _path: &Path, _out: &mut Transcript) {}

    /// Reads a record. Returns whether its kind is known; the reader counts one that is not in [`Transcript::unread`].
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool;

    /// Works out what became of the results, after the last whole record so far. Is called again when the log has grown.
    fn derive_events(&mut self, _out: &mut Transcript) {}
}

/// Finds the files of a session by the main one, which comes first.
pub type FindFiles = fn(main: &Path) -> Vec<PathBuf>;

/// A session in one or several logs of a JSON value a line.
pub struct LogSession {
    main: PathBuf,
    find: FindFiles,
    new_reader: fn() -> Box<dyn LogReader>,
    /// The logs that were looked for, also those that are missing.
    paths: Vec<PathBuf>,
    logs: Vec<Log>,
    reader: Box<dyn LogReader>,
    transcript: Transcript,
    /// Whether an update was cancelled or failed midway; all is then read again.
    is_torn: bool,
}

struct Log {
    file: LogFile,
    number: u32,
    next: u64,
    unfinished: u64,
}

impl LogSession {
    /// Reads the logs that `find` returns, the main one first, and looks for others at each refresh: an agent may begin a new
    /// one. So `find` has to be cheap. Those after the first may be missing.
    pub fn open(
        agent: &'static str,
        main: &Path,
        find: FindFiles,
        new_reader: fn() -> Box<dyn LogReader>,
        progress: &dyn ReadProgress,
    ) -> SessionResult<Self> {
        let (main, reader, transcript) = (main.to_owned(), new_reader(), Transcript::new(agent));
        let (paths, logs, is_torn) = (Vec::new(), Vec::new(), false);
        let mut session = Self { main, find, new_reader, paths, logs, reader, transcript, is_torn };
        let logs = session.begin(&find(&session.main), progress)?;
        session.read_on(&logs, progress)?;
        Ok(session)
    }

    /// Takes up logs. Returns their numbers.
    fn begin(&mut self, paths: &[PathBuf], progress: &dyn ReadProgress) -> SessionResult<Vec<usize>> {
        let before = self.logs.len();
        for path in paths {
            let keep_open = self.logs.len() < MAX_OPEN;
            let opened = LogFile::open(path, &|| progress.step(0, 1));
            let opened = opened.and_then(|file| Ok((file.records(keep_open)?, file)));
            progress.try_step(0, 1)?;
            match opened {
                Ok((records, file)) => {
                    let number = self.transcript.add_source(Arc::new(records));
                    self.logs.push(Log { file, number, next: 0, unfinished: 0 });
                }
                Err(error) if self.paths.is_empty() => return Err(OpenError::new(path, error).into()),
                Err(_) => {}
            }
            self.paths.push(path.clone());
        }
        Ok((before..self.logs.len()).collect())
    }

    /// Reads what was added, and new logs. Returns how they changed: after a replacement all have to be read again.
    fn read_more(&mut self, paths: &[PathBuf], progress: &dyn ReadProgress) -> SessionResult<LogChange> {
        let mut grown = Vec::new();
        self.is_torn = true;
        for (n, log) in self.logs.iter_mut().enumerate() {
            match log.file.refresh().map_err(|error| OpenError::new(log.file.path(), error))? {
                LogChange::Same => {}
                LogChange::Grown => grown.push(n),
                LogChange::Replaced => return Ok(LogChange::Replaced),
            }
        }
        let new: Vec<_> = paths.iter().filter(|path| !self.paths.contains(path)).cloned().collect();
        grown.extend(self.begin(&new, progress)?);
        if !grown.is_empty() {
            self.read_on(&grown, progress)?;
        }
        if self.transcript.requests.is_torn() {
            return Ok(LogChange::Replaced);
        }
        self.is_torn = false;
        Ok(if grown.is_empty() { LogChange::Same } else { LogChange::Grown })
    }

    /// Reads the records of some logs that were not read yet.
    fn read_on(&mut self, logs: &[usize], progress: &dyn ReadProgress) -> SessionResult<()> {
        let rest = |log: &Log| log.file.size().saturating_sub(log.next);
        let total = logs.iter().filter_map(|n| self.logs.get(*n)).map(rest).sum();
        let mut done = 0;
        for n in logs {
            let Some(log) = self.logs.get_mut(*n) else { continue };
            let (from, rest) = (log.next, rest(log));
            self.reader.file(log.file.path(), &mut self.transcript);
            let step = |at: u64| progress.step(done + at.saturating_sub(from), total);
            read_log(log, &mut *self.reader, &mut self.transcript, &step)?;
            done += rest;
        }
        self.transcript.unread.unfinished = self.logs.iter().map(|log| log.unfinished).sum();
        self.transcript.unread.fault = self.logs.iter().find_map(|log| log.file.fault()).map(Into::into);
        self.transcript.shrink();
        self.reader.derive_events(&mut self.transcript);
        self.transcript.derive_fates();
        Ok(())
    }
}

impl OpenedSession for LogSession {
    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn refresh(&mut self, progress: &dyn ReadProgress) -> SessionResult<bool> {
        let paths = (self.find)(&self.main);
        let is_whole = !self.is_torn && self.paths.iter().all(|path| paths.contains(path));
        let change = if is_whole { self.read_more(&paths, progress)? } else { LogChange::Replaced };
        if change == LogChange::Replaced {
            *self = Self::open(self.transcript.agent, &self.main, self.find, self.new_reader, progress)?;
        }
        Ok(change != LogChange::Same)
    }
}

fn read_log(
    log: &mut Log,
    reader: &mut dyn LogReader,
    transcript: &mut Transcript,
    step_to: &(dyn Fn(u64) -> bool + Sync),
) -> SessionResult<()> {
    let (mut unfinished, mut asked) = (0, None);
    let ended = records(&log.file, log.next, &mut |step| {
        transcript.is_beginning = matches!(step, LogStep::Beginning(..));
        let (start, record, gaps) = match step {
            LogStep::Shortened(start, record, gaps) => (start, record, gaps),
            LogStep::Record(start, record) | LogStep::Beginning(start, record) => (start, record, &[][..]),
            LogStep::Unfinished(rest) => {
                unfinished = rest.end - rest.start;
                return ControlFlow::Continue(());
            }
        };
        transcript.unread.long += u64::from(transcript.is_beginning && record.is_ok());
        transcript.unread.records += 1;
        match record {
            Ok(record) => {
                let place = RecordPlace { gaps, ..RecordPlace::new(log.number, 0, start) };
                transcript.unread.known += u64::from(reader.record(record, place, transcript));
            }
            Err(_) => transcript.unread.broken += 1,
        }
        if asked.is_some_and(|asked| start < asked + STRIDE) {
            return ControlFlow::Continue(());
        }
        asked = Some(start);
        if step_to(start) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (log.unfinished, transcript.is_beginning) = (unfinished, false);
    match ended.map_err(|error| OpenError::new(log.file.path(), error))? {
        ControlFlow::Continue(next) => log.next = next,
        ControlFlow::Break(()) => return Err(SessionError::GivenUp),
    }
    Ok(())
}
