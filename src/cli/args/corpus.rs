//! Arguments of the commands that look at many outputs together.

use std::ffi::OsString;

use clap::Args as Group;

use super::LimitArgs;

#[derive(Debug, Group)]
pub(crate) struct GrepArgs {
    /// Regular expression (ignores case unless it has a capital letter)
    #[arg(value_name = "REGEX")]
    pub pattern: String,
    /// Files, directories or ids; - is standard input [default: what is piped in, else all stored outputs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
    /// Ignore case even if REGEX has a capital letter
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Print line numbers (always on)
    #[arg(short = 'n', long)]
    pub line_number: bool,
    /// Print the number of matching lines per output
    #[arg(short, long, conflicts_with_all = ["json", "names"])]
    pub count: bool,
    /// Print only the names of outputs with a match
    #[arg(short = 'l', long = "files-with-matches", conflicts_with = "json")]
    pub names: bool,
    /// Print the lines that do not match
    #[arg(short = 'v', long = "invert-match")]
    pub invert: bool,
    /// Search all stored outputs, youngest first
    #[arg(long, conflicts_with = "paths")]
    pub stores: bool,
    /// Only this agent's stored outputs
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    pub agent: Option<String>,
    /// Only lines that the model did not get
    #[arg(long)]
    pub lost: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct TuneArgs {
    /// Files, directories or ids [default: all stored outputs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
    /// Use all stored outputs
    #[arg(long, conflicts_with = "paths")]
    pub stores: bool,
    /// Only this agent's stored outputs
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    pub agent: Option<String>,
    /// Policy to tune: AGENT/TOOL [default: the one that cut most of the outputs]
    #[arg(short, long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Tool of the agent named with -p, or the kind of output
    #[arg(short, long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// What the model should get: matches of REGEX (ignores case unless REGEX has a capital letter) [default: errors]
    #[arg(long, value_name = "REGEX")]
    pub find: Option<String>,
    /// Show the settings on the screen: a plot, what each one cuts differently, and keys to apply or copy one
    #[arg(short, long, conflicts_with = "json")]
    pub interactive: bool,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    // Last: its heading would go on to what follows.
    #[command(flatten)]
    pub limits: LimitArgs,
}
