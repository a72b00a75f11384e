//! Reports a command line that cannot be parsed: in one line what is wrong, and what to write instead.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};

use crate::base::toml_check::nearest;
use crate::text::label::label;

use super::args::{help, parse};
use super::terminal::{MAX_LINE, put, stdout};
use super::{places, safe, suggest};

const OWN_PREFIX: &str = "overspill:";

/// Options of other programs, what a command needs to have something like it, and what to write; the first row counts.
const HABITS: &[(&[&str], &str, &str)] = &[
    (&["-V", "--version"], "", "`overspill --version` prints the version"),
    (
        &["-v", "--verbose"],
        "",
        "all notes are printed unless --quiet is given; `overspill --version` prints the version",
    ),
    (&["--no-color", "--no-colour"], "", "write `--color never`"),
    (&["--silent"], "", "write `--quiet`"),
    (&["--agent"], "policy", "write `-p AGENT`"),
    (&["--agent"], "text", "`overspill list --agent NAME` lists those of an agent"),
    (&["--agent"], "name", "write the name alone, without an option"),
    (&["-n", "--lines", "--line", "--limit"], "max_lines", "write `--max-lines N`"),
    (&["-c"], "split", "write `-- sh -c 'COMMAND'`"),
    (&["-c", "--bytes", "--size"], "max_bytes", "write `--max-bytes SIZE`"),
    (&["--tail"], "direction", "write `--direction tail`, with `--max-lines N` for a number of lines"),
    (&["--head"], "direction", "write `--direction head`, with `--max-lines N` for a number of lines"),
    (&["-f", "--force"], "yes", "write `--yes`"),
    (&["-r", "-R", "--recursive"], "pattern", "leave it out: directories are searched recursively"),
    (&["-n", "--dry-run"], "dry_run", "write `--dry-run`"),
    (&["-n", "--dry-run"], "yes", "without `--yes` it shows what it would do, and asks first"),
    (&["-n", "--limit", "--lines"], "", "pipe it into `head -n N`"),
    (&["-j", "--format", "--output"], "json", "write `--json`"),
    (&["--json"], "names", "it prints no JSON; see its exit status and `overspill list --json`"),
];

/// What to use instead of a command that takes no more names.
const INSTEAD: &[(&str, &str)] = &[
    ("preview", "`overspill compare` takes several, and `overspill FILE FILE` opens several"),
    ("show", "`overspill list` lists all"),
    ("list", "`overspill show ID` shows one output, and --agent NAME lists those of an agent"),
    ("clean", "`overspill rm ID` deletes one output, and --agent NAME cleans after an agent"),
];

/// Prints the error in one line, or the requested help or version; returns the exit status. `words` follow the program's name.
pub(crate) fn report(error: Error, words: &[OsString]) -> u8 {
    let mut error = restate(error, words);
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    if !error.use_stderr() {
        let (text, mut out) = (coloured(&error, &io::stdout()), stdout());
        return match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                put(&format!("{OWN_PREFIX} {error}\n"));
                1
            }
            _ => status,
        };
    }
    let text = escape_error(&mut error).unwrap_or_else(|| coloured(&error, &io::stderr()));
    put(&text.replacen("error:", OWN_PREFIX, 1));
    status
}

fn coloured(error: &Error, stream: &impl IsTerminal) -> String {
    let words: Vec<OsString> = std::env::args_os().collect();
    let text = error.render();
    if parse::is_coloured(&words, stream) { text.ansi().to_string() } else { text.to_string() }
}

/// Returns the message with unsafe characters escaped, without colour; `None` if it is safe as it is.
fn escape_error(error: &mut Error) -> Option<String> {
    let named: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, escape(value)?))).collect();
    // A text that had its escape sequences removed would silently lose those in the arguments.
    let reason = std::error::Error::source(&*error).map(ToString::to_string);
    let is_raw = !named.is_empty() || reason.is_some_and(|text| label(text.as_bytes()) != text);
    for (kind, value) in named {
        error.insert(kind, value);
    }
    let text = error.render().to_string();
    let lines: Vec<String> = text.split('\n').map(|line| label(line.as_bytes())).collect();
    let is_long = lines.iter().any(|line| line.len() > MAX_LINE);
    let lines = lines.join("\n");
    // A long message loses its middle, where styles may begin or end.
    (is_raw || lines != text || is_long).then_some(lines)
}

/// Returns the error with one line instead of clap's, where clap says less.
fn restate(error: Error, words: &[OsString]) -> Error {
    let mut root = help::command();
    root.build();
    let mistake = Mistake::new(&error, &root, words);
    let Some(text) = mistake.text() else { return error };
    let name = mistake.command.get_name().to_owned();
    match root.find_subcommand_mut(&name) {
        Some(command) => command.error(error.kind(), text),
        None => root.error(error.kind(), text),
    }
}

