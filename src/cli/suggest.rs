//! What the user may have meant: the nearest subcommand or policy.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::CommandFactory;

use crate::form::nearest;
use crate::preview::PolicyError;
use crate::source::OpenError;
use crate::text::label::label;

use super::Failure;
use super::args::Args;

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

/// Says what the first name of a command line may mean, if it is neither a file nor a subcommand.
pub(crate) fn mistyped(words: &[OsString]) -> Option<String> {
    let first = words.iter().position(|word| !word.as_encoded_bytes().starts_with(b"-"))?;
    let is_known = Args::command().find_subcommand(&words[first]).is_some();
    let is_file = Path::new(&words[first]).symlink_metadata().is_ok();
    if is_known || is_file { None } else { subcommand(&words[first..]) }
}

/// Names the candidates of a word that means several things.
pub(crate) fn several(word: &OsStr, what: &str, names: Vec<String>) -> Failure {
    let more = names.len().saturating_sub(MAX_CANDIDATES);
    let shown = names[..names.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more; give more of the id") } else { String::new() };
    Failure::Usage(format!("{} {what}: {shown}{more}", label(word.as_encoded_bytes())))
}

/// Names the subcommand that the first word may mean.
fn subcommand(words: &[OsString]) -> Option<String> {
    let word = words.first().map(OsString::as_os_str).and_then(OsStr::to_str)?;
    let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let command = Args::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names = shown.map(clap::Command::get_name);
    let synonyms = SYNONYMS.iter().flat_map(|(typed, _)| *typed).copied();
    let name = nearest(word, names.chain(["help"]).chain(synonyms)).filter(|_| plain)?;
    let name = SYNONYMS.iter().find(|(typed, _)| typed.contains(&name)).map_or(name, |(_, meant)| meant);
    if name == word {
        return Some(format!(
            "options go after the subcommand: overspill {name} [OPTIONS]; a file is ./{name}"
        ));
    }
    Some(format!(
        "{}: neither a file, an id nor a subcommand; did you mean `overspill {name}`?",
        label(word.as_bytes())
    ))
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

/// Describes a policy error; for an unknown name, names those that may be meant instead of all.
pub(crate) fn policy(error: &PolicyError) -> String {
    let PolicyError::Unknown { name, known } = error else { return error.to_string() };
    let meant = meant(name, known).unwrap_or_else(|| "`overspill policies` lists them all".to_owned());
    format!("no policy `{}`; {meant}", label(name.as_bytes()))
}

fn meant(name: &str, known: &[String]) -> Option<String> {
    let agents = || known.iter().filter_map(|name| name.split('/').next());
    let (agent, tool) = name.split_once('/').map_or((name, None), |(agent, tool)| (agent, Some(tool)));
    if let Some(best) =
        tool.filter(|tool| !tool.is_empty()).and_then(|_| nearest(name, known.iter().map(String::as_str)))
    {
        let of_agent = best.split('/').next() == Some(agent);
        if of_agent || !agents().any(|known| known == agent) {
            return Some(format!("did you mean {best}?"));
        }
    }
    let agent = agent.to_lowercase();
    let begun = || agents().find(|known| !agent.is_empty() && known.split('-').next() == Some(&agent));
    let agent =
        agents().find(|known| *known == agent).or_else(begun).or_else(|| nearest(&agent, agents()))?;
    let tools: Vec<&str> =
        known.iter().map(String::as_str).filter(|name| name.split('/').next() == Some(agent)).collect();
    Some(format!("the policies of {agent} are {}", tools.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preview::Catalog;

    #[test]
    fn what_a_synonym_stands_for_is_there() {
        for (typed, meant) in SYNONYMS {
            let name = meant.split(' ').next().unwrap();
            let is_there =
                ["FILE", "--version"].contains(&name) || Args::command().find_subcommand(name).is_some();
            assert!(is_there && !typed.contains(&name), "{meant}");
        }
        let of = |word: &str| subcommand(&[word.into()]).unwrap_or_default();
        assert!(of("serach").ends_with("did you mean `overspill grep REGEX`?"), "{}", of("serach"));
    }

    #[test]
    fn a_policy_is_named_by_what_is_near() {
        let catalog = Catalog::builtin();
        let of = |name: &str| policy(&catalog.get(name).unwrap_err());
        assert_eq!(of("opencode/outptu"), "no policy `opencode/outptu`; did you mean opencode/output?");
        assert_eq!(of("Claude-Code/Bash"), "no policy `Claude-Code/Bash`; did you mean claude-code/bash?");
        assert!(
            of("claude").contains("the policies of claude-code are claude-code/bash, "),
            "{}",
            of("claude")
        );
        assert!(
            of("opencode").contains("the policies of opencode are ") && !of("opencode").contains("pi/bash")
        );
        assert!(of("opencode/").contains("the policies of opencode are "), "{}", of("opencode/"));
        assert!(of("pi/bsh").ends_with("did you mean pi/bash?"), "{}", of("pi/bsh"));
        assert!(of("pi/zzz").contains("the policies of pi are pi/bash, "), "{}", of("pi/zzz"));
        assert_eq!(of("xyz/q"), "no policy `xyz/q`; `overspill policies` lists them all");
    }
}
