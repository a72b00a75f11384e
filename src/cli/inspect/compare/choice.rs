//! Which policies are compared, and with which limits.

use std::path::Path;

use crate::base::human::thousands;
use crate::cli::args::CompareArgs;
use crate::cli::{say, usage};
use crate::config::{Config, EffectivePolicy, OverrideError, Overrides};
use crate::preview::ParamError;

/// A policy, or the name of one that cannot be used, and why.
pub(super) type ComparedPolicy = Result<EffectivePolicy, (String, OverrideError)>;

/// What `-p` chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen<'a> {
    /// All current policies.
    Every,
    /// The current policies of an agent.
    Agent(&'a str),
    Policy(&'a str),
}

impl Chosen<'_> {
    /// Whether it chooses this policy, which is in its current form or not.
    fn has(self, name: &str, is_current: bool) -> bool {
        match self {
            Chosen::Every => is_current,
            Chosen::Agent(agent) => is_current && name.split('/').next() == Some(agent),
            Chosen::Policy(policy) => name == policy,
        }
    }
}

/// Returns what the flags choose.
///
/// # Errors
/// If a name is neither a policy nor an agent.
pub(super) fn chosen<'a>(config: &Config, args: &'a CompareArgs) -> anyhow::Result<Vec<Chosen<'a>>> {
    if args.policies.is_empty() {
        return Ok(vec![Chosen::Every]);
    }
    let choose = |word: &'a String| match config.catalog.get(word) {
        _ if config.catalog.names_of(word).next().is_some() => Ok(Chosen::Agent(word)),
        Ok(_) => Ok(Chosen::Policy(word)),
        Err(error) => Err(usage(error)),
    };
    args.policies.iter().map(choose).collect()
}

/// Returns the chosen policies with their limits for the output at `path`. A policy without a limit or parameter that
/// the flags set is left out, which standard error reports.
///
/// # Errors
/// If a policy that is chosen by its name cannot be used with the flags, or none of them can.
pub(super) fn resolved(
    config: &Config,
    args: &CompareArgs,
    chosen: &[Chosen],
    path: Option<&Path>,
) -> anyhow::Result<Vec<ComparedPolicy>> {
    // The policy that created a stored file has a row even if it is an earlier form.
    let made_by = config.candidates(path).into_iter().next();
    let (mut all, mut left_out, mut why) = (Vec::new(), 0_u64, None);
    for name in config.catalog.names() {
        let is_current = args.all
            || made_by.as_deref() == Some(name)
            || config.catalog.get(name).map_or(true, |policy| config.catalog.is_current(&policy));
        if !chosen.iter().any(|chosen| chosen.has(name, is_current)) {
            continue;
        }
        let overrides = Overrides { policy: Some(name.to_owned()), ..args.limits.overrides() };
        match config.resolve(&overrides, path) {
            Ok(found) => all.push(Ok(found)),
            Err(error) if chosen.contains(&Chosen::Policy(name)) => return Err(usage(error)),
            Err(error) if is_about_flags(&error) => {
                left_out += 1;
                why.get_or_insert(error);
            }
            Err(error) => all.push(Err((name.to_owned(), error))),
        }
    }
    match why {
        Some(error) if all.is_empty() => Err(usage(error)),
        Some(_) => {
            let flag = args.limits.first_given().unwrap_or("the flags");
            say(&format!("{} policies cannot be used with {flag}, and are left out", thousands(left_out)));
            Ok(all)
        }
        None => Ok(all),
    }
}

/// Whether it is the flags that do not fit the policy.
fn is_about_flags(error: &OverrideError) -> bool {
    match error {
        OverrideError::Param(ParamError::Unknown { .. } | ParamError::Value { .. }) => true,
        OverrideError::Suffix { .. } | OverrideError::Twice { .. } => true,
        OverrideError::Policy(_)
        | OverrideError::Variable(_)
        | OverrideError::Config { .. }
        | OverrideError::NoTool(_) => false,
    }
}
