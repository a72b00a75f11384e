//! What the user may have meant: the nearest subcommand, or another name.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::CommandFactory;

use crate::base::toml_check::nearest;
use crate::source::OpenError;
use crate::text::label::label;

use super::args::Args;
use super::{safe, usage};

/// Words that other programs have for what a subcommand does.
const SYNONYMS: &[(&[&str], &str)] = &[
    (&["search", "find", "rg"], "grep REGEX"),
    (&["delete", "remove", "del"], "rm ID"),
    (&["view", "cat", "open", "less", "more", "page"], "FILE"),
    (&["diff"], "compare FILE"),
    (&["log", "history", "session"], "sessions"),
    (&["calls"], "sessions ID"),
    (&["call", "info", "stat"], "show ID"),
    (&["status", "ps"], "list"),
    (&["watch", "follow", "tail"], "list -f"),
    (&["init", "install"], "setup AGENT"),
    (&["version"], "--version"),
    (&["exec"], "run -- CMD"),
    (&["prune", "purge", "gc"], "clean"),
    (&["settings"], "config"),
];
/// How many names are listed if a word means several things.
const MAX_CANDIDATES: usize = 8;

/// Says what the first of these words may mean if it looks like something other than a file; otherwise returns the error.
pub(crate) fn name_subcommand(error: anyhow::Error, words: &[OsString]) -> anyhow::Error {
    let Some(OpenError::Missing(path)) = error.downcast_ref::<OpenError>() else { return error };
    let meant = (words.first().map(OsString::as_os_str) == Some(path.as_os_str()))
        .then(|| subcommand(words))
        .flatten();
    meant.map_or(error, usage)
}

/// Names the one of these that a mistyped word may mean, or else, after `all`, all of them.
pub(crate) fn name(word: &str, known: &[&str], all: &str) -> String {
    let meant = nearest(word, known.iter().copied()).map(|best| format!("did you mean {best}?"));
    meant.unwrap_or_else(|| format!("{all} {}", known.join(", ")))
}

/// Says what the first name of a command line may mean, if it is neither a file nor a subcommand.
pub(crate) fn explain_mistyped(words: &[OsString]) -> Option<String> {
    let first = words.iter().position(|word| !word.as_encoded_bytes().starts_with(b"-"))?;
    let is_known = Args::command().find_subcommand(&words[first]).is_some();
    let is_file = Path::new(&words[first]).symlink_metadata().is_ok();
    if is_known || is_file { None } else { subcommand(&words[first..]) }
}

pub(crate) fn several(word: &OsStr, what: &str, names: Vec<String>) -> anyhow::Error {
    let more = names.len().saturating_sub(MAX_CANDIDATES);
    let shown = names[..names.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more; give more of the id") } else { String::new() };
    usage(format!("{} {what}: {shown}{more}", label(word.as_encoded_bytes())))
}

fn subcommand(words: &[OsString]) -> Option<String> {
    let word = words.first().map(OsString::as_os_str).and_then(OsStr::to_str)?;
    let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let command = Args::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names = shown.map(clap::Command::get_name);
    let synonyms = SYNONYMS.iter().flat_map(|(typed, _)| *typed).copied();
    let name = nearest(word, names.chain(["help"]).chain(synonyms)).filter(|_| plain)?;
    let name = SYNONYMS.iter().find(|(typed, _)| typed.contains(&name)).map_or(name, |(_, meant)| meant);
    Some(match name == word {
        true => format!("options go after the subcommand: overspill {name} [OPTIONS]; a file is ./{name}"),
        false => {
            let what = "neither a file, an id nor a subcommand";
            format!("{}: {what}; did you mean `overspill {name}`?", safe(word))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_synonym_leads_to_a_command() {
        for (typed, meant) in SYNONYMS {
            let name = meant.split(' ').next().unwrap();
            let is_there =
                ["FILE", "--version"].contains(&name) || Args::command().find_subcommand(name).is_some();
            assert!(is_there && !typed.contains(&name), "{meant}");
        }
        let of = |word: &str| subcommand(&[word.into()]).unwrap_or_default();
        assert!(of("serach").ends_with("did you mean `overspill grep REGEX`?"), "{}", of("serach"));
    }
}
