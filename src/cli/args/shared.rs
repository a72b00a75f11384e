//! Arguments that several commands take: the policy and its limits, what to save, and the form of the output.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args as Group;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::base::human::TypedSize;
use crate::capture::{KeepSpill, Request};
use crate::cli::usage;
use crate::config::Overrides;
use crate::preview::{Direction, Policy, TotalsFor};

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
    pub direction: Option<Direction>,
    /// Set a parameter of the policy, such as task_tool=true
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
}

impl LimitArgs {
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        first(&[
            (self.max_lines.is_some(), "--max-lines"),
            (self.max_bytes.is_some(), "--max-bytes"),
            (self.direction.is_some(), "--direction"),
            (!self.set.is_empty(), "--set"),
        ])
    }

    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            max_lines: self.max_lines,
            max_size: self.max_bytes,
            direction: self.direction,
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
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl PolicyArgs {
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = first(&[
            (self.policy.is_some(), "--policy"),
            (self.tool.is_some(), "--tool"),
            (self.stderr.is_some(), "--stderr"),
            (self.exit_code.is_some(), "--exit-code"),
            (self.saved_as.is_some(), "--saved-as"),
            (self.saved_as_stderr.is_some(), "--saved-as-stderr"),
        ]);
        given.or_else(|| self.limits.first_given())
    }

    /// Whether flags say what notices tell besides the cut.
    pub(crate) fn change_context(&self) -> bool {
        let Self { stderr, exit_code, saved_as, saved_as_stderr, .. } = self;
        stderr.is_some() || exit_code.is_some() || saved_as.is_some() || saved_as_stderr.is_some()
    }

    /// Checks that the policy makes use of the flags that only some policies use.
    pub(crate) fn refuse_for(&self, policy: &Policy) -> anyhow::Result<()> {
        let unused = first(&[
            (self.stderr.is_some() && !policy.takes_stderr(), "--stderr"),
            (self.saved_as_stderr.is_some() && !policy.takes_stderr(), "--saved-as-stderr"),
            (self.exit_code.is_some() && !policy.takes_exit_code(), "--exit-code"),
        ]);
        let Some(flag) = unused else { return Ok(()) };
        let name = policy.name();
        Err(usage(format!("{name} ignores {flag}; pick another policy with -p")))
    }

    pub(crate) fn overrides(&self) -> Overrides {
        Overrides { policy: self.policy.clone(), tool: self.tool.clone(), ..self.limits.overrides() }
    }
}

/// Notices are UTF-8, whatever a file is called.
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

/// Returns the words of the first row that applies.
pub(crate) fn first(rows: &[(bool, &'static str)]) -> Option<&'static str> {
    rows.iter().find(|(applies, _)| *applies).map(|(_, words)| *words)
}

/// What is saved of an output that is just being made.
#[derive(Debug, Default, Group)]
#[command(next_help_heading = "Saving")]
pub(crate) struct SaveArgs {
    /// When to save the output of a command or a pipe [default: cut]
    #[arg(long, value_name = "WHEN")]
    keep: Option<KeepSpill>,
    /// Maximum size of the saved output; none for no limit [default: the policy's, else 100m]
    #[arg(long, value_name = "SIZE", value_parser = cap)]
    max_spill: Option<u64>,
    /// Flush the saved output to disk (fsync) before finishing
    #[arg(long)]
    durable: bool,
}

impl SaveArgs {
    pub(crate) fn request(&self, policy: &Policy) -> anyhow::Result<Request> {
        if self.durable && self.keep == Some(KeepSpill::Never) {
            let why = "--keep never, which saves nothing; leave one of them out";
            return Err(usage(format!("--durable has no effect with {why}")));
        }
        let request = Request::new(policy.clone());
        let (keep, cap) = (self.keep.unwrap_or(KeepSpill::Cut), self.max_spill.unwrap_or(request.cap));
        Ok(Request { keep, cap, durable: self.durable, ..request })
    }

    /// Checks that no argument about saving was given where nothing is saved: of a file, or of a pipe that is only copied.
    pub(crate) fn refuse(&self, file: &OsStr) -> anyhow::Result<()> {
        if self.keep.is_none() && self.max_spill.is_none() && !self.durable {
            return Ok(());
        }
        let why = match file == "-" {
            true => "have no effect here; `overspill preview --save` saves standard input",
            false => "apply only to piped input or `run`; FILE is already on disk",
        };
        Err(usage(format!("--keep, --max-spill and --durable {why}")))
    }
}

/// Parses `none`, or a size in bytes.
fn cap(text: &str) -> Result<u64, String> {
    if text == "none" {
        return Ok(u64::MAX);
    }
    match text.parse::<TypedSize>()?.number {
        0 => Err("that saves nothing; write --keep never".to_owned()),
        cap => Ok(cap),
    }
}

/// How text is printed.
#[derive(Debug, Group)]
#[command(next_help_heading = "Output format")]
pub(crate) struct FormArgs {
    /// Print a JSON object: the text, its parts, and the figures
    #[arg(long)]
    json: bool,
    /// Print escape sequences unchanged, even to a terminal
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// Byte for byte, except that a terminal gets it escaped.
    Text,
    /// Same, but a terminal gets its colours.
    Rendered,
    /// Byte for byte, always.
    Raw,
    Json,
}

impl TextForm {
    /// Returns what to count: JSON has every figure.
    pub(crate) fn counts(self) -> TotalsFor {
        if self == TextForm::Json { TotalsFor::All } else { TotalsFor::Text }
    }
}

impl FormArgs {
    pub(crate) fn form(&self) -> TextForm {
        match (self.json, self.raw) {
            (true, _) => TextForm::Json,
            (false, true) => TextForm::Raw,
            (false, false) => TextForm::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_a_size_or_none() {
        assert_eq!((cap("none"), cap("1k"), cap("7")), (Ok(u64::MAX), Ok(1024), Ok(7)));
        assert!(cap("all").is_err() && cap("0").unwrap_err().contains("--keep never"));
    }
}
