//! Changes limits in round steps, and describes what the model gains or loses.

use crate::preview::{Direction, Policy};

use super::output::OpenOutput;

/// The round numbers in each power of ten, times 10. Sizes count in units of 1024.
const STEPS: [u64; 7] = [10, 15, 20, 30, 40, 50, 75];

/// Returns the next round number above or below `value`. Below 1 that is 0. If there is no larger one in 64 bits,
/// `value` stays as it is.
fn step(value: u64, up: bool, unit: u64) -> u64 {
    let mut below = 0;
    for figure in figures(unit.max(1)) {
        if up && figure > value {
            return figure;
        }
        if !up && figure >= value {
            return below;
        }
        below = figure;
    }
    if up { value } else { below }
}

/// Iterates over all round multiples of `unit` that fit into 64 bits, in ascending order, each once.
fn figures(unit: u64) -> impl Iterator<Item = u64> {
    let scales = std::iter::successors(Some(unit), |scale| scale.checked_mul(10));
    let all = scales.flat_map(|scale| {
        STEPS.iter().filter_map(move |step| u64::try_from(u128::from(*step) * u128::from(scale) / 10).ok())
    });
    let mut last = 0;
    all.filter(move |figure| *figure > std::mem::replace(&mut last, *figure))
}

/// Returns the opposite direction.
pub(crate) fn other_end(direction: Direction) -> Direction {
    match direction {
        Direction::Head => Direction::Tail,
        Direction::Tail => Direction::Head,
    }
}

/// Returns the next round number above or below `value`; a round multiple of 1024 if `value` is a multiple of 1024.
pub(crate) fn step_of(value: u64, up: bool) -> u64 {
    let unit = if value >= 1024 && value.is_multiple_of(1024) { 1024 } else { 1 };
    step(value, up, unit)
}

impl OpenOutput {
    /// Describes the limits in force: `head · max 2,000 lines, 50 KB`.
    pub fn limits(&self) -> String {
        let direction = self.policy().direction().map(|direction| direction.as_str().to_owned());
        let lines = self.policy().max_lines().map(crate::human::lines);
        let size = self.policy().max_size().map(|size| self.size_in_words(size));
        let limits: Vec<String> = lines.into_iter().chain(size).collect();
        let limits = (!limits.is_empty()).then(|| format!("max {}", limits.join(", ")));
        direction.into_iter().chain(limits).collect::<Vec<_>>().join(" · ")
    }

    /// Formats a value of the policy's size limit: `50 KB`, `30,000 UTF-16 units`.
    pub fn size_in_words(&self, size: u64) -> String {
        size_in_words(self.policy(), size)
    }
}

/// Formats a value of a policy's size limit: `50 KB`, `30,000 UTF-16 units`.
pub(crate) fn size_in_words(policy: &Policy, size: u64) -> String {
    crate::human::limit_in(size, policy.unit().words())
}

/// Describes what the model gains or loses compared with the limits at the start: `−105 lines, +65 B`.
pub(crate) fn difference(output: &OpenOutput) -> Option<String> {
    let (first, now) = (output.first_preview.as_ref()?, output.preview.as_ref().ok()?);
    let lines = signed(first.kept_lines?, now.kept_lines?, crate::human::lines);
    let bytes =
        signed(first.kept_bytes?, now.kept_bytes?, |bytes| format!("{} B", crate::human::thousands(bytes)));
    let parts: Vec<String> = lines.into_iter().chain(bytes).collect();
    Some(if parts.is_empty() { "nothing gained or lost".to_owned() } else { parts.join(", ") })
}

/// Describes by how much `to` differs from `from`; `None` if it does not.
fn signed(from: u64, to: u64, words: impl Fn(u64) -> String) -> Option<String> {
    match to.checked_sub(from) {
        Some(0) => None,
        Some(more) => Some(format!("+{}", words(more))),
        None => Some(format!("−{}", words(from - to))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_figures() {
        assert_eq!(step(2000, true, 1), 3000);
        assert_eq!(step(2000, false, 1), 1500);
        assert_eq!(step(0, true, 1), 1);
        assert_eq!(step(1, false, 1), 0);
        assert_eq!(step(51_200, true, 1024), 75 * 1024);
        assert_eq!(step(51_200, false, 1024), 40 * 1024);
    }

    #[test]
    fn stepping_up_and_down_ends_where_it_began() {
        let up = (0..12).fold(1, |value, _| step(value, true, 1));
        assert_eq!((0..12).fold(up, |value, _| step(value, false, 1)), 1);
    }

    #[test]
    fn the_largest_figures_end_the_steps() {
        assert_eq!(step(u64::MAX, true, 1), u64::MAX);
        assert_eq!(step(u64::MAX, false, 1), 15 * 10_u64.pow(18));
        assert_eq!(step(u64::MAX - 1023, true, 1024), u64::MAX - 1023);
        let held = (0..1000).fold(1, |value, _| step(value, true, 1));
        assert_eq!(held, 15 * 10_u64.pow(18));
        assert_eq!((0..1000).fold(held, |value, _| step(value, false, 1)), 0);
    }

    #[test]
    fn differences_have_signs() {
        let signed = |from, to| signed(from, to, crate::human::lines);
        assert_eq!(signed(2000, 3500).as_deref(), Some("+1,500 lines"));
        assert_eq!(signed(3500, 2000).as_deref(), Some("−1,500 lines"));
        assert_eq!(signed(2, 1).as_deref(), Some("−1 line"));
        assert_eq!(signed(1, 1), None);
    }
}
