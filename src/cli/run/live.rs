//! Shows an output while it is produced: by a command (`run -i`), or on standard input.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::anyhow;
use signal_hook::consts::SIGHUP;

use crate::base::human::{size, span};
use crate::base::provenance::Certainty;
use crate::capture::{
    self, Ended, FinishedCapture, Following, Interest, KeepSpill, Location, Mishap, NOT_SAVED, Options,
    Progress, Request, Running, SinkLimits, Stdin, StopReason,
};
use crate::cli::args::{PolicyArgs, RunArgs, SaveArgs};
use crate::cli::{CommandResult, Failure, fail, input, progress, say, screens, terminal, usage};
use crate::config::{Config, EffectivePolicy};
use crate::output::{Ending, Subject, Target};
use crate::preview::Stream;
use crate::source::{self, Source};
use crate::text::label::{label, quote};
use crate::tui::{LiveUpdate, Producer, StartAt, Startup, ended_by, take_missed_hangup};

use super::signals;

const EVERY: Duration = Duration::from_millis(200);

/// How long a command that was told to stop may take before the user is told that it still runs.
const STOPPING: Duration = Duration::from_millis(300);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreensExit {
    NotShown,
    Left,
    /// A signal ended overspill while they were shown: its exit status.
    EndedBy(u8),
}

/// Runs a command with the screens on its growing spill. The command may outlive the screens.
pub(crate) fn command(
    config: &Config,
    args: &RunArgs,
    policy: &EffectivePolicy,
    options: Options,
    (request, place): (&Request, &Location),
) -> anyhow::Result<(FinishedCapture, ScreensExit)> {
    if !terminal::has_screen() {
        return Err(usage("-i needs a terminal; without one, run prints the preview"));
    }
    let limits = SinkLimits { hold: 0, ..options.limits };
    let options = Options { stdin: Stdin::Null, group: capture::Group::Own, limits, ..options };
    // Everything that can fail is done before the command starts.
    let shown_with = config.clone();
    let (give, taken) = channel::<(Running, Sender<LiveUpdate>, Sender<()>)>();
    let (own_request, own_place) = (request.clone(), place.clone());
    let work = move || {
        let (running, tell, tell_over) = taken.recv().map_err(|_| io::Error::other("no command"))?;
        let finished = produce(running, &own_request, &own_place, &tell);
        drop(tell_over);
        finished
    };
    let making = thread::Builder::new().name("making".into()).spawn(work)?;
    let running = super::start(args, &options, place)?;
    let (control, streams) = (running.control(), progress::streams(&running));
    let Some(path) = streams.first().and_then(|progress| progress.spill()).map(Path::to_owned) else {
        let _finishing = signals::pass_on(options.group, control);
        say("the output cannot be saved, so it cannot be shown while the command runs");
        progress::show_run_until_over(&streams, |most| running.wait_for(most));
        return Ok((super::require_preview(running.wait()?.finish(request, place))?, ScreensExit::NotShown));
    };
    let name = label(args.command.join(OsStr::new(" ")).as_bytes());
    let line: Vec<String> = args.command.iter().map(|word| quote::word(word.as_bytes())).collect();
    let policy = EffectivePolicy { policy: request.policy.clone(), ..policy.clone() };
    let subject =
        Subject { command: line.join(" "), ..Subject::new(name, saved_as(Some(&path), request), policy) };
    let target = Source::open(&path).map(|source| Target { subject, source, under: None });
    let (tell, updates) = channel();
    let (tell_over, over) = channel::<()>();
    // The receiver only waits for this.
    let _ = give.send((running, tell, tell_over));
    let live = (Producer::Command(control.clone()), updates);
    // The screens take the signal over.
    let is_ignored = signals::is_ignored(SIGHUP);
    let shown = catch_unwind(AssertUnwindSafe(|| match target {
        Ok(target) => screens::show(
            shown_with,
            Startup { targets: vec![target], live: Some(live), ..Startup::default() },
        ),
        Err(error) => Err(error.into()),
    }));
    if take_missed_hangup() && !is_ignored {
        control.ask(SIGHUP);
    }
    let _finishing = signals::pass_on(options.group, control);
    let (exit, panic) = match shown {
        Ok(shown) => (shown.map_or_else(exit_after, |()| ScreensExit::Left), None),
        Err(panic) => (ScreensExit::NotShown, Some(panic)),
    };
    if !over_within(&over, STOPPING) {
        say("the command still runs; Ctrl-C stops it");
        progress::show_run_until_over(&streams, |most| over_within(&over, most));
    }
    let finished = join(making);
    // What came is kept before the screens' own failure ends overspill.
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    Ok((finished?, exit))
}

