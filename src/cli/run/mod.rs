//! `overspill run`: a command's whole output saved, what the model would get printed, its exit status kept.

pub(crate) mod live;
pub(crate) mod progress;
pub(crate) mod signals;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::{Args as Group, ValueEnum};
use jiff::Timestamp;

use crate::capture::{
    self, About, Captured, Delivery, HOLD, Limits, NoPreview, Options, Place, Record, Stdin, Streams, Wish,
};
use crate::config::{Config, Resolved, WishError, Wishes};
use crate::human::{self, size};
use crate::preview::{Part, Preview, Status, Want};
use crate::source::Awaited;
use crate::store::{self, Env, Stores};

use super::args::{Form, FormArgs, Look, PreviewArgs, SaveArgs};
use super::inspect::preview;
use super::{Failure, Outcome, input, say};

/// The words of `overspill run`.
#[derive(Debug, Group)]
pub struct RunArgs {
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub command: Vec<OsString>,
    /// Look at preview and spill on the screen while the command runs; it reads nothing then
    #[arg(short, long, conflicts_with_all = ["split", "json"])]
    pub interactive: bool,
    /// Take standard error apart, with a file and a preview of its own
    #[arg(long)]
    pub split: bool,
    /// Give the command a terminal of its own, for colours and for what needs one
    #[arg(long, conflicts_with = "split")]
    pub pty: bool,
    /// Stop the command after so long: 90, 1.5s, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub saving: SaveArgs,
    /// What is done with the command when whoever reads our output has gone
    #[arg(long, value_name = "WHAT", default_value = "spill")]
    pub sigpipe: Unread,
    /// Where spills are put, and under which names
    #[arg(long, value_name = "WHOSE", default_value = "own")]
    pub layout: LayoutOf,
    /// With --layout agent, for agents that keep a session's spills together: its name
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    #[command(flatten)]
    pub look: Look,
    #[command(flatten)]
    pub form: FormArgs,
}

/// What is done with a command whose preview nobody will read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unread {
    /// It goes on, and its output is saved
    Spill,
    /// It is stopped: TERM, and KILL two seconds later
    Kill,
}

/// Whose layout a spill is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutOf {
    /// overspill's own store
    Own,
    /// As the policy's agent names and places it
    Agent,
}

/// Runs the command and prints the preview.
pub fn run(config: &Config, args: &RunArgs) -> Outcome {
    refuse(&args.look)?;
    let look = resolve(config, &args.look.wishes())?;
    let place = place(config, args, &look)?;
    let wish = wish(config, &look, args)?;
    let options = Options {
        streams: match (args.split, args.pty) {
            (true, _) => Streams::Apart,
            (false, true) => Streams::Terminal(signals::terminal_size()),
            (false, false) => Streams::Together,
        },
        stdin: Stdin::Inherit,
        group: if args.pty { capture::Group::Own } else { group() },
        timeout: args.timeout,
        limits: limits(&wish),
    };
    let (delivery, ended_by) = match args.interactive {
        true => live::command(config, args, &look, options, (&wish, &place))?,
        false => (watched(args, &options, &wish, &place)?, None),
    };
    let printed = print(&delivery, &look.limits_from.to_string(), args.form.form());
    if let Some(status) = ended_by {
        // The terminal may have gone with the signal.
        return Err(Failure::Ended(status).into());
    }
    printed?;
    match delivery.captured.ended.map_or(0, |ended| ended.exit_code()) {
        0 => Ok(()),
        status => Err(Failure::Ended(status).into()),
    }
}

/// A person at the terminal may be asked something by the command (a password, by way of /dev/tty),
/// and only what is in the terminal's foreground group may read it.
fn group() -> capture::Group {
    let is_interactive = io::stdin().is_terminal() || io::stderr().is_terminal();
    if is_interactive { capture::Group::Shared } else { capture::Group::Own }
}