struct Mistake<'a> {
    error: &'a Error,
    root: &'a Command,
    /// The command whose words they are; `root` before a subcommand.
    command: &'a Command,
    words: &'a [OsString],
}

impl<'a> Mistake<'a> {
    fn new(error: &'a Error, root: &'a Command, words: &'a [OsString]) -> Self {
        let at = parse::subcommand(words);
        let is_before = |at: &usize| {
            let wrong = argument(error, ContextKind::InvalidArg).unwrap_or_default();
            words[..*at].iter().any(|word| word.to_string_lossy().starts_with(wrong) && !wrong.is_empty())
        };
        let command = at.filter(|at| !is_before(at)).and_then(|at| root.find_subcommand(&words[at]));
        Self { error, root, command: command.unwrap_or(root), words }
    }

    fn text(&self) -> Option<String> {
        match self.error.kind() {
            ErrorKind::UnknownArgument => {
                let word = argument(self.error, ContextKind::InvalidArg)?;
                Some(if word.starts_with('-') { self.unknown_option(word) } else { self.surplus(word) })
            }
            ErrorKind::InvalidSubcommand => {
                let word = argument(self.error, ContextKind::InvalidSubcommand)?;
                let names = self.root.get_subcommands().filter(|command| !command.is_hide_set());
                let best = nearest(word, names.map(Command::get_name));
                let remedy = best.map_or("`overspill --help` lists them".to_owned(), |best| {
                    format!("did you mean `overspill help {best}`?")
                });
                Some(format!("there is no subcommand `{}`; {remedy}", safe(word)))
            }
            ErrorKind::MissingRequiredArgument => self.missing(),
            ErrorKind::ArgumentConflict => {
                let one = short(argument(self.error, ContextKind::InvalidArg)?);
                let other = short(argument(self.error, ContextKind::PriorArg)?);
                Some(format!("{one} cannot be used with {other}; leave one of them out"))
            }
            ErrorKind::InvalidValue => self.invalid_value(),
            ErrorKind::InvalidUtf8 => self.not_utf8(),
            _ => None,
        }
    }

    fn title(&self) -> &str {
        self.command.get_bin_name().unwrap_or("overspill")
    }

    fn unknown_option(&self, word: &str) -> String {
        let is_root = self.command.get_name() == self.root.get_name();
        let later = parse::subcommand(self.words).and_then(|at| self.root.find_subcommand(&self.words[at]));
        if let Some(later) = later.filter(|later| is_root && options(later).any(|long| long == word)) {
            return format!("options go after the subcommand: overspill {} {}", later.get_name(), safe(word));
        }
        if let Some(meant) = is_root.then(|| suggest::explain_mistyped(self.words)).flatten() {
            return meant;
        }
        let has = |id: &str| id.is_empty() || self.command.get_arguments().any(|arg| arg.get_id() == id);
        let habit = HABITS.iter().find(|(typed, id, _)| typed.contains(&word) && has(id));
        let known: Vec<String> = options(self.command).collect();
        let near = nearest(word, known.iter().map(String::as_str)).filter(|_| word.starts_with("--"));
        let remedy = match (habit, near) {
            (Some((_, _, remedy)), _) => (*remedy).to_owned(),
            (None, Some(best)) => format!("did you mean `{best}`?"),
            (None, None) => format!("`{} --help` lists them", self.title()),
        };
        format!("`{}` has no option `{}`; {remedy}", self.title(), safe(word))
    }

    fn surplus(&self, word: &str) -> String {
        if let Some(place) = self.words.iter().find(|word| places::is_place(word)) {
            return places::for_screens(place);
        }
        let takes = self.command.get_positionals().next().map(|arg| format!("one {}", value_name(arg)));
        let takes = takes.unwrap_or_else(|| "no names".to_owned());
        let instead = INSTEAD.iter().find(|(name, _)| *name == self.command.get_name());
        let remedy = match instead {
            _ if self.command.get_name() == "read" && is_number(word) => self.window(word),
            Some((_, instead)) => (*instead).to_owned(),
            None => format!("see `{} --help`", self.title()),
        };
        format!("unexpected `{}`: `{}` takes {takes}; {remedy}", safe(word), self.title())
    }

