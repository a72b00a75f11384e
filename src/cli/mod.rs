//! The command line: a file or folder per subject, and one place for exit statuses.

mod args;
mod compare;
mod complete;
mod corpus;
mod explain;
mod hook;
mod input;
mod mistake;
mod places;
mod policies;
mod preview;
mod progress;
mod run;
mod screens;
mod sessions;
mod settings;
mod shell;
mod show;
mod stores;
mod suggest;
mod table;
mod terminal;
mod view;

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::config::{Config, FaultScope, FileFault, RequiredSettings};
use crate::store::Env;

pub use args::help;
use args::{Args, Command, GlobalArgs};

/// Why a command failed, by exit status; that of any other error is 1.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    /// The agent itself would crash on this output: 3.
    #[error("the agent itself crashes on this output: {0}")]
    Crashed(String),
    /// Overspill's own failure where the status is otherwise that of the command that it runs: 125.
    #[error("{0}")]
    Own(String),
    /// The command that was run ended with this status, and everything has been reported.
    #[error("the command ended with status {0}")]
    Ended(u8),
}

type CommandResult = anyhow::Result<()>;

fn usage(words: impl ToString) -> anyhow::Error {
    Failure::Usage(words.to_string()).into()
}

pub fn main() -> ExitCode {
    if let Some(words) = shell::arguments() {
        return shell::run(&words);
    }
    if !args::parse::is_hook() {
        return ExitCode::from(status());
    }
    terminal::allow_closed_stdout();
    // For agents, 2 from a hook means that the command must not run.
    ExitCode::from(status().min(1))
}

fn status() -> u8 {
    let args = match args::parse::parse(std::env::args_os().collect()) {
        Ok(args) => args,
        Err(error) => {
            let words: Vec<_> = std::env::args_os().skip(1).collect();
            let is_ascii = words.iter().take_while(|word| *word != "--").any(|word| word == "--ascii");
            terminal::set_options(GlobalArgs { ascii: is_ascii, ..GlobalArgs::default() });
            return mistake::report(error, &words);
        }
    };
    terminal::set_options(args.global);
    match run(args) {
        Ok(()) => 0,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) if matches!(error.downcast_ref(), Some(Failure::Ended(_))) => status_of(&error),
        Err(error) => {
            let error = places::explain_place(error);
            let message = describe_error(&error);
            let is_said = |fault: &FileFault| fault.words == message && !terminal::options().quiet;
            if !NOTED.get().is_some_and(|noted| noted.iter().any(is_said)) {
                fail(&message);
            }
            status_of(&error)
        }
    }
}

/// Prints a note or a warning on standard error, escaped, unless `--quiet` was given.
fn say(words: &str) {
    if !terminal::options().quiet {
        fail(words);
    }
}

/// Says what was not said before: several stores, and sessions, may have one fault.
fn say_once(words: &str, said: &mut HashSet<String>) {
    if said.insert(words.to_owned()) {
        say(words);
    }
}

/// Prints an error on standard error, escaped. If nobody reads it, that is ignored.
fn fail(words: &str) {
    let words = safe(words);
    terminal::put(&format!("overspill: {words}\n"));
    crate::base::lock(&SAID).push(words);
}

/// All messages so far.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn safe(text: &str) -> String {
    crate::text::label::label(text.as_bytes())
}

/// An error and its causes, each said once: some errors name their cause.
fn describe_error(error: &anyhow::Error) -> String {
    error.chain().skip(1).map(ToString::to_string).fold(error.to_string(), |words, cause| {
        if words.ends_with(&cause) { words } else { format!("{words}: {cause}") }
    })
}

fn status_of(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        None => 1,
        Some(Failure::Usage(_)) => 2,
        Some(Failure::Crashed(_)) => 3,
        Some(Failure::Own(_)) => 125,
        Some(Failure::Ended(status)) => *status,
    }
}

/// The mistakes in the user's own files that a note has named.
static NOTED: OnceLock<Vec<FileFault>> = OnceLock::new();

