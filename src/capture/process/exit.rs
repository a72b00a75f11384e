//! How a command ended, and the exit status that reports it.

#![warn(missing_docs)]

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::store::Exit;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The status reported by the system.
    pub status: ProcessStatus,
    /// Whether and why overspill stopped it.
    pub stop: Stop,
}

/// The system's report on a finished process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessStatus {
    /// Exited with this status: 0 to 255.
    Code(u8),
    /// Killed by the signal of this number.
    Signal(i32),
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

impl From<ProcessStatus> for Exit {
    fn from(status: ProcessStatus) -> Exit {
        match status {
            ProcessStatus::Code(code) => Exit::Code(code),
            ProcessStatus::Signal(signal) => Exit::Signal(signal),
        }
    }
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

    /// Whether the command was stopped rather than left to finish.
    pub fn is_aborted(self) -> bool {
        self.stop != Stop::No
    }
}

impl From<ExitStatus> for ProcessStatus {
    fn from(status: ExitStatus) -> ProcessStatus {
        match (status.code(), status.signal()) {
            (Some(code), _) => ProcessStatus::Code(code as u8),
            (None, signal) => ProcessStatus::Signal(signal.unwrap_or_default()),
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
