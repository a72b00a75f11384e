//! What an agent calls: takes a tool's output or a command, returns what the model gets, and saves the whole output.
//!
//! [`Truncator`] truncates an output that is complete ([`Truncator::truncate`]) or still arriving ([`Writer`]);
//! [`Capture`] runs a command. All save in a [`Location`] and return an [`Outcome`].
//!
//! Inside: `process` starts a command and supervises it, `spill` takes an output within bounded memory, first held and
//! then in a file, and `result` makes the preview and keeps the spill if the request says so.

#![warn(missing_docs)]

mod command;
mod outcome;
#[allow(missing_docs)]
pub(crate) mod process;
#[allow(missing_docs)]
pub(crate) mod request;
#[allow(missing_docs)]
pub(crate) mod result;
#[allow(missing_docs)]
pub(crate) mod spill;
mod truncate;

pub use command::{Capture, RunningCommand};
pub use outcome::{Outcome, Portion};
pub use process::exit::{Ended, ProcessStatus, Stop};
pub use process::options::StartError;
pub use process::supervise::Control;
pub use result::finish::NoPreview;
pub use result::headroom::Headroom;
pub use spill::location::{Location, LocationError};
pub use truncate::{Error, Truncator, Writer};

// For the command line, the screens and the tests; none of this is stable.
#[doc(hidden)]
pub use {
    process::command::{Running, drain, run, start},
    process::follow::{Following, Interest, follow},
    process::options::{Group, Options, Stdin, Streams, Tee, TerminalSize},
    request::{About, KeepSpill, Request, set_true},
    result::captured::{Captured, CapturedOutput},
    result::finish::{FinishedCapture, NOT_SAVED},
    spill::content::Content,
    spill::copy::Progress,
    spill::location::DEFAULT_SESSION,
    spill::session::{EndError, EndedSession, end_session},
    spill::sink::{HOLD, SinkLimits, StopReason},
};
