//! Arguments of `overspill compare`.

use std::ffi::OsString;

use clap::Args as Group;

use super::LimitArgs;

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
