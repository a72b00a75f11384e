//! `overspill completions` and `overspill man`: generated from the definition of the command line.

mod man;
mod sections;

use std::io::Write;

use clap_complete::Shell;

use super::CommandResult;
use super::args::help;

/// Prints a completion script: of the three common shells the one in `assets/completions`, which asks overspill itself
/// what fits; of the others one that knows subcommands and options.
pub(crate) fn completions(shell: Shell) -> CommandResult {
    let script = match shell {
        Shell::Bash => include_str!("../../../assets/completions/overspill.bash").to_owned(),
        Shell::Zsh => include_str!("../../../assets/completions/_overspill").to_owned(),
        Shell::Fish => include_str!("../../../assets/completions/overspill.fish").to_owned(),
        other => generated(other),
    };
    Ok(crate::cli::safe::stdout().write_all(script.as_bytes())?)
}

fn generated(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "overspill", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Prints the man page of a subcommand, or the main one.
pub(crate) fn man(subcommand: Option<&str>) -> CommandResult {
    let page = man::page(subcommand)?;
    Ok(crate::cli::safe::stdout().write_all(page.as_bytes())?)
}
