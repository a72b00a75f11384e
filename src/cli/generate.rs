//! `overspill completions` and `overspill man`: print what packages install.

use std::io::Write;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::args::{Args, help};
use super::{CommandResult, suggest, terminal, usage};

/// The man pages, each with the name of its file; `tests/it/cli/man.rs` makes them of the definition of the command line.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/man.rs"));

/// Prints a completion script: of the three common shells the one in `assets/completions`, which asks overspill itself
/// what fits; of the others one that knows subcommands and options.
pub(crate) fn completions(shell: Shell) -> CommandResult {
    let mut out = terminal::stdout();
    match shell {
        Shell::Bash => out.write_all(include_bytes!("../../assets/completions/overspill.bash"))?,
        Shell::Zsh => out.write_all(include_bytes!("../../assets/completions/_overspill"))?,
        Shell::Fish => out.write_all(include_bytes!("../../assets/completions/overspill.fish"))?,
        other => {
            let mut text = Vec::new();
            clap_complete::generate(other, &mut help::command(), "overspill", &mut text);
            out.write_all(&text)?;
        }
    }
    Ok(())
}

pub(crate) fn man(subcommand: Option<&str>) -> CommandResult {
    let name = subcommand.map(|name| name.strip_prefix("overspill-").unwrap_or(name));
    let (root, name) = (Args::command(), name.filter(|name| *name != "overspill").unwrap_or_default());
    let name = root.find_subcommand(name).map_or(name, Command::get_name);
    let file = if name.is_empty() { "overspill.1".to_owned() } else { format!("overspill-{name}.1") };
    let page = PAGES.iter().find(|(known, _)| *known == file);
    let (_, page) = page.ok_or_else(|| usage(suggest::man_page(name, &root)))?;
    Ok(terminal::stdout().write_all(page.as_bytes())?)
}
