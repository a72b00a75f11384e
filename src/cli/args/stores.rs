//! The words of the commands that go through the stores without the screen.

use std::ffi::OsString;

use clap::Args as Group;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::SignedDuration;

use crate::human::Size;
use crate::store::SortBy;

#[derive(Debug, Default, Group)]
pub(crate) struct ListArgs {
    /// Of this agent alone
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Older than this: 7d, 24h, 30m, 90s, 2w
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<SignedDuration>,
    /// Larger than this
    #[arg(long, value_name = "SIZE")]
    pub larger_than: Option<Size>,
    /// By what to sort [default: age]
    #[arg(long, value_name = "KEY", value_parser = sort_by())]
    pub sort: Option<SortBy>,
    /// One JSON array
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CleanArgs {
    /// Only show what would go
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// In this agent's stores instead of overspill's own
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub agent: Option<String>,
    /// In the stores of all agents
    #[arg(long)]
    pub all: bool,
    /// Delete what is older than this [default: what its store's own rule should have deleted]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<SignedDuration>,
    /// Then delete the oldest, until no more than this is left
    #[arg(long, value_name = "SIZE")]
    pub max_total: Option<Size>,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// One JSON array; with --yes or --dry-run
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct ShowArgs {
    /// Id, the beginning of one, or a file
    #[arg(value_name = "ID|FILE")]
    pub name: OsString,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct RmArgs {
    /// Ids, the beginning of one, or paths of stored outputs
    #[arg(value_name = "ID", required = true)]
    pub names: Vec<OsString>,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Group)]
pub(crate) struct StoresArgs {
    /// Print this agent's file
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// One JSON array
    #[arg(long, conflicts_with = "name")]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CompareArgs {
    /// File or id; - is standard input
    #[arg(value_name = "FILE|ID|-")]
    pub file: OsString,
    /// Count which matches of this regular expression the model still gets; without a capital letter in any case
    #[arg(long, value_name = "REGEX")]
    pub find: Option<String>,
    /// Include earlier forms of the policies
    #[arg(long)]
    pub all: bool,
    /// One JSON array
    #[arg(long)]
    pub json: bool,
}

fn age(text: &str) -> Result<SignedDuration, String> {
    crate::human::parse_age(text).ok_or_else(|| format!("'{text}' is no age; write 7d, 24h, 30m, 90s or 2w"))
}

fn sort_by() -> impl TypedValueParser<Value = SortBy> {
    PossibleValuesParser::new(SortBy::ALL.map(SortBy::as_str)).try_map(|name| name.parse::<SortBy>())
}
