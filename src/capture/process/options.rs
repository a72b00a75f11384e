//! How a command is to be run, and why it may not start.

use std::io;
use std::time::Duration;

use crate::capture::spill::sink::SinkLimits;

/// How a command is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Standard output and standard error in one or in two.
    pub streams: Streams,
    /// What it reads.
    pub stdin: Stdin,
    /// Its process group.
    pub group: Group,
    /// After this it is stopped.
    pub timeout: Option<Duration>,
    /// What is held, spilled and counted, of each stream.
    pub limits: SinkLimits,
}

/// How a command's standard output and standard error are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// Through one pipe, in the order in which they were written.
    #[default]
    Together,
    /// Through a pipe each; nothing then says which came first.
    Apart,
    /// Through a terminal of the command's own, of this size: as together, but with the terminal's CR LF
    /// for each line feed. The command leads a session, hence a group of its own.
    Terminal(TerminalSize),
}

/// The size of a terminal, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Cells in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for TerminalSize {
    /// 80 by 24.
    fn default() -> TerminalSize {
        TerminalSize { columns: 80, rows: 24 }
    }
}

/// What a command reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Our own standard input. On a terminal of the command's own, what comes there is typed: a terminal's
    /// keys one by one while it runs, anything else as it comes, and then the key that ends input.
    Inherit,
    /// Nothing.
    #[default]
    Null,
}

/// The process group of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    /// One of its own: a signal to stop goes to all of it.
    #[default]
    Own,
    /// Ours, for a command that reads the terminal, which only the foreground group may. The
    /// terminal's own signals (INT, QUIT) reach it without overspill; others go to it alone.
    Shared,
}

/// Why a command could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is none of this name.
    #[error("{0}: command not found")]
    NotFound(String),
    /// It is there, but cannot be run.
    #[error("{0}: {1}")]
    NotExecutable(String, io::Error),
    /// No pipe, thread or process could be had.
    #[error("the command was not started: {0}; end other processes, or raise `ulimit -u` and `ulimit -n`")]
    System(#[from] io::Error),
}

impl StartError {
    /// The exit status that shells end with: 127, 126; 1 for a failure of overspill's own.
    pub fn exit_code(&self) -> u8 {
        match self {
            StartError::NotFound(_) => 127,
            StartError::NotExecutable(..) => 126,
            StartError::System(_) => 1,
        }
    }
}
