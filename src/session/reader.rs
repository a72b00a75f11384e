//! How an agent's records are found and read: what each reader offers, and the one pass over a log that all share.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::env::Env;
use crate::source::{Change, OpenError, Source};

use super::json::{Json, Tape};
use super::model::{RecordSpan, SessionFacts};
use super::record::{LineStep, MappedRecords, lines};
use super::transcript::Transcript;

/// How many bytes of the start and of the end of a session's file are read to list it.
pub const GLANCE: usize = 64 << 10;

/// A session as it is found: by its path, before anything of it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// The reader's name: the agent's, with the form of its records where it has several.
    pub format: &'static str,
    /// The file with the main conversation, or the database.
    pub path: PathBuf,
    /// The session's id, as the path tells, or the database's row.
    pub id: String,
    /// Size in bytes of the file, or of what the database holds of the session, if that is known.
    pub size: u64,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
    /// What is known without reading the file, as from an index that the agent keeps.
    pub facts: SessionFacts,
}

impl SessionFile {
    /// Returns a session in a database, of which a row tells these facts.
    pub fn in_database(format: &'static str, path: &Path, facts: SessionFacts) -> Self {
        let since = facts.ended.and_then(|at| u64::try_from(at.as_millisecond()).ok());
        Self {
            format,
            path: path.to_owned(),
            id: facts.id.clone(),
            size: 0,
            modified: since.map(|since| SystemTime::UNIX_EPOCH + Duration::from_millis(since)),
            facts,
        }
    }
}

/// Why a session cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The records cannot be read.
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why, in a few words, which quote nothing of the records.
        why: String,
    },
    /// The reading was given up.
    #[error("given up")]
    GivenUp,
}

/// How far the reading of a session is, and whether it is still wanted.
pub trait ReadProgress: Sync {
    /// Notes that `done` of `total` bytes are read. Returns whether to go on.
    fn step(&self, done: u64, total: u64) -> bool;
}

impl ReadProgress for () {
    fn step(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// One form of an agent's records.
pub trait SessionFormat: fmt::Debug + Sync {
    /// Returns the agent: the first part of its policies' names.
    fn agent(&self) -> &'static str;

    /// Returns the name of the form: the agent's, with more if the agent has several forms.
    fn name(&self) -> &'static str;

    /// Returns the versions of the agent whose records were seen by the writers of the reader: `1.0.86 to 2.1.330`.
    fn seen(&self) -> &'static str;

    /// Finds the sessions of an environment, without reading them. What cannot be looked at goes to `fault`, in words.
    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String));

    /// Whether a file of any name is such records: `head` is its first 64 KiB. Returns what [`SessionFormat::find`] would
    /// have found.
    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile>;

    /// Reads what a list shows from the first and the last 64 KiB of a session's file. `tail` is empty if `head` is the
    /// whole file. For a database both are empty.
    fn glance(&self, file: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts;

    /// Reads a session whole, by places.
    ///
    /// # Errors
    /// The file cannot be opened or read, or reading was given up. Records that are not understood are no error:
    /// [`Transcript::unread`] counts them.
    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError>;
}

/// A session that was opened, and can be followed as it grows.
pub trait OpenedSession: Send {
    /// Returns the calls.
    fn transcript(&self) -> &Transcript;

    /// Reads what was added since, or all of it again if the file was rewritten. Returns whether anything changed.
    ///
    /// # Errors
    /// As for [`SessionFormat::open`].
    fn refresh(&mut self, progress: &dyn ReadProgress) -> Result<bool, SessionError>;
}

/// Where a record of a log begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The number of the source, as in [`RecordSpan::source`].
    pub source: u32,
    /// The row of a table; 0 in a file.
    pub row: i64,
    /// The first byte of the record in the source.
    pub start: u64,
}

impl RecordPlace {
    /// Returns the place of a value of the record.
    pub fn span(self, value: Json) -> RecordSpan {
        let range = value.range();
        let (start, len) = (self.start + range.start as u64, range.len() as u64);
        RecordSpan { source: self.source, row: self.row, start, len }
    }
}

/// Reads the records of a log, one after the other. What it has to remember between records is its own.
pub trait LogReader: Send {
    /// Begins with a file of the session, the main one first; or goes on with one that has grown.
    fn file(&mut self, _path: &Path, _out: &mut Transcript) {}

    /// Reads one record. Returns whether it is of a kind that the reader knows; a kind that is not known it counts itself
    /// in [`Transcript::unread`].
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool;

    /// Works out what became of the results, after the last whole record so far. Is called again when the log has grown.
    fn settle(&mut self, _out: &mut Transcript) {}
}

/// Finds the logs of a session, the main one first.
pub type LogPaths = Box<dyn Fn() -> Vec<PathBuf> + Send>;

