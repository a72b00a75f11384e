//! What flags or the screens request of a policy, and the resulting policy with its limits.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use toml::Value;

use crate::base::human::TypedSize;
use crate::base::provenance::{Certainty, Warning};
use crate::preview::{Direction, ParamError, ParamRole, Policy, PolicyError, Unit};

/// The environment variable that names the policy for outputs outside of all known stores.
pub const POLICY_VARIABLE: &str = "OVERSPILL_POLICY";

/// What the command line requests.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `agent/tool`, or just `agent`, for its shell tool or with a separate tool.
    pub policy: Option<String>,
    /// A tool of the agent, or the kind of output for policies that distinguish kinds.
    pub tool: Option<String>,
    pub max_lines: Option<u64>,
    /// The single size limit, in the policy's unit.
    pub max_size: Option<TypedSize>,
    pub direction: Option<Direction>,
    pub set: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub enum LimitsFrom {
    Policy,
    Agent(PathBuf),
    Config(PathBuf),
    /// The record of the output: `run`, or for a kept copy the source of its original's limits.
    Record(String),
    /// A setting that is applied in this session.
    Setting,
    /// The user, on the screen: changes to this one.
    Screen(Arc<EffectivePolicy>),
    Flags,
}

impl fmt::Display for LimitsFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitsFrom::Policy => f.write_str("policy"),
            LimitsFrom::Flags => f.write_str("flags"),
            LimitsFrom::Record(from) => f.write_str(from),
            LimitsFrom::Setting => f.write_str("setting, in this session"),
            LimitsFrom::Screen(_) => f.write_str("changes made here"),
            LimitsFrom::Agent(path) | LimitsFrom::Config(path) => write!(f, "{}", path.display()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenBy {
    /// The user with a flag, or the default.
    Person,
    Variable,
    /// The store that contains the file; these policies may have created it, most likely first.
    Store(Vec<String>),
}

#[derive(Debug, Clone)]
pub struct EffectivePolicy {
    pub policy: Policy,
    /// Whether it is the current policy of its tool, not an earlier one.
    pub is_current: bool,
    /// The source of highest precedence that set a limit.
    pub limits_from: LimitsFrom,
    pub chosen_by: ChosenBy,
    /// How certain it is that a model got what the policy makes of the file.
    pub certainty: Certainty,
    /// The exit status that the notices of a recorded run tell.
    pub exit_code: Option<i32>,
    /// Whether the file is not all that its run printed: only the start was saved, or it was changed since. No model got what
    /// a policy makes of that.
    pub is_partial: bool,
    /// Whether overspill saved it, as a command ran: what an agent does to the files that it saves was not done to it.
    pub is_own: bool,
    /// What could not be used from the agent's own configuration.
    pub warnings: Vec<String>,
    pub store_warnings: Vec<Warning>,
}

impl EffectivePolicy {
    /// Returns a policy that someone chose, with its own limits.
    pub fn chosen(policy: Policy, is_current: bool) -> Self {
        Self {
            policy,
            is_current,
            limits_from: LimitsFrom::Policy,
            chosen_by: ChosenBy::Person,
            certainty: Certainty::WouldGet,
            exit_code: None,
            is_partial: false,
            is_own: false,
            warnings: Vec::new(),
            store_warnings: Vec::new(),
        }
    }

    /// Describes where the limits are from, and the policy, if the environment names it.
    pub fn origin(&self) -> String {
        match self.chosen_by {
            ChosenBy::Variable => format!("{}; policy from {POLICY_VARIABLE}", self.limits_from),
            ChosenBy::Person | ChosenBy::Store(_) => self.limits_from.to_string(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    #[error("{0}")]
    Policy(#[from] PolicyError),
    /// The error of the policy that the environment names.
    #[error("{POLICY_VARIABLE}: {0}")]
    Variable(PolicyError),
    #[error("{0}")]
    Param(#[from] ParamError),
    #[error("{}: {error}", path.display())]
    Config { path: PathBuf, error: ParamError },
    #[error("{policy} measures size in {unit}: give it a plain number, without KB or the like")]
    Suffix { policy: String, unit: &'static str },
    #[error("{flag} and --set {key}=... are the same parameter of this policy: give one of them")]
    Twice { flag: &'static str, key: String },
    #[error(
        "--tool has no effect here: {0} has no tools to choose from; -p AGENT --tool TOOL names a policy"
    )]
    NoTool(String),
}

/// A policy with its limits, or why there is none.
pub type Resolution = Result<EffectivePolicy, OverrideError>;

impl OverrideError {
    /// Whether a mistake in one of the user's own files is the cause, and not what was requested.
    pub fn is_in_file(&self) -> bool {
        match self {
            Self::Policy(error) | Self::Variable(error) => !matches!(error, PolicyError::Unknown { .. }),
            Self::Config { .. } => true,
            _ => false,
        }
    }
}

/// Returns a value of a file as it is typed on the command line.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a value of a file as a policy takes it: a size without its suffix.
pub(super) fn plain(policy: &Policy, key: &str, written: String) -> String {
    let is_size = policy.key(ParamRole::Size) == Some(key) || key == "max_bytes";
    let size = is_size.then(|| written.parse::<TypedSize>().ok()).flatten();
    size.map_or(written, |size| size.number.to_string())
}

pub(super) fn is_limit(policy: &Policy, key: &str) -> bool {
    [ParamRole::Lines, ParamRole::Size].into_iter().any(|role| policy.key(role) == Some(key))
}

pub(super) fn set_limits(
    policy: &mut Policy,
    lines: Option<u64>,
    size: Option<u64>,
) -> Result<(), ParamError> {
    lines.map_or(Ok(()), |lines| policy.set_max_lines(lines))?;
    size.map_or(Ok(()), |size| policy.set_max_size(size))
}

/// Applies the flags. Returns whether they include a limit.
pub(super) fn apply(policy: &mut Policy, overrides: &Overrides) -> Result<bool, OverrideError> {
    let mut any = overrides.max_lines.is_some() || overrides.max_size.is_some();
    for (key, value) in &overrides.set {
        let is = |role, common: &str| policy.key(role).is_some_and(|own| key == own || key == common);
        let flags = [
            ("--max-bytes", overrides.max_size.is_some() && is(ParamRole::Size, "max_bytes")),
            ("--max-lines", overrides.max_lines.is_some() && is(ParamRole::Lines, "max_lines")),
            ("--direction", overrides.direction.is_some() && key == "direction"),
        ];
        if let Some((flag, _)) = flags.into_iter().find(|(_, is_same)| *is_same) {
            return Err(OverrideError::Twice { flag, key: key.clone() });
        }
        policy.set(key, value)?;
        any |= is_limit(policy, key);
    }
    if overrides.max_size.is_some_and(|size| size.in_bytes) && policy.unit() != Unit::Bytes {
        return Err(OverrideError::Suffix { policy: policy.name().to_owned(), unit: policy.unit().as_str() });
    }
    set_limits(policy, overrides.max_lines, overrides.max_size.map(|size| size.number))?;
    if let Some(direction) = overrides.direction {
        policy.set_direction(direction)?;
    }
    Ok(any)
}