/// Returns how the screens ended otherwise than by the user, and reports why if they failed.
fn exit_after(error: anyhow::Error) -> ScreensExit {
    if let Some(Failure::Ended(status)) = error.downcast_ref() {
        return ScreensExit::EndedBy(*status);
    }
    fail(&error.to_string());
    ScreensExit::NotShown
}

/// Returns the path that notices print of a file, also while it grows: its path once it is kept.
fn saved_as(file: Option<&Path>, request: &Request) -> String {
    let kept = || file.filter(|_| request.keep != KeepSpill::Never).map(final_name);
    request.printed.stdout.clone().or_else(kept).unwrap_or_else(|| NOT_SAVED.to_owned())
}

fn final_name(temporary: &Path) -> String {
    let name = temporary.file_name().unwrap_or_default().as_bytes();
    let name = OsStr::from_bytes(name.strip_prefix(b".tmp-").unwrap_or(name));
    temporary.with_file_name(name).to_string_lossy().into_owned()
}

fn over_within(over: &Receiver<()>, most: Duration) -> bool {
    over.recv_timeout(most) != Err(RecvTimeoutError::Timeout)
}

fn join<T>(thread: JoinHandle<anyhow::Result<T>>) -> anyhow::Result<T> {
    thread.join().unwrap_or_else(|_| Err(anyhow!("the output could not be followed")))
}

fn produce(
    running: Running,
    request: &Request,
    place: &Location,
    tell: &Sender<LiveUpdate>,
) -> anyhow::Result<FinishedCapture> {
    let progress = running.progress(Stream::Stdout).cloned().unwrap_or_default();
    let reporter = Reporter { request, tell };
    reporter.wait(&progress, None, |most| running.wait_for(most));
    let captured = running.wait().inspect_err(|error| reporter.failed(error))?;
    let status = captured.ended.map_or(0, Ended::exit_code);
    let exit_code = captured.ended.and_then(Ended::told_exit_code).map(Into::into);
    let ran = crate::base::env::now().duration_since(captured.started).as_secs().try_into().unwrap_or(0);
    let message = format!("exited with status {status} after {}", span(ran));
    let finished = captured.finish(&final_request(request), place);
    let certainty = finished.as_ref().map_or(Certainty::WouldGet, super::report::certainty);
    let (saved, saved_as, mishaps) = match &finished {
        Ok(finished) => (&finished.saved, finished.input().saved_as.to_owned(), finished.mishaps.clone()),
        Err(none) => (&none.saved, saved_as(none.saved.stdout.as_deref(), request), Vec::new()),
    };
    let failed = request.failed.clone().filter(|_| exit_code.is_some_and(|code| code != 0));
    let run = finished.as_ref().ok().filter(|finished| finished.saved.stdout.is_none());
    let run = run.map(|finished| Box::new(finished.record(request)));
    let ending = Ending { certainty, exit_code, failed, mishaps, run };
    let (path, message) = (saved.stdout.clone(), Some(message));
    let _ = tell.send(LiveUpdate::Finished { path, saved_as, message, ending });
    super::require_preview(finished)
}

