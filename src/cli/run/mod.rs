//! `overspill run`: saves a command's whole output, prints what the model would get, and keeps its exit status.

pub(crate) mod live;
mod report;
pub(crate) mod signals;

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::process::Command;

use anyhow::anyhow;

use crate::capture::{
    self, FinishedCapture, Group, Headroom, Location, NoPreview, Options, Request, SinkLimits, StartError,
    Stdin, Streams,
};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::preview::{PerStream, Status};
use crate::source;
use crate::store::{self, Env, Record, Stores};

use super::args::{
    CallerLimits, PolicyArgs, PreviewArgs, RunArgs, SpillLayout, TextForm, UnreadAction, first,
};
use super::{CommandResult, Failure, describe_error, fail, is_closed_pipe, progress, say, usage};
use live::ScreensExit;
use report::{print, print_notices};

pub(crate) fn run(config: &Config, args: &RunArgs) -> CommandResult {
    refuse(args)?;
    run_and_print(config, args).map_err(|error| match error.downcast_ref::<Failure>() {
        None if !is_closed_pipe(&error) => Failure::Own(describe_error(&error)).into(),
        _ => error,
    })
}

fn run_and_print(config: &Config, args: &RunArgs) -> CommandResult {
    let policy = resolve(config, &args.policy_args.overrides())?;
    let (now, tool) = (crate::base::env::now(), args.policy_args.tool.as_deref());
    let place = match args.layout {
        SpillLayout::Own => Location::own(&config.env, now),
        SpillLayout::Agent => {
            let name = policy.policy.name();
            if args.session.is_some() && policy.policy.agent() != "go-opencode" {
                let why = format!("{name} names no file by it; leave it out");
                return Err(usage(format!("--session has no effect: {why}")));
            }
            Location::for_agent(name, tool, args.session.as_deref(), &config.env, now).map_err(usage)?
        }
    };
    let place = sweep_before(place, config);
    let request = request(config, &policy, args)?;
    // A command may ask for a password by way of /dev/tty, from which only the foreground group can read.
    let is_interactive = io::stdin().is_terminal() || io::stderr().is_terminal();
    let options = Options {
        streams: match (args.split, args.pty) {
            (true, _) => Streams::Apart,
            (false, true) => Streams::Terminal(signals::terminal_size()),
            (false, false) => Streams::Together,
        },
        stdin: Stdin::Inherit,
        group: if is_interactive && !args.pty { Group::Shared } else { Group::Own },
        timeout: args.timeout,
        limits: SinkLimits { cap: request.cap, ..SinkLimits::default() },
        tee: None,
    };
    let (finished, exit) = if args.interactive {
        live::command(config, args, &policy, options, (&request, &place))?
    } else {
        (run_to_end(args, &options, &request, &place)?, ScreensExit::NotShown)
    };
    let printed = if exit == ScreensExit::NotShown || args.print {
        let form = match args.form.form() {
            TextForm::Text if args.pty => TextForm::Rendered,
            form => form,
        };
        print(&finished, &policy, &config.policy_from(&args.policy_args.overrides()), form)
    } else {
        print_notices(&finished)
    };
    if let ScreensExit::EndedBy(status) = exit {
        // The signal may have closed the terminal.
        return Err(Failure::Ended(status).into());
    }
    printed?;
    match finished.captured.ended.map_or(0, |ended| ended.exit_code()) {
        0 => Ok(()),
        status => Err(Failure::Ended(status).into()),
    }
}

/// `CMD | overspill preview --save`: does the same for standard input.
pub(crate) fn save_stdin(config: &Config, args: &PreviewArgs) -> CommandResult {
    if args.file != "-" {
        return Err(usage("--save is for standard input; FILE is already on disk"));
    }
    if args.policy_args.stderr.is_some() || args.policy_args.exit_code.is_some() {
        let why = "--save reads only standard input; leave them out";
        return Err(usage(format!("--stderr and --exit-code have no effect here: {why}")));
    }
    let policy = resolve(config, &args.policy_args.overrides())?;
    args.policy_args.refuse_for(&policy.policy)?;
    let place = sweep_before(Location::own(&config.env, crate::base::env::now()), config);
    let form = args.form.form();
    let mut request = args.saving.request(&policy.policy)?;
    request.counts = form.counts();
    fill_in(&mut request, &args.policy_args);
    // Ctrl-C is for the writing command; once that has ended, so does the input.
    signals::ignore_once()?;
    let named = |error: io::Error| anyhow!("standard input: {error}");
    let stdin = source::stdin().map_err(named)?;
    let limits = SinkLimits { cap: request.cap, ..SinkLimits::default() };
    let captured = capture::drain(stdin, limits, &place).map_err(named)?;
    let finished = require_preview(captured.finish(&request, &place))?;
    print(&finished, &policy, &config.policy_from(&args.policy_args.overrides()), form)?;
    match finished.preview.status {
        // The failure has been reported, and everything before it is kept.
        Status::Ok if finished.captured.failure.is_some() => Err(Failure::Ended(1).into()),
        Status::Ok => Ok(()),
        // It has been reported.
        Status::Crashed(_) => Err(Failure::Ended(3).into()),
    }
}

