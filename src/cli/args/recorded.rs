//! Arguments of the commands that read agents' own records.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as Group, ValueEnum};
use jiff::SignedDuration;

use super::stored::age;

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
    // Last: its heading would go on to what follows.
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
    /// Only calls whose output was cut and never kept
    #[arg(long, requires = "session")]
    pub lost: bool,
    /// Only calls whose spill was deleted since
    #[arg(long, requires = "session")]
    pub gone: bool,
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
    /// Most bytes that the model got first
    Got,
    /// Most bytes that the model did not get first
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
