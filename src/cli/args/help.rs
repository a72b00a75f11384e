//! The help: subcommands in groups, and exit statuses and examples at the end of each.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;

use clap::error::{Error, ErrorKind};
use clap::{ColorChoice, Command, CommandFactory, FromArgMatches};

use crate::cli::terminal::help_colour;

use super::examples::examples;
use super::leading::{self, behind_subcommand};
use super::status::exit_statuses;
use super::{Args, ColorWhen, Command as CommandArgs};

/// The subcommands in the order of the main help, under their headings.
const GROUPS: &[(&str, &[&str])] = &[
    ("See", &["preview", "read", "explain", "compare", "run"]),
    ("Stored", &["list", "show", "grep", "rm", "clean", "tune", "stores"]),
    ("Recorded", &["sessions", "verify"]),
    ("Set up", &["policies", "config", "setup"]),
];

/// The options that `-h` shows of those that several commands share; `--help` shows all.
const SHORT: &[&str] = &["policy", "max_lines", "max_bytes", "json"];

/// The heading of subcommands that are in no group. A test holds that there are none.
const UNGROUPED: &str = "More";

/// The column of the summaries in the list of subcommands.
const NAMES: usize = 13;

/// The column of what exit statuses mean.
const STATUSES: usize = 10;

/// Parses the arguments of the process.
///
/// # Errors
/// What clap reports: a usage error, or the help or version that was asked for.
pub(crate) fn parse() -> Result<Args, Error> {
    let plain = Args::command();
    let words = behind_subcommand(std::env::args_os().collect(), &plain);
    // Examples and groups take as long to add as the rest, and only help and usage errors show them.
    let args = parse_by(plain, &words).or_else(|_| {
        let command = with_groups(command()).color(color(&words));
        match parse_by(command.clone(), &words) {
            Err(error) if error.kind() == ErrorKind::UnknownArgument => {
                join_negative(&words).map_or(Err(error), |words| parse_by(command, &words))
            }
            result => result,
        }
    })?;
    if !matches!(args.command, Some(CommandArgs::Run(_))) && names_two_agents(&words) {
        let wrong = "--agent is given twice; name one agent, or leave it out for all of them";
        return Err(command().error(ErrorKind::ArgumentConflict, wrong));
    }
    Ok(args)
}

/// Joins a value like `-1` to the option before it, which then says what it takes.
fn join_negative(words: &[OsString]) -> Option<Vec<OsString>> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"--");
    let is_negative =
        |word: &OsString| matches!(word.as_encoded_bytes(), [b'-', digit, ..] if digit.is_ascii_digit());
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let at = words[..end].windows(2).position(|pair| is_option(&pair[0]) && is_negative(&pair[1]))?;
    let mut words = words.to_vec();
    let value = words.remove(at + 1);
    words[at].push("=");
    words[at].push(value);
    Some(words)
}

/// Whether there are two agents among the words before `--`: the last would count, and not both.
fn names_two_agents(words: &[OsString]) -> bool {
    let words = words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    words.filter(|word| *word == "--agent" || word.starts_with("--agent=")).count() > 1
}

/// Decides on colours itself: clap takes CLICOLOR_FORCE=0 for a yes.
fn color(words: &[OsString]) -> ColorChoice {
    match ColorWhen::from_words(words) {
        ColorChoice::Auto if help_colour(&io::stdout()) => ColorChoice::Always,
        ColorChoice::Auto => ColorChoice::Never,
        asked => asked,
    }
}

fn parse_by(mut command: Command, words: &[OsString]) -> Result<Args, Error> {
    let mut matches = command.try_get_matches_from_mut(words)?;
    Args::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Whether the process is to answer an agent's hook, as far as its words tell.
pub(crate) fn is_hook() -> bool {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    subcommand(&words).is_some_and(|at| words[at] == "hook")
}

/// Returns the index of the first word that names a subcommand, whether or not the rest can be parsed.
pub(crate) fn subcommand(words: &[OsString]) -> Option<usize> {
    leading::subcommand(words, &Args::command())
}

/// Returns the definition of the command line, with examples.
pub(crate) fn command() -> Command {
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

/// Adds the exit statuses and the examples to the end of the help.
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
    for example in examples {
        let _ = write!(text, "\n  # {}\n  {}\n", example.does, example.line);
    }
    let after = command.get_after_help();
    if let Some(after) = after.map(ToString::to_string) {
        let _ = write!(text, "\n{after}");
    }
    command.after_long_help(text.trim_end().to_owned())
}

/// Lists the subcommands in groups, which clap cannot: it is told to hide them, and given the list as text.
fn with_groups(command: Command) -> Command {
    let list = list(&command);
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{all-args}}{{after-help}}");
    command.help_template(template).mut_subcommands(|sub| sub.hide(true))
}

/// Returns the subcommands with their summaries, in groups.
fn list(command: &Command) -> String {
    let (header, literal) = (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut text = String::new();
    for (heading, names) in groups(command) {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:NAMES$}{literal:#}{about}");
        }
        text.push('\n');
    }
    text
}

/// Returns the headings with the subcommands that there are; those in no group come last.
pub(crate) fn groups(command: &Command) -> Vec<(&'static str, Vec<&str>)> {
    let defined = |name: &&'static str| command.find_subcommand(name).is_some();
    let mut groups: Vec<(&str, Vec<&str>)> = GROUPS
        .iter()
        .map(|(heading, names)| (*heading, names.iter().copied().filter(defined).collect()))
        .collect();
    let names = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name);
    let ungrouped: Vec<&str> =
        names.filter(|name| !GROUPS.iter().any(|(_, names)| names.contains(name))).collect();
    if !ungrouped.is_empty() {
        groups.push((UNGROUPED, ungrouped));
    }
    groups
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
        let groups = groups(&command);
        assert!(
            groups.iter().all(|(heading, _)| *heading != UNGROUPED),
            "add to GROUPS: {:?}",
            groups.last()
        );
        let mut listed: Vec<&str> = groups.iter().flat_map(|(_, names)| names).copied().collect();
        let all = GROUPS.iter().map(|(_, names)| names.len()).sum::<usize>();
        assert_eq!(listed.len(), all, "GROUPS names what is no subcommand");
        listed.sort_unstable();
        listed.dedup();
        assert_eq!(listed.len(), all, "a subcommand is in two groups");
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
