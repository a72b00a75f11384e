//! What the screen of an output is given: the output, the policy that cuts it, and how it ended.

use crate::config::EffectivePolicy;
use crate::known::Certainty;
use crate::preview::{InputContext, Policy};
use crate::source::{MapView, Source};
use crate::text::search::Pattern;

use super::recorded::RecordedCall;

/// An output to show.
pub struct Target {
    /// What the output is, and how it was cut.
    pub subject: Subject,
    /// The bytes of the output.
    pub source: Source,
}

/// An output, and the policy that currently cuts it.
#[derive(Clone)]
pub struct Subject {
    /// The name shown on the screen.
    pub name: String,
    /// The absolute path of its file; `None` if it has no file, or the file may be replaced.
    pub file: Option<String>,
    /// The id of the output in its store, or of its call in its session; empty if it has none.
    pub id: String,
    /// Whether it is known to be kept forever.
    pub is_kept: bool,
    /// The command that printed it, as it was written; empty if none is known.
    pub command: String,
    /// What a plan needs besides the bytes.
    pub context: InputContext<MapView>,
    /// The policy with its limits.
    pub policy: EffectivePolicy,
    /// The policies that may have made the output, if its store tells; most likely first.
    pub candidates: Vec<EffectivePolicy>,
}

impl Subject {
    /// Returns the path of its file, or else the one that notices print.
    pub(crate) fn path(&self) -> &str {
        self.file.as_ref().unwrap_or(&self.context.saved_as)
    }
}

/// Where an output was opened from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedFrom {
    /// It is named on the command line.
    Named,
    /// The list of stored outputs.
    Stores,
    /// The calls of a session.
    Session,
    /// The outputs that a setting cuts differently.
    Tune,
}

/// An output to view.
pub struct Opened {
    /// What the output is, and how it was cut.
    pub subject: Subject,
    /// The bytes of the output.
    pub view: MapView,
    /// The result that the agent recorded, if the output was opened from its records.
    pub recorded: Option<Box<RecordedCall>>,
    /// Whether more may arrive: true for a stream that has not ended.
    pub streaming: bool,
    /// Whether the command whose output is shown is still running.
    pub running: bool,
    /// The index among the outputs named on the command line of the one viewed last, 0-based.
    pub file: usize,
    /// The number of outputs named on the command line.
    pub files: usize,
    /// Where it was opened from.
    pub origin: OpenedFrom,
    /// The line to begin with, 1-based.
    pub line: Option<u64>,
    /// The policy to show it under.
    pub under: Option<EffectivePolicy>,
    /// What is searched for in it.
    pub find: Option<Pattern>,
}

/// A place in an output, as `less` and editors take it on their command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartAt {
    /// A line of the file, 1-based.
    Line(u64),
    End,
    /// The first match of a pattern.
    Match(String),
}

/// How an output ended that was viewed while it was being made.
#[derive(Debug, Clone)]
pub struct Ending {
    /// How certain it is that a model gets what the policy makes of the output.
    pub certainty: Certainty,
    /// The exit status, if a command made the output.
    pub exit_code: Option<i32>,
    /// The policy for the output of failed commands, if that is a different one.
    pub failed: Option<Policy>,
    /// The boolean parameters to set because of how it ended, for policies that have them.
    pub told: Vec<&'static str>,
}
