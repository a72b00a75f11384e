//! What a check of a call can find: that a policy makes what was recorded, that none does, or that nothing was compared.

#[cfg(feature = "app")]
use crate::base::human::thousands;
use crate::preview::{LimitHit, Policy};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A policy of the agent's version makes the same text.
    Equal {
        /// The policy, with the parameters that were set: `opencode/output task_tool=true`.
        policy: String,
        /// The limit that cut the output, and how much it allows; `None` for a window, which cuts nothing.
        by: Option<(LimitHit, Option<u64>)>,
        counterpart: Counterpart,
    },
    Differs(Difference),
    Unchecked(NoVerdict),
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Counterpart {
        Spill => "spill",
        File => "file",
        /// A copy of the whole output that the agent keeps for its own screen.
        Display => "display",
        /// A made-up output, as the real one is not at hand: what was kept, and a filler as long as the notice says. It proves
        /// the cut, with its limits and words, but not that what was kept is of the real output, nor the totals that only the
        /// notice tells: the length of the filler was taken from them.
        Witness => "witness",
    }
}

impl Verdict {
    /// Tells that a policy, which is called so with its parameters, makes the text.
    pub(super) fn equal(
        (policy, name): (&Policy, String),
        by: Option<LimitHit>,
        counterpart: Counterpart,
    ) -> Self {
        Self::Equal { policy: name, by: by.map(|by| (by, policy.limit(by))), counterpart }
    }

    pub fn mark(&self) -> &'static str {
        match self {
            Self::Equal { counterpart: Counterpart::Witness, .. } => "≈",
            Self::Equal { .. } => "=",
            Self::Differs(_) => "≠",
            Self::Unchecked(_) => "?",
        }
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Equal { .. } => "equal",
            Self::Differs(_) => "differs",
            Self::Unchecked(_) => "unchecked",
        }
    }

    /// Returns what the policy was applied to, if it makes the same text.
    pub fn counterpart(&self) -> Option<Counterpart> {
        let Self::Equal { counterpart, .. } = self else { return None };
        Some(*counterpart)
    }

    /// Returns the policy that makes the text, or that comes closest.
    pub fn policy(&self) -> Option<&str> {
        match self {
            Self::Equal { policy, .. } | Self::Differs(Difference { policy, .. }) => Some(policy),
            Self::Unchecked(_) => None,
        }
    }

    /// Returns the limit that cut, if that is proven, and how much it allows, in lines or the policy's unit, if it says so.
    pub fn cut_by(&self) -> Option<(LimitHit, Option<u64>)> {
        let Self::Equal { by, .. } = self else { return None };
        *by
    }
}

/// Says in a sentence what the check of a call found; `None` while it is being checked.
#[cfg(feature = "app")]
pub(crate) fn describe_check(check: Option<&Verdict>) -> String {
    match check {
        None => "being compared with what the policies make of the output".into(),
        Some(Verdict::Equal { policy, counterpart: Counterpart::Witness, .. }) => format!(
            "plausible: {policy} makes this text of some output; the real one is not at hand, so its \
             totals in the notice are not checked"
        ),
        Some(Verdict::Equal { policy, .. }) => {
            format!("verified: {policy} makes the same text of the output, byte for byte")
        }
        Some(Verdict::Differs(Difference { policy, at, part, fits })) => match fits {
            Some(fits) => format!("differs; {fits}, of another version, makes the same text"),
            None => format!("DIFFERS from {policy}: first at {}", describe_place(*at, part)),
        },
        Some(Verdict::Unchecked(NoVerdict::NotCut)) => "not cut, so there is nothing to compare".into(),
        Some(Verdict::Unchecked(why)) => format!("not checked: {why}"),
    }
}

#[cfg(feature = "app")]
pub(crate) fn describe_place(at: u64, part: &str) -> String {
    let place = if part == "end" { "at the end".to_owned() } else { format!("in the {part} text") };
    format!("byte {}, {place}", thousands(at + 1))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub policy: String,
    /// The first byte that differs, in the text that the model got, 0-based.
    pub at: u64,
    /// The part of the reconstruction in which it lies: `kept`, `changed`, `notice`, or `end` after its last byte.
    pub part: &'static str,
    /// A policy that makes the same text, but of another version of the agent.
    pub fits: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoVerdict {
    #[error("the call has no result")]
    NoResult,
    #[error("the output was not cut")]
    NotCut,
    #[error("it is not recorded whether the output was cut")]
    Unsure,
    #[error("the whole output is not at hand")]
    NoSpill,
    /// The file that was read is not at hand, or it is not recorded which it was.
    #[error("the file that was read is not at hand")]
    NoFile,
    #[error("the file that was read was changed since")]
    Changed,
    /// The whole output, or the file that was read, is being written.
    #[error("the file that it is compared with is cut or rewritten meanwhile")]
    Unsteady,
    /// The whole output lies outside of the known stores, where nothing is opened without `--any-path`.
    #[error("the whole output is in no known store, and is not opened unasked (--any-path)")]
    Outside,
    #[error("no policy that cuts so is known for this tool in its version")]
    NoPolicy,
    #[error("a policy makes the same text only under another limit, which may have been set then")]
    OtherLimit,
    /// The tool puts standard error behind the output, or before it what was not cut, and keeps it nowhere.
    #[error("the tool adds standard error, which is not at hand")]
    NoStderr,
    #[error("the records cannot be read")]
    Unreadable,
    #[error("the result is over 16 MB")]
    TooLong,
    /// It was compared with a copy that the agent's screen has, which may itself be changed, and was not equal.
    #[error("only the copy for the agent's screen is at hand, and it does not lead to the same text")]
    DisplayOnly,
}
