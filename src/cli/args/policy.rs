//! Arguments that choose a policy, and set its limits and parameters.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args as Group, ValueEnum};

use crate::base::human::TypedSize;
use crate::cli::usage;
use crate::config::Overrides;
use crate::preview::{Direction, Policy};

use super::whole_number;

/// With which limits and parameters a policy cuts.
#[derive(Debug, Default, Clone, Group)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Maximum number of lines the model gets
    #[arg(long, value_name = "N", value_parser = whole_number)]
    pub max_lines: Option<u64>,
    /// Maximum size the model gets, in the policy's unit
    #[arg(long, value_name = "SIZE")]
    pub max_bytes: Option<TypedSize>,
    /// Which end of the output to keep
    #[arg(long, value_name = "END")]
    pub direction: Option<KeptEnd>,
    /// Set a parameter of the policy, such as task_tool=true
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
}

impl LimitArgs {
    /// Returns the first flag that was given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let flags = [
            ("--max-lines", self.max_lines.is_some()),
            ("--max-bytes", self.max_bytes.is_some()),
            ("--direction", self.direction.is_some()),
            ("--set", !self.set.is_empty()),
        ];
        flags.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// Returns what is requested of a policy; none is named.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            max_lines: self.max_lines,
            max_size: self.max_bytes,
            direction: self.direction.map(KeptEnd::direction),
            set: self.set.clone(),
            ..Overrides::default()
        }
    }
}

/// Which policy, and with which limits.
#[derive(Debug, Default, Group)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// Policy to cut by: AGENT/TOOL, or AGENT for its shell
    #[arg(short, long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Tool of the agent named with -p, or the kind of output
    #[arg(short, long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// File with the command's standard error, for policies that treat it separately
    #[arg(long, value_name = "FILE", help_heading = "Command")]
    pub stderr: Option<PathBuf>,
    /// Exit status of the command, for policies that depend on it
    #[arg(long, value_name = "N", value_parser = exit_code, help_heading = "Command")]
    pub exit_code: Option<i32>,
    /// Path that notices print [default: the file's absolute path]
    #[arg(long, value_name = "PATH", value_parser = path())]
    pub saved_as: Option<String>,
    /// Path that notices print for standard error
    #[arg(long, value_name = "PATH", value_parser = path())]
    pub saved_as_stderr: Option<String>,
    // Last: its heading would go on to what follows.
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl PolicyArgs {
    /// Returns the first flag that was given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let flags = [
            ("--policy", self.policy.is_some()),
            ("--tool", self.tool.is_some()),
            ("--stderr", self.stderr.is_some()),
            ("--exit-code", self.exit_code.is_some()),
            ("--saved-as", self.saved_as.is_some()),
            ("--saved-as-stderr", self.saved_as_stderr.is_some()),
        ];
        let given = flags.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag);
        given.or_else(|| self.limits.first_given())
    }

    /// Checks that the policy makes use of the flags that only some policies use.
    ///
    /// # Errors
    /// If it does not.
    pub(crate) fn refuse_for(&self, policy: &Policy) -> anyhow::Result<()> {
        let name = policy.name();
        let takes = policy.takes_stderr();
        let flag = match self {
            Self { stderr: Some(_), .. } if !takes => "--stderr",
            Self { saved_as_stderr: Some(_), .. } if !takes => "--saved-as-stderr",
            Self { exit_code: Some(_), .. } if !policy.takes_exit_code() => "--exit-code",
            _ => return Ok(()),
        };
        Err(usage(format!("{flag} has no effect: {name} makes no use of it; another policy may (-p)")))
    }

    /// Returns what is requested of the policy.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides { policy: self.policy.clone(), tool: self.tool.clone(), ..self.limits.overrides() }
    }
}

/// Which end is kept.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum KeptEnd {
    /// The beginning
    Head,
    /// The end
    Tail,
}

impl KeptEnd {
    fn direction(self) -> Direction {
        match self {
            KeptEnd::Head => Direction::Head,
            KeptEnd::Tail => Direction::Tail,
        }
    }
}

/// Parses a path as text: notices are UTF-8, whatever a file is called.
fn path() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|path| match path.is_empty() {
        true => Err("a path cannot be empty"),
        false => Ok(path.to_string_lossy().into_owned()),
    })
}

fn exit_code(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| format!("'{text}' is not an exit status; write 1"))
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| format!("'{text}' is not KEY=VALUE; write it as in --set max_lines=500"))?;
    Ok((key.to_owned(), value.to_owned()))
}
