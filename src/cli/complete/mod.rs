//! `overspill completions` prints the scripts in `assets/completions`; `overspill __complete` tells them what fits.
//!
//! The first line says what the shell adds: `words` nothing, `parts` nothing and no space, `files`, `dirs`, or `command N`
//! what completes the command at word N. Each further line is a word, for zsh and fish with a tab and what it is.

mod cursor;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write as _;
use std::ops::ControlFlow;

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, Command};
use clap_complete::Shell;

use crate::base::env::Env;
use crate::base::human::size;
use crate::config::{Config, Overrides};
use crate::session::list;
use crate::session::reader::SessionFile;
use crate::store::scan;
use crate::text::label::label;

use super::args::{CompleteArgs, help};
use super::{CommandResult, terminal};

use cursor::{TypedWord, WordPlace, split_line, tail};

/// Maximum number of ids that are offered: more are of no use, and shells ask before they show them.
const MAX_IDS: usize = 500;

/// Maximum number of sessions that are read for the ids of their calls.
const MAX_SESSIONS: usize = 8;

/// Maximum size of such a session, in bytes.
const MAX_SESSION_SIZE: u64 = 4 << 20;

/// For shells without a script in `assets/completions`, prints one that knows subcommands and options.
pub(crate) fn print_script(shell: Shell) -> CommandResult {
    let mut out = terminal::stdout();
    match shell {
        Shell::Bash => out.write_all(include_bytes!("../../../assets/completions/overspill.bash"))?,
        Shell::Zsh => out.write_all(include_bytes!("../../../assets/completions/_overspill"))?,
        Shell::Fish => out.write_all(include_bytes!("../../../assets/completions/overspill.fish"))?,
        other => {
            let mut text = Vec::new();
            clap_complete::generate(other, &mut help::command(), "overspill", &mut text);
            out.write_all(&text)?;
        }
    }
    Ok(())
}

/// Prints what fits. Whatever goes wrong, nothing is written to standard error, and nothing fits then.
pub(crate) fn run(args: &CompleteArgs) -> CommandResult {
    let mut root = help::command();
    root.build();
    let words: Vec<String> = match args.shell {
        Shell::Bash => split_line(&args.words.first().map(text).unwrap_or_default()),
        _ => args.words.iter().map(text).collect(),
    };
    let cursor = TypedWord::parse(&root, &words);
    let (kind, words) = complete(&root, &cursor);
    let whole = format!("{}{}", cursor.prefix, cursor.typed);
    let mut text = format!("{kind}\n");
    let fits = |(word, _): &(String, String)| word.starts_with(&cursor.typed) && is_plain(word);
    for (word, what) in words.into_iter().filter(fits) {
        let (value, what) = (format!("{}{word}", cursor.prefix), label(what.as_bytes()));
        match args.shell {
            Shell::Bash => text.push_str(tail(&value, &whole, &args.breaks)),
            _ => text.push_str(&format!("{value}\t{what}")),
        }
        text.push('\n');
    }
    Ok(terminal::stdout().write_all(text.as_bytes())?)
}

