//! Makes a preview small enough for the agent that reads it, so that it is not cut a second time and its notice lost.

use crate::preview::{ParamRole, Policy, Unit, Value};

/// What the calling agent passes on to its model without cutting it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headroom {
    /// Maximum number of UTF-8 bytes.
    pub bytes: Option<u64>,
    /// Maximum number of lines; what follows the last line feed counts as one more, even if it is empty.
    pub lines: Option<u64>,
}

impl Headroom {
    /// What an agent with this policy passes on. No unit of size is longer than its UTF-8 bytes, but a token has four.
    pub fn new(policy: &Policy) -> Headroom {
        let unit = if policy.unit() == Unit::Tokens { 4 } else { 1 };
        let bytes = policy.max_size().map(|size| size.saturating_mul(unit));
        Headroom { bytes, lines: policy.max_lines() }
    }

    fn admits(self, extent: TextExtent) -> bool {
        self.bytes.is_none_or(|most| extent.bytes <= most)
            && self.lines.is_none_or(|most| extent.lines <= most)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextExtent {
    bytes: u64,
    /// Line feeds plus one.
    lines: u64,
}

impl TextExtent {
    /// Measures a text with remarks about it on standard error, which an agent reads as well.
    pub(super) fn new(text: &str, remarks: &[String]) -> TextExtent {
        let feeds = bytecount::count(text.as_bytes(), b'\n');
        let bytes: usize = remarks.iter().map(|remark| PREFIX + remark.len()).sum();
        TextExtent { bytes: (text.len() + bytes) as u64, lines: (feeds + 1 + remarks.len()) as u64 }
    }
}

/// The bytes of `overspill: ` before a remark and of the line feed after it.
const PREFIX: usize = 12;

pub(super) struct LoweredPolicy {
    pub policy: Policy,
    /// Whether its preview fits in the headroom.
    pub fits: bool,
}

/// Lowers limits until the preview fits: first lines, then size. None if they are small enough or allow none.
pub(super) fn fit(
    policy: &Policy,
    headroom: Headroom,
    measure: impl Fn(&Policy) -> Option<TextExtent>,
) -> Option<LoweredPolicy> {
    if headroom.admits(measure(policy)?) {
        return None;
    }
    let mut lowered = policy.clone();
    let few_lines = Headroom { bytes: None, ..headroom };
    let (lines, size) = (policy.key(ParamRole::Lines), policy.key(ParamRole::Size));
    for (limit, headroom) in [(lines, few_lines), (size, headroom), (lines, headroom)] {
        // Some tools refuse an output that is over a limit: then there is no preview.
        let suits = |policy: &Policy| measure(policy).is_some_and(|extent| headroom.admits(extent));
        lowered = lower(&lowered, limit, suits).unwrap_or(lowered);
    }
    Some(match measure(&lowered) {
        Some(extent) => LoweredPolicy { policy: lowered, fits: headroom.admits(extent) },
        None => LoweredPolicy { policy: policy.clone(), fits: false },
    })
}

/// Returns the policy with the highest number of this parameter that suits, or the lowest; none without need.
fn lower(policy: &Policy, key: Option<&str>, suits: impl Fn(&Policy) -> bool) -> Option<Policy> {
    let key = key?;
    let Some(Value::Integer(highest @ 2..)) = policy.get(key).filter(|_| !suits(policy)) else { return None };
    let with = |number: u64| {
        let mut lowered = policy.clone();
        lowered.set(key, &number.to_string()).is_ok().then_some(lowered)
    };
    let (mut low, mut high) = (1, highest);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        // What is not taken is below the minimum.
        if with(middle).is_none_or(|lowered| suits(&lowered)) { low = middle } else { high = middle }
    }
    with(low).or_else(|| with(high))
}
