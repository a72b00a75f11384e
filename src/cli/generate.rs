//! `overspill completions` and `overspill man`: generated from the definition of the command line.

use std::io::Write;

use clap::CommandFactory;

use super::CommandResult;
use super::args::Args;

pub(crate) fn completions(shell: clap_complete::Shell) -> CommandResult {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "overspill", &mut text);
    Ok(crate::fs::patient::stdout().write_all(&text)?)
}

pub(crate) fn man() -> CommandResult {
    let mut text = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut text)?;
    Ok(crate::fs::patient::stdout().write_all(&text)?)
}
