//! `overspill __complete`: says what fits where the cursor is, for the completion scripts in `assets/completions`.
//!
//! The first line names what the shell has to add itself: `words` nothing, `parts` nothing and no space, `files`, `dirs`,
//! `command N` the completions of the command that begins at word N. Each further line is a word that fits, for zsh and
//! fish with a tab and what it is.

mod cursor;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write as _;
use std::ops::ControlFlow;

use clap::builder::PossibleValue;
use clap::{Arg, Command};

use crate::base::env::Env;
use crate::base::human::size;
use crate::config::{Config, Overrides};
use crate::session::list;
use crate::session::reader::SessionFile;
use crate::store::{has_prefix, scan};
use crate::text::label::label;

use super::args::{CompleteArgs, CompletedBy, help};
use super::{CommandResult, terminal};

use cursor::{TypedWord, WordPlace, split_line, tail};

/// Maximum number of ids that are offered: more are of no use, and shells ask before they show them.
const MAX_IDS: usize = 500;

/// Maximum number of sessions that are read for the ids of their calls.
const MAX_SESSIONS: usize = 8;

/// Maximum size of such a session, in bytes.
const MAX_SESSION_SIZE: u64 = 4 << 20;

/// Prints what fits. Whatever goes wrong, nothing is written to standard error, and nothing fits then.
pub(crate) fn run(args: &CompleteArgs) -> CommandResult {
    let mut root = help::command();
    root.build();
    let words: Vec<String> = match args.shell {
        CompletedBy::Bash => split_line(&args.words.first().map(text).unwrap_or_default()),
        CompletedBy::Zsh | CompletedBy::Fish => args.words.iter().map(text).collect(),
    };
    let cursor = TypedWord::parse(&root, &words);
    let completions = complete(&root, &cursor);
    let whole = format!("{}{}", cursor.prefix, cursor.typed);
    let mut text = format!("{}\n", completions.kind);
    for (value, what) in completions.safe(&cursor.prefix, &cursor.typed) {
        match args.shell {
            CompletedBy::Bash => text.push_str(tail(&value, &whole, &args.breaks)),
            CompletedBy::Zsh | CompletedBy::Fish => text.push_str(&format!("{value}\t{what}")),
        }
        text.push('\n');
    }
    Ok(terminal::stdout().write_all(text.as_bytes())?)
}

fn text(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

fn complete(root: &Command, cursor: &TypedWord) -> Completions {
    match cursor.place {
        WordPlace::Flag => flags(cursor.command),
        WordPlace::Value(arg) => complete_value(root, cursor, arg),
        WordPlace::Positional(arg) => {
            let none = Completions::new(Vec::new());
            let mut completions = arg.map_or(none, |arg| complete_value(root, cursor, arg));
            if cursor.positionals == 0 {
                completions.words.extend(subcommands(cursor.command));
            }
            completions
        }
        WordPlace::Command(at) => Completions::with(&format!("command {at}"), Vec::new()),
    }
}

struct Completions {
    /// What the shell adds, in the words of the first line that is printed.
    kind: String,
    /// Words, each with what it is.
    words: Vec<(String, String)>,
}

impl Completions {
    fn new(words: Vec<(String, String)>) -> Self {
        Self::with("words", words)
    }

    fn with(kind: &str, words: Vec<(String, String)>) -> Self {
        Self { kind: kind.to_owned(), words }
    }

    /// Returns the words that begin with what is typed, with the prefix before them. Of words with a character that means
    /// something to a shell none is offered: bash would put it on the command line as it is.
    fn safe(&self, prefix: &str, typed: &str) -> Vec<(String, String)> {
        let fits = self.words.iter().filter(|(word, _)| word.starts_with(typed) && is_plain(word));
        fits.map(|(word, what)| (format!("{prefix}{word}"), label(what.as_bytes()))).collect()
    }
}

/// Whether a word means nothing but itself in every shell.
fn is_plain(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,=".contains(&byte);
    !word.is_empty() && word.bytes().all(is_plain)
}

type Completer = fn(&Command, &TypedWord) -> Completions;

/// Returns what completes the values of an argument; `None` if nobody has said yet.
fn completer(command: &str, arg: &str) -> Option<Completer> {
    Some(match (command, arg) {
        ("policies", "name") | (_, "policy" | "policies" | "headroom") => {
            |_, cursor| Completions::new(policies(&config(), &cursor.typed))
        }
        (_, "tool") => |_, cursor| Completions::new(tools(&config(), cursor.policy)),
        (_, "set") => |_, cursor| Completions::with("parts", params(&config(), cursor.policy)),
        ("sessions", "agent") => |_, _| Completions::new(plain(list::agents())),
        ("stores", "name") | (_, "agent") => |_, _| {
            let config = config();
            let agents = config.stores.specs.iter().map(|spec| spec.agent.as_str());
            Completions::new(plain(agents.collect::<BTreeSet<_>>()))
        },
        (_, "file" | "files" | "names" | "paths") => {
            |_, cursor| Completions::with("files", outputs(&config(), &cursor.typed))
        }
        ("show", "name") => |_, cursor| Completions::with("files", ids(&config(), &cursor.typed)),
        ("sessions", "session") | ("verify", "what") => {
            |_, _| Completions::with("files", sessions(&list_sessions(&config())))
        }
        (_, "subcommand") => |root, _| Completions::new(subcommands(root)),
        (_, "stderr" | "saved_as" | "saved_as_stderr" | "config") => {
            |_, _| Completions::with("files", Vec::new())
        }
        (_, "project") => |_, _| Completions::with("dirs", Vec::new()),
        // The name of a session is of the user's own making.
        ("run" | "clean", "session")
        | (_, "max_lines" | "max_bytes" | "exit_code" | "offset" | "limit" | "timeout" | "max_spill")
        | (_, "pattern" | "since" | "older_than" | "larger_than" | "max_total" | "find") => {
            |_, _| Completions::new(Vec::new())
        }
        _ => return None,
    })
}

fn complete_value(root: &Command, cursor: &TypedWord, arg: &Arg) -> Completions {
    let possible = arg.get_possible_values();
    if possible.is_empty() {
        let completer = completer(cursor.command.get_name(), arg.get_id().as_str());
        return completer.map_or(Completions::new(Vec::new()), |complete| complete(root, cursor));
    }
    let what = |value: &PossibleValue| value.get_help().map(ToString::to_string).unwrap_or_default();
    Completions::new(possible.iter().map(|value| (value.get_name().to_owned(), what(value))).collect())
}

/// Returns the user's files, without a word on the mistakes in them.
fn config() -> Config {
    Config::load(Env::from_process())
}

fn flags(command: &Command) -> Completions {
    let mut words = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let what = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let long = arg.get_long().map(|long| format!("--{long}"));
        words.extend(
            long.into_iter()
                .chain(arg.get_short().map(|short| format!("-{short}")))
                .map(|flag| (flag, what.clone())),
        );
    }
    Completions::new(words)
}

