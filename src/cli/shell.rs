//! `overspill -c LINE`: runs a line as the agent's shell would, and saves a copy of an output that the agent will cut.
//! The shell writes to the agent's file, so that nothing is held up or changed; the file is copied once the shell ends.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::{io, thread};

use jiff::Timestamp;
use memchr::memmem;
use rustix::fs::fstat;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use crate::capture::{self, Captured, Ended, Location, Request, SinkLimits, Stop};
use crate::config::Config;
use crate::hook::agent::OF_PREFIX;
use crate::preview::{Policy, TotalsMask};
use crate::store::{Env, RunRecord, now};

use super::run::signals::not_ignored;

/// The largest output that is copied, in bytes.
const MAX_COPY: u64 = 1 << 30;

/// Returns the words for the shell, if the program was called as one: `-c LINE ..`.
pub(super) fn arguments() -> Option<Vec<OsString>> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    words.first().is_some_and(|word| word == "-c").then_some(words)
}

pub(super) fn run(words: &[OsString]) -> ExitCode {
    let Some(line) = words.get(1) else {
        super::fail("-c needs a line for the shell; write `overspill -c LINE`");
        return ExitCode::from(2);
    };
    let own = std::env::current_exe().unwrap_or_default();
    // Overspill, also by way of a link or of the search path, would run itself for ever.
    let is_own = |path: PathBuf| path.canonicalize().unwrap_or(path).file_name() == own.file_name();
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty() && !is_own(shell.into()));
    let shell = shell.unwrap_or_else(|| "sh".into());
    let mut command = Command::new(&shell);
    command.args(words);
    let output = command_in(line.as_bytes()).zip(AgentFile::open_stdout());
    let ended = match output {
        None => Err(command.exec()),
        Some((line, file)) => {
            let start = now();
            run_beside(command).inspect(|ended| {
                // A failed copy is not reported to the agent: only the command prints.
                let _ = file.save(&line, start, *ended);
            })
        }
    };
    match ended {
        Ok(ended) => end_as(ended),
        Err(error) => {
            super::fail(&format!("{}: {error}", shell.to_string_lossy()));
            ExitCode::from(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
        }
    }
}

fn run_beside(mut command: Command) -> io::Result<ExitStatus> {
    let stops = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
    let mut signals = Signals::new(not_ignored(stops))?;
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let passing = signals.handle();
    let thread = thread::Builder::new().name("passing".into()).spawn(move || {
        for signal in signals.forever() {
            let _ = Signal::from_named_raw(signal).map(|signal| kill_process(pid, signal));
        }
    });
    let ended = child.wait();
    passing.close();
    let _ = thread.map(thread::JoinHandle::join);
    ended
}

/// Ends with the status of the shell, or by the signal that ended it.
fn end_as(ended: ExitStatus) -> ExitCode {
    if let Some(signal) = ended.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        let own = rustix::process::getpid();
        let _ = Signal::from_named_raw(signal).map(|signal| kill_process(own, signal));
    }
    ExitCode::from(Ended { status: ended.into(), stop: Stop::No }.exit_code())
}

/// Returns the command in a line of the agent's shell tool: it sources a snapshot, evaluates the command in quotes, and notes
/// the directory. `None` for any other line, as of a hook or of an MCP server.
fn command_in(line: &[u8]) -> Option<OsString> {
    let tail = memmem::rfind(line, b" && pwd -P >| ")?;
    let noted = line.get(tail + b" && pwd -P >| ".len()..)?;
    if !noted.ends_with(b"-cwd") || noted.iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    let start = memmem::find(line, b"eval ")? + b"eval ".len();
    let quoted = line.get(start..tail)?;
    let quoted = quoted.strip_suffix(b" < /dev/null").unwrap_or(quoted);
    let inner = quoted.strip_prefix(b"'")?.strip_suffix(b"'")?;
    let inner = std::str::from_utf8(inner).ok()?;
    let quotes = ["'\\''", "'\"'\"'"].into_iter().find(|quote| inner.contains(quote));
    Some(quotes.map_or_else(|| inner.to_owned(), |quote| inner.replace(quote, "'")).into())
}

