//! What an agent calls: a tool's output, or a command, in; what the model gets out; the whole saved.
//!
//! [`Truncator`] cuts an output that is in hand ([`Truncator::truncate`]) or still coming ([`Writer`]); [`Capture`]
//! runs a command. All save in a [`Location`] and give an [`Outcome`].
//!
//! Below: `process` starts a command and watches over it, `spill` takes an output within bounded memory, first held
//! and then in a file, `result` makes the preview of what was taken and keeps the spill where that says it is.

mod command;
pub(crate) mod process;
pub(crate) mod request;
pub(crate) mod result;
pub(crate) mod spill;
mod truncate;

pub use command::Capture;
pub use process::exit::{Ended, ProcessStatus, Stop};
pub use process::options::StartError;
pub use result::finish::NoPreview;
pub use spill::location::{Location, LocationError};
pub use truncate::{Error, Outcome, ToolOutput, Truncator, Writer};

// For the command line, the screens and the tests; none of it is stable.
#[doc(hidden)]
pub use {
    process::command::{Running, drain, run, start},
    process::follow::{Following, Interest, follow},
    process::options::{Group, Options, Stdin, Streams, TerminalSize},
    process::supervise::Control,
    request::{KeepSpill, Request, set_true},
    result::captured::{Captured, CapturedOutput},
    result::finish::{Delivery, NOT_SAVED},
    result::record::{About, Exit, OutputSize, Record},
    result::timeline::{Timeline, TimelineEntry},
    spill::content::Content,
    spill::copy::Progress,
    spill::location::DEFAULT_SESSION,
    spill::session::{EndError, EndedSession, end_session},
    spill::sink::{HOLD, SinkLimits, Stopped},
};
