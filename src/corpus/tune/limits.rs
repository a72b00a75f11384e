//! The limits of one policy: described, as flags, one step up or down, and the smallest change of them that keeps a place of an output.

use crate::base::human::{limit, limit_in, thousands};
use crate::preview::{Direction, ParamKind, Policy, Unit};
use crate::text::label::shell::word;

/// The round numbers in each power of ten, times 10. Sizes count in units of 1024.
const STEPS: [u64; 7] = [10, 15, 20, 30, 40, 50, 75];

/// Changes of line and size limits are only searched for in outputs up to this many bytes.
const MAX_BYTES: usize = 64 << 20;

/// A change of limits: its description, and the policy with the change applied.
pub(crate) type LimitChange = (String, Policy);

/// Formats a parameter: a number with separators, a size in whole KB also in those.
pub(crate) fn describe_value(policy: &Policy, key: &str) -> String {
    let value = policy.get(key).map_or_else(String::new, |value| value.to_string());
    let is_bytes = policy.size_key() == Some(key) && policy.unit() == Unit::Bytes;
    match value.parse() {
        Ok(bytes) if is_bytes && bytes >= 1024 && u64::is_multiple_of(bytes, 1024) => {
            format!("{} ({})", thousands(bytes), limit(bytes))
        }
        Ok(number) => thousands(number),
        Err(_) => value,
    }
}

/// Describes in what two policies differ: the name of the new one, or its limits that changed.
pub(crate) fn describe_change(from: &Policy, to: &Policy) -> Option<String> {
    if from.name() != to.name() {
        return Some(to.name().to_owned());
    }
    let changed = to.params().iter().filter(|param| from.get(&param.name) != to.get(&param.name));
    let words = changed.filter_map(|param| {
        let value = to.get(&param.name)?.to_string();
        let value = match value.parse::<u64>() {
            Ok(size) if to.size_key() == Some(param.name.as_str()) => limit_in(size, to.unit().describe()),
            Ok(number) => thousands(number),
            Err(_) => value,
        };
        Some(format!("{} {value}", param.name.replace('_', " ")))
    });
    Some(words.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty())
}

/// Returns a policy with the limits that are set as flags for the command line.
pub(crate) fn flags(policy: &Policy) -> String {
    let set = policy.params().iter().filter(|param| policy.is_set(&param.name));
    let set = set.filter_map(|param| {
        let set = format!("{}={}", param.name, policy.get(&param.name)?);
        Some(format!(" --set {}", word(set.as_bytes())))
    });
    format!("--policy {}{}", word(policy.name().as_bytes()), set.collect::<String>())
}

/// Returns the next or previous value of a parameter: the next round number, or the next word.
pub(crate) fn next_value(kind: &ParamKind, value: &str, up: bool) -> Option<String> {
    match kind {
        ParamKind::Integer { .. } => {
            let value = value.parse::<u64>().ok()?;
            let unit = if value >= 1024 && value.is_multiple_of(1024) { 1024 } else { 1 };
            Some(step(value, up, unit).to_string())
        }
        ParamKind::Boolean => Some((value != "true").to_string()),
        ParamKind::Choice(words) => {
            let at = words.iter().position(|word| word == value)?;
            let next = if up { at + 1 } else { at + words.len() - 1 };
            words.get(next % words.len()).cloned()
        }
        ParamKind::Text | ParamKind::Decimal => None,
    }
}

/// Returns the next round number above or below `value`. Below 1 that is 0. If there is no larger one in 64 bits,
/// `value` stays as it is.
fn step(value: u64, up: bool, unit: u64) -> u64 {
    let mut figures = figures(unit);
    match up {
        true => figures.find(|figure| *figure > value).unwrap_or(value),
        false => figures.take_while(|figure| *figure < value).last().unwrap_or(0),
    }
}

/// Iterates over all round multiples of `unit` that fit into 64 bits, in ascending order.
fn figures(unit: u64) -> impl Iterator<Item = u64> {
    let scales = std::iter::successors(Some(unit), |scale| scale.checked_mul(10));
    scales.flat_map(|scale| {
        STEPS.iter().filter_map(move |step| u64::try_from(u128::from(*step) * u128::from(scale) / 10).ok())
    })
}

/// Returns the end that a policy does not keep now.
pub(crate) fn other_end(direction: Direction) -> Direction {
    match direction {
        Direction::Head => Direction::Tail,
        Direction::Tail => Direction::Head,
    }
}

/// Returns the smallest change of direction or limits with which a policy keeps what `keeps` asks for of an output of this many bytes.
pub(crate) fn smallest_change(
    now: &Policy,
    bytes: usize,
    keeps: &dyn Fn(&Policy) -> bool,
) -> Option<LimitChange> {
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
        return Some((format!("max {}", limit_in(n, now.unit().describe())), policy));
    }
    let mut wide = now.clone();
    wide.set_max_lines(most).ok()?;
    let (bytes, mut policy) = least(&wide, now.max_size(), most, size, keeps)?;
    policy.set_max_lines(now.max_lines()?).ok()?;
    let (n, policy) = least(&policy, now.max_lines(), most, lines, keeps)?;
    Some((format!("max lines {} and max {}", thousands(n), limit_in(bytes, now.unit().describe())), policy))
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
    fn steps_end_at_the_largest_figure() {
        assert_eq!(step(u64::MAX, true, 1), u64::MAX);
        assert_eq!(step(u64::MAX, false, 1), 15 * 10_u64.pow(18));
        assert_eq!(step(u64::MAX - 1023, true, 1024), u64::MAX - 1023);
        let held = (0..1000).fold(1, |value, _| step(value, true, 1));
        assert_eq!(held, 15 * 10_u64.pow(18));
        assert_eq!((0..1000).fold(held, |value, _| step(value, false, 1)), 0);
    }

    #[test]
    fn a_change_names_the_limits_that_changed() {
        let from = crate::preview::Catalog::builtin().get("opencode/output").expect("a policy");
        let mut to = from.clone();
        assert_eq!(describe_change(&from, &to), None);
        to.set_max_lines(3000).expect("a limit");
        to.set_max_size(75 << 10).expect("a limit");
        assert_eq!(describe_change(&from, &to).as_deref(), Some("max lines 3,000, max bytes 75 KB"));
        let other = crate::preview::Catalog::builtin().get("pi/bash").expect("a policy");
        assert_eq!(describe_change(&from, &other).as_deref(), Some("pi/bash"));
    }
}
