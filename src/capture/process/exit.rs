//! How a command ended, and the exit status that says so.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// What the system says.
    pub status: ProcessStatus,
    /// Whether overspill had a part in it.
    pub stop: Stop,
}

/// What the system says of a process that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessStatus {
    /// It ended by itself, with this status: 0 to 255.
    Code(u8),
    /// A signal of this number killed it.
    Signal(i32),
}

/// Whether a command was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// It was not.
    No,
    /// By a signal of this number, which overspill was sent and passed on.
    Asked(i32),
    /// By overspill, on a timeout.
    TimedOut,
    /// By overspill, when its output had no reader any more.
    Unwanted,
}

impl Ended {
    /// The exit status to end with, as shells have it: the command's own; 128 + n when signal n
    /// killed it (the signal that asked overspill to stop it, where that is why); 124 when its
    /// time was over; 141, as for SIGPIPE, when nobody wanted its output.
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

    /// Whether the command was stopped rather than left to end.
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
