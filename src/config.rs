//! Which policy with which limits: from flags, the configuration file, the agent's own configuration, and
//! the policy itself, in this order.

use std::fmt;
use std::path::PathBuf;

use crate::preview::{Catalog, Direction, Policy, Unit};

/// The policy when nothing says otherwise.
pub const DEFAULT_POLICY: &str = "opencode/output";

/// What the command line asks for.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// `agent/tool`, or `agent` with a tool apart.
    pub policy: Option<String>,
    /// A tool of the agent, or the kind of output for policies that tell kinds apart.
    pub tool: Option<String>,
    /// Most lines.
    pub max_lines: Option<u64>,
    /// The one size limit, in the policy's unit.
    pub max_size: Option<Size>,
    /// Which end is kept.
    pub direction: Option<Direction>,
    /// Other parameters.
    pub set: Vec<(String, String)>,
}

/// A size as it was typed: a plain number is in the policy's unit, one with a suffix is in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number, suffix applied.
    pub number: u64,
    /// Whether there was a suffix.
    pub in_bytes: bool,
}

impl std::str::FromStr for Size {
    type Err = String;

    /// `51200`, `50k`, `50KB`, `50KiB`, `1m`: suffixes are powers of 1024.
    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(split);
        let usage = || format!("'{text}' is no size; write 51200, 50k, 50KB, 50KiB or 1m (powers of 1024)");
        let number: u64 = digits.parse().map_err(|_| usage())?;
        let power = match suffix.to_ascii_lowercase().as_str() {
            "" => return Ok(Self { number, in_bytes: false }),
            "b" => 0,
            "k" | "kb" | "kib" => 1,
            "m" | "mb" | "mib" => 2,
            "g" | "gb" | "gib" => 3,
            "t" | "tb" | "tib" => 4,
            _ => return Err(usage()),
        };
        let number = number.checked_mul(1 << (10 * power)).ok_or_else(usage)?;
        Ok(Self { number, in_bytes: true })
    }
}

/// Where limits come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitsFrom {
    /// The policy's own figures.
    Policy,
    /// Flags of the command line.
    Flags,
    /// A configuration file: ours, or the agent's own.
    File(PathBuf),
}

impl fmt::Display for LimitsFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitsFrom::Policy => f.write_str("policy"),
            LimitsFrom::Flags => f.write_str("flags"),
            LimitsFrom::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A request that cannot be met as it was put.
#[derive(Debug, thiserror::Error)]
pub enum WishError {
    /// The policy's own words.
    #[error("{0}")]
    Policy(#[from] crate::preview::PolicyError),
    /// A parameter's own words.
    #[error("{0}")]
    Param(#[from] crate::preview::ParamError),
    /// A suffix on a limit that is not in bytes.
    #[error("{policy} measures size in {unit}: give --max-bytes a plain number, without KB or the like")]
    Suffix {
        /// The policy.
        policy: String,
        /// Its unit.
        unit: &'static str,
    },
    /// The same limit twice.
    #[error("--max-bytes and --set {0}=... are the same limit of this policy: give one of them")]
    Twice(String),
    /// `--tool` where there is nothing for it to choose.
    #[error("--tool does nothing here: {0} has no tools to choose from")]
    NoTool(String),
}

/// The policies there are, and what chooses among them.
pub struct Config {
    /// All policies by name.
    pub catalog: Catalog,
}

impl Config {
    /// The built-in policies.
    pub fn builtin() -> Self {
        Self { catalog: Catalog::builtin() }
    }

    /// The policy with its limits, and where those come from.
    pub fn resolve(&self, wishes: &Wishes) -> Result<(Policy, LimitsFrom), WishError> {
        let (mut policy, tool) = self.choose(wishes)?;
        if let Some(tool) = tool {
            let key = policy.tool_key().map(str::to_owned);
            let key = key.ok_or_else(|| WishError::NoTool(policy.name().to_owned()))?;
            policy.set(&key, &tool)?;
        }
        let from = if apply(&mut policy, wishes)? { LimitsFrom::Flags } else { LimitsFrom::Policy };
        Ok((policy, from))
    }

    /// `--policy AGENT --tool T` names `AGENT/T`; what is left of `--tool` is for the policy itself.
    fn choose(&self, wishes: &Wishes) -> Result<(Policy, Option<String>), WishError> {
        let name = wishes.policy.as_deref().unwrap_or(DEFAULT_POLICY);
        match (&wishes.tool, name.contains('/')) {
            (Some(tool), false) => Ok((self.catalog.get(&format!("{name}/{tool}"))?, None)),
            (tool, _) => Ok((self.catalog.get(name)?, tool.clone())),
        }
    }
}

/// Sets what the flags ask for; whether they touched a limit.
fn apply(policy: &mut Policy, wishes: &Wishes) -> Result<bool, WishError> {
    for (key, value) in &wishes.set {
        let is_size = policy.size_key() == Some(key.as_str());
        if is_size && wishes.max_size.is_some() {
            return Err(WishError::Twice(key.clone()));
        }
        policy.set(key, value)?;
    }
    if let Some(lines) = wishes.max_lines {
        policy.set_max_lines(lines)?;
    }
    if let Some(size) = wishes.max_size {
        if size.in_bytes && policy.unit() != Unit::Bytes {
            return Err(WishError::Suffix { policy: policy.name().to_owned(), unit: policy.unit().as_str() });
        }
        policy.set_max_size(size.number)?;
    }
    if let Some(direction) = wishes.direction {
        policy.set_direction(direction)?;
    }
    let limit_set =
        [policy.lines_key(), policy.size_key()].into_iter().flatten().any(|key| policy.is_set(key));
    Ok(limit_set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_powers_of_1024() {
        let size = |text: &str| text.parse::<Size>().map(|size| (size.number, size.in_bytes));
        assert_eq!(size("51200"), Ok((51_200, false)));
        for text in ["50k", "50K", "50KB", "50KiB", "50kb"] {
            assert_eq!(size(text), Ok((51_200, true)), "{text}");
        }
        assert_eq!(size("1m"), Ok((1 << 20, true)));
        for text in ["", "k", "1.5k", "50x", "-1", "99999999999999999999", "99999999999g"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
