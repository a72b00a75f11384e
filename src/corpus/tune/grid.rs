//! The settings around a policy's limits: lines by size by direction, as far as the policy has them.

use crate::base::human::{limit_in, lines};
use crate::preview::{Direction, Policy, Unit};

/// By what each limit is multiplied: numerators and denominators, for a policy with both limits and a direction.
const FEW_LINES: &[(u64, u64)] = &[(1, 4), (1, 2), (1, 1), (2, 1), (4, 1)];
const FEW_SIZES: &[(u64, u64)] = &[(1, 8), (1, 4), (1, 2), (1, 1), (2, 1), (4, 1)];
/// For a policy with both limits.
const MORE_LINES: &[(u64, u64)] = &[(1, 8), (1, 4), (1, 2), (1, 1), (2, 1), (4, 1), (8, 1)];
const MORE_SIZES: &[(u64, u64)] = &[(1, 16), (1, 8), (1, 4), (1, 2), (1, 1), (2, 1), (4, 1), (8, 1)];
/// For a policy with one limit.
const ALL_FACTORS: &[(u64, u64)] = &[
    (1, 16),
    (1, 8),
    (1, 4),
    (3, 8),
    (1, 2),
    (3, 4),
    (1, 1),
    (3, 2),
    (2, 1),
    (3, 1),
    (4, 1),
    (6, 1),
    (8, 1),
];

/// The values of a policy's limits; `None` for one that the policy lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TuneSetting {
    pub max_lines: Option<u64>,
    /// Maximum size, in the policy's unit.
    pub max_size: Option<u64>,
    pub direction: Option<Direction>,
}

#[derive(Debug)]
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
                    grid.add(policy, setting, own);
                }
            }
        }
        Some(grid)
    }

    /// Adds a setting, unless the policy does not take it.
    fn add(&mut self, policy: &Policy, setting: TuneSetting, own: TuneSetting) {
        let Some(policy) = setting.on(policy) else { return };
        if setting == own {
            self.current = self.settings.len();
        }
        self.settings.push(setting);
        self.policies.push(policy);
    }
}

/// Returns multiples of a limit, each once and at least 1; the limit alone if it is 0.
fn around(limit: Option<u64>, by: &[(u64, u64)]) -> Vec<Option<u64>> {
    let Some(limit) = limit else { return vec![None] };
    if limit == 0 {
        return vec![Some(0)];
    }
    let multiple = |(times, part): &(u64, u64)| {
        let product = u128::from(limit) * u128::from(*times) / u128::from(*part);
        u64::try_from(product).unwrap_or(u64::MAX).max(1)
    };
    let mut all: Vec<u64> = by.iter().map(multiple).collect();
    all.dedup();
    all.into_iter().map(Some).collect()
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