/// Loads the user's own files and reports mistakes in them; fails if one leaves unknown what the command needs.
fn load(need: RequiredSettings, of_screens: bool, file: Option<&Path>) -> anyhow::Result<Config> {
    if let Some(file) = file.filter(|file| !file.exists()) {
        let words = "no such file; `overspill config --init` writes one";
        return Err(usage(format!("--config {}: {words}", file.display())));
    }
    let mut config = Config::load_from(Env::from_process(), file);
    screens::check_keys(&mut config);
    let (stopping, others): (Vec<_>, Vec<_>) = config.faults().iter().partition(|fault| fault.stops(need));
    let is_said =
        |fault: &&FileFault| of_screens || !matches!(fault.scope, FaultScope::Screens | FaultScope::OldKey);
    let noted: Vec<FileFault> = others.into_iter().filter(is_said).cloned().collect();
    noted.iter().for_each(|fault| say(&fault.to_string()));
    let _ = NOTED.set(noted);
    let Some((last, before)) = stopping.split_last() else { return Ok(config) };
    before.iter().for_each(|fault| fail(&fault.words));
    Err(usage(&last.words))
}

fn run(args: Args) -> CommandResult {
    // Completions and man pages need none of it, and are not bothered with mistakes in it.
    let file = args.config.clone();
    let quietly = || load(RequiredSettings::Nothing, false, file.as_deref());
    let load = |need| load(need, true, file.as_deref());
    let limits = || load(RequiredSettings::Limits);
    let config = || load(RequiredSettings::Nothing);
    match args.command {
        None => view::run(load(view::need(&args))?, &args),
        Some(Command::Preview(args)) if args.save => run::save_stdin(&config()?, &args),
        Some(Command::Preview(args)) => preview::run(&limits()?, &args),
        Some(Command::Run(args)) => run::run(&if args.interactive { config()? } else { quietly()? }, &args),
        Some(Command::Read(args)) => preview::read(&limits()?, &args),
        Some(Command::List(args)) if args.follow => stores::list::follow(&limits()?, &args),
        Some(Command::List(args)) => stores::list::run(&config()?, &args),
        Some(Command::Clean(args)) => stores::delete::clean(&load(stores::delete::need(&args))?, &args),
        Some(Command::Show(args)) => show::run(&config()?, &args),
        Some(Command::Rm(args)) => stores::delete::rm(&config()?, &args),
        Some(Command::Stores(args)) => stores::overview::run(&config()?, &args),
        Some(Command::Compare(args)) => compare::run(&limits()?, &args),
        Some(Command::Grep(args)) => corpus::grep::run(&limits()?, &args),
        Some(Command::Tune(args)) => corpus::tune::run(limits()?, &args),
        Some(Command::Sessions(args)) => sessions::list::run(&config()?, &args),
        Some(Command::Verify(args)) => sessions::verify::run(&config()?, &args),
        Some(Command::Policies(args)) => policies::run(&config()?, &args),
        Some(Command::Explain(args)) => explain::run(&config()?, &args),
        Some(Command::Hook(args)) => hook::answer(&quietly()?, &args),
        Some(Command::Setup(args)) => hook::set_up(&args),
        Some(Command::Config(args)) if args.init => settings::init(file.as_deref()),
        Some(Command::Config(args)) => settings::run(&config()?, &args),
        Some(Command::Completions { shell }) => complete::print_script(shell),
        Some(Command::Complete(args)) => complete::run(&args),
        Some(Command::Man { subcommand }) => help::print_page(subcommand.as_deref()),
    }
}

fn json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    crate::text::label::quote::write_json(out, value, terminal::show(&io::stdout()).as_ref())?;
    out.write_all(b"\n")
}

fn print_json(value: &impl Serialize) -> CommandResult {
    let mut out = io::BufWriter::new(terminal::stdout());
    json(&mut out, value)?;
    Ok(out.flush()?)
}

/// The same for an array whose elements are made one by one.
fn print_json_array<T: Serialize>(values: impl Iterator<Item = T>) -> CommandResult {
    struct Each<I>(Cell<Option<I>>);
    impl<T: Serialize, I: Iterator<Item = T>> Serialize for Each<I> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.take().into_iter().flatten())
        }
    }
    print_json(&Each(Cell::new(Some(values))))
}

fn add(object: &mut Value, fields: Value) {
    if let (Value::Object(object), Value::Object(fields)) = (object, fields) {
        object.extend(fields);
    }
}

/// Whether the reader of standard output closed it, which is not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
