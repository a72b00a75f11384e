//! Arguments of the commands on one output, and on policies.

use std::ffi::OsString;

use clap::Args as Group;

use crate::preview::ToCount;

use super::{LimitArgs, PolicyArgs, SaveArgs, whole_number};

#[derive(Debug, Group)]
pub(crate) struct PreviewArgs {
    /// File or id; - (the default) is standard input
    #[arg(value_name = "FILE|ID|-", default_value = "-")]
    pub file: OsString,
    /// Save all of standard input if the policy cuts it, and print the path
    #[arg(long)]
    pub save: bool,
    #[command(flatten)]
    pub saving: SaveArgs,
    #[command(flatten)]
    pub policy_args: PolicyArgs,
    #[command(flatten)]
    pub form: FormArgs,
}

#[derive(Debug, Group)]
pub(crate) struct ReadArgs {
    /// File or id
    #[arg(value_name = "FILE|ID")]
    pub file: OsString,
    /// First line, numbered as the agent's read tool does
    #[arg(long, value_name = "N", value_parser = whole_number)]
    pub offset: Option<u64>,
    /// Maximum number of lines
    #[arg(long, value_name = "M", value_parser = whole_number)]
    pub limit: Option<u64>,
    #[command(flatten)]
    pub policy_args: PolicyArgs,
    #[command(flatten)]
    pub form: FormArgs,
}

#[derive(Debug, Group)]
pub(crate) struct ExplainArgs {
    /// File with a notice, a tool's result or a whole transcript; - (the default) is standard input
    #[arg(value_name = "FILE|-", default_value = "-", conflicts_with = "clipboard")]
    pub file: OsString,
    /// Explain the text in the clipboard
    #[arg(long)]
    pub clipboard: bool,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CompareArgs {
    /// Files, directories or ids; - is standard input
    #[arg(value_name = "FILE|ID|-", required_unless_present = "stores")]
    pub files: Vec<OsString>,
    /// Compare on all stored outputs
    #[arg(long, conflicts_with = "files")]
    pub stores: bool,
    /// Compare only this policy, or all of an agent; may be repeated
    #[arg(short, long = "policy", value_name = "NAME|AGENT")]
    pub policies: Vec<String>,
    /// Count how many matches of REGEX the model still gets (ignores case unless REGEX has a capital letter)
    #[arg(long, value_name = "REGEX")]
    pub find: Option<String>,
    /// Include policies of earlier versions
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
    // Last: its heading would go on to what follows.
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Debug, Group)]
pub(crate) struct PoliciesArgs {
    /// List this agent's policies, or print this policy's file
    #[arg(value_name = "AGENT|NAME")]
    pub name: Option<String>,
    /// Include policies of earlier versions
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
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

/// How text is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// Byte for byte, except that a terminal gets it escaped.
    Text,
    /// Same, but a terminal gets its colours.
    Rendered,
    /// Byte for byte, always.
    Raw,
    /// One JSON object.
    Json,
}

impl TextForm {
    /// Returns what to count: JSON has every figure.
    pub(crate) fn counts(self) -> ToCount {
        match self {
            TextForm::Json => ToCount::All,
            TextForm::Text | TextForm::Rendered | TextForm::Raw => ToCount::Text,
        }
    }
}

impl FormArgs {
    /// Returns the form that the flags select.
    pub(crate) fn form(&self) -> TextForm {
        match (self.json, self.raw) {
            (true, _) => TextForm::Json,
            (false, true) => TextForm::Raw,
            (false, false) => TextForm::Text,
        }
    }
}
