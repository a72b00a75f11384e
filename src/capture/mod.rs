//! What an agent calls: takes a tool's output or a command, returns what the model gets, and saves the whole output.
//!
//! [`Truncator`] truncates an output that is complete ([`Truncator::truncate`]) or still arriving ([`Writer`]);
//! [`Capture`] runs a command. All save in a [`Location`] and return an [`Outcome`].
//!
//! Inside: `process` starts a command and supervises it, `spill` takes an output within bounded memory, first held and
//! then in a file, and `finish` makes the preview and keeps the spill if the request says so.

#![warn(missing_docs)]

#[allow(missing_docs)]
mod captured;
mod command;
#[allow(missing_docs)]
mod finish;
mod headroom;
mod outcome;
#[allow(missing_docs)]
mod process;
#[allow(missing_docs)]
mod request;
#[allow(missing_docs)]
mod spill;
mod truncate;

pub use command::{Capture, RunningCommand};
pub use finish::NoPreview;
pub use headroom::Headroom;
pub use outcome::{Outcome, Portion};
pub use process::StartError;
pub use process::exit::{Ended, ProcessStatus, Stop};
pub use process::supervise::Control;
pub use spill::location::{Location, LocationError};
pub use truncate::{Error, Truncator, Writer};

// For the command line, the screens and the tests; none of this is stable.
#[doc(hidden)]
pub use {
    captured::{Captured, CapturedOutput},
    finish::{FinishedCapture, NOT_SAVED},
    process::command::{Running, run, start},
    process::follow::{Following, Interest, drain, follow},
    process::{Group, Options, Stdin, Streams, Tee, TerminalSize},
    request::{About, KeepSpill, Request, set_true},
    spill::content::Content,
    spill::copy::Progress,
    spill::location::{DEFAULT_SESSION, EndError, EndedSession, end_session},
    spill::sink::{HOLD, SinkLimits, StopReason},
};
