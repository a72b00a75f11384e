//! Arguments of the commands that look at many outputs together.

use std::ffi::OsString;

use clap::Args as Group;

#[derive(Debug, Group)]
#[command(after_help = "Exit status: 0 with hits, 1 without, 2 if something could not be searched.")]
pub(crate) struct GrepArgs {
    /// Regular expression (ignores case unless it has a capital letter)
    #[arg(value_name = "REGEX")]
    pub pattern: String,
    /// Files, directories or ids [default: all stored outputs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
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