/// `CMD | overspill preview --save`: the same for what comes on standard input.
pub fn save_stdin(config: &Config, args: &PreviewArgs) -> Outcome {
    if args.file != "-" {
        return Err(Failure::Usage("--save is for standard input; a file is saved already".into()).into());
    }
    let look = resolve(config, &args.look.wishes())?;
    let place = cleaned(Place::own(&config.env, Timestamp::now()), config);
    let form = args.form.form();
    let mut wish = args.saving.wish(&look.policy);
    wish.counts = form == Form::Json;
    tell(&mut wish, &args.look);
    // Ctrl-C is for the command before us; once it has ended, so have we.
    signals::ignore_once()?;
    let named = |error: io::Error| Failure::Failed(format!("standard input: {error}"));
    let stdin = Awaited(File::from(io::stdin().as_fd().try_clone_to_owned().map_err(named)?));
    let delivery = delivered(capture::drain(stdin, limits(&wish), &place).map_err(named)?, &wish, &place)?;
    print(&delivery, &look.limits_from.to_string(), form)?;
    match delivery.preview.status {
        // That has been said, and what came before is kept.
        Status::Ok if delivery.captured.failure.is_some() => Err(Failure::Ended(1).into()),
        Status::Ok => Ok(()),
        Status::Crashed(words) => Err(Failure::Crashed(crashed(&words)).into()),
    }
}

/// What the command itself answers cannot be told beforehand.
fn refuse(look: &Look) -> Outcome {
    let flag = match look {
        Look { stderr: Some(_), .. } => "--stderr FILE: with run, --split takes standard error apart",
        Look { exit_code: Some(_), .. } => "--exit-code: with run it is the command's own",
        _ => return Ok(()),
    };
    Err(Failure::Usage(flag.to_owned()).into())
}

/// A tool that the policy does not know is recorded all the same.
fn resolve(config: &Config, wishes: &Wishes) -> anyhow::Result<Resolved> {
    let resolved = match config.resolve(wishes, None) {
        Err(WishError::NoTool(_)) => config.resolve(&Wishes { tool: None, ..wishes.clone() }, None),
        resolved => resolved,
    };
    let resolved = resolved.map_err(input::usage)?;
    resolved.warnings.iter().for_each(|warning| say(warning));
    Ok(resolved)
}

fn place(config: &Config, args: &RunArgs, look: &Resolved) -> anyhow::Result<Place> {
    let now = Timestamp::now();
    let (tool, session) = (args.look.tool.as_deref(), args.session.as_deref());
    let place = match args.layout {
        LayoutOf::Own => Place::own(&config.env, now),
        LayoutOf::Agent => Place::of_agent(look.policy.name(), tool, session, &config.env, now)
            .map_err(|error| Failure::Usage(error.to_string()))?,
    };
    Ok(cleaned(place, config))
}

/// Before the first new spill, our own store is rid of what has expired.
fn cleaned(place: Place, config: &Config) -> Place {
    let (stores, env) = (config.stores.clone(), config.env.clone());
    place.after(move || sweep(&stores, &env))
}

/// Rids our own store of what has expired.
pub fn sweep(stores: &Stores, env: &Env) {
    let now = Timestamp::now();
    // A store that cannot be cleaned is no reason not to save; where it cannot be used at all
    // the spill itself will say so.
    let _ = store::sweep(stores, env, None, now);
    let _ = Record::sweep(env, now);
}

fn wish(config: &Config, look: &Resolved, args: &RunArgs) -> anyhow::Result<Wish> {
    let mut wish = args.saving.wish(&look.policy);
    wish.failed = config.of_failed(&look.policy).map_err(input::usage)?;
    wish.about.command = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    wish.counts = args.form.form() == Form::Json;
    tell(&mut wish, &args.look);
    Ok(wish)
}

/// What all ways of capturing tell.
pub fn tell(wish: &mut Wish, look: &Look) {
    wish.printed = [look.saved_as.clone(), look.saved_as_stderr.clone()];
    wish.about = About {
        directory: std::env::current_dir().unwrap_or_default(),
        tool: look.tool.clone(),
        ..std::mem::take(&mut wish.about)
    };
}

/// All counts are taken on the way where they will be printed; else only what the notices need.
fn limits(wish: &Wish) -> Limits {
    let want = if wish.counts { Want::ALL } else { wish.needs() };
    Limits { hold: HOLD, cap: wish.cap, want }
}