/// Once a signal has ended the screens, the output is kept even if nothing is cut: nobody may have seen its end.
fn final_request(request: &Request) -> Request {
    let is_ended = request.keep == KeepSpill::Cut && ended_by().is_some();
    Request { keep: if is_ended { KeepSpill::Always } else { request.keep }, ..request.clone() }
}

/// Tells the screens what becomes of an output; nobody listens once they are closed.
struct Reporter<'a> {
    request: &'a Request,
    tell: &'a Sender<LiveUpdate>,
}

impl Reporter<'_> {
    /// Tells that the output is over, without the end of a command.
    fn finish(&self, message: Option<String>, path: Option<PathBuf>) {
        let is_lost = self.request.keep == KeepSpill::Never;
        let mishaps = is_lost.then_some(Mishap::NotSaved).into_iter().collect();
        let (certainty, exit_code) = (Certainty::WouldGet, None);
        let ending = Ending { certainty, exit_code, failed: None, mishaps, run: None };
        let saved_as = saved_as(path.as_deref(), self.request);
        let _ = self.tell.send(LiveUpdate::Finished { path, saved_as, message, ending });
    }

    fn failed(&self, error: &io::Error) {
        self.finish(Some(label(error.to_string().as_bytes())), None);
    }

    /// Waits for the end, and reports problems at once. `keeps` is how many of the bytes shown will be kept.
    fn wait(&self, progress: &Progress, keeps: Option<u64>, wait_for: impl Fn(Duration) -> bool) {
        let mut is_told = false;
        loop {
            let is_over = wait_for(EVERY);
            if let (false, Some(words)) = (is_told, self.fault(progress, keeps)) {
                is_told = true;
                let _ = self.tell.send(LiveUpdate::Error(words));
                let (stopped, tells_cap) = (progress.stopped(), self.request.tells_cap());
                let is_lost = stopped.is_some_and(|why| matches!(why, StopReason::Failed(_)) || !tells_cap);
                if is_lost && self.request.printed.stdout.is_none() {
                    let _ = self.tell.send(LiveUpdate::SavedAs(NOT_SAVED.to_owned()));
                }
            }
            if is_over {
                return;
            }
        }
    }

    fn fault(&self, progress: &Progress, keeps: Option<u64>) -> Option<String> {
        let (most, remedy) = (size(self.request.cap), "--max-spill none keeps all");
        match (progress.stopped(), keeps) {
            (Some(StopReason::Failed(error)), _) => {
                let error = label(error.to_string().as_bytes());
                Some(format!("the rest can be neither saved nor shown: {error}"))
            }
            (Some(StopReason::Cap), _) => Some(format!("only the first {most} is saved and shown; {remedy}")),
            (None, Some(cap)) if progress.bytes() > cap => {
                Some(format!("over {most}: only the first {most} will be kept; {remedy}"))
            }
            (None, _) => None,
        }
    }
}

/// `CMD | overspill`: shows standard input while it arrives, whether or not it can be saved.
pub(crate) fn stdin(
    config: Config,
    policy_args: &PolicyArgs,
    save: &SaveArgs,
    places: BTreeMap<usize, StartAt>,
) -> CommandResult {
    let (config, resolved) = match config.resolve(&policy_args.overrides(), None) {
        // Of a mistake in one of the user's own files the input knows nothing: it is shown under what is built in.
        Err(error) if error.is_in_file() => {
            say(&error.to_string());
            let config = config.without_own();
            let resolved = config.resolve(&policy_args.overrides(), None);
            (config, resolved)
        }
        resolved => (config, resolved),
    };
    let policy = resolved.map_err(usage)?.policy;
    let mut request = save.request(&policy)?;
    super::fill_in(&mut request, policy_args);
    let place = Location::own(&config.env, crate::base::env::now());
    match begin_saving(&place) {
        Ok(growing) => show_growing(config, policy_args, (growing, places), (request, place)),
        Err(error) => {
            let opened = input::open(&config, OsStr::new("-"), policy_args)?;
            let mut target = screens::target(&config, opened, &policy_args.overrides())?;
            let words = format!("not saved: {error}");
            target.subject.policy.warnings.insert(0, words.clone());
            let shown =
                screens::show(config, Startup { targets: vec![target], places, ..Startup::default() });
            say(&words);
            shown
        }
    }
}

