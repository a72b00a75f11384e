//! Finds the smallest change of limits that keeps a line. A task for a worker.

use crate::preview::Policy;

use super::limits::{other_end, size_in_words};
use super::making::Making;

/// A change of limits: its description, and the policy with the change applied.
pub type LimitChange = (String, Policy);

/// Changes of line and size limits are only searched for in files up to this many bytes.
const LONGEST: usize = 64 << 20;

/// What it takes to keep a line.
#[derive(Debug, Clone)]
pub struct Advice {
    /// An offset in the line.
    pub offset: usize,
    /// The line, 1-based, if it is counted.
    pub line: Option<u64>,
    /// Whether the model gets it with the current limits.
    pub is_kept: bool,
    /// If not, the change that would keep it, once it is known.
    pub change: Option<LimitChange>,
    /// The number of the request that is still unanswered.
    pub(crate) asked: Option<u64>,
}

/// A request for the smallest change of limits that keeps a byte.
#[derive(Debug, Clone)]
pub struct KeepRequest {
    pub(crate) task: Making,
    pub(crate) offset: usize,
}

impl KeepRequest {
    /// Returns the smallest change of direction or limits that keeps the byte. `None` if there is none or it is no
    /// longer wanted.
    pub fn fulfil(&self, wanted: &dyn Fn() -> bool) -> Option<LimitChange> {
        keeping(self, wanted).filter(|_| wanted())
    }

    fn would_do(&self, policy: &Policy, wanted: &dyn Fn() -> bool) -> bool {
        self.task.would_keep(policy, self.offset, wanted)
    }
}

/// Returns the smallest change of direction or limits with which the model gets the byte at `offset`.
fn keeping(request: &KeepRequest, wanted: &dyn Fn() -> bool) -> Option<LimitChange> {
    let now = &request.task.policy;
    if let Some(direction) = now.direction() {
        let mut policy = now.clone();
        let other = other_end(direction);
        if policy.set_direction(other).is_ok() && request.would_do(&policy, wanted) {
            return Some((format!("direction {}", other.as_str()), policy));
        }
    }
    if request.task.bytes() > LONGEST {
        return None;
    }
    let most = request.task.bytes() as u64 * 3 + 1;
    let lines = |policy: &mut Policy, n: u64| policy.set_max_lines(n).is_ok();
    let size = |policy: &mut Policy, n: u64| policy.set_max_size(n).is_ok();
    if let Some((n, policy)) = least(request, wanted, now, now.max_lines(), most, lines) {
        return Some((format!("max lines {}", crate::human::thousands(n)), policy));
    }
    if let Some((n, policy)) = least(request, wanted, now, now.max_size(), most, size) {
        return Some((format!("max {}", size_in_words(now, n)), policy));
    }
    let mut wide = now.clone();
    wide.set_max_lines(most).ok()?;
    let (bytes, mut policy) = least(request, wanted, &wide, now.max_size(), most, size)?;
    policy.set_max_lines(now.max_lines()?).ok()?;
    let (n, policy) = least(request, wanted, &policy, now.max_lines(), most, lines)?;
    let words = format!("max lines {} and max {}", crate::human::thousands(n), size_in_words(now, bytes));
    Some((words, policy))
}

/// Returns the smallest value of one limit, above the current one and up to `most`, that keeps the byte at `offset`.
fn least(
    request: &KeepRequest,
    wanted: &dyn Fn() -> bool,
    policy: &Policy,
    present: Option<u64>,
    most: u64,
    set: impl Fn(&mut Policy, u64) -> bool,
) -> Option<(u64, Policy)> {
    let with = |n: u64| {
        let mut policy = policy.clone();
        (set(&mut policy, n) && request.would_do(&policy, wanted)).then_some(policy)
    };
    let mut low = present?;
    let mut best = (most, with(most)?);
    while low + 1 < best.0 {
        let middle = low + (best.0 - low) / 2;
        match with(middle) {
            Some(policy) => best = (middle, policy),
            None => low = middle,
        }
    }
    Some(best)
}
