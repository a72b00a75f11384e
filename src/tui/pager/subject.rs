//! What the screen of an output is given: what to look at, by which policy, and how it ended.

use crate::known::Warning;
use crate::preview::{InputContext, Policy};
use crate::source::MapView;

/// An output, and the policy that cuts it as things stand.
#[derive(Clone)]
pub struct Subject {
    /// What to call it on the screen.
    pub name: String,
    /// What a plan needs to know besides the bytes.
    pub context: InputContext<MapView>,
    /// The policy with its limits.
    pub policy: Policy,
    /// Where the limits come from.
    pub limits_from: String,
    /// The policies that may have made it, where its store tells; the likeliest first.
    pub candidates: Vec<Policy>,
    /// What could not be used of configurations.
    pub warnings: Vec<String>,
    /// What the store warns of in which it lies.
    pub store_warnings: Vec<Warning>,
}

/// An output to look at, from its start, in Preview.
pub struct Opened {
    /// What it is, and how it was cut.
    pub subject: Subject,
    /// Its bytes.
    pub view: MapView,
    /// Whether more may come: a stream that has not ended.
    pub streaming: bool,
    /// Whether the command runs whose output is shown.
    pub running: bool,
    /// Which of the outputs that were named was looked at last, 0-based,
    pub file: usize,
    /// and how many were named.
    pub files: usize,
}

/// How an output ended that was looked at while it was made.
pub struct Ending {
    /// The command's exit status, if it was one.
    pub exit_code: Option<i32>,
    /// The policy that cuts the output of a command that failed, where that is another.
    pub failed: Option<Policy>,
    /// Parameters that are yes because of how it ended, for policies that have them.
    pub told: Vec<&'static str>,
}

/// A policy that can be picked, with the limits that hold for it.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The policy.
    pub policy: Policy,
    /// Where its limits come from.
    pub limits_from: String,
    /// Whether it is its tool's form of today, not an earlier one.
    pub is_current: bool,
}
