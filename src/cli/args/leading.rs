//! Global options before the subcommand, as git and cargo take them: `overspill -q list`.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Moves the global options that stand before a subcommand to the place after it, where the parser knows them.
///
/// `words` begin with the program's name. Any other option there leaves them as they are.
pub(super) fn behind_subcommand(mut words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let leading = 1 + count(words.get(1..).unwrap_or_default(), command);
    let is_subcommand = |word: &OsString| {
        let name = word.to_str().unwrap_or_default();
        command.find_subcommand(name).is_some() || name == "help"
    };
    if words.get(leading).is_some_and(is_subcommand) {
        words[1..=leading].rotate_right(1);
    }
    words
}

/// Returns the index of the first of the words that names a subcommand, whether or not the rest can be parsed.
pub(super) fn subcommand(words: &[OsString], command: &Command) -> Option<usize> {
    let leading = count(words, command);
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    (leading..end).find(|at| command.find_subcommand(&words[*at]).is_some())
}

/// Counts the words at the beginning that are global options and their values.
fn count(words: &[OsString], command: &Command) -> usize {
    let mut at = 0;
    while let Some(taken) = words.get(at).and_then(|word| taken(word, command)) {
        at += taken;
    }
    at
}

/// Returns how many words a global option takes that begins with this one: 1 or 2; none if it is not one.
fn taken(word: &OsStr, command: &Command) -> Option<usize> {
    let word = word.to_str()?;
    let (name, is_joined) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
    let named = |arg: &&Arg| {
        let long = arg.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long));
        let short = || {
            arg.get_short()
                .is_some_and(|short| name.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4])))
        };
        long || short()
    };
    let option = command.get_arguments().filter(|arg| arg.is_global_set()).find(named)?;
    Some(if option.get_action().takes_values() && !is_joined { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Args;

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
    fn the_subcommand_is_found_where_the_rest_is_wrong() {
        let of = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            subcommand(&words, &Args::command()).map(|at| words[at].clone())
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
    fn other_words_stay_where_they_are() {
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
