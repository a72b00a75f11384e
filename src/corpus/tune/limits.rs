//! The limits of a policy: in words, as flags, one step on, changed least to keep a place, and in a grid of settings.

use crate::base::human::{limit, limit_in, lines, thousands};
use crate::preview::{Direction, ParamKind, ParamRole, Policy, Unit};
use crate::text::label::quote::word;

/// The round numbers in each power of ten, times 10. Sizes count in units of 1024.
const STEPS: [u64; 7] = [10, 15, 20, 30, 40, 50, 75];

/// Changes of line and size limits are only searched for in outputs up to this many bytes.
const MAX_SEARCHED: usize = 64 << 20;

/// A change of limits: its description, and the policy with the change applied.
pub(crate) type LimitChange = (String, Policy);

/// Formats a parameter: a number with separators, a size in whole KB also in those.
pub(crate) fn describe_value(policy: &Policy, key: &str) -> String {
    let value = policy.get(key).map_or_else(String::new, |value| value.to_string());
    let is_bytes = policy.key(ParamRole::Size) == Some(key) && policy.unit() == Unit::Bytes;
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
    let other = Some(to.name().to_owned()).filter(|name| name != from.name());
    let changed = to.params().iter().filter(|param| match other {
        Some(_) => to.is_set(&param.name),
        None => from.get(&param.name) != to.get(&param.name),
    });
    let words = changed.filter_map(|param| {
        let value = to.get(&param.name)?.to_string();
        let value = match value.parse::<u64>() {
            Ok(size) if to.key(ParamRole::Size) == Some(&*param.name) => limit_in(size, to.unit().describe()),
            Ok(number) => thousands(number),
            Err(_) => value,
        };
        Some(format!("{} {value}", param.name.replace('_', " ")))
    });
    let words: Vec<String> = other.iter().cloned().chain(words).collect();
    (!words.is_empty()).then(|| words.join(", "))
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

/// Returns the next round number above or below `value`: 0 below 1; `value` itself if there is no larger one in 64 bits.
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

/// Returns the smallest change of direction or limits with which a policy keeps what `keeps` asks for of an output of this
/// many bytes; fails with why none is known.
pub(crate) fn smallest_change(
    now: &Policy,
    bytes: usize,
    keeps: &dyn Fn(&Policy) -> bool,
) -> Result<LimitChange, &'static str> {
    if let Some(direction) = now.direction() {
        let mut policy = now.clone();
        let other = other_end(direction);
        if policy.set_direction(other).is_ok() && keeps(&policy) {
            return Ok((format!("direction {}", other.as_str()), policy));
        }
    }
    if bytes > MAX_SEARCHED {
        return Err("Limits that keep it are not looked for over 64 MB.");
    }
    smallest_limits(now, bytes as u64 * 3 + 1, keeps).ok_or("No change of these limits keeps it.")
}

fn smallest_limits(now: &Policy, most: u64, keeps: &dyn Fn(&Policy) -> bool) -> Option<LimitChange> {
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

/// By how many sixteenths each limit is multiplied, for a policy with both limits and a direction.
const FEW_LINES: &[u64] = &[4, 8, 16, 32, 64];
const FEW_SIZES: &[u64] = &[2, 4, 8, 16, 32, 64];
/// For a policy with both limits.
const MORE_LINES: &[u64] = &[2, 4, 8, 16, 32, 64, 128];
const MORE_SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128];
/// For a policy with one limit.
const ALL_FACTORS: &[u64] = &[1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// The values of a policy's limits; `None` for one that the policy lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TuneSetting {
    pub max_lines: Option<u64>,
    /// Maximum size, in the policy's unit.
    pub max_size: Option<u64>,
    pub direction: Option<Direction>,
}

#[derive(Debug, Clone)]
pub(crate) struct TuneGrid {
    /// The settings, by direction, then by lines, then by size.
    pub settings: Vec<TuneSetting>,
    pub policies: Vec<Policy>,
    pub current: usize,
}

impl TuneGrid {
    /// Lays settings around the limits that a policy has now. Returns `None` if it has no limit on lines or size.
    pub(crate) fn around(policy: &Policy) -> Option<Self> {
        let own = TuneSetting::new(policy);
        let (by_lines, by_size) = match (own.max_lines, own.max_size, own.direction) {
            (None, None, _) => return None,
            (Some(_), Some(_), Some(_)) => (FEW_LINES, FEW_SIZES),
            (Some(_), Some(_), None) => (MORE_LINES, MORE_SIZES),
            _ => (ALL_FACTORS, ALL_FACTORS),
        };
        let directions = match own.direction {
            None => vec![None],
            Some(_) => vec![Some(Direction::Head), Some(Direction::Tail)],
        };
        let (lines, sizes) = (around(own.max_lines, by_lines), around(own.max_size, by_size));
        let mut grid = Self { settings: Vec::new(), policies: Vec::new(), current: 0 };
        for direction in directions {
            for max_lines in &lines {
                for max_size in &sizes {
                    let setting = TuneSetting { max_lines: *max_lines, max_size: *max_size, direction };
                    let Some(policy) = setting.on(policy) else { continue };
                    if setting == own {
                        grid.current = grid.settings.len();
                    }
                    grid.settings.push(setting);
                    grid.policies.push(policy);
                }
            }
        }
        Some(grid)
    }
}

/// Returns multiples of a limit, each once and at least 1; the limit alone if it is 0.
fn around(limit: Option<u64>, sixteenths: &[u64]) -> Vec<Option<u64>> {
    let Some(limit @ 1..) = limit else { return vec![limit] };
    let multiple = |times: &u64| {
        let product = u128::from(limit) * u128::from(*times) / 16;
        Some(u64::try_from(product).unwrap_or(u64::MAX).max(1))
    };
    let mut all: Vec<Option<u64>> = sixteenths.iter().map(multiple).collect();
    all.dedup();
    all
}

impl TuneSetting {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self { max_lines: policy.max_lines(), max_size: policy.max_size(), direction: policy.direction() }
    }

    /// Returns a policy under this setting; `None` if it does not take one of the values.
    pub(crate) fn on(&self, policy: &Policy) -> Option<Policy> {
        let mut policy = policy.clone();
        let own = Self::new(&policy);
        if let Some(lines) = self.max_lines.filter(|_| own.max_lines != self.max_lines) {
            policy.set_max_lines(lines).ok()?;
        }
        if let Some(size) = self.max_size.filter(|_| own.max_size != self.max_size) {
            policy.set_max_size(size).ok()?;
        }
        if let Some(direction) = self.direction.filter(|_| own.direction != self.direction) {
            policy.set_direction(direction).ok()?;
        }
        Some(policy)
    }

    /// Describes it: `tail, 1,200 lines, 40 KB`.
    pub(crate) fn describe(&self, unit: Unit) -> String {
        let direction = self.direction.map(|direction| direction.as_str().to_owned());
        let size = self.max_size.map(|size| limit_in(size, unit.describe()));
        let all = [direction, self.max_lines.map(lines), size];
        all.into_iter().flatten().collect::<Vec<_>>().join(", ")
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
        let mut other = crate::preview::Catalog::builtin().get("pi/bash").expect("a policy");
        assert_eq!(describe_change(&from, &other).as_deref(), Some("pi/bash"));
        other.set_max_lines(1500).expect("a limit");
        assert_eq!(describe_change(&from, &other).as_deref(), Some("pi/bash, max lines 1,500"));
    }
}
