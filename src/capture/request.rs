//! What is requested of a capture: which policy, what to keep, and up to which size.

use std::path::PathBuf;
use std::time::Duration;

use crate::preview::{PerStream, Policy, ToCount};

use super::headroom::Headroom;
use super::process::{Ended, Stop};

/// The parameters that tell of a timeout, with their units in nanoseconds.
const TIMEOUTS: [(&str, u128); 2] = [("timeout_ms", 1_000_000), ("timeout_s", 1_000_000_000)];

/// What the caller knows about a run.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The command and its arguments; empty for a stream.
    pub command: Vec<String>,
    pub directory: PathBuf,
    /// The tool that it stands for.
    pub tool: Option<String>,
    pub policy: String,
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

    pub(crate) fn stop_parameters(&self, ended: Option<Ended>) -> Vec<(&'static str, String)> {
        let time = self.timeout.unwrap_or_default().as_nanos();
        let whole = |unit| time.div_ceil(unit).max(1).to_string();
        match ended.map_or(Stop::No, |ended| ended.stop) {
            Stop::No => Vec::new(),
            Stop::TimedOut => TIMEOUTS.map(|(key, unit)| (key, whole(unit))).to_vec(),
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

/// Sets the parameters that the policy has, unless they were set before. A timeout for which it has none is an abort.
pub fn set_all(policy: &mut Policy, parameters: &[(&str, String)]) {
    let is_timeout = |key: &str| TIMEOUTS.iter().any(|(known, _)| *known == key);
    let mut timeouts = parameters.iter().filter(|(key, _)| is_timeout(key)).peekable();
    if timeouts.peek().is_some() && timeouts.all(|(key, _)| policy.get(key).is_none()) {
        set(policy, "aborted", "true");
    }
    let before = policy.changed();
    let unset = parameters.iter().filter(|(key, _)| !before.contains_key(*key));
    unset.for_each(|(key, value)| set(policy, key, value));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::store::ProcessStatus;

    #[test]
    fn a_timeout_is_at_least_one_unit_and_an_abort_where_no_parameter_tells_it() {
        let parameters = |name: &str, timeout| {
            let policy = Policy::builtin(name).unwrap();
            let mut request = Request::new(policy);
            request.timeout = Some(timeout);
            let ended = Ended { status: ProcessStatus::Signal(15), stop: Stop::TimedOut };
            let parameters = request.stop_parameters(Some(ended));
            set_all(&mut request.policy, &parameters);
            request.policy.changed()
        };
        let set = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        assert_eq!(parameters("pi/bash", Duration::from_micros(1_000_400)), set("timeout_s", "2"));
        assert_eq!(parameters("pi/bash", Duration::ZERO), set("timeout_s", "1"));
        assert_eq!(parameters("opencode/shell", Duration::from_micros(1)), set("timeout_ms", "1"));
        assert_eq!(parameters("go-opencode/bash", Duration::from_secs(9)), set("aborted", "true"));
    }
}
