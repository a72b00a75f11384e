//! The help: subcommands in groups, and exit statuses and examples at the end of each; and the man pages.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use clap::{Command, CommandFactory};

use crate::base::toml_check::nearest;
use crate::cli::{CommandResult, terminal, usage};
use crate::text::label::label;

use super::Args;

/// The subcommands in the order of the main help, under their headings. A test holds that each is under one.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("See", &["preview", "read", "explain", "compare", "run"]),
    ("Stored", &["list", "show", "grep", "rm", "clean", "tune", "stores"]),
    ("Recorded", &["sessions", "verify"]),
    ("Set up", &["policies", "config", "setup"]),
];

/// The options that `-h` shows of those that several commands share; `--help` shows all.
const SHORT: &[&str] = &["policy", "max_lines", "max_bytes", "json"];

/// The columns of the summaries in the list of subcommands, and of what exit statuses mean.
const NAMES: usize = 13;

const STATUSES: usize = 10;

pub fn command() -> Command {
    let names: Vec<String> = Args::command().get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(with_examples(without_long(Args::command()), ""), |command, name| {
        command.mut_subcommand(&name, |sub| with_examples(sub, &name))
    })
}

/// Leaves out of `-h` what is under a heading of its own.
pub(super) fn without_long(command: Command) -> Command {
    command.mut_args(|arg| {
        let is_long = arg.get_help_heading().is_some() && !SHORT.contains(&arg.get_id().as_str());
        if is_long { arg.hide_short_help(true) } else { arg }
    })
}

fn with_examples(command: Command, name: &str) -> Command {
    let examples = examples(name);
    if examples.is_empty() {
        return command;
    }
    let header = *command.get_styles().get_header();
    let mut text = format!("{header}Exit status:{header:#}");
    for (status, meaning) in exit_statuses(name) {
        let _ = write!(text, "\n  {status:STATUSES$}{meaning}");
    }
    let _ = write!(text, "\n\n{header}Examples:{header:#}");
    for (does, line) in examples {
        let _ = write!(text, "\n  # {does}\n  {line}\n");
    }
    if let Some(after) = command.get_after_help() {
        let _ = write!(text, "\n{after}");
    }
    command.after_long_help(text.trim_end().to_owned())
}

/// Lists the subcommands in groups, which clap cannot: it is told to hide them, and given the list as text.
pub(super) fn with_groups(command: Command) -> Command {
    let list = list(&command);
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{all-args}}{{after-help}}");
    command.help_template(template).mut_subcommands(|sub| sub.hide(true))
}

fn list(command: &Command) -> String {
    let (header, literal) = (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for sub in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let (name, about) = (sub.get_name(), sub.get_about().unwrap_or_default());
            let _ = writeln!(text, "  {literal}{name:NAMES$}{literal:#}{about}");
        }
        text.push('\n');
    }
    text
}

type StatusMeaning = (&'static str, &'static str);

const SUCCESS: StatusMeaning = ("0", "Success, or nothing to do.");
const FAILURE: StatusMeaning = ("1", "What was named does not exist or cannot be read.");
const INCOMPLETE: StatusMeaning = ("1", "An input cannot be read and is left out.");
const STAYED: StatusMeaning = ("1", "What was named does not exist, or something was not deleted.");
const USAGE: StatusMeaning = ("2", "Usage error, or a mistake in the configuration.");
const CRASH: StatusMeaning = ("3", "The agent itself would crash on this output.");

const RUN: &[StatusMeaning] = &[
    ("n", "The command ended with status n."),
    ("128+n", "Signal n ended the command, or reached overspill."),
    ("141", "The reader of standard output exited."),
    ("127, 126", "The command was not found, or is not executable."),
    ("125", "overspill itself failed."),
    ("124", "The command timed out."),
    ("2", "Usage error, or a mistake in the configuration; nothing was run."),
];

