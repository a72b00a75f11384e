//! What became of a result in the model's context, how that is known, and what changes it.

use std::num::NonZero;

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

words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ContextChange {
        /// A fixed sentence stands in their place.
        Clear => "cleared",
        /// Another text of the agent's stands in their place.
        Replace => "replaced",
        /// A summary stands for them.
        Compact => "compacted",
        /// They are gone as results, but a cut copy stands in the text of a checkpoint.
        Checkpoint => "compacted",
        /// They are gone without a summary.
        Drop => "dropped",
        /// The person took the conversation back to before them.
        Rewind => "rewound",
        /// They are on a branch that was left.
        Leave => "off-branch",
        /// They are whole again, or as they always were.
        #[default]
        Restore => "in-context",
    }
}

/// What the model still has of a result after the last request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextState {
    pub change: ContextChange,
    pub evidence: FateEvidence,
    /// The first request of its thread for which that holds, 1-based; `None` in context, or if it is unknown.
    pub since: Option<NonZero<u32>>,
}

impl ContextState {
    /// Describes what the model still has, as on the screens: `cleared #12`, from its 12th request on.
    pub fn describe(self) -> String {
        let words = match self.change {
            _ if self.is_unknown() => return "–".to_owned(),
            ContextChange::Restore => return "yes".to_owned(),
            ContextChange::Leave => return "left branch".to_owned(),
            ContextChange::Replace if self.since.is_some() => "edited since",
            ContextChange::Replace => "edited",
            ContextChange::Compact => "in summary",
            ContextChange::Checkpoint => "in checkpoint",
            ContextChange::Clear | ContextChange::Drop | ContextChange::Rewind => self.change.as_str(),
        };
        self.since.map_or(words.to_owned(), |request| format!("{words} #{request}"))
    }

    pub fn is_whole(self) -> bool {
        self.change == ContextChange::Restore
    }

    /// Whether it cannot be known that the model still has it, though nothing says that it was taken away.
    pub fn is_unknown(self) -> bool {
        self.is_whole() && self.evidence == FateEvidence::Unknown
    }
}

#[cfg(test)]
mod tests;
