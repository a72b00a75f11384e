//! What is wanted of a capture: which policy, what is kept, and up to which size.

use crate::preview::{PerStream, Policy, ToCount, Want};

use super::process::exit::Ended;
use super::result::record::About;

/// When a spill is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepSpill {
    /// Whatever it is.
    Always,
    /// When the policy cuts the output.
    Cut,
    /// Not at all.
    Never,
}

/// What is wanted of a capture.
#[derive(Clone, Debug)]
pub struct Request {
    /// How the agent would cut it.
    pub policy: Policy,
    /// How it would cut the output of a command that fails, where that is another policy.
    pub failed: Option<Policy>,
    /// When the spill is kept.
    pub keep: KeepSpill,
    /// Bytes that are spilled at most, as the capture was told.
    pub cap: u64,
    /// The path that notices print instead of the true one.
    pub printed: PerStream<Option<String>>,
    /// Which totals of the preview are counted where they are lacking.
    pub(crate) counts: ToCount,
    /// Whether the spill must be on the disk before it gets its name.
    pub durable: bool,
    /// What the record says besides what the capture knows.
    pub about: About,
}

impl Request {
    /// What this policy would do, spilled when it cuts.
    pub fn new(policy: Policy) -> Request {
        let about = About { policy: policy.name().to_owned(), ..About::default() };
        let cap = cap_of(&policy);
        Request {
            policy,
            failed: None,
            keep: KeepSpill::Cut,
            cap,
            printed: PerStream::default(),
            counts: ToCount::Text,
            durable: false,
            about,
        }
    }

    /// The totals that either of its policies may need.
    pub fn needs(&self) -> Want {
        self.policy.needs() | self.failed.as_ref().map_or(Want::NOTHING, Policy::needs)
    }

    /// What is wanted now that the command has ended so.
    pub(crate) fn of_ended(&self, ended: Option<Ended>) -> Request {
        let has_failed = ended.is_some_and(|ended| ended.exit_code() != 0);
        match self.failed.clone().filter(|_| has_failed) {
            Some(policy) => Request {
                about: About { policy: policy.name().to_owned(), ..self.about.clone() },
                policy,
                ..self.clone()
            },
            None => self.clone(),
        }
    }

    /// Sets the most that is spilled; a policy that says so in its notices says it of this cap.
    #[must_use]
    pub fn with_cap(mut self, cap: u64) -> Request {
        set(&mut self.policy, CAP, &cap.to_string());
        Request { cap, ..self }
    }
}

/// The parameter of a policy that has a cap of its own.
pub(crate) const CAP: &str = "max_saved_bytes";
/// Bytes that are spilled at most by default: 100 MiB.
const DEFAULT_CAP: u64 = 100 << 20;

/// The most that is spilled under a policy: its own cap, where it has one.
fn cap_of(policy: &Policy) -> u64 {
    policy.get(CAP).and_then(|value| value.to_string().parse().ok()).unwrap_or(DEFAULT_CAP)
}

/// Sets a parameter where the policy has it.
fn set(policy: &mut Policy, key: &str, value: &str) {
    if policy.get(key).is_some() {
        // Whoever gives this parameter another meaning is not told.
        let _ = policy.set(key, value);
    }
}

/// Sets parameters that are yes or no to yes, where the policy has them.
pub fn set_true(policy: &mut Policy, keys: &[&str]) {
    keys.iter().for_each(|key| set(policy, key, "true"));
}
