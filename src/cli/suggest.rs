//! What the user may have meant: the nearest subcommand, or another name.

use std::ffi::{OsStr, OsString};

use clap::CommandFactory;

use crate::form::nearest;
use crate::source::OpenError;
use crate::text::label::label;

use super::Failure;
use super::args::Args;

/// Says what the first of these words may mean if it looks like something other than a file; otherwise returns the error.
pub(crate) fn no_file(error: anyhow::Error, words: &[OsString]) -> anyhow::Error {
    let Some(OpenError::Missing(path)) = error.downcast_ref::<OpenError>() else { return error };
    let meant = (words.first().map(OsString::as_os_str) == Some(path.as_os_str()))
        .then(|| subcommand(words))
        .flatten();
    meant.map_or(error, |words| Failure::Usage(words).into())
}

/// Names the one of these that a mistyped word may mean, or else, after `all`, all of them.
pub(crate) fn name(word: &str, known: &[&str], all: &str) -> String {
    match nearest(word, known.iter().copied()) {
        Some(best) => format!("did you mean {best}?"),
        None => format!("{all} {}", known.join(", ")),
    }
}

/// Names the subcommand that takes what the one in the first word does not: the name of an output.
pub(crate) fn instead(words: &[OsString]) -> Option<String> {
    let words = match words.first()?.to_str()? {
        "list" | "ls" => {
            "list takes no names: `overspill show ID` has the facts of an output, `overspill ID` opens it"
        }
        "clean" => {
            "clean takes no names: `overspill rm ID` deletes an output, --agent NAME cleans an agent's stores"
        }
        _ => return None,
    };
    Some(words.to_owned())
}

/// Names the subcommand whose help may be meant by a command line that cannot be parsed.
pub(crate) fn help(words: &[OsString]) -> Option<String> {
    let [first, mistyped, ..] = words else { return None };
    let command = Args::command();
    let shown = command.get_subcommands().filter(|command| first == "help" && !command.is_hide_set());
    let best = nearest(mistyped.to_str()?, shown.map(clap::Command::get_name))?;
    (mistyped != best).then(|| format!("did you mean `overspill help {best}`?"))
}

/// Names the subcommand that the first word may mean.
fn subcommand(words: &[OsString]) -> Option<String> {
    let word = words.first().map(OsString::as_os_str).and_then(OsStr::to_str)?;
    if word == "version" {
        return Some("version: no such file; did you mean `overspill --version`?".to_owned());
    }
    let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let command = Args::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names = shown.map(clap::Command::get_name);
    let name = nearest(word, names.chain(["help"])).filter(|_| plain)?;
    if name == word {
        return Some(format!(
            "options go after the subcommand: overspill {name} [OPTIONS]; a file is ./{name}"
        ));
    }
    Some(format!("{word}: neither a file, an id nor a subcommand; did you mean `overspill {name}`?"))
}

/// Says that a subcommand has no man page, and names the one that may be meant.
pub(crate) fn man_page(name: &str, root: &clap::Command) -> String {
    let pages = root.get_subcommands().filter(|command| !command.is_hide_set());
    let names = pages.map(clap::Command::get_name);
    let meant = nearest(name, names).map_or_else(
        || "`overspill man` is the main page, which lists the others".to_owned(),
        |name| format!("did you mean `overspill man {name}`?"),
    );
    format!("no man page `{}`; {meant}", label(name.as_bytes()))
}