/// Runs the command to its end, its signals passed on and its progress shown.
fn watched(args: &RunArgs, options: &Options, wish: &Wish, place: &Place) -> anyhow::Result<Delivery> {
    let passing = signals::Passing::begin(options.group).map_err(|error| {
        Failure::Failed(format!("no command is run, since no signal could reach it: {error}"))
    })?;
    let running = start(args, options, place)?;
    let _finishing = passing.to(running.control());
    progress::show_until_over(&progress::streams(&running), |most| running.wait_for(most));
    delivered(running.wait()?, wish, place)
}

/// Plans the preview and keeps what is to be kept.
pub fn delivered(captured: Captured, wish: &Wish, place: &Place) -> anyhow::Result<Delivery> {
    said(captured.deliver(wish, place))
}

/// A preview that there is not is a failure, said in words.
pub fn said(delivery: Result<Delivery, NoPreview>) -> anyhow::Result<Delivery> {
    delivery.map_err(|error| Failure::Failed(error.to_string()).into())
}

/// Starts the command.
pub fn start(args: &RunArgs, options: &Options, place: &Place) -> anyhow::Result<capture::Running> {
    let [program, rest @ ..] = &args.command[..] else {
        return Err(Failure::Usage("no command".into()).into());
    };
    let mut command = Command::new(program);
    command.args(rest);
    let running = capture::start(command, options, place).map_err(|error| {
        say(&error.to_string());
        Failure::Ended(error.exit_code())
    })?;
    // The command runs: what cannot be had from here on is gone without.
    if args.pty {
        let _ = signals::follow_size(running.control());
    }
    if args.sigpipe == Unread::Kill {
        let _ = signals::give_up_unread(running.control());
    }
    Ok(running)
}

/// Prints the preview, then what has to be said about it.
fn print(delivery: &Delivery, limits_from: &str, form: Form) -> Outcome {
    delivery.warnings.iter().for_each(|warning| say(warning));
    let written =
        preview::write(&delivery.preview, &delivery.input(), &delivery.policy, (limits_from, &[]), form);
    written.map_err(quietly)?;
    if let Status::Crashed(words) = &delivery.preview.status {
        say(&crashed(words));
    }
    if let Some(stderr) = &delivery.stderr_preview {
        preview::write_to_stderr(stderr, &delivery.stderr_input(), form)?;
    }
    let previews = [Some(&delivery.preview), delivery.stderr_preview.as_ref().or(Some(&delivery.preview))];
    for ((path, preview), output) in delivery.saved.iter().zip(previews).zip(delivery.captured.outputs()) {
        let is_part = output.kept.bytes < output.seen.bytes;
        if let (Some(path), Some(preview), true) = (path, preview, form != Form::Json)
            && (is_part && !delivery.tells_cap() || !names(preview, path))
        {
            let what = match is_part {
                true => format!("only the first {} of the output are", size(output.kept.bytes)),
                false => "the whole output is".to_owned(),
            };
            say(&format!("{what} in {}", path.display()));
        }
    }
    Ok(())
}

/// Whoever read our output has had enough: as for any program in a pipe, 128 + SIGPIPE, and no word.
fn quietly(error: anyhow::Error) -> anyhow::Error {
    match super::is_closed_pipe(&error) {
        true => Failure::Ended(141).into(),
        false => error,
    }
}

fn crashed(words: &str) -> String {
    format!("the agent itself crashes on this output: {words}")
}

/// Whether a preview's notices name a path.
fn names(preview: &Preview, path: &Path) -> bool {
    let path = path.to_string_lossy();
    preview.parts.iter().any(|part| matches!(part, Part::Notice { text } if text.contains(&*path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_timeout_takes_them() {
        let seconds = |text: &str| human::parse_duration(text).map(|time| time.as_secs_f64());
        assert_eq!(
            ["90", "1.5s", "2m", "1h", "1d"].map(seconds),
            [90.0, 1.5, 120.0, 3600.0, 86_400.0].map(Ok)
        );
        for text in ["", "s", "-1", "0", "1w", "1e400", "nan"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