/// Returns the exit statuses of a subcommand; the empty name is the program without one.
pub fn exit_statuses(command: &str) -> &'static [StatusMeaning] {
    match command {
        "run" => RUN,
        "preview" | "read" => &[SUCCESS, FAILURE, USAGE, CRASH],
        "compare" | "tune" => {
            &[SUCCESS, INCOMPLETE, USAGE, ("130", "Ctrl-C ended it; the figures are those so far.")]
        }
        "rm" | "clean" => &[("0", "Deleted, nothing to delete, or answered with no."), STAYED, USAGE],
        "explain" => &[
            ("0", "A notice was recognised."),
            ("1", "None was recognised, or the text cannot be read."),
            USAGE,
        ],
        "grep" => &[
            ("0", "There are hits."),
            ("1", "There are none."),
            ("2", "Something could not be searched; usage error; faulty configuration."),
        ],
        "verify" => {
            &[SUCCESS, ("1", "A policy makes another text than was recorded, or a record is missing."), USAGE]
        }
        "hook" => &[
            ("0", "Answered, or there is nothing to say."),
            ("1", "Any failure. Never 2, which stops the agent."),
        ],
        _ => &[SUCCESS, FAILURE, USAGE],
    }
}

/// By subcommand, whose name stands in brackets: what a line does, as one phrase, and below it the line.
const EXAMPLES: &str = include_str!("../../../assets/examples.txt");

/// The man pages, each with the name of its file; `tests/it/cli/man.rs` makes them of the definition of the command line.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/man.rs"));

pub(crate) fn print_page(subcommand: Option<&str>) -> CommandResult {
    let name = subcommand.map(|name| name.strip_prefix("overspill-").unwrap_or(name));
    let (root, name) = (Args::command(), name.unwrap_or("overspill"));
    let name = root.find_subcommand(name).map_or(name, Command::get_name);
    let file = if name == "overspill" { "overspill.1".to_owned() } else { format!("overspill-{name}.1") };
    if let Some((_, page)) = PAGES.iter().find(|(known, _)| *known == file) {
        if io::stdout().is_terminal() {
            return Err(usage(format!(
                "this is the source of a page; to read it: overspill man {name} | man -l -"
            )));
        }
        return Ok(terminal::stdout().write_all(page.as_bytes())?);
    }
    let pages = root.get_subcommands().filter(|command| !command.is_hide_set());
    let meant = nearest(name, pages.map(Command::get_name));
    let meant = meant.map(|name| format!("did you mean `overspill man {name}`?"));
    let instead =
        meant.unwrap_or_else(|| "`overspill man` is the main page, which lists the others".to_owned());
    Err(usage(format!("no man page `{}`; {instead}", label(name.as_bytes()))))
}

/// Returns the examples of a subcommand; the empty name is the program without one.
pub fn examples(command: &str) -> Vec<(&'static str, &'static str)> {
    let lines = EXAMPLES.lines().skip_while(|line| *line != format!("[{command}]")).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).map(str::trim_start).collect();
    lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the help without colours.
    fn help(words: &[&str]) -> String {
        let words = [&["overspill"], words, &["--help"]].concat();
        with_groups(command()).try_get_matches_from(words).unwrap_err().render().to_string()
    }

    #[test]
    fn every_subcommand_is_in_one_group_and_has_examples() {
        let command = command();
        let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).collect();
        all.sort_unstable();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        listed.sort_unstable();
        assert_eq!(listed, all, "GROUPS names each subcommand once, and nothing else");
        let main = help(&[]);
        for name in listed {
            assert!(main.contains(&format!("\n  {name} ")), "{main}");
            assert!(
                (2..=4).contains(&examples(name).len()),
                "{name} needs 2 to 4 examples in assets/examples.txt"
            );
            assert!(help(&[name]).contains("\nExamples:\n  # "), "{name}");
        }
    }

    #[test]
    fn the_short_help_fits_forty_lines() {
        let command = command();
        for name in command.get_subcommands().map(Command::get_name).chain([""]) {
            let words = ["overspill", name, "-h"].into_iter().filter(|word| !word.is_empty());
            let help =
                with_groups(super::command()).try_get_matches_from(words).unwrap_err().render().to_string();
            assert!(help.lines().count() <= 40, "{name}: {help}");
        }
    }

    #[test]
    fn the_help_fits_eighty_columns() {
        let command = command();
        for name in command.get_subcommands().map(Command::get_name).chain([""]) {
            let words: Vec<&str> = [name].into_iter().filter(|name| !name.is_empty()).collect();
            for line in help(&words).lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        }
    }
}
