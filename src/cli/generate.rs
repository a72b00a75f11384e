//! `overspill completions` and `overspill man`: made from the command line's own description.

use std::io::Write;

use clap::CommandFactory;

use super::CommandResult;
use super::args::Args;

/// Prints completions for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> CommandResult {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "overspill", &mut text);
    Ok(crate::fs::patient::stdout().write_all(&text)?)
}

/// Prints the man page.
pub(crate) fn man() -> CommandResult {
    let mut text = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut text)?;
    Ok(crate::fs::patient::stdout().write_all(&text)?)
}