/// Returns the temporary path, and what follows and ends the input.
fn begin_saving(place: &Location) -> io::Result<(PathBuf, Following, Interest)> {
    let begun = place.begin(Stream::Stdout)?;
    let temporary = begun.temporary_path();
    let limits = SinkLimits { hold: 0, ..SinkLimits::default() };
    let (following, interest) = capture::follow(source::stdin()?, limits, begun)?;
    Ok((temporary, following, interest))
}

fn show_growing(
    config: Config,
    policy_args: &PolicyArgs,
    ((temporary, following, interest), places): ((PathBuf, Following, Interest), BTreeMap<usize, StartAt>),
    (request, place): (Request, Location),
) -> CommandResult {
    let mut opened = input::growing(&temporary, policy_args);
    opened.iter_mut().for_each(|opened| opened.context.saved_as = saved_as(Some(&temporary), &request));
    let mut target = opened.and_then(|opened| screens::target(&config, opened, &policy_args.overrides()));
    target.iter_mut().for_each(|target| capture::set_captures_all(&mut target.subject.policy.policy));
    let (stores, env) = (config.stores.clone(), config.env.clone());
    // If no thread can be started, the next run does it.
    let _ = thread::Builder::new().name("sweep".into()).spawn(move || super::sweep(&stores, &env));
    let (tell, updates) = channel();
    let (stay, left) = channel::<()>();
    let work = move || keep_stream(following, &temporary, (&request, &place), &tell, &left);
    let making = thread::Builder::new().name("making".into()).spawn(work)?;
    // What came is kept, whether it can be shown or not.
    let live = Some((Producer::Stream, updates));
    let shown = catch_unwind(AssertUnwindSafe(|| {
        target.and_then(|target| {
            screens::show(config, Startup { targets: vec![target], live, places, list: None })
        })
    }));
    drop((interest, stay));
    let kept = join(making);
    let shown = shown.unwrap_or_else(|panic| resume_unwind(panic));
    kept?.iter().for_each(|words| say(words));
    shown
}

/// Keeps the stream as requested once it ends. What is over the cap is cut off when the screens are closed.
fn keep_stream(
    following: Following,
    temporary: &Path,
    (request, place): (&Request, &Location),
    tell: &Sender<LiveUpdate>,
    left: &Receiver<()>,
) -> anyhow::Result<Vec<String>> {
    let keeps = (request.keep != KeepSpill::Never).then_some(request.cap);
    let reporter = Reporter { request, tell };
    reporter.wait(&following.progress, keeps, |most| following.wait_for(most));
    let captured = following.wait().inspect_err(|error| reporter.failed(error))?;
    let is_cut = captured.stdout.kept.bytes > request.cap;
    if is_cut {
        reporter.finish(None, Some(temporary.to_owned()));
        // An error means that the screens are closed.
        let _ = left.recv();
    }
    let (is_part, mut words) = (captured.left_early, Vec::new());
    let path = captured.keep(&final_request(request), place, &mut words);
    if let Some(path) = &path {
        let what = match (is_cut, is_part) {
            (true, _) => format!("the first {} of the output is", size(request.cap)),
            (false, true) => "what arrived of the output is".to_owned(),
            (false, false) => "the whole output is".to_owned(),
        };
        words.push(format!("{what} in {}", path.display()));
    }
    reporter.finish(None, path);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_a_growing_file_changes() {
        for path in ["/d/.tmp-tool_1", "/d/tool_1"] {
            assert_eq!(final_name(Path::new(path)), "/d/tool_1");
        }
        assert_eq!(final_name(Path::new("/d/.tmp-x/.tmp-tool_1")), "/d/.tmp-x/tool_1");
    }
}
