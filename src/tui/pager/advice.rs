//! Finds the smallest change of limits that keeps a line. A task for a worker.

use crate::human::thousands;
use crate::output::plan::PlanTask;
use crate::output::words::size_in_words;
use crate::preview::Policy;

use super::event::LimitChange;
use super::limits::other_end;

/// Changes of line and size limits are only searched for in files up to this many bytes.
const MAX_BYTES: usize = 64 << 20;

/// What it takes to keep a line.
#[derive(Debug, Clone)]
pub struct Advice {
    /// An offset in the line.
    pub offset: usize,
    /// The line, 1-based, if it is counted.
    pub line: Option<u64>,
    pub is_kept: bool,
    /// If not, the change that would keep it, once it is known.
    pub change: Option<LimitChange>,
    pub(crate) is_asked: bool,
}

impl PlanTask {
    /// Returns the smallest change of direction or limits with which the model gets the byte at `offset`. `None` if there is
    /// none or it is no longer wanted.
    pub(crate) fn keeping(&self, offset: usize, wanted: &dyn Fn() -> bool) -> Option<LimitChange> {
        change(&self.policy, self.view.len(), &|policy| self.would_keep(policy, offset, wanted))
            .filter(|_| wanted())
    }
}

/// Returns the smallest change with which a policy keeps something of an output of so many bytes.
fn change(now: &Policy, bytes: usize, keeps: &dyn Fn(&Policy) -> bool) -> Option<LimitChange> {
    if let Some(direction) = now.direction() {
        let mut policy = now.clone();
        let other = other_end(direction);
        if policy.set_direction(other).is_ok() && keeps(&policy) {
            return Some((format!("direction {}", other.as_str()), policy));
        }
    }
    if bytes > MAX_BYTES {
        return None;
    }
    let most = bytes as u64 * 3 + 1;
    let lines = |policy: &mut Policy, n: u64| policy.set_max_lines(n).is_ok();
    let size = |policy: &mut Policy, n: u64| policy.set_max_size(n).is_ok();
    if let Some((n, policy)) = least(now, now.max_lines(), most, lines, keeps) {
        return Some((format!("max lines {}", thousands(n)), policy));
    }
    if let Some((n, policy)) = least(now, now.max_size(), most, size, keeps) {
        return Some((format!("max {}", size_in_words(now, n)), policy));
    }
    let mut wide = now.clone();
    wide.set_max_lines(most).ok()?;
    let (bytes, mut policy) = least(&wide, now.max_size(), most, size, keeps)?;
    policy.set_max_lines(now.max_lines()?).ok()?;
    let (n, policy) = least(&policy, now.max_lines(), most, lines, keeps)?;
    Some((format!("max lines {} and max {}", thousands(n), size_in_words(now, bytes)), policy))
}

fn least(
    policy: &Policy,
    current: Option<u64>,
    most: u64,
    set: impl Fn(&mut Policy, u64) -> bool,
    keeps: &dyn Fn(&Policy) -> bool,
) -> Option<(u64, Policy)> {
    let with = |n: u64| {
        let mut policy = policy.clone();
        (set(&mut policy, n) && keeps(&policy)).then_some(policy)
    };
    let mut low = current?;
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
