//! Events of the output on the screen.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use crate::compare::Comparison;
use crate::config::EffectivePolicy;
use crate::corpus::tune::LimitChange;
use crate::output::plan::PlanDone;
use crate::output::recorded::{CallFacts, ReadyCall};
use crate::output::subject::Ending;
use crate::session::spill::CitingCall;
use crate::session::verdict::Verdict;
use crate::source::{Change, MapView, PathStatus};
use crate::text::filter::index::BlockLines;
use crate::text::index::BlockCounts;
use crate::text::search::Severity;
use crate::text::units::Measure;
use crate::tui::event::{COUNTING, FRAME, ScreenEvent};

/// An event for the output being viewed.
pub enum OutputEvent {
    /// A chunk of the file was counted.
    Counted {
        counts: BlockCounts,
        /// The other totals of the chunk.
        measure: Measure,
        /// The bytes whose totals those are; none if only line feeds were counted.
        measured: Range<u64>,
    },
    /// Lines can be marked by their severity from now on.
    SeveritiesCompiled,
    Found(SearchReply),
    /// The filter has counted consecutive blocks of lines, from the one of this number on.
    Filtered(usize, Vec<BlockLines>),
    Changed(ContentChange),
    /// The stream that the output comes from ended early, for this reason.
    CutShort(String),
    /// The notices of this output print another path from now on.
    SavedAs(String),
    Finished,
    /// The output is complete; this is how it ended.
    Ended(Box<Ending>),
    Planned(Box<PlanDone>),
    Compared(ComparedReply),
    /// The answer to what keeps a line: the change of limits that does.
    Advised(Option<LimitChange>),
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
    fn patience(&self) -> Duration {
        match self {
            OutputEvent::Compared(_) => FRAME,
            OutputEvent::Counted { .. } | OutputEvent::Found(SearchReply::Counted(..)) => COUNTING,
            _ => Duration::ZERO,
        }
    }
}

#[derive(Debug, Clone)]
pub enum SearchReply {
    /// The match, and whether the search wrapped around to find it; `None` if there is none.
    Sought(Option<(Range<usize>, bool)>),
    /// A chunk has been counted: the offset where it ends, and the number of matches that start in it.
    Counted(Counting, usize, u64),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counting {
    #[default]
    Matches,
    Severity(Severity),
}

#[derive(Debug)]
pub enum ComparedReply {
    /// What the policy of the row of this number makes of the output.
    Row(usize, Box<Comparison>),
    /// For each row, by its number, how many matches its policy keeps.
    Matches(Counting, Vec<(usize, u64)>),
    Ended,
}

pub struct ContentChange {
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
