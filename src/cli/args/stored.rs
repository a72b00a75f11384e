//! Arguments of the commands on stored outputs and other files, and on agents' own records.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as Group, ValueEnum};
use jiff::SignedDuration;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::base::human::TypedSize;
use crate::store::SortBy;

use super::LimitArgs;

#[derive(Debug, Default, Group)]
pub(crate) struct ListArgs {
    /// Only this agent's outputs
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only outputs older than this: 7d, 24h, 30m, 90s, 2w
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<SignedDuration>,
    /// Only outputs larger than this
    #[arg(long, value_name = "SIZE")]
    pub larger_than: Option<TypedSize>,
    /// Sort key [default: age]
    #[arg(long, value_name = "KEY", value_parser = sort_by())]
    pub sort: Option<SortBy>,
    /// Print a line for each new output once it is complete, with what the model got, until Ctrl-C
    #[arg(short, long, conflicts_with_all = ["older_than", "larger_than", "sort"])]
    pub follow: bool,
    /// Print a JSON array; with --follow, one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CleanArgs {
    /// Only show what would be deleted
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Clean this agent's stores instead of overspill's own
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub agent: Option<String>,
    /// Clean the stores of all agents
    #[arg(long)]
    pub all: bool,
    /// Delete outputs older than this [default: those that have expired by their store's own rule]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<SignedDuration>,
    /// Then delete the oldest outputs until at most this much is left
    #[arg(long, value_name = "SIZE")]
    pub max_total: Option<TypedSize>,
    /// End a session: remove the directory of `run --session NAME` and the spills in it, without asking
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dry_run", "agent", "all", "older_than", "max_total", "json"])]
    pub session: Option<String>,
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
    /// Print a JSON array; needs --yes or --dry-run
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct ShowArgs {
    /// Id of an output, a session or a call, prefix of one, or file
    #[arg(value_name = "ID|FILE")]
    pub name: OsString,
    /// Print a text of a call [default: what the model got]
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true)]
    pub text: Option<Option<CallText>>,
    /// Print a JSON object, in which what looks like a secret is masked
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct RmArgs {
    /// Ids, prefixes of ids, or paths of stored outputs
    #[arg(value_name = "ID", required = true)]
    pub names: Vec<OsString>,
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Group)]
pub(crate) struct StoresArgs {
    /// Print this agent's store file
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Include stores that are empty or not on this system, as --json does
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// Print a JSON array
    #[arg(long, conflicts_with = "name")]
    pub json: bool,
}

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
    /// Search all stored outputs, newest first
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
    /// Files, directories or ids; - is standard input [default: what is piped in, else all stored outputs]
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
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Debug, Group)]
pub(crate) struct SessionsArgs {
    /// List the tool calls of this session: id, prefix of an id, or file with an agent's records
    #[arg(value_name = "SESSION|FILE", conflicts_with_all = ["agent", "project", "since"])]
    pub session: Option<OsString>,
    /// Only this agent's sessions
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only sessions in this directory, or below
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Only sessions changed within this time: 7d, 24h, 30m, 2w
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub since: Option<SignedDuration>,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub calls: CallsArgs,
}

/// Which calls of a session are listed, and in which order.
#[derive(Debug, Default, Group)]
#[command(next_help_heading = "Calls of a session")]
pub(crate) struct CallsArgs {
    /// Only calls whose output was cut
    #[arg(long, requires = "session")]
    pub cut: bool,
    /// Only calls whose output was cut and never saved
    #[arg(long, requires = "session")]
    pub never_saved: bool,
    /// Only calls whose spill was deleted since
    #[arg(long, requires = "session")]
    pub deleted: bool,
    /// Only calls that failed
    #[arg(long, requires = "session")]
    pub failed: bool,
    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "time", requires = "session")]
    pub sort: CallSort,
}

/// By what calls are sorted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallSort {
    /// First to last
    #[default]
    Time,
    /// Largest result first
    Got,
    /// Most lost bytes first
    Lost,
}

/// A text of a call that can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallText {
    /// What the request that first carried the result holds
    Sent,
    /// What the agent's history holds as the result
    Recorded,
    /// That whole request, as JSON
    Request,
    /// The copy for the agent's own screen, which the model never got
    Display,
    /// The spill: the whole output
    Spill,
}

#[derive(Debug, Group)]
pub(crate) struct VerifyArgs {
    /// Id of a session or a call, prefix of one, or file with an agent's records [default: all sessions]
    #[arg(value_name = "ID|FILE")]
    pub what: Option<OsString>,
    /// Only sessions changed within this time: 7d, 24h, 30m, 2w
    #[arg(long, value_name = "AGE", value_parser = age, conflicts_with = "what")]
    pub since: Option<SignedDuration>,
    /// Also open spills outside of the known stores, wherever the records say they are
    #[arg(long)]
    pub any_path: bool,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

fn age(text: &str) -> Result<SignedDuration, String> {
    let since_day = || {
        let start = text.parse::<Date>().ok()?.to_zoned(TimeZone::system()).ok()?.timestamp();
        Some(crate::base::env::now().duration_since(start)).filter(SignedDuration::is_positive)
    };
    crate::base::human::parse_age(text).or_else(since_day).ok_or_else(|| {
        format!("'{text}' is not an age; write 7d, 24h, 30m, 90s or 2w, or a past day such as 2026-11-01")
    })
}

fn sort_by() -> impl TypedValueParser<Value = SortBy> {
    let by = |name: String| SortBy::ALL.into_iter().find(|by| by.as_str() == name);
    let by = move |name| by(name).unwrap_or(SortBy::Age);
    PossibleValuesParser::new(SortBy::ALL.map(SortBy::as_str)).map(by)
}