/// Returns the subcommands, in the order of the help.
fn subcommands(command: &Command) -> Vec<(String, String)> {
    let named = |name: &str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        (name.to_owned(), about.map(ToString::to_string).unwrap_or_default())
    };
    help::groups(command).iter().flat_map(|(_, names)| names).map(|name| named(name)).collect()
}

fn plain(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<(String, String)> {
    names.into_iter().map(|name| (name.into(), String::new())).collect()
}

/// Returns all policies; with nothing typed yet, those that hold today.
fn policies(config: &Config, typed: &str) -> Vec<(String, String)> {
    let named = |name: &str| {
        let policy = config.catalog.get(name).ok()?;
        (!typed.is_empty() || config.catalog.is_current(&policy))
            .then(|| (name.to_owned(), policy.summary().to_owned()))
    };
    config.catalog.names().filter(|name| name.starts_with(typed)).filter_map(named).collect()
}

/// Returns the tools of the agent of `-p`, or of all.
fn tools(config: &Config, policy: Option<&str>) -> Vec<(String, String)> {
    let agent = policy.map(|policy| policy.split('/').next().unwrap_or_default());
    let names = config.catalog.names().filter_map(|name| name.split_once('/'));
    let tools: BTreeSet<&str> =
        names.filter(|(of, _)| agent.is_none_or(|agent| agent == *of)).map(|(_, tool)| tool).collect();
    plain(tools)
}

/// Returns the parameters of the policy, each with an equals sign.
fn params(config: &Config, policy: Option<&str>) -> Vec<(String, String)> {
    let overrides = Overrides { policy: policy.map(str::to_owned), ..Overrides::default() };
    let Ok(resolved) = config.resolve(&overrides, None) else { return Vec::new() };
    plain(resolved.policy.params().iter().map(|param| format!("{}=", param.name)))
}

/// Returns the ids of stored outputs, if the beginning of one is typed: without, they would bury the files.
fn outputs(config: &Config, typed: &str) -> Vec<(String, String)> {
    let now = crate::base::env::now();
    let mut found = Vec::new();
    for store in config.stores.specs.iter().filter(|_| !typed.is_empty() && !typed.contains('/')) {
        scan(store, &config.env, now, &mut |entry| {
            if has_prefix(&entry, typed.as_bytes()) {
                found.push((entry.id().into_owned(), format!("{}, {}", entry.agent(), size(entry.size()))));
            }
            if found.len() < MAX_IDS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    found
}

fn ids(config: &Config, typed: &str) -> Vec<(String, String)> {
    let listed = list_sessions(config);
    [outputs(config, typed), sessions(&listed), calls(&listed)].concat()
}

/// Returns all sessions, the last changed first.
fn list_sessions(config: &Config) -> Vec<SessionFile> {
    list::list(&config.env, None, &()).sessions
}

fn sessions(listed: &[SessionFile]) -> Vec<(String, String)> {
    let named = |session: &SessionFile| (session.id.clone(), session.format.to_owned());
    listed.iter().take(MAX_IDS).map(named).collect()
}

/// Returns the ids of calls with their tools, the last first: those of the sessions that were changed last, as far as they
/// are read within the time that a key may take.
fn calls(listed: &[SessionFile]) -> Vec<(String, String)> {
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
    fn a_word_that_a_shell_would_act_on_is_not_offered() {
        let words = ["$(reboot)", "a b", "`x`", "a;b", "a*", "a\nb", "tool_01", "pi/bash", "-x", "é"];
        let completions = Completions::new(plain(words));
        let safe: Vec<String> = completions.safe("", "").into_iter().map(|(word, _)| word).collect();
        assert_eq!(safe, ["tool_01", "pi/bash", "-x"]);
    }
}
