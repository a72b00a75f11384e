//! What became of a result in the model's context, how that is known, and what changes it.

use std::num::NonZero;

use jiff::Timestamp;

words! {
    /// What says that something happened to a result, best first.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FateEvidence {
        /// The requests are in the records.
        Sent => "sent",
        /// The agent recorded what it did; or it records all that it does, and nothing of the kind.
        #[default]
        Recorded => "recorded",
        /// Nothing is recorded, but the agent's rule and all that it looks at are known.
        ByRule => "by-rule",
        /// It cannot be known: it is done by the server, or by a rule that looks at what is not recorded.
        Unknown => "unknown",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextChange {
    /// A fixed sentence stands in their place.
    Clear,
    /// Another text of the agent's stands in their place: the next of the call's results, if it is recorded.
    Replace,
    /// A summary stands for them.
    Compact,
    /// They are gone as results, but a cut copy stands in the text of a checkpoint.
    Checkpoint,
    /// They are gone without a summary.
    Drop,
    /// The person took the conversation back to before them.
    Rewind,
    /// They are on a branch that was left.
    Leave,
    /// They are whole again.
    Restore,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultFate {
    /// It is still in the model's context, as far as is recorded.
    #[default]
    InContext,
    /// A short notice stands in its place since then.
    Cleared(Option<Timestamp>),
    /// A summary stands for it since then.
    Compacted(Option<Timestamp>),
    /// It is gone since then, but a cut copy stands in the text of a checkpoint.
    Checkpoint(Option<Timestamp>),
    /// It was removed without a summary.
    Dropped(Option<Timestamp>),
    /// Another text stands in its place since then: the next of the call's results.
    Replaced(Option<Timestamp>),
    /// The conversation was taken back to before it.
    Rewound(Option<Timestamp>),
    OffBranch,
}

impl ResultFate {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InContext => "in-context",
            Self::Cleared(_) => "cleared",
            Self::Compacted(_) | Self::Checkpoint(_) => "compacted",
            Self::Dropped(_) => "dropped",
            Self::Replaced(_) => "replaced",
            Self::Rewound(_) => "rewound",
            Self::OffBranch => "off-branch",
        }
    }

    /// Returns the fate of a result after one more change. What is gone stays gone, unless it is restored: nothing is
    /// cleared or summed up that the model does not have. A branch that was left takes all that is on it along. What is
    /// done again holds since it was done first.
    pub fn after(self, change: ContextChange, at: Option<Timestamp>) -> Self {
        match change {
            ContextChange::Restore => Self::InContext,
            ContextChange::Leave => Self::OffBranch,
            _ if self.is_gone() => self,
            ContextChange::Clear if matches!(self, Self::Cleared(_)) => self,
            ContextChange::Replace if matches!(self, Self::Replaced(_)) => self,
            ContextChange::Clear => Self::Cleared(at),
            ContextChange::Replace => Self::Replaced(at),
            ContextChange::Compact => Self::Compacted(at),
            ContextChange::Checkpoint => Self::Checkpoint(at),
            ContextChange::Drop => Self::Dropped(at),
            ContextChange::Rewind => Self::Rewound(at),
        }
    }

    /// Whether nothing stands in the place of the result itself any more.
    fn is_gone(self) -> bool {
        match self {
            Self::InContext | Self::Cleared(_) | Self::Replaced(_) => false,
            Self::Compacted(_)
            | Self::Checkpoint(_)
            | Self::Dropped(_)
            | Self::Rewound(_)
            | Self::OffBranch => true,
        }
    }
}

/// What the model still has of a result after the last request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextState {
    pub fate: ResultFate,
    pub evidence: FateEvidence,
    /// The first request of its thread for which that holds, 1-based; `None` in context, or if it is unknown.
    pub since: Option<NonZero<u32>>,
}

impl ContextState {
    /// Describes what the model still has, as on the screens: `cleared #12`, from its 12th request on.
    pub fn describe(self) -> String {
        let words = match self.fate {
            ResultFate::InContext => return "yes".to_owned(),
            ResultFate::OffBranch => return "left branch".to_owned(),
            ResultFate::Cleared(_) => "cleared",
            ResultFate::Replaced(_) => "edited",
            ResultFate::Compacted(_) => "in summary",
            ResultFate::Checkpoint(_) => "in checkpoint",
            ResultFate::Dropped(_) => "dropped",
            ResultFate::Rewound(_) => "rewound",
        };
        match (self.fate, self.since) {
            (ResultFate::Replaced(_), Some(request)) => format!("{words} since #{request}"),
            (_, Some(request)) => format!("{words} #{request}"),
            (_, None) => words.to_owned(),
        }
    }
}

impl From<ResultFate> for ContextState {
    fn from(fate: ResultFate) -> Self {
        Self { fate, ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
