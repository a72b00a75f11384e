//! What is requested of a capture: which policy, what to keep, and up to which size.

use std::time::Duration;

use crate::preview::{PerStream, Policy, TotalsFor};
use crate::store::RunRecord;

use super::headroom::Headroom;
use super::process::{Ended, Stop};

/// What went wrong in a capture, which policies tell by their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The command was stopped after this time.
    TimedOut(Duration),
    Aborted,
    NotSaved,
}

/// When to keep an output, in the words of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "app", derive(clap::ValueEnum))]
pub enum KeepSpill {
    /// Always.
    Always,
    /// If the policy cuts it.
    Cut,
    /// Never.
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
    pub(crate) counts: TotalsFor,
    /// Whether to flush the spill to disk (fsync) before it gets its final name.
    pub durable: bool,
    pub headroom: Option<Headroom>,
    /// What the caller has said already where its agent reads; it takes headroom, too.
    pub said: Vec<String>,
    pub timeout: Option<Duration>,
    /// What the caller knows for the record: the command, its directory, the tool, and the agent that ran it itself.
    pub run: RunRecord,
}

impl Request {
    pub fn new(mut policy: Policy) -> Request {
        set_captures_all(&mut policy);
        let cap = own_cap(&policy).unwrap_or(DEFAULT_CAP);
        Request {
            policy,
            failed: None,
            keep: KeepSpill::Cut,
            cap,
            printed: PerStream::default(),
            counts: TotalsFor::Text,
            durable: false,
            headroom: None,
            said: Vec::new(),
            timeout: None,
            run: RunRecord::default(),
        }
    }

    /// Returns the request for a command that ended like this, with the policy for failures if it failed.
    pub(crate) fn for_exit(&self, ended: Option<Ended>) -> Request {
        let failed = self
            .failed
            .as_ref()
            .filter(|_| ended.and_then(Ended::told_exit_code).is_some_and(|code| code != 0));
        Request { policy: failed.unwrap_or(&self.policy).clone(), ..self.clone() }
    }

    /// Whether the policy's notices tell of the cap: then they may name a file that holds no more.
    pub(crate) fn tells_cap(&self) -> bool {
        own_cap(&self.policy) == Some(self.cap)
    }

    pub(crate) fn mishap(&self, ended: Option<Ended>) -> Option<Mishap> {
        match ended?.stop {
            Stop::No => None,
            Stop::TimedOut => Some(Mishap::TimedOut(self.timeout.unwrap_or_default())),
            _ => Some(Mishap::Aborted),
        }
    }
}

/// Sets that a capture keeps all of an output, unless set already: the notice of an agent that keeps only its ends
/// would say so of overspill's file.
pub fn set_captures_all(policy: &mut Policy) {
    set_unless_set(policy, "capture_bytes", "0");
}

/// Sets a parameter, unless it was set already. Returns whether the policy has it.
fn set_unless_set(policy: &mut Policy, key: &str, value: &str) -> bool {
    let is_known = policy.get(key).is_some();
    if is_known && !policy.is_set(key) {
        // A policy may give this parameter another type; then it is left alone.
        let _ = policy.set(key, value);
    }
    is_known
}

/// Returns the cap of a policy that has its own, of which its notices tell.
fn own_cap(policy: &Policy) -> Option<u64> {
    policy.get("max_saved_bytes")?.to_string().parse().ok()
}

/// Default maximum number of bytes spilled: 100 MiB.
const DEFAULT_CAP: u64 = 100 << 20;

/// Sets a policy's parameters for mishaps, unless set already. A timeout without any of its own is reported as an abort.
pub fn set_mishaps(policy: &mut Policy, mishaps: &[Mishap]) {
    let mut tell = |key: &str, value: &str| set_unless_set(policy, key, value);
    for mishap in mishaps {
        match mishap {
            Mishap::TimedOut(time) => {
                let whole = |nanos| time.as_nanos().div_ceil(nanos).max(1).to_string();
                let is_told =
                    tell("timeout_ms", &whole(1_000_000)) | tell("timeout_s", &whole(1_000_000_000));
                _ = is_told || tell("timed_out", "true") || tell("aborted", "true");
            }
            Mishap::Aborted => _ = tell("aborted", "true"),
            Mishap::NotSaved => _ = tell("save_failed", "true"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::capture::ProcessStatus;

    #[test]
    fn a_timeout_rounds_up_to_one_unit_or_becomes_an_abort() {
        let parameters = |name: &str, timeout| {
            let policy = Policy::builtin(name).unwrap();
            let mut request = Request::new(policy);
            request.timeout = Some(timeout);
            let ended = Ended { status: ProcessStatus::Signal(15), stop: Stop::TimedOut };
            let mishap = request.mishap(Some(ended)).unwrap();
            set_mishaps(&mut request.policy, &[mishap]);
            request.policy.changed()
        };
        let set = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        assert_eq!(parameters("pi/bash", Duration::from_micros(1_000_400)), set("timeout_s", "2"));
        assert_eq!(parameters("pi/bash", Duration::ZERO), set("timeout_s", "1"));
        assert_eq!(parameters("opencode/shell", Duration::from_micros(1)), set("timeout_ms", "1"));
        assert_eq!(parameters("pi/bash-2026-03", Duration::from_secs(9)), set("timeout_s", "9"));
        assert_eq!(parameters("go-opencode/bash", Duration::from_secs(9)), set("timed_out", "true"));
        assert_eq!(parameters("crush/bash", Duration::from_secs(9)), set("aborted", "true"));
    }

    #[test]
    fn every_policy_that_tells_the_exit_code_can_be_told_of_a_timeout() {
        let told = ["timeout_ms", "timeout_s", "timed_out", "aborted"];
        for name in crate::preview::Catalog::builtin().names() {
            let policy = Policy::builtin(name).unwrap();
            let is_told = told.iter().any(|key| policy.get(key).is_some());
            assert!(is_told || !policy.takes_exit_code() || policy.failed().is_some(), "{name}");
        }
    }
}
