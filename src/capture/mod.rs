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
#[allow(missing_docs)]
mod process;
#[allow(missing_docs)]
mod request;
#[allow(missing_docs)]
mod spill;
mod truncate;

use std::path::PathBuf;

use crate::compare::{each_lost, kept_ranges};
use crate::preview::{Input, LimitHit, Preview, Stream};
use crate::source::ViewSupply;
use crate::text::search::Severity;
use crate::text::supply::{OwnBytes, Supply};

pub use command::{Capture, RunningCommand};
pub use finish::NoPreview;
pub use headroom::Headroom;
pub use process::supervise::Control;
pub use process::{Ended, ProcessStatus, StartError, Stop};
pub use spill::location::{Location, LocationError};
pub use truncate::{Error, Truncator, Writer};

// For the command line, the screens and the tests; none of this is stable.
#[doc(hidden)]
pub use {
    captured::{Captured, CapturedOutput, RunRecord},
    finish::{FinishedCapture, NOT_SAVED},
    process::command::{Running, start},
    process::follow::{Following, Interest, drain, follow},
    process::{Group, Options, Stdin, Streams, Tee, TerminalSize},
    request::{KeepSpill, Mishap, Request, set_captures_all, set_mishaps},
    spill::content::Content,
    spill::copy::Progress,
    spill::location::{DEFAULT_SESSION, EndError, EndedSession, end_session},
    spill::sink::{HOLD, SinkLimits, StopReason},
};

/// What an agent gets of a tool's output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// What the model gets.
    pub text: String,
    /// Whether the policy cut away any of the output.
    pub truncated: bool,
    /// The limit that cut it; none exactly if it is not truncated.
    pub truncated_by: Option<LimitHit>,
    /// The lines of the output, as the policy counts them. A line of which the model gets a part is kept.
    pub lines: Portion,
    /// The UTF-8 bytes of the decoded output.
    pub bytes: Portion,
    /// The lines that report an error, as compilers, test runners, loggers and shells write it. None if they cannot be
    /// counted, because a part of the output is past the policy's cap and gone.
    pub errors: Option<Portion>,
    /// Where the whole output was saved (or its beginning, up to a cap). None if the output fits, or could
    /// not be saved.
    pub saved_to: Option<PathBuf>,
    /// The same for a command's standard error, where the policy treats it separately.
    pub stderr_saved_to: Option<PathBuf>,
    /// How the command ended; none if there was no command.
    pub ended: Option<Ended>,
    /// Problems that stopped nothing, such as a failed save. Escape them before printing to a terminal.
    pub warnings: Vec<String>,
}

/// How much of something the model gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Portion {
    /// How much there is in the whole output.
    pub total: u64,
    /// How much of it the model gets.
    pub kept: u64,
}

impl Portion {
    /// Returns how much of it the model does not get.
    pub fn lost(self) -> u64 {
        self.total.saturating_sub(self.kept)
    }
}

impl Outcome {
    /// Describes a preview all of whose totals were counted.
    fn new(preview: &Preview, input: &Input, errors: Option<Portion>) -> Outcome {
        let portion = |total: Option<u64>, kept: Option<u64>| {
            total.zip(kept).map(|(total, kept)| Portion { total, kept }).unwrap_or_default()
        };
        Outcome {
            text: preview.text(input),
            truncated: preview.truncated,
            truncated_by: preview.truncated_by,
            lines: portion(preview.total.lines, preview.kept.lines),
            bytes: portion(preview.total.bytes, preview.kept.bytes),
            errors,
            saved_to: None,
            stderr_saved_to: None,
            ended: None,
            warnings: Vec::new(),
        }
    }
}

fn errors_of(preview: &Preview, captured: &Captured) -> Option<Portion> {
    let mut counted = captured.outputs().map(|output| match &output.content {
        Content::Held(bytes) => errors_in(preview, output.stream, bytes, &mut OwnBytes::from(bytes)),
        Content::File(view) => errors_in(preview, output.stream, view, &mut ViewSupply::from(view)),
        Content::Ends(..) => None,
    });
    counted.try_fold(Portion::default(), |sum, errors| {
        let Portion { total, kept } = errors?;
        Some(Portion { total: sum.total + total, kept: sum.kept + kept })
    })
}

fn errors_in(preview: &Preview, stream: Stream, bytes: &[u8], supply: &mut impl Supply) -> Option<Portion> {
    let kept = kept_ranges(&preview.parts, bytes, stream);
    let errors = each_lost(supply, &kept, Severity::Error.built_in()?, &mut |_| {});
    Some(Portion { total: errors.all, kept: errors.all - errors.lost })
}