/// Refuses flags for what the command itself will determine, and those that need or exclude another.
fn refuse(args: &RunArgs) -> anyhow::Result<()> {
    let RunArgs { policy_args, pty, split, print, interactive, session, layout, .. } = args;
    let wrong = first(&[
        (
            policy_args.stderr.is_some(),
            "--stderr does not apply to run; use --split to capture it separately",
        ),
        (policy_args.exit_code.is_some(), "--exit-code does not apply to run, which uses the command's own"),
        (*pty && *split, "--pty merges both streams, so --split cannot part them; leave one out"),
        (policy_args.saved_as_stderr.is_some() && !split, "--saved-as-stderr needs --split; add it"),
        (*print && !interactive, "--print has no effect without -i; run prints the preview anyway"),
        (
            session.is_some() && *layout == SpillLayout::Own,
            "--session has no effect without --layout agent; add it, or leave --session out",
        ),
    ]);
    wrong.map_or(Ok(()), |words| Err(usage(words)))
}

/// Resolves the policy. A faulty user file stops no command: what is built in takes its place.
fn resolve(config: &Config, overrides: &Overrides) -> anyhow::Result<EffectivePolicy> {
    let resolved = match config.resolve_new(overrides) {
        Err(error) if error.is_in_file() => {
            let without = config.without_own();
            let named = without.resolve(overrides, None);
            let resolved = named.or_else(|_| without.resolve(&Overrides::default(), None)).map_err(usage)?;
            let why = error.to_string();
            if config.faults().iter().all(|fault| fault.words != why) {
                say(&why);
            }
            say(&format!("going on with {} as built in", resolved.policy.name()));
            resolved
        }
        resolved => resolved.map_err(usage)?,
    };
    resolved.warnings.iter().for_each(|warning| say(warning));
    Ok(resolved)
}

/// Removes expired spills from overspill's own store before the first new one.
fn sweep_before(place: Location, config: &Config) -> Location {
    let (stores, env) = (config.stores.clone(), config.env.clone());
    place.after(move || sweep(&stores, &env))
}

pub(crate) fn sweep(stores: &Stores, env: &Env) {
    let now = crate::base::env::now();
    // A store that cannot be cleaned is no reason not to save; creating the spill reports one that cannot be used at all.
    let _ = store::sweep(stores, env, now);
    let _ = Record::sweep(env, now);
}

fn request(config: &Config, policy: &EffectivePolicy, args: &RunArgs) -> anyhow::Result<Request> {
    let mut request = args.saving.request(&policy.policy)?;
    request.failed = match config.failed_policy(&policy.policy) {
        Err(error) if error.is_in_file() => config.without_own().failed_policy(&policy.policy),
        failed => failed,
    }
    .map_err(usage)?;
    request.run.command = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    request.counts = args.form.form().counts();
    request.timeout = args.timeout;
    request.said.clone_from(&crate::base::lock(&super::SAID));
    request.headroom = match &args.headroom {
        None => None,
        Some(CallerLimits::Given(room)) => Some(*room),
        Some(CallerLimits::Policy(name)) => {
            Some(Headroom::new(&config.resolve_named(name).map_err(usage)?.policy))
        }
    };
    fill_in(&mut request, &args.policy_args);
    Ok(request)
}

pub(crate) fn fill_in(request: &mut Request, policy_args: &PolicyArgs) {
    request.printed =
        PerStream { stdout: policy_args.saved_as.clone(), stderr: policy_args.saved_as_stderr.clone() };
    request.run.directory = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    request.run.tool = policy_args.tool.clone();
}

fn run_to_end(
    args: &RunArgs,
    options: &Options,
    request: &Request,
    place: &Location,
) -> anyhow::Result<FinishedCapture> {
    let passing = signals::StopSignals::begin(options.group).map_err(|error| {
        anyhow!("the command was not started, because signals could not be forwarded: {error}")
    })?;
    let running = start(args, options, place)?;
    let _finishing = passing.to(running.control());
    progress::show_run_until_over(&progress::streams(&running), |most| running.wait_for(most));
    require_preview(running.wait()?.finish(request, place))
}

pub(crate) fn require_preview(made: Result<FinishedCapture, NoPreview>) -> anyhow::Result<FinishedCapture> {
    // It has no cause besides what it says.
    made.map_err(|error| anyhow!(error.to_string()))
}

pub(crate) fn start(args: &RunArgs, options: &Options, place: &Location) -> anyhow::Result<capture::Running> {
    let Some((program, rest)) = args.command.split_first() else { return Err(usage("no command")) };
    let mut command = Command::new(program);
    command.args(rest);
    let running = capture::start(command, options, place).map_err(|error| {
        fail(&describe_start_error(&error, program));
        Failure::Ended(error.exit_code())
    })?;
    // The command is running: from here on, do without anything that fails.
    if args.pty {
        let _ = signals::follow_size(running.control());
    }
    if args.sigpipe == UnreadAction::Kill {
        let _ = signals::give_up_unread(running.control());
    }
    Ok(running)
}

/// Says why a command was not started, and for shell syntax how to run a shell.
fn describe_start_error(error: &StartError, program: &OsStr) -> String {
    match error {
        StartError::NotFound(_) if program.is_empty() => {
            "'': command not found; its name is empty".to_owned()
        }
        StartError::NotFound(_) if is_shell(program) => {
            format!("{error}; overspill runs no shell: overspill run -- sh -c 'COMMAND'")
        }
        StartError::NotExecutable(name, why) if why.kind() == io::ErrorKind::PermissionDenied => {
            format!("{name}: not an executable file, or not permitted to you")
        }
        error => error.to_string(),
    }
}

fn is_shell(program: &OsStr) -> bool {
    const SIGNS: &[u8] = b" \t\n|&;<>()$`\"'*?=";
    const BUILT_IN: [&str; 12] = [
        "alias", "cd", "eval", "exec", "exit", "export", "set", "shopt", "source", "ulimit", "umask", "unset",
    ];
    program.as_encoded_bytes().iter().any(|byte| SIGNS.contains(byte))
        || BUILT_IN.iter().any(|name| program == *name)
}