    /// Names the options for a window whose numbers are typed without them.
    fn window(&self, first: &str) -> String {
        let rest = self.words.iter().filter_map(|word| word.to_str()).skip_while(|word| *word != first);
        let limit = rest.skip(1).find(|word| is_number(word));
        let limit = limit.map(|limit| format!(" --limit {limit}")).unwrap_or_default();
        format!("write --offset {first}{limit}")
    }

    fn missing(&self) -> Option<String> {
        let missing = argument(self.error, ContextKind::InvalidArg)?;
        let arg = self.command.get_arguments().find(|arg| short(&arg.to_string()) == short(missing))?;
        let values: Vec<_> =
            arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        let what = match &values[..] {
            [_, _, ..] => format!("one of {}", values.join(", ")),
            _ => arg.get_help().map(|help| lower(&help.to_string())).unwrap_or_default(),
        };
        let name = if arg.is_positional() { value_name(arg) } else { short(missing) };
        Some(format!("`{}` needs {name}: {what}", self.title()))
    }

    fn invalid_value(&self) -> Option<String> {
        let value = argument(self.error, ContextKind::InvalidValue).filter(|value| !value.is_empty())?;
        let option = short(argument(self.error, ContextKind::InvalidArg)?);
        let Some(ContextValue::Strings(valid)) = self.error.get(ContextKind::ValidValue) else { return None };
        let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
        // A shell is often named by its path.
        let last = value.rsplit('/').next().unwrap_or(value);
        let remedy = suggest::name(last, &valid, "write one of");
        Some(format!("`{}` is not a value of {option}; {remedy}", safe(value)))
    }

    /// Names the first word that has to be UTF-8, and what the words before it lack: clap tells neither.
    fn not_utf8(&self) -> Option<String> {
        let fault = |words: Vec<OsString>| parse::parse([vec!["overspill".into()], words].concat()).err();
        let is_wrong = |at: &usize| {
            let lossy = |word: &OsString| word.to_string_lossy().into_owned().into();
            let mut words: Vec<OsString> = self.words.iter().map(lossy).collect();
            words[*at].clone_from(&self.words[*at]);
            fault(words).is_some_and(|error| error.kind() == ErrorKind::InvalidUtf8)
        };
        // Each one costs a parse.
        let mut suspects = (0..self.words.len()).filter(|at| self.words[*at].to_str().is_none()).take(16);
        let at = suspects.find(is_wrong)?;
        let value = label(self.words[at].as_encoded_bytes());
        let lacking = fault(self.words[..at].to_vec()).filter(|_| !value.starts_with('-'));
        let name = lacking.and_then(|error| argument(&error, ContextKind::InvalidArg).map(short));
        let name = name.map(|name| format!(" a value of {name}; it is not")).unwrap_or_default();
        Some(format!("`{value}` is not{name} UTF-8"))
    }
}

fn argument(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(word) => Some(word),
        ContextValue::Strings(words) => words.first().map(String::as_str),
        _ => None,
    }
}

fn options(command: &Command) -> impl Iterator<Item = String> {
    command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
}

/// Returns an argument as it is typed, without its value: `--agent` of `--agent <NAME>`, `NAME` of `[NAME]`.
fn short(arg: &str) -> String {
    let name = arg.split([' ', '=']).next().unwrap_or(arg);
    safe(name.trim_end_matches("...").trim_matches(['<', '>', '[', ']']))
}

fn value_name(arg: &Arg) -> String {
    arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// Returns an argument with unsafe characters escaped; `None` if none is, and for clap's own text.
fn escape(value: &ContextValue) -> Option<ContextValue> {
    let named = match value {
        ContextValue::String(word) => ContextValue::String(safe(word)),
        ContextValue::Strings(words) => ContextValue::Strings(words.iter().map(|word| safe(word)).collect()),
        _ => return None,
    };
    (named != *value).then_some(named)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Args;

    fn said(words: &[&str]) -> Option<String> {
        escape_error(&mut Args::try_parse_from([&["overspill"], words].concat()).unwrap_err())
    }

    #[test]
    fn errors_show_control_characters_in_arguments_escaped() {
        for (given, shown) in [
            ("--a\u{1b}]0;x\u{7}", "--a^[]0;x^G"),
            ("--\u{9b}31m\u{202e}", "--<9B>31m<202E>"),
            ("--a\nerror: all is well", "--a^Jerror: all is well"),
        ] {
            let text = said(&[given]).unwrap();
            assert!(text.contains(shown), "{text:?}");
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        }
        let text = said(&["--max-lines", "\u{1b}[31m\u{e0068}"]).unwrap();
        assert!(text.contains("^[[31m<E0068>"), "{text:?}");
        assert_eq!(said(&["--help"]), None);
        assert_eq!(said(&["--no-such-flag"]), None);
    }
}
