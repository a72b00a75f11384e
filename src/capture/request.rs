//! What is requested of a capture: which policy, what to keep, and up to which size.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::preview::{PerStream, Policy, ToCount};

use super::headroom::Headroom;
use super::process::exit::{Ended, Stop};

/// What the caller knows about a run.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The command and its arguments; empty for a stream.
    pub command: Vec<String>,
    pub directory: PathBuf,
    /// The tool that it stands for.
    pub tool: Option<String>,
    pub policy: String,
    pub parameters: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepSpill {
    Always,
    /// If the policy cuts the output.
    Cut,
    Never,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub policy: Policy,
    /// How the agent would cut the output of a failing command, if that is another policy.
    pub failed: Option<Policy>,
    pub keep: KeepSpill,
    /// Maximum number of bytes spilled; the same as the capture was given.
    pub cap: u64,
    /// The path for notices to print instead of the real one.
    pub printed: PerStream<Option<String>>,
    /// Which of the preview's missing totals to count.
    pub(crate) counts: ToCount,
    /// Whether to flush the spill to disk (fsync) before it gets its final name.
    pub durable: bool,
    /// What the calling agent passes on without cutting it again; none for no limit.
    pub headroom: Option<Headroom>,
    /// How long the command may take.
    pub timeout: Option<Duration>,
    pub about: About,
}

impl Request {
    /// A request with this policy, keeping the spill if the policy cuts.
    pub fn new(policy: Policy) -> Request {
        let about = About { policy: policy.name().to_owned(), ..About::default() };
        let cap = policy.get(CAP).and_then(|value| value.to_string().parse().ok()).unwrap_or(DEFAULT_CAP);
        Request {
            policy,
            failed: None,
            keep: KeepSpill::Cut,
            cap,
            printed: PerStream::default(),
            counts: ToCount::Text,
            durable: false,
            headroom: None,
            timeout: None,
            about,
        }
    }

    /// Returns the request for a command that ended like this, with the policy for failures if it failed.
    pub(crate) fn for_exit(&self, ended: Option<Ended>) -> Request {
        let has_failed = ended.is_some_and(|ended| ended.exit_code() != 0);
        let mut request = self.clone();
        if let Some(policy) = self.failed.clone().filter(|_| has_failed) {
            request.about.policy = policy.name().to_owned();
            request.policy = policy;
        }
        request
    }

    /// Returns the parameters that tell the policy why the command was stopped. A timeout for which it has no parameter
    /// is an abort; one that was set already stays.
    pub(crate) fn told(&self, ended: Option<Ended>) -> Vec<(&'static str, String)> {
        let time = self.timeout.unwrap_or_default();
        let units = [
            ("timeout_ms", time.as_nanos().div_ceil(1_000_000)),
            ("timeout_s", time.as_millis().div_ceil(1000)),
        ];
        match ended.map_or(Stop::No, |ended| ended.stop) {
            Stop::No => Vec::new(),
            Stop::TimedOut if units.iter().any(|(key, _)| self.policy.get(key).is_some()) => {
                let set = self.policy.changed();
                let unset = units.into_iter().filter(|(key, _)| !set.contains_key(*key));
                unset.map(|(key, time)| (key, time.to_string())).collect()
            }
            _ => vec![("aborted", "true".to_owned())],
        }
    }

    /// Sets the maximum number of bytes spilled, also in the notices of a policy that mentions its cap.
    #[must_use]
    pub fn with_cap(mut self, cap: u64) -> Request {
        set(&mut self.policy, CAP, &cap.to_string());
        Request { cap, ..self }
    }
}

/// The parameter of policies that have their own cap.
const CAP: &str = "max_saved_bytes";
/// Default maximum number of bytes spilled: 100 MiB.
const DEFAULT_CAP: u64 = 100 << 20;

fn set(policy: &mut Policy, key: &str, value: &str) {
    if policy.get(key).is_some() {
        // A policy may give this parameter another type; then it is left alone.
        let _ = policy.set(key, value);
    }
}

/// Sets parameters, if the policy has them.
pub fn set_all(policy: &mut Policy, parameters: &[(&str, String)]) {
    parameters.iter().for_each(|(key, value)| set(policy, key, value));
}
