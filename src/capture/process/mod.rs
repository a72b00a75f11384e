//! Runs a command: how it is to be run, why it may not start, and how it is supervised until it ends.

pub(crate) mod command;
pub(crate) mod follow;
pub(crate) mod pipe;
pub(crate) mod stdin;
pub(crate) mod supervise;

use std::fmt;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::base::lock;
use crate::capture::spill::sink::SinkLimits;
pub use crate::store::ProcessStatus;

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub streams: Streams,
    pub stdin: Stdin,
    pub group: Group,
    pub timeout: Option<Duration>,
    pub limits: SinkLimits,
    pub tee: Option<Tee>,
}

/// Is given a command's output as it arrives, chunk by chunk. The command waits while it has not returned.
#[derive(Clone)]
pub struct Tee(Arc<Mutex<TakeChunk>>);

type TakeChunk = dyn FnMut(&[u8]) + Send;

impl fmt::Debug for Tee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tee").finish_non_exhaustive()
    }
}

impl Tee {
    pub fn new(take: impl FnMut(&[u8]) + Send + 'static) -> Tee {
        Tee(Arc::new(Mutex::new(take)))
    }
}

#[derive(Debug)]
pub(crate) struct TeeReader<R> {
    pub reader: R,
    pub tee: Option<Tee>,
}

impl<R: Read> Read for TeeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some(Tee(take)) = &self.tee
            && let Some(chunk @ [_, ..]) = buffer.get(..count)
        {
            lock(take)(chunk);
        }
        Ok(count)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// Through one pipe, in the order in which they were written.
    #[default]
    Together,
    /// Through one pipe each; their relative order is then unknown.
    Apart,
    /// Through a terminal of this size: in one stream, with CR LF for each line feed. The command leads a session.
    Terminal(TerminalSize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

impl Default for TerminalSize {
    fn default() -> TerminalSize {
        TerminalSize { columns: 80, rows: 24 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Overspill's own standard input. If the command has its own terminal, the input is typed there: from a terminal,
    /// key by key while the command runs; from anything else, as it arrives, followed by the end-of-file key.
    Inherit,
    Bytes(Arc<[u8]>),
    #[default]
    Null,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    /// Its own group: a signal to stop goes to all of it.
    #[default]
    Own,
    /// Overspill's group, for a command that reads the terminal, which only the foreground group may. What the terminal
    /// sends reaches the command without overspill's help; other signals go to the command and what descends from it.
    Shared,
}

impl From<ExitStatus> for ProcessStatus {
    fn from(status: ExitStatus) -> ProcessStatus {
        match (status.code(), status.signal()) {
            (Some(code), _) => ProcessStatus::Code(code as u8),
            (None, signal) => ProcessStatus::Signal(signal.unwrap_or_default()),
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The status reported by the system.
    pub status: ProcessStatus,
    /// Whether and why overspill stopped it.
    pub stop: Stop,
}

/// Whether a command was asked to stop, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// Not asked to stop.
    No,
    /// By the signal of this number: TERM if it was cancelled, else one that overspill received and forwarded.
    Asked(i32),
    /// By overspill, on a timeout.
    TimedOut,
    /// By overspill, when nobody was left to read its output.
    Unwanted,
}

impl Ended {
    /// The exit status for overspill itself, following shell conventions: the command's own; 128 + n when signal n
    /// killed it (or, if it was stopped on a signal, the signal that overspill received); 124 on a timeout; 141, as for
    /// SIGPIPE, when nobody was left to read its output.
    pub fn exit_code(self) -> u8 {
        match (self.stop, self.status) {
            (Stop::TimedOut, _) => 124,
            (Stop::Unwanted, _) => 141,
            (_, ProcessStatus::Code(code)) => code,
            (Stop::Asked(signal), ProcessStatus::Signal(_)) | (Stop::No, ProcessStatus::Signal(signal)) => {
                u8::try_from(128 + signal).unwrap_or(u8::MAX)
            }
        }
    }

    /// The exit status that an agent can tell its model; none after a timeout, whose 124 only overspill reports.
    pub(crate) fn told_exit_code(self) -> Option<u8> {
        (self.stop != Stop::TimedOut).then(|| self.exit_code())
    }

    /// Whether the command was stopped rather than left to finish.
    pub fn is_aborted(self) -> bool {
        self.stop != Stop::No
    }
}

/// Why a command could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No command of this name exists.
    #[error("{0}: command not found")]
    NotFound(String),
    /// The command exists but cannot be run.
    #[error("{0}: {1}")]
    NotExecutable(String, io::Error),
    /// A pipe, thread or process could not be created.
    #[error("the command was not started: {0}; end other processes, or raise `ulimit -u` and `ulimit -n`")]
    System(#[from] io::Error),
}

impl StartError {
    /// The exit status that shells would use: 127 if not found, 126 if not executable; 125 for a system error.
    pub fn exit_code(&self) -> u8 {
        match self {
            StartError::NotFound(_) => 127,
            StartError::NotExecutable(..) => 126,
            StartError::System(_) => 125,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_are_as_in_shells() {
        let code = |status, stop| Ended { status, stop }.exit_code();
        assert_eq!(code(ProcessStatus::Code(7), Stop::No), 7);
        assert_eq!(code(ProcessStatus::Signal(9), Stop::No), 137);
        assert_eq!(code(ProcessStatus::Signal(15), Stop::Asked(2)), 130);
        assert_eq!(code(ProcessStatus::Code(0), Stop::Asked(2)), 0);
        assert_eq!(code(ProcessStatus::Code(0), Stop::TimedOut), 124);
        assert_eq!(code(ProcessStatus::Code(0), Stop::Unwanted), 141);
    }
}
