//! A program that is started, written to and read from, and ended in time.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

pub(super) struct TimedChild {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    end: Instant,
}

impl TimedChild {
    /// Starts a command, which is ended after `limit`.
    pub(super) fn start(mut command: Command, limit: Duration) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let read = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            read.map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Ok(Self { child, input, lines, end: Instant::now() + limit })
    }

    /// Writes a text in the background: the program may not read it.
    pub(super) fn write_all(&mut self, text: String) {
        let Some(mut input) = self.input.take() else { return };
        std::thread::spawn(move || input.write_all(text.as_bytes()));
    }

    /// Writes a short line.
    pub(super) fn write_line(&mut self, line: &str) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), |input| writeln!(input, "{line}").and_then(|()| input.flush()))
    }

    /// Returns the next line; `None` at the end, or if the time is over.
    pub(super) fn next_line(&self) -> Option<String> {
        self.lines.recv_timeout(self.end.saturating_duration_since(Instant::now())).ok()
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.end
    }
}

impl Drop for TimedChild {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
