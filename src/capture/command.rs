//! The library's entry point for commands: runs a command and returns what the model gets.

use std::process::Command;
use std::time::Duration;

use crate::preview::{PerStream, Policy, Status, TotalsFor};
use crate::store::RunRecord;

use super::headroom::Headroom;
use super::process::command::{Running, start};
use super::process::supervise::Control;
use super::process::{Options, Stdin, Streams, Tee};
use super::request::Request;
use super::spill::location::Location;
use super::spill::sink::SinkLimits;
use super::truncate::{Error, Truncator};
use super::{Outcome, errors_of};

/// Runs commands as an agent's shell tool does, and cuts their outputs as a policy says.
///
/// ```
/// use std::process::Command;
/// use std::time::Duration;
///
/// use overspill::capture::{Capture, Location, Truncator};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = tempfile::tempdir()?;
/// let truncator = Truncator::new("basic/shell")?.save_in(Location::dir(store.path()));
/// let capture = Capture::new(truncator)
///     .timeout(Duration::from_secs(120))
///     .stdin("5000")
///     .on_output(|chunk| print!("{}", String::from_utf8_lossy(chunk)));
///
/// let mut command = Command::new("sh");
/// command.args(["-c", "read count; seq $count; echo error: no rule >&2; seq $count; exit 3"]);
/// let running = capture.start(command)?;
/// let control = running.control();
/// // Another thread may call `control.cancel()` meanwhile.
/// let outcome = running.wait()?;
/// assert_eq!(outcome.ended.map(|ended| ended.exit_code()), Some(3));
/// assert_eq!(outcome.errors.map(|errors| errors.lost()), Some(1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Capture {
    truncator: Truncator,
    tool: String,
    timeout: Option<Duration>,
    stdin: Stdin,
    tee: Option<Tee>,
    headroom: Option<Headroom>,
}

impl Capture {
    /// Truncates and saves with `truncator`, as the tool `bash`.
    pub fn new(truncator: Truncator) -> Capture {
        let tool = "bash".to_owned();
        Capture { truncator, tool, timeout: None, stdin: Stdin::default(), tee: None, headroom: None }
    }

    /// Sets the tool that the command stands for (default: `bash`).
    #[must_use]
    pub fn tool(self, tool: &str) -> Capture {
        Capture { tool: tool.to_owned(), ..self }
    }

    /// Stops the command after this time: TERM, then KILL two seconds later.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Capture {
        Capture { timeout: Some(timeout), ..self }
    }

    /// Gives the command these bytes as its standard input. By default its input is empty.
    #[must_use]
    pub fn stdin(self, bytes: impl AsRef<[u8]>) -> Capture {
        Capture { stdin: Stdin::Bytes(bytes.as_ref().into()), ..self }
    }

    /// Lets the command read this process's standard input.
    #[must_use]
    pub fn inherit_stdin(self) -> Capture {
        Capture { stdin: Stdin::Inherit, ..self }
    }

    /// Calls `take` with each chunk of the output as it arrives, in a thread of the capture; a chunk may end within a
    /// character. The command waits while `take` has not returned.
    #[must_use]
    pub fn on_output(self, take: impl FnMut(&[u8]) + Send + 'static) -> Capture {
        Capture { tee: Some(Tee::new(take)), ..self }
    }

    /// Lowers the policy's limits until [`Outcome::text`] fits in `headroom`, for an agent that hands it on to another
    /// program which would cut it again. Room is left for the path, if the text does not name it.
    #[must_use]
    pub fn headroom(self, headroom: Headroom) -> Capture {
        Capture { headroom: Some(headroom), ..self }
    }

    /// Runs a command to completion: [`Capture::start`], then [`RunningCommand::wait`].
    ///
    /// # Errors
    /// [`Error`]. A command that fails is not an error: see [`Outcome::ended`].
    pub fn run(&self, command: Command) -> Result<Outcome, Error> {
        self.start(command)?.wait()
    }

    /// Starts a command. Sets its standard input, output, error and process group. Standard error is captured together
    /// with standard output, or separately where the policy distinguishes the two.
    ///
    /// # Errors
    /// [`Error::Start`].
    pub fn start(&self, command: Command) -> Result<RunningCommand, Error> {
        let (request, place) = (self.request(&command), self.truncator.place.clone());
        let options = Options {
            streams: if request.policy.takes_stderr() { Streams::Apart } else { Streams::Together },
            stdin: self.stdin.clone(),
            timeout: self.timeout,
            limits: SinkLimits { cap: request.cap, ..SinkLimits::default() },
            tee: self.tee.clone(),
            ..Options::default()
        };
        Ok(RunningCommand { running: start(command, &options, &place)?, request, place })
    }

    fn request(&self, command: &Command) -> Request {
        let policy = self.truncator.policy(&self.tool);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let directory = command.get_current_dir().map(Into::into).or(std::env::current_dir().ok());
        let run = RunRecord {
            command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
            directory: directory.unwrap_or_default().to_string_lossy().into_owned(),
            tool: Some(self.tool.clone()),
            ..RunRecord::default()
        };
        let failed = policy.failed().and_then(|name| Policy::builtin(name).ok());
        let (counts, headroom, timeout) = (TotalsFor::All, self.headroom, self.timeout);
        Request { run, failed, counts, headroom, timeout, ..Request::new(policy) }
    }
}

/// A command that a [`Capture`] has started. If this is dropped, the command runs on, and its output is lost.
#[derive(Debug)]
pub struct RunningCommand {
    running: Running,
    request: Request,
    place: Location,
}

impl RunningCommand {
    /// Returns the handle that stops the command, also while another thread waits for it.
    pub fn control(&self) -> Control {
        self.running.control()
    }

