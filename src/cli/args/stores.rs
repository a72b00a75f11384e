//! Arguments of the commands that work on the stores without a screen.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as Group, Subcommand};
use jiff::SignedDuration;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::human::TypedSize;
use crate::store::SortBy;

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
    /// Print a JSON array
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
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
    /// Print a JSON array; needs --yes or --dry-run
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct ShowArgs {
    /// Id, prefix of an id, or file
    #[arg(value_name = "ID|FILE")]
    pub name: OsString,
    /// Print a JSON object
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

pub(super) fn age(text: &str) -> Result<SignedDuration, String> {
    crate::human::parse_age(text).or_else(|| since_day(text)).ok_or_else(|| {
        format!("'{text}' is not an age; write 7d, 24h, 30m, 90s or 2w, or a past day such as 2026-11-01")
    })
}

/// Returns how long ago a day began here; `None` if it has not.
fn since_day(text: &str) -> Option<SignedDuration> {
    let start = text.parse::<Date>().ok()?.to_zoned(TimeZone::system()).ok()?.timestamp();
    Some(crate::env::now().duration_since(start)).filter(SignedDuration::is_positive)
}

fn sort_by() -> impl TypedValueParser<Value = SortBy> {
    PossibleValuesParser::new(SortBy::ALL.map(SortBy::as_str)).try_map(|name| name.parse::<SortBy>())
}

/// What can be done with a session.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Remove a session's directory and the spills in it
    End {
        /// The name that was given with `run --session`
        name: String,
    },
}
