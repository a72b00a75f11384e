//! The library's entry point for commands: runs a command and returns what the model would get.

use std::process::Command;
use std::time::Duration;

use crate::preview::{PerStream, Policy, PolicyError, Status, ToCount, Want};

use super::outcome::{Outcome, errors_of};
use super::process::command::run;
use super::process::options::{Options, Stdin, Streams};
use super::request::{About, Request};
use super::spill::sink::{HOLD, SinkLimits};
use super::truncate::{Error, Truncator};

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
/// let truncator = Truncator::new("opencode/output")?.save_in(Location::dir(store.path()));
/// let capture = Capture::with(truncator).timeout(Duration::from_secs(120));
///
/// let mut command = Command::new("sh");
/// command.args(["-c", "seq 1 5000; exit 3"]);
/// let outcome = capture.run(command)?;
/// assert!(outcome.truncated && outcome.text.contains("...3001 lines truncated..."));
/// assert_eq!(outcome.ended.map(|ended| ended.exit_code()), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Capture {
    truncator: Truncator,
    tool: String,
    timeout: Option<Duration>,
    stdin: Stdin,
}

impl Capture {
    /// Truncates with the built-in policy of this name (`agent/tool`); see [`Truncator::new`].
    ///
    /// # Errors
    /// [`PolicyError::Unknown`], which lists the existing names.
    pub fn new(policy: &str) -> Result<Capture, PolicyError> {
        Ok(Capture::with(Truncator::new(policy)?))
    }

    /// Truncates and saves with `truncator`, as the tool `bash`.
    pub fn with(truncator: Truncator) -> Capture {
        Capture { truncator, tool: "bash".to_owned(), timeout: None, stdin: Stdin::default() }
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

    /// Lets the command read this process's standard input. By default its input is empty.
    #[must_use]
    pub fn inherit_stdin(self) -> Capture {
        Capture { stdin: Stdin::Inherit, ..self }
    }

    /// Runs a command to completion. Sets its standard input, output, error and process group. Standard error is
    /// captured together with standard output, or separately where the policy distinguishes the two.
    ///
    /// # Errors
    /// [`Error`]. A command that fails is not an error: see [`Outcome::ended`].
    pub fn run(&self, command: Command) -> Result<Outcome, Error> {
        let (request, place) = (self.request(&command), self.truncator.place());
        let options = Options {
            streams: if request.policy.takes_stderr() { Streams::Apart } else { Streams::Together },
            stdin: self.stdin,
            timeout: self.timeout,
            limits: SinkLimits { hold: HOLD, cap: request.cap, want: Want::ALL },
            ..Options::default()
        };
        let finished = run(command, &options, place)?.finish(&request, place)?;
        if let Status::Crashed(words) = finished.preview.status {
            return Err(Error::Crashed(words));
        }
        let contents = finished.captured.outputs().map(|output| (output.stream, output.content()));
        let errors = errors_of(&finished.preview, contents);
        let outcome = Outcome::new(&finished.preview, &finished.input(), errors);
        let PerStream { stdout: saved_to, stderr: stderr_saved_to } = finished.saved;
        let (ended, warnings) = (finished.captured.ended, finished.warnings);
        Ok(Outcome { saved_to, stderr_saved_to, ended, warnings, ..outcome })
    }

    fn request(&self, command: &Command) -> Request {
        let policy = self.truncator.policy(&self.tool);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let about = About {
            command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
            directory: command
                .get_current_dir()
                .map(Into::into)
                .or(std::env::current_dir().ok())
                .unwrap_or_default(),
            tool: Some(self.tool.clone()),
            policy: policy.name().to_owned(),
            ..About::default()
        };
        let failed = policy.failed().and_then(|name| Policy::builtin(name).ok());
        Request { about, failed, counts: ToCount::All, ..Request::new(policy) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Location;

    fn run(policy: &str, script: &str) -> (tempfile::TempDir, Outcome) {
        let home = tempfile::tempdir().unwrap();
        let truncator = Truncator::new(policy).unwrap().save_in(Location::dir(home.path()));
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        (home, Capture::with(truncator).run(command).unwrap())
    }

    #[test]
    fn a_command_s_whole_output_is_saved_where_it_is_cut() {
        let (home, outcome) = run("opencode/output", "seq 1 3000; echo end >&2; exit 3");
        let saved = outcome.saved_to.unwrap();
        assert!(outcome.truncated && outcome.text.contains(&*saved.to_string_lossy()));
        assert!(std::fs::read_to_string(&saved).unwrap().ends_with("3000\nend\n"));
        assert_eq!(outcome.ended.unwrap().exit_code(), 3);
        // A directory chosen by the caller gets no records.
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_policy_that_knows_the_streams_apart_gets_them_apart() {
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
    fn a_command_that_is_not_there_is_an_error() {
        let error = Capture::new("pi/bash").unwrap().run(Command::new("/no/such/command")).unwrap_err();
        assert!(matches!(error, Error::Start(_)) && error.to_string().contains("not found"));
    }
}
