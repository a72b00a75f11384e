//! Events of the output on the screen.

use std::ops::Range;
use std::path::PathBuf;

use crate::compare::Comparison;
use crate::config::EffectivePolicy;
use crate::preview::Policy;
use crate::session::citing::CitingCall;
use crate::session::verify::Verdict;
use crate::source::{Change, MapView, PathStatus};
use crate::text::filter::index::BlockLines;
use crate::text::index::BlockCounts;
use crate::text::search::Severity;
use crate::text::units::Measure;
use crate::tui::event::{ScreenEvent, Urgency};
use crate::tui::recorded::{CallFacts, ReadyCall};
use crate::tui::target::Ending;

use super::plan::PlanDone;

/// An event for the output being viewed. What a job reports has the number of its task; that of an older one is dropped.
pub enum OutputEvent {
    /// A chunk of the file was counted.
    Counted {
        /// The generation of the file's content that was counted.
        generation: u64,
        number: u64,
        counts: BlockCounts,
        /// The other totals of the chunk.
        measure: Measure,
        /// The bytes whose totals those are; none if only line feeds were counted.
        measured: Range<u64>,
    },
    Found {
        number: u64,
        reply: SearchReply,
    },
    /// The filter has counted consecutive blocks of lines from the `first` on.
    Filtered {
        number: u64,
        first: usize,
        lines: Vec<BlockLines>,
    },
    Changed(Changed),
    /// The notices of this output print another path from now on.
    SavedAs(String),
    Finished,
    /// The output is complete; this is how it ended.
    Ended(Box<Ending>),
    Planned(Box<PlanDone>),
    Compared(u64, ComparedReply),
    /// The answer to what keeps a line: the change of limits that does.
    Advised(u64, Option<LimitChange>),
    /// The call of this index has been compared with what the policies make.
    Checked(usize, Box<Verdict>),
    /// What the records hold of the call of this index besides its result.
    Facts(usize, Box<CallFacts>),
    /// A call is ready to be shown, in place of what is known of it so far.
    Ready(Box<ReadyCall>),
    /// The call that the output of this path is of, if one was found.
    Cited(PathBuf, Option<Box<CitingCall>>),
    /// The outputs of these paths are kept forever.
    Kept(Vec<PathBuf>),
    Policies(Vec<EffectivePolicy>),
    ReadTool(EffectivePolicy, ThenRead),
}

impl ScreenEvent for OutputEvent {
    fn urgency(&self) -> Urgency {
        match self {
            OutputEvent::Compared(..) => Urgency::Progress,
            OutputEvent::Counted { .. } => Urgency::Counting,
            OutputEvent::Found { reply: SearchReply::Counted(..), .. } => Urgency::Counting,
            _ => Urgency::Now,
        }
    }
}

#[derive(Debug, Clone)]
pub enum SearchReply {
    /// The match, and whether the search wrapped around to find it.
    Match(Range<usize>, bool),
    Nothing,
    /// A chunk has been counted: the offset where it ends, and the number of matches that start in it.
    Counted(Counting, usize, u64),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counting {
    /// The matches of the search.
    #[default]
    Matches,
    Severity(Severity),
}

#[derive(Debug)]
pub enum ComparedReply {
    Row(Box<Comparison>),
    /// For each policy, by name, the number of matches that it keeps.
    Finds(Counting, Vec<(String, u64)>),
    Ended,
}

/// A change of limits: its description, and the policy with the change applied.
pub type LimitChange = (String, Policy);

pub struct Changed {
    pub view: MapView,
    pub content: Change,
    pub path: PathStatus,
    /// Whether more may arrive: true for a stream that has not ended.
    pub streaming: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThenRead {
    /// Show the window in Preview, as the tool returns it.
    Show,
    /// Copy the call that reads the window.
    CopyCall,
}