    /// Waits until the command and its output have ended.
    ///
    /// # Errors
    /// [`Error`]. A command that fails is not an error: see [`Outcome::ended`].
    pub fn wait(self) -> Result<Outcome, Error> {
        let finished = self.running.wait()?.finish(&self.request, &self.place)?;
        if let Status::Crashed(words) = finished.preview.status {
            return Err(Error::Crashed(words));
        }
        let errors = errors_of(&finished.preview, &finished.captured);
        let outcome = Outcome::new(&finished.preview, &finished.input(), errors);
        let PerStream { stdout: saved_to, stderr: stderr_saved_to } = finished.saved;
        let (ended, warnings) = (finished.captured.ended, finished.warnings);
        Ok(Outcome { saved_to, stderr_saved_to, ended, warnings, ..outcome })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::capture::Stop;

    fn capture(policy: &str) -> (tempfile::TempDir, Capture) {
        let home = tempfile::tempdir().unwrap();
        let truncator = Truncator::new(policy).unwrap().save_in(Location::dir(home.path()));
        (home, Capture::new(truncator))
    }

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn run(policy: &str, script: &str) -> (tempfile::TempDir, Outcome) {
        let (home, capture) = capture(policy);
        let outcome = capture.run(sh(script)).unwrap();
        (home, outcome)
    }

    #[test]
    fn cancel_ends_the_command_and_keeps_its_output() {
        let (_home, capture) = capture("basic/shell");
        let (tell, told) = channel();
        let capture = capture.on_output(move |chunk| tell.send(chunk.to_vec()).unwrap());
        let running = capture.start(sh("echo begun; exec sleep 1000")).unwrap();
        assert_eq!(told.recv().unwrap(), b"begun\n");
        running.control().cancel();
        let outcome = running.wait().unwrap();
        let ended = outcome.ended.unwrap();
        assert_eq!((outcome.text.as_str(), ended.stop, ended.exit_code()), ("begun\n", Stop::Asked(15), 143));
    }

    #[test]
    fn the_first_reason_to_stop_a_command_is_reported() {
        let (_home, capture) = capture("basic/shell");
        let (tell, told) = channel();
        let capture = capture.timeout(Duration::from_secs(2)).on_output(move |_| tell.send(()).unwrap());
        let running = capture.start(sh("trap '' INT; echo ready; exec sleep 1000")).unwrap();
        told.recv().unwrap();
        running.control().ask(2);
        let ended = running.wait().unwrap().ended.unwrap();
        assert_eq!((ended.stop, ended.exit_code()), (Stop::Asked(2), 130));
    }

    #[test]
    fn a_command_may_read_all_some_or_none_of_its_input() {
        let (_home, capture) = capture("basic/shell");
        let bytes = "line\n".repeat(200_000);
        let capture = capture.stdin(&bytes);
        assert_eq!(capture.run(sh("wc -c")).unwrap().text.trim(), bytes.len().to_string());
        assert_eq!(capture.run(sh("head -n 1")).unwrap().text, "line\n");
        assert_eq!(capture.run(sh("exec <&-; echo no")).unwrap().text, "no\n");
        assert_eq!(capture.stdin("").run(sh("cat")).unwrap().text, "");
    }

    #[test]
    fn a_text_fits_in_the_headroom() {
        let (_home, capture) = capture("basic/shell");
        let capture = capture.headroom(Headroom { bytes: Some(3000), lines: Some(100) });
        let outcome = capture.run(sh("seq 5000")).unwrap();
        assert!(outcome.text.len() <= 3000 && outcome.text.lines().count() <= 100, "{}", outcome.text);
        assert!(outcome.truncated && outcome.text.contains(&*outcome.saved_to.unwrap().to_string_lossy()));
    }

    #[test]
    fn saves_the_whole_output_of_a_command_if_it_is_cut() {
        let (home, outcome) = run("opencode/output", "seq 1 3000; echo end >&2; exit 3");
        let saved = outcome.saved_to.unwrap();
        assert!(outcome.truncated && outcome.text.contains(&*saved.to_string_lossy()));
        assert!(std::fs::read_to_string(&saved).unwrap().ends_with("3000\nend\n"));
        assert_eq!(outcome.ended.unwrap().exit_code(), 3);
        // A directory chosen by the caller gets no records.
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_policy_that_distinguishes_the_streams_gets_both() {
        let (_home, outcome) = run("go-opencode/bash", "echo error: a; seq 1 5000 >&2; echo error: b >&2");
        assert!(outcome.truncated && outcome.saved_to.is_none());
        assert_eq!(outcome.lines.total, 5004);
        assert!(std::fs::read_to_string(outcome.stderr_saved_to.unwrap()).unwrap().ends_with("error: b\n"));
        assert_eq!(outcome.errors.map(|errors| errors.total), Some(2));
    }

    #[test]
    fn a_failed_command_is_cut_by_the_policy_for_failures() {
        let script = "seq 1 20000; exit 1";
        let (_home, failed) = run("claude-code/bash", script);
        let (_home, alone) = run("claude-code/bash-failed", script);
        let (_home, well) = run("claude-code/bash", "seq 1 20000");
        assert_eq!(failed.text.len(), alone.text.len());
        assert_ne!(failed.text.len(), well.text.len());
    }

    #[test]
    fn a_panic_before_the_first_spill_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let place = Location::dir(home.path()).after(|| panic!("made up"));
        let capture = Capture::new(Truncator::new("pi/bash").unwrap().save_in(place));
        assert!(matches!(capture.run(sh("seq 200000")), Err(Error::Io(_))));
    }

    #[test]
    fn a_missing_command_is_an_error() {
        let error = capture("pi/bash").1.run(Command::new("/no/such/command")).unwrap_err();
        assert!(matches!(error, Error::Start(_)) && error.to_string().contains("not found"));
    }
}
