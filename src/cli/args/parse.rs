//! Parses the command line: global options also before a subcommand, whose arguments are defined only when needed.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgMatches, Args as Group, ColorChoice, Command, CommandFactory, FromArgMatches};

use crate::cli::terminal::help_colour;

use super::{Args, Command as CommandArgs, help};

/// Fails with what clap reports: a usage error, or the help or version that was asked for.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Args, Error> {
    let plain = Args::command();
    let words = behind_subcommand(words, &plain);
    // Examples and groups take as long to add as the rest, and only help and usage errors show them.
    let args = parse_by(plain, &words).or_else(|_| {
        let is_coloured = is_coloured(&words, &io::stdout());
        let color = if is_coloured { ColorChoice::Always } else { ColorChoice::Never };
        let command = help::with_groups(help::command()).color(color);
        match parse_by(command.clone(), &words) {
            Err(error) if error.kind() == ErrorKind::UnknownArgument => {
                join_negative(&words).map_or(Err(error), |words| parse_by(command, &words))
            }
            result => result,
        }
    })?;
    if !matches!(args.command, Some(CommandArgs::Run(_))) && names_two_agents(&words) {
        let wrong = "--agent is given twice; name one agent, or leave it out for all of them";
        return Err(help::command().error(ErrorKind::ArgumentConflict, wrong));
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

/// Whether help or an error is in colour: clap takes CLICOLOR_FORCE=0 for a yes.
pub(crate) fn is_coloured(words: &[OsString], stream: &impl IsTerminal) -> bool {
    let words: Vec<&str> =
        words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let apart = words.windows(2).filter(|pair| pair[0] == "--color").map(|pair| pair[1]);
    let joined = words.iter().filter_map(|word| word.strip_prefix("--color="));
    match apart.chain(joined).last() {
        Some("always") => true,
        Some("never") => false,
        _ => help_colour(stream),
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
    let command = Args::command();
    let leading = count_leading(words, &command);
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    (leading..end).find(|at| command.find_subcommand(&words[*at]).is_some())
}

/// Moves global options before a subcommand to the place after it, where clap takes them: `overspill -q list`.
fn behind_subcommand(mut words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let leading = 1 + count_leading(words.get(1..).unwrap_or_default(), command);
    let is_subcommand = |word: &OsString| {
        let name = word.to_str().unwrap_or_default();
        command.find_subcommand(name).is_some() || name == "help"
    };
    if words.get(leading).is_some_and(is_subcommand) {
        words[1..=leading].rotate_right(1);
    }
    words
}

fn count_leading(words: &[OsString], command: &Command) -> usize {
    let mut at = 0;
    while let Some(taken) = words.get(at).and_then(|word| words_of_option(word, command)) {
        at += taken;
    }
    at
}

/// Returns how many words a global option takes that begins with this one: 1 or 2; `None` if it is not one.
fn words_of_option(word: &OsStr, command: &Command) -> Option<usize> {
    let word = word.to_str()?;
    let (name, is_joined) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
    let named = |arg: &&Arg| {
        let is_short = |short: char| name.strip_prefix('-').is_some_and(|rest| rest.chars().eq([short]));
        arg.get_short().is_some_and(is_short)
            || arg.get_long().is_some() && name.strip_prefix("--") == arg.get_long()
    };
    let option = command.get_arguments().filter(|arg| arg.is_global_set()).find(named)?;
    Some(if option.get_action().takes_values() && !is_joined { 2 } else { 1 })
}

/// Arguments that the parser defines when it builds their subcommand, not with all others at each start.
#[derive(Debug)]
pub(crate) struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Group> Group for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| {
            let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
            // The global ones are there already; the help shows them last.
            let global: Vec<_> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
            // This overwrites the subcommand's description, so restore it.
            let command = T::augment_args(command);
            let command = command.about(Resettable::from(about)).long_about(Resettable::from(long_about));
            help::without_long(global.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_has_the_name_of_the_program_whatever_its_file_is_called() {
        for line in ["other list --help", "other help list", "other list --nope"] {
            let error = parse(line.split(' ').map(OsString::from).collect()).unwrap_err();
            assert!(error.to_string().contains("Usage: overspill list"), "{error}");
        }
    }

    fn moved(line: &str) -> String {
        let words = ["overspill"].into_iter().chain(line.split_whitespace()).map(OsString::from).collect();
        let words = behind_subcommand(words, &Args::command());
        words[1..].iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn global_options_move_behind_the_subcommand() {
        assert_eq!(moved("-q list"), "list -q");
        assert_eq!(
            moved("--color always --config=x -q run --pty -- list"),
            "run --color always --config=x -q --pty -- list"
        );
        assert_eq!(moved("-q help list"), "help -q list");
    }

    #[test]
    fn finds_the_subcommand_even_if_the_rest_is_wrong() {
        let of = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            subcommand(&words).map(|at| words[at].clone())
        };
        for line in
            ["hook", "-q hook x", "--config list hook codex", "--confg list.toml hook codex", "hook list"]
        {
            assert_eq!(of(line), Some("hook".into()), "{line}");
        }
        for line in ["preview hook --bad", "-- hook", "--config hook", "hook.json"] {
            assert_ne!(of(line), Some("hook".into()), "{line}");
        }
    }

    #[test]
    fn does_not_move_other_arguments() {
        for line in [
            "",
            "-q",
            "list -q",
            "-q file",
            "--color list",
            "-p x list",
            "-q -p x list",
            "-- list",
            "-q -- list",
        ] {
            assert_eq!(moved(line), line);
        }
    }
}
