//! Runs a command: how it is to be run, why it may not start, and how it is supervised until it ends.

pub(crate) mod command;
pub(crate) mod exit;
pub(crate) mod follow;
pub(crate) mod pipe;
pub(crate) mod stdin;
pub(crate) mod supervise;

use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::base::lock;
use crate::capture::spill::sink::SinkLimits;

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

/// A reader whose bytes are handed on as they are read.
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
    /// Through a terminal of this size: in one stream, with the terminal's CR LF for each line feed. The command leads
    /// a session, and so has its own group.
    Terminal(TerminalSize),
}

/// The size of a terminal, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

impl Default for TerminalSize {
    /// 80 by 24.
    fn default() -> TerminalSize {
        TerminalSize { columns: 80, rows: 24 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Overspill's own standard input. If the command has its own terminal, the input is typed there: from a terminal,
    /// key by key while the command runs; from anything else, as it arrives, followed by the end-of-file key.
    Inherit,
    /// These bytes, through a pipe.
    Bytes(Arc<[u8]>),
    /// Empty.
    #[default]
    Null,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    /// Its own group: a signal to stop goes to all of it.
    #[default]
    Own,
    /// Overspill's group, for a command that reads the terminal, which only the foreground group may. The terminal's
    /// own signals (INT, QUIT) reach the command without overspill's help; other signals go to the command alone.
    Shared,
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