/// A session in one or several logs of a JSON value a line.
pub struct LogSession {
    agent: &'static str,
    find: LogPaths,
    paths: Vec<PathBuf>,
    logs: Vec<Log>,
    reader: Box<dyn LogReader>,
    new_reader: fn() -> Box<dyn LogReader>,
    transcript: Transcript,
}

struct Log {
    source: Source,
    number: u32,
    next: u64,
    unfinished: u64,
}

impl LogSession {
    /// Reads the logs at `paths`, the main one first. Those after the first may be missing.
    ///
    /// # Errors
    /// The first cannot be opened, or reading was given up.
    pub fn open(
        agent: &'static str,
        paths: Vec<PathBuf>,
        new_reader: fn() -> Box<dyn LogReader>,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        Self::follow(agent, Box::new(move || paths.clone()), new_reader, progress)
    }

    /// Reads the logs that `find` returns, and looks for others at each refresh: an agent may begin a new one.
    ///
    /// # Errors
    /// As for [`LogSession::open`].
    pub fn follow(
        agent: &'static str,
        find: LogPaths,
        new_reader: fn() -> Box<dyn LogReader>,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        let transcript = Transcript::new(agent);
        let (paths, logs, reader) = (Vec::new(), Vec::new(), new_reader());
        let mut session = Self { agent, find, paths, logs, reader, new_reader, transcript };
        session.read_all(progress)?;
        Ok(Box::new(session))
    }

    fn read_all(&mut self, progress: &dyn ReadProgress) -> Result<(), SessionError> {
        self.paths = (self.find)();
        self.logs.clear();
        self.reader = (self.new_reader)();
        self.transcript = Transcript::new(self.agent);
        for (n, path) in self.paths.iter().enumerate() {
            let source = match Source::open(path) {
                Ok(source) => source,
                Err(error) if n == 0 => return Err(error.into()),
                Err(_) => continue,
            };
            let records = MappedRecords::new(path.clone(), source.view());
            let number = self.transcript.add_source(Arc::new(records));
            self.logs.push(Log { source, number, next: 0, unfinished: 0 });
        }
        let total = self.logs.iter().map(|log| log.source.view().len() as u64).sum();
        let mut done = 0;
        for n in 0..self.logs.len() {
            let path = self.logs[n].source.path().map(Path::to_owned).unwrap_or_default();
            self.reader.file(&path, &mut self.transcript);
            self.read_on(n, &|at| progress.step(done + at, total))?;
            done += self.logs[n].source.view().len() as u64;
        }
        self.settle();
        Ok(())
    }

    /// Reads the records of one log that were not read yet.
    fn read_on(&mut self, n: usize, wanted: &dyn Fn(u64) -> bool) -> Result<(), SessionError> {
        let Self { logs, reader, transcript, .. } = self;
        let Some(log) = logs.get_mut(n) else { return Ok(()) };
        let view = log.source.view();
        let (mut tape, mut is_wanted) = (Tape::default(), true);
        log.unfinished = 0;
        log.next = lines(&view, log.next, &mut |step| {
            match step {
                LineStep::Unfinished(at) => log.unfinished = view.len() as u64 - at,
                LineStep::Line(line) => {
                    transcript.unread.records += 1;
                    let place = RecordPlace { source: log.number, row: 0, start: line.start };
                    match tape.read(line.bytes) {
                        Ok(record) => {
                            let is_known = reader.record(record, place, transcript);
                            transcript.unread.known += u64::from(is_known);
                        }
                        Err(_) => transcript.unread.broken += 1,
                    }
                    is_wanted = wanted(line.start);
                }
            }
            if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if is_wanted { Ok(()) } else { Err(SessionError::GivenUp) }
    }

    fn settle(&mut self) {
        self.transcript.unread.unfinished = self.logs.iter().map(|log| log.unfinished).sum();
        self.reader.settle(&mut self.transcript);
    }
}

impl OpenedSession for LogSession {
    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn refresh(&mut self, progress: &dyn ReadProgress) -> Result<bool, SessionError> {
        if (self.find)() != self.paths {
            self.read_all(progress)?;
            return Ok(true);
        }
        let mut grown = Vec::new();
        for (n, log) in self.logs.iter_mut().enumerate() {
            match log.source.refresh() {
                Change::Same => {}
                Change::Grown { .. } => grown.push(n),
                _ => {
                    self.read_all(progress)?;
                    return Ok(true);
                }
            }
        }
        for n in &grown {
            let log = &self.logs[*n];
            let (path, view) = (log.source.path().map(Path::to_owned).unwrap_or_default(), log.source.view());
            let total = view.len() as u64;
            self.reader.file(&path, &mut self.transcript);
            self.transcript.sources[log.number as usize] = Arc::new(MappedRecords::new(path, view));
            self.read_on(*n, &|at| progress.step(at, total))?;
        }
        if !grown.is_empty() {
            self.settle();
        }
        Ok(!grown.is_empty())
    }
}
