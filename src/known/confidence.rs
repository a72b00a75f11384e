//! How sure it is that a policy or a store's description is what the agent does.

use serde::Deserialize;

/// How a fact is known, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The agent was run, and did this.
    Run,
    /// Read in the agent's source.
    Source,
    /// From the vendor's documentation.
    Documented,
    /// Seen in transcripts and issues alone, or not exactly.
    Observed,
    /// Nothing tells.
    Unknown,
    /// This program's own definition, or the commission's.
    Own,
}

impl Confidence {
    /// The word in files, on the screen and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Source => "source",
            Self::Documented => "documented",
            Self::Observed => "observed",
            Self::Unknown => "unknown",
            Self::Own => "own",
        }
    }

    /// Whether it is too weak to go unmentioned beside what it is about.
    pub fn is_weak(self) -> bool {
        matches!(self, Self::Observed | Self::Unknown)
    }
}
