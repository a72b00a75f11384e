//! `overspill completions` and `overspill man`: generated from the definition of the command line, a man page a subcommand.

mod sections;

use std::io::Write;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use super::args::status::{Item, exit_statuses};
use super::args::{examples, help};
use super::{CommandResult, Failure, suggest};
use sections::{ENVIRONMENT, FILES};

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
    let page = page(subcommand)?;
    Ok(crate::cli::safe::stdout().write_all(page.as_bytes())?)
}

/// Returns the man page of a subcommand, or the main one, as roff.
///
/// # Errors
/// There is no such subcommand.
fn page(subcommand: Option<&str>) -> Result<String, Failure> {
    let mut root = help::command().disable_help_subcommand(true);
    root.build();
    let name = subcommand.map(|name| name.strip_prefix("overspill-").unwrap_or(name));
    let Some(name) = name.filter(|name| *name != "overspill") else { return Ok(rendered(&root, "", &root)) };
    let command = root.find_subcommand(name).filter(|command| !command.is_hide_set());
    let unknown = || Failure::Usage(suggest::man_page(name, &root));
    command.map(|command| rendered(command, name, &root)).ok_or_else(unknown)
}

fn rendered(command: &Command, name: &str, root: &Command) -> String {
    let mut roff = Roff::new();
    let title = title(name);
    let version = format!("overspill {}", root.get_version().unwrap_or_default());
    section(&mut roff, "NAME");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    roff.text([roman(format!("{title} - {about}"))]);
    section(&mut roff, "SYNOPSIS");
    synopsis(&mut roff, command);
    section(&mut roff, "DESCRIPTION");
    description(&mut roff, command);
    if name.is_empty() {
        commands(&mut roff, root);
    }
    let mut page = roff.render();
    page.push_str(&arguments(command));
    page.push_str(&options(command));
    let mut roff = Roff::new();
    section(&mut roff, "EXIT STATUS");
    items(&mut roff, exit_statuses(name));
    section(&mut roff, "ENVIRONMENT");
    items(&mut roff, ENVIRONMENT);
    section(&mut roff, "FILES");
    items(&mut roff, FILES);
    section(&mut roff, "EXAMPLES");
    examples_of(&mut roff, name);
    section(&mut roff, "SEE ALSO");
    see_also(&mut roff, name, root);
    page.push_str(&roff.render());
    // The preamble that each part begins with, once.
    let preamble = Roff::new().render();
    let page = page.replace(&preamble, "").replace("\n.br\n\n.br\n", "\n.sp\n");
    // Without a date, so that the same sources make the same pages; the crate would leave the empty field out.
    format!("{preamble}.TH {title} 1 \"\" \"{version}\" \"overspill manual\"\n{page}")
}

/// Returns the name of a page.
fn title(name: &str) -> String {
    if name.is_empty() { "overspill".to_owned() } else { format!("overspill-{name}") }
}

fn section(roff: &mut Roff, heading: &str) {
    roff.control("SH", [heading]);
}

/// Prints every form of the usage on a line of its own, as the help does.
fn synopsis(roff: &mut Roff, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage:").unwrap_or(&usage).to_owned();
    for (at, form) in usage.lines().map(str::trim).enumerate() {
        if at > 0 {
            roff.control("br", []);
        }
        roff.text([roman(form)]);
    }
}

fn description(roff: &mut Roff, command: &Command) {
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    let after = command.get_after_help().map(ToString::to_string);
    for (at, paragraph) in about.iter().chain(&after).flat_map(|text| text.split("\n\n")).enumerate() {
        if at > 0 {
            roff.control("PP", []);
        }
        let paragraph = paragraph.trim();
        let end = if paragraph.ends_with('.') { "" } else { "." };
        roff.text([roman(format!("{paragraph}{end}"))]);
    }
}

fn commands(roff: &mut Roff, root: &Command) {
    section(roff, "COMMANDS");
    for (heading, names) in help::groups(root) {
        roff.control("SS", [heading]);
        names.iter().filter_map(|name| root.find_subcommand(name)).for_each(|sub| subcommand(roff, sub));
    }
}

fn subcommand(roff: &mut Roff, command: &Command) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    roff.control("TP", []);
    roff.text([bold(command.get_name())]);
    roff.text([roman(about)]);
}

/// Returns the section of positional arguments, if there are any.
fn arguments(command: &Command) -> String {
    if command.get_positionals().next().is_none() {
        return String::new();
    }
    let alone = command.clone().mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) });
    rendered_options(alone).replace(".SH OPTIONS", ".SH ARGUMENTS")
}

/// Returns the sections of options, under the headings of the help.
fn options(command: &Command) -> String {
    rendered_options(command.clone().mut_args(|arg| if arg.is_positional() { arg.hide(true) } else { arg }))
}

/// Returns the section that the crate makes, in which options and arguments stand together.
fn rendered_options(command: Command) -> String {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(command).render_options_section(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn items(roff: &mut Roff, items: &[Item]) {
    for (name, what) in items {
        roff.control("TP", []);
        roff.text([bold(*name)]);
        roff.text([roman(*what)]);
    }
}

fn examples_of(roff: &mut Roff, name: &str) {
    for (at, example) in examples::of(name).iter().enumerate() {
        if at > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(format!("{}:", example.does))]);
        roff.control("PP", []);
        roff.control("RS", ["4"]);
        roff.control("nf", []);
        roff.text([roman(example.line)]);
        roff.control("fi", []);
        roff.control("RE", []);
    }
}

/// Refers to every page from the main one; from the others to it and to those of the same group.
fn see_also(roff: &mut Roff, name: &str, root: &Command) {
    let groups = help::groups(root);
    let own = groups.iter().filter(|(_, names)| name.is_empty() || names.contains(&name));
    let others = own.flat_map(|(_, names)| names).filter(|other| **other != name);
    let main = Some("").filter(|_| !name.is_empty());
    let titles: Vec<String> = main.into_iter().chain(others.copied()).map(title).collect();
    let mut line: Vec<Inline> = Vec::new();
    for title in titles {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.extend([bold(title), roman("(1)")]);
    }
    roff.text(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_every_section_in_order() {
        let root = help::command();
        let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
        for name in shown.map(Command::get_name).map(Some).chain([None]) {
            let page = page(name).unwrap();
            let at = |heading: &str| page.find(&format!("\n.SH {heading}\n"));
            let headings = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "ENVIRONMENT"];
            let places: Vec<_> = headings
                .iter()
                .chain(&["FILES", "EXAMPLES", "\"SEE ALSO\""])
                .map(|heading| at(heading))
                .collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{name:?}: {places:?}\n{page}");
            assert_eq!(page.matches(".ie \\n(.g").count(), 1, "one preamble: {page}");
        }
        assert!(page(Some("lst")).unwrap_err().to_string().contains("did you mean `overspill man list`?"));
    }
}