fn text(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

type Words = Vec<(String, String)>;

/// Returns the first line to print, and the words that may fit.
fn complete(root: &Command, cursor: &TypedWord) -> (String, Words) {
    let (kind, words) = match cursor.place {
        WordPlace::Command(at) => return (format!("command {at}"), Words::new()),
        WordPlace::Flag => ("words", flags(cursor.command)),
        WordPlace::Value(arg) => complete_value(root, cursor, arg),
        WordPlace::Positional(arg) => {
            let none = ("words", Words::new());
            let (kind, mut words) = arg.map_or(none, |arg| complete_value(root, cursor, arg));
            if cursor.positionals == 0 {
                words.extend(subcommands(cursor.command));
            }
            (kind, words)
        }
    };
    (kind.to_owned(), words)
}

/// Whether a word means itself in every shell: bash would put others on the command line as they are.
fn is_plain(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,=".contains(&byte);
    !word.is_empty() && word.bytes().all(is_plain)
}

/// What the shell has to add, and what returns the words.
type Completer = (&'static str, fn(&Command, &TypedWord) -> Words);

/// Returns what completes the values of an argument; `None` if nobody has said yet.
fn completer(command: &str, arg: &str) -> Option<Completer> {
    Some(match (command, arg) {
        ("policies", "name") | (_, "policy" | "policies" | "headroom") => {
            ("words", |_, cursor| policies(&config(), &cursor.typed))
        }
        (_, "tool") => ("words", |_, cursor| tools(&config(), cursor.policy)),
        (_, "set") => ("parts", |_, cursor| params(&config(), cursor.policy)),
        ("sessions", "agent") => ("words", |_, _| plain(list::agents())),
        ("stores", "name") | (_, "agent") => ("words", |_, _| {
            let config = config();
            plain(config.stores.specs.iter().map(|spec| spec.agent.as_str()).collect::<BTreeSet<_>>())
        }),
        ("rm", "names") => ("words", |_, cursor| stored(&config(), &cursor.typed)),
        (_, "file" | "files" | "names" | "paths") => ("files", |_, cursor| outputs(&config(), &cursor.typed)),
        ("show", "name") => ("files", |_, cursor| ids(&config(), &cursor.typed)),
        ("sessions", "session") | ("verify", "what") => ("files", |_, _| sessions(&list_sessions(&config()))),
        (_, "subcommand") => ("words", |root, _| subcommands(root)),
        (_, "stderr" | "saved_as" | "saved_as_stderr" | "config") => ("files", |_, _| Words::new()),
        (_, "project") => ("dirs", |_, _| Words::new()),
        // The name of a session is of the user's own making.
        ("run" | "clean", "session")
        | (_, "max_lines" | "max_bytes" | "exit_code" | "offset" | "limit" | "timeout" | "max_spill")
        | (_, "pattern" | "since" | "older_than" | "larger_than" | "max_total" | "find") => {
            ("words", |_, _| Words::new())
        }
        _ => return None,
    })
}

fn complete_value(root: &Command, cursor: &TypedWord, arg: &Arg) -> (&'static str, Words) {
    let possible = arg.get_possible_values();
    if possible.is_empty() {
        let completer = completer(cursor.command.get_name(), arg.get_id().as_str());
        return completer.map_or(("words", Words::new()), |(kind, words)| (kind, words(root, cursor)));
    }
    let named = |value: &PossibleValue| (value.get_name().to_owned(), words_of(value.get_help()));
    ("words", possible.iter().map(named).collect())
}

fn words_of(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// Returns the user's files, without a word on the mistakes in them.
fn config() -> Config {
    Config::load(Env::from_process())
}

fn flags(command: &Command) -> Words {
    let of = |arg: &Arg| {
        let what = words_of(arg.get_help());
        let long = arg.get_long().map(|long| format!("--{long}"));
        let both = [long, arg.get_short().map(|short| format!("-{short}"))];
        both.map(|flag| flag.map(|flag| (flag, what.clone()))).into_iter().flatten()
    };
    command.get_arguments().filter(|arg| !arg.is_hide_set()).flat_map(of).collect()
}

fn subcommands(command: &Command) -> Words {
    let named = help::GROUPS.iter().flat_map(|(_, names)| *names).chain(&["help"]);
    let there = named.filter_map(|name| command.find_subcommand(name));
    there.map(|sub| (sub.get_name().to_owned(), words_of(sub.get_about()))).collect()
}

fn plain(names: impl IntoIterator<Item = impl Into<String>>) -> Words {
    names.into_iter().map(|name| (name.into(), String::new())).collect()
}

/// Returns all policies; with nothing typed yet, those that hold today.
fn policies(config: &Config, typed: &str) -> Words {
    let named = |name: &str| {
        let policy = config.catalog.get(name).ok()?;
        (!typed.is_empty() || config.catalog.is_current(&policy))
            .then(|| (name.to_owned(), policy.summary().to_owned()))
    };
    config.catalog.names().filter(|name| name.starts_with(typed)).filter_map(named).collect()
}

fn tools(config: &Config, policy: Option<&str>) -> Words {
    let agent = policy.map(|policy| policy.split('/').next().unwrap_or_default());
    let names = config.catalog.names().filter_map(|name| name.split_once('/'));
    let tools: BTreeSet<&str> =
        names.filter(|(of, _)| agent.is_none_or(|agent| agent == *of)).map(|(_, tool)| tool).collect();
    plain(tools)
}

fn params(config: &Config, policy: Option<&str>) -> Words {
    let overrides = Overrides { policy: policy.map(str::to_owned), ..Overrides::default() };
    let Ok(resolved) = config.resolve(&overrides, None) else { return Vec::new() };
    plain(resolved.policy.params().iter().map(|param| format!("{}=", param.name)))
}

/// Returns the ids of stored outputs, if the beginning of one is typed: without, they would bury the files.
fn outputs(config: &Config, typed: &str) -> Words {
    if typed.is_empty() || typed.contains('/') { Words::new() } else { stored(config, typed) }
}

/// Returns the ids of stored outputs that begin so.
fn stored(config: &Config, typed: &str) -> Words {
    let now = crate::base::env::now();
    let mut found = Vec::new();
    for store in &config.stores.specs {
        scan(store, &config.env, now, &mut |entry| {
            if entry.id_bytes().starts_with(typed.as_bytes()) {
                found.push((entry.id().into_owned(), format!("{}, {}", entry.agent(), size(entry.size()))));
            }
            if found.len() < MAX_IDS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    found
}

fn ids(config: &Config, typed: &str) -> Words {
    let listed = list_sessions(config);
    [outputs(config, typed), sessions(&listed), calls(&listed)].concat()
}

fn list_sessions(config: &Config) -> Vec<SessionFile> {
    list::list(&config.env, None, &()).sessions
}

fn sessions(listed: &[SessionFile]) -> Words {
    let named = |session: &SessionFile| (session.id.clone(), session.format.to_owned());
    listed.iter().take(MAX_IDS).map(named).collect()
}

/// Returns the ids of calls, the last first, in the sessions that are read within the time that a key may take.
fn calls(listed: &[SessionFile]) -> Words {
    let short = listed.iter().filter(|session| session.size <= MAX_SESSION_SIZE).take(MAX_SESSIONS);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for opened in short.filter_map(|session| list::open(session, &()).ok()) {
        let transcript = opened.transcript();
        let new = transcript.calls.iter().rev().filter(|call| seen.insert(call.id.clone()));
        found.extend(new.map(|call| (call.id.to_string(), transcript.tool(call).to_owned())));
    }
    found.truncate(MAX_IDS);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_kind() {
        let mut root = help::command();
        root.build();
        for command in root.get_subcommands().chain([&root]) {
            if command.is_hide_set() || command.get_name() == "help" {
                continue;
            }
            for arg in
                command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_trailing_var_arg_set())
            {
                let is_known = !arg.get_num_args().is_some_and(|count| count.takes_values())
                    || !arg.get_possible_values().is_empty()
                    || completer(command.get_name(), arg.get_id().as_str()).is_some();
                assert!(is_known, "say in `completer` what {} of {} is", arg.get_id(), command.get_name());
            }
        }
    }

    #[test]
    fn does_not_offer_words_with_shell_metacharacters() {
        let words = ["$(reboot)", "a b", "`x`", "a;b", "a*", "a\nb", "tool_01", "pi/bash", "-x", "é"];
        let safe: Vec<&str> = words.into_iter().filter(|word| is_plain(word)).collect();
        assert_eq!(safe, ["tool_01", "pi/bash", "-x"]);
    }
}
