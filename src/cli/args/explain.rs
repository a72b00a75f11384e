//! Arguments of `overspill explain`.

use std::ffi::OsString;

use clap::Args as Group;

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
