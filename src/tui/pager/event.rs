//! Events of the output on the screen.

use std::ops::Range;
use std::path::PathBuf;

use crate::config::EffectivePolicy;
use crate::session::citing::CitingCall;
use crate::session::verify::Verdict;
use crate::source::{Change, MapView, PathStatus};
use crate::text::index::BlockCounts;
use crate::text::units::Measure;
use crate::tui::event::{ScreenEvent, Urgency};
use crate::tui::recorded::{CallFacts, ReadyCall};
use crate::tui::target::{Ending, StartAt};

use super::advice::LimitChange;
use super::comparing::job::Compared;
use super::filter::job::Sifted;
use super::making::Planned;
use super::search::job::{Found, SearchReply};
use super::window::ThenRead;

/// An event for the output being viewed.
pub enum OutputEvent {
    /// A worker counted a chunk of the file.
    Counted {
        /// The generation of the file's content that was counted.
        generation: u64,
        /// The number of the count; chunks of an older count are dropped.
        number: u64,
        /// Line feeds by block.
        counts: BlockCounts,
        /// The other totals of the chunk.
        measure: Measure,
        /// The bytes whose totals those are; none if only line feeds were counted.
        measured: Range<u64>,
    },
    /// A search reports a result.
    Found(Found),
    /// A worker counted blocks of lines for the filter.
    Sifted(Sifted),
    /// The file has changed.
    Changed(Changed),
    /// The notices of this output print another path from now on.
    SavedAs(String),
    /// The command whose output is shown first has ended.
    Finished,
    /// The output is complete; this is how it ended.
    Ended(Box<Ending>),
    /// A preview has been made.
    Planned(Box<Planned>),
    /// A worker compared policies.
    Compared(Compared),
    /// The answer to what keeps a line: the request's number, and the change of limits that keeps the line.
    Advised(u64, Option<LimitChange>),
    /// The call of this index has been compared with what the policies make.
    Checked(usize, Box<Verdict>),
    /// What the records hold of the call of this index besides its result.
    Facts(usize, Box<CallFacts>),
    /// A call is ready to be shown, in place of what is known of it so far.
    Ready(Box<ReadyCall>),
    /// The call that the output of this path is of, if one was found.
    Cited(PathBuf, Option<Box<CitingCall>>),
    /// What became of keeping the output of this path.
    Kept(String, KeepResult),
    /// The output is to be shown from this place on.
    StartAt(StartAt),
    /// The policies to pick from have been loaded.
    Policies(Vec<EffectivePolicy>),
    /// The policy of the agent's read tool has been loaded.
    ReadTool(EffectivePolicy, ThenRead),
}

impl ScreenEvent for OutputEvent {
    fn urgency(&self) -> Urgency {
        match self {
            OutputEvent::Compared(_) => Urgency::Progress,
            OutputEvent::Counted { .. } => Urgency::Counting,
            OutputEvent::Found(Found { reply: SearchReply::Counted(..), .. }) => Urgency::Counting,
            _ => Urgency::Now,
        }
    }
}

/// What became of keeping an output.
#[derive(Debug)]
pub enum KeepResult {
    /// It is kept now, here.
    Kept(PathBuf),
    /// It was kept before.
    Before,
    /// It is not kept, for this reason.
    Failed(String),
}

/// How a file has changed.
pub struct Changed {
    /// The file as it is now.
    pub view: MapView,
    /// What happened to its content.
    pub content: Change,
    /// What happened to its name.
    pub path: PathStatus,
    /// Whether more may arrive: true for a stream that has not ended.
    pub streaming: bool,
}