/// The file in which the agent takes up the output.
struct AgentFile {
    file: File,
    /// Where the output begins in it, in bytes.
    start: u64,
}

impl AgentFile {
    /// Opens the file that standard output and standard error are; `None` if they are not one file.
    fn open_stdout() -> Option<Self> {
        let [out, err] = [fstat(io::stdout()).ok()?, fstat(io::stderr()).ok()?];
        let is_file = rustix::fs::FileType::from_raw_mode(out.st_mode).is_file();
        if !is_file || (out.st_dev, out.st_ino) != (err.st_dev, err.st_ino) {
            return None;
        }
        let file = File::open(find_path(io::stdout())?).ok()?;
        let opened = fstat(&file).ok()?;
        ((opened.st_dev, opened.st_ino) == (out.st_dev, out.st_ino))
            .then_some(Self { file, start: out.st_size as u64 })
    }

    fn save(mut self, line: &OsStr, started: Timestamp, ended: ExitStatus) -> io::Result<()> {
        let env = Env::from_process();
        let name = if ended.success() { OF_PREFIX.policy() } else { "claude-code/bash-failed" };
        let configured = Config::load(env.clone()).resolve_named(name).map(|resolved| resolved.policy);
        let policy = configured.or_else(|_| Policy::builtin(name)).map_err(io::Error::other)?;
        let run = RunRecord {
            command: vec![line.to_string_lossy().into_owned()],
            directory: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
            tool: Some(OF_PREFIX.shell_tool().to_owned()),
            agent: Some(OF_PREFIX.as_str().to_owned()),
            ..RunRecord::default()
        };
        let request = Request { run, cap: MAX_COPY, ..Request::new(policy) };
        let place = Location::own(&env, now());
        // The preview counts what it needs.
        let limits = SinkLimits { cap: MAX_COPY, want: TotalsMask::NOTHING, ..SinkLimits::default() };
        // Only children of the shell write from now on, not the command.
        let len = self.file.metadata()?.len().saturating_sub(self.start);
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(self.start))?;
        let captured = capture::drain(io::Read::take(self.file, len), limits, &place)?;
        let ended = Some(Ended { status: ended.into(), stop: Stop::No });
        let finished = Captured { ended, started, ..captured }.finish(&request, &place);
        finished.map(drop).map_err(io::Error::other)
    }
}

#[cfg(target_os = "linux")]
fn find_path(file: impl AsFd) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    Some(PathBuf::from(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())))
}

#[cfg(not(target_os = "linux"))]
fn find_path(file: impl AsFd) -> Option<PathBuf> {
    let path = rustix::fs::getpath(file).ok()?;
    Some(PathBuf::from(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(path.into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_the_shell_tool_are_recognised() {
        let line = |command: &str| {
            format!(
                "source /home/u/.claude/shell-snapshots/snapshot-bash-1.sh 2>/dev/null || true && shopt -u extglob && \
                 eval {command} < /dev/null && pwd -P >| /tmp/claude-5c3e-cwd"
            )
        };
        let command = |line: &str| command_in(line.as_bytes()).map(|command| command.into_string().unwrap());
        assert_eq!(command(&line("'make -j4'")).as_deref(), Some("make -j4"));
        assert_eq!(
            command(&line("'echo it'\\''s && pwd -P >| x'")).as_deref(),
            Some("echo it's && pwd -P >| x")
        );
        assert_eq!(command(&line("'echo it'\"'\"'s'")).as_deref(), Some("echo it's"));
        for other in [
            "overspill hook claude-code",
            "npx server",
            "eval 'x' && pwd -P >| /tmp/a b-cwd",
            "pwd -P >| /tmp/x-cwd",
        ] {
            assert_eq!(command(other), None, "{other}");
        }
    }
}
