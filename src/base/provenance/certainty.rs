//! How certain it is that a policy or a store description matches what the agent does, and that a model got a text.

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

    /// Describes how the fact is known.
    #[cfg(feature = "app")]
    pub(crate) fn describe(self) -> &'static str {
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

/// How a preview is known, most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The text is from an agent's record or request, or overspill printed it.
    Recorded,
    /// It is made of an output in an agent's store, by a policy that the agent used then.
    Reconstructed,
    /// No model is known to have got it: the output is of no agent, or its limits or policy are others.
    WouldGet,
}

impl Certainty {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Reconstructed => "reconstructed",
            Self::WouldGet => "would-get",
        }
    }

    /// Describes it on the screen.
    #[cfg(feature = "app")]
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::WouldGet => "would get",
            certain => certain.as_str(),
        }
    }

    /// Returns the verb for what the model does with the text.
    #[cfg(feature = "app")]
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Recorded | Self::Reconstructed => "got",
            Self::WouldGet => "gets",
        }
    }

    /// Returns the heading of the text.
    #[cfg(feature = "app")]
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Recorded | Self::Reconstructed => "Model got",
            Self::WouldGet => "Model would get",
        }
    }
}
