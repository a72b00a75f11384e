//! `overspill completions` and `overspill man`: generated from the definition of the command line.

mod man;
mod sections;

use std::io::Write;

use super::CommandResult;
use super::args::help;

pub(crate) fn completions(shell: clap_complete::Shell) -> CommandResult {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "overspill", &mut text);
    Ok(crate::fs::patient::stdout().write_all(&text)?)
}

/// Prints the man page of a subcommand, or the main one.
pub(crate) fn man(subcommand: Option<&str>) -> CommandResult {
    let page = man::page(subcommand)?;
    Ok(crate::fs::patient::stdout().write_all(page.as_bytes())?)
}
