//! What an output is: its name, where it lies, and which policy cuts it.

use crate::base::provenance::Certainty;
use crate::capture::NOT_SAVED;
use crate::config::EffectivePolicy;
use crate::preview::{InputContext, Policy};
use crate::source::{MapView, Source};

pub struct Target {
    pub subject: Subject,
    pub source: Source,
}

/// An output, and the policy that currently cuts it.
#[derive(Debug, Clone)]
pub struct Subject {
    pub name: String,
    /// The absolute path of its file; `None` if it has no file, or the file may be replaced.
    pub file: Option<String>,
    /// The id of the output in its store, or of its call in its session; empty if it has none.
    pub id: String,
    pub is_kept: bool,
    /// The command that printed it, as it was written; empty if none is known.
    pub command: String,
    /// What a plan needs besides the bytes.
    pub context: InputContext<MapView>,
    pub policy: EffectivePolicy,
    /// The policies that may have made the output, if its store tells; most likely first.
    pub candidates: Vec<EffectivePolicy>,
}

impl Subject {
    /// Describes an output without a file of its own, whose notices print this path.
    pub fn new(name: String, saved_as: String, policy: EffectivePolicy) -> Self {
        let saved_as_stderr = NOT_SAVED.to_owned();
        let context = InputContext { saved_as, saved_as_stderr, stderr: None, exit_code: None };
        Self {
            name,
            file: None,
            id: String::new(),
            is_kept: false,
            command: String::new(),
            context,
            policy,
            candidates: Vec::new(),
        }
    }

    /// Returns the path of its file, or else the one that notices print.
    pub(crate) fn path(&self) -> &str {
        self.file.as_ref().unwrap_or(&self.context.saved_as)
    }
}

/// How an output ended that was viewed while it was being made.
#[derive(Debug, Clone)]
pub struct Ending {
    /// How certain it is that a model gets what the policy makes of the output.
    pub certainty: Certainty,
    pub exit_code: Option<i32>,
    /// The policy for the output of failed commands, if that is a different one.
    pub failed: Option<Policy>,
    /// The boolean parameters to set because of how it ended, for policies that have them.
    pub parameters: Vec<&'static str>,
}
