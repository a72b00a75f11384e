//! How certain it is that a policy or a store description matches what the agent does.

use serde::Deserialize;

/// How a fact is known, most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The agent was run, and did this.
    Run,
    /// Read in the agent's source.
    Source,
    /// From the vendor's documentation.
    Documented,
    /// Only seen in transcripts and issues, or not exactly.
    Observed,
    /// No evidence.
    Unknown,
    /// Defined by the author of the file: there is nothing to check it against.
    Own,
}

impl Confidence {
    /// Returns the word used in files, on the screen and in JSON.
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

    /// Returns how the fact is known, in words for people.
    #[cfg(feature = "app")]
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Run => "checked by running the agent",
            Self::Source => "read in the agent's source",
            Self::Documented => "documented by the vendor",
            Self::Observed => "observed in transcripts and issues only",
            Self::Unknown => "no evidence",
            Self::Own => "defined by its author",
        }
    }

    /// Whether it is too weak to go unmentioned.
    pub fn is_weak(self) -> bool {
        matches!(self, Self::Observed | Self::Unknown)
    }
}
