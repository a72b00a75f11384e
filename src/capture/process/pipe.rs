//! The pipe, or terminal, that a command writes to, and when to stop reading once the command has exited.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, isatty, tcgetattr, tcsetattr, tcsetwinsize};

use super::TerminalSize;

/// After the command has exited, the pipe is closed once it has been quiet for this long.
const SILENCE: Duration = Duration::from_millis(500);
/// After the command has exited, the pipe is closed after this long in any case.
const MAX_WAIT: Duration = Duration::from_secs(2);
const PIPE_BYTES: usize = 1 << 20;

/// Notifies the pipes of a command that it has exited, and is told if one had to be closed early.
#[derive(Debug)]
pub(crate) struct ExitNotice {
    flag: Arc<AtomicBool>,
    /// Set if a pipe was closed while other processes still held the write end.
    held: Arc<AtomicBool>,
    /// Closed to wake pollers of the other end.
    wake: Option<PipeWriter>,
    woken: PipeReader,
}

impl ExitNotice {
    pub(crate) fn new() -> io::Result<ExitNotice> {
        let (woken, wake) = io::pipe()?;
        Ok(ExitNotice { flag: Arc::default(), held: Arc::default(), wake: Some(wake), woken })
    }

    pub(crate) fn was_closed_early(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }

    /// Returns a pipe whose other end is closed when the command exits.
    pub(crate) fn listener(&self) -> io::Result<PipeReader> {
        self.woken.try_clone()
    }

    /// Reports that the command has exited: from now on only other processes hold its output.
    pub(crate) fn tell(&mut self) {
        self.flag.store(true, Ordering::Release);
        self.wake = None;
    }
}

/// The read end of a command's output: it ends with the last writer, or if those left behind take too long.
#[derive(Debug)]
pub(crate) struct Pipe {
    end: OwnedFd,
    gone: Arc<AtomicBool>,
    woken: PipeReader,
    grace: Option<GracePeriod>,
    held: Arc<AtomicBool>,
}

#[derive(Debug)]
struct GracePeriod {
    since: Instant,
    last: Instant,
    /// Bytes that were in the pipe at the exit: they may be the command's own, and are read however long that takes.
    owed: u64,
}

impl GracePeriod {
    /// Returns how long to wait for more bytes, or `None` if the time is up.
    fn time_left(&self, now: Instant) -> Option<Duration> {
        let end = (self.last + SILENCE).min(self.since + MAX_WAIT);
        (now < end).then(|| end - now)
    }
}

impl Pipe {
    pub(crate) fn new(gone: &ExitNotice) -> io::Result<(Pipe, PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        widen(&reader);
        Ok((Pipe::listen(reader.into(), gone)?, writer))
    }

    /// Same as [`Pipe::new`] for a read end that exists already, such as a terminal's.
    pub(crate) fn listen(end: OwnedFd, notice: &ExitNotice) -> io::Result<Pipe> {
        rustix::fs::fcntl_setfl(&end, rustix::fs::fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
        let (gone, held) = (Arc::clone(&notice.flag), Arc::clone(&notice.held));
        Ok(Pipe { end, gone, woken: notice.listener()?, grace: None, held })
    }

    fn begin_grace(&mut self) {
        if self.grace.is_none() && self.gone.load(Ordering::Acquire) {
            let now = Instant::now();
            let owed = rustix::io::ioctl_fionread(&self.end).unwrap_or(0);
            self.grace = Some(GracePeriod { since: now, last: now, owed });
        }
    }

    /// Waits for bytes. Returns false when the time is up.
    fn wait(&mut self) -> io::Result<bool> {
        let mut left = None;
        if let Some(grace) = &mut self.grace {
            grace.owed = 0;
            let Some(rest) = grace.time_left(Instant::now()) else { return Ok(false) };
            left = Some(rest);
        }
        let timeout = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let end = PollFd::from_borrowed_fd(self.end.as_fd(), PollFlags::IN);
        let woken = PollFd::from_borrowed_fd(self.woken.as_fd(), PollFlags::IN);
        let both = &mut [end, woken];
        let count = if timeout.is_some() { 1 } else { 2 };
        match poll(&mut both[..count], timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.begin_grace();
            let is_over = |grace: &GracePeriod| grace.owed == 0 && Instant::now() >= grace.since + MAX_WAIT;
            if self.grace.as_ref().is_some_and(is_over) {
                break;
            }
            match rustix::io::read(&self.end, &mut *buffer) {
                Ok(count) => {
                    if let Some(grace) = &mut self.grace {
                        grace.last = Instant::now();
                        grace.owed = grace.owed.saturating_sub(count as u64);
                    }
                    return Ok(count);
                }
                Err(Errno::AGAIN) if self.wait()? => {}
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                // This is how a terminal reports that nobody holds its other end any more.
                Err(Errno::IO) if isatty(&self.end) => return Ok(0),
                Err(error) => return Err(error.into()),
            }
        }
        self.held.store(true, Ordering::Release);
        Ok(0)
    }
}

/// A large pipe keeps the command running while the disk is slow; a small one does no harm.
fn widen(reader: &PipeReader) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(reader, PIPE_BYTES);
    #[cfg(not(target_os = "linux"))]
    let _ = (reader, PIPE_BYTES);
}

#[derive(Debug)]
pub(crate) struct Pty {
    /// Overspill's end: the command's output is read from it, and keys are written to it.
    pub ours: OwnedFd,
    pub its: OwnedFd,
}

impl Pty {
    /// Opens a terminal of this size with the system's default settings, so that a printed line feed arrives as CR LF.
    pub(crate) fn open(size: TerminalSize) -> io::Result<Pty> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        // Elsewhere this takes a second call, and another thread could start a program in between.
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let ours = openpt(flags)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let its = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        resize(&its, size)?;
        Ok(Pty { ours, its })
    }

    pub(crate) fn without_echo(&self) -> io::Result<()> {
        let mut modes = tcgetattr(&self.its)?;
        modes.local_modes -= LocalModes::ECHO;
        Ok(tcsetattr(&self.its, OptionalActions::Now, &modes)?)
    }

    /// Makes the command the leader of a session whose controlling terminal this is, and so of its own group.
    #[allow(unsafe_code)]
    pub(crate) fn lead_session(&self, command: &mut Command) -> io::Result<()> {
        let terminal = self.its.try_clone()?;
        let lead = move || {
            setsid()?;
            Ok(ioctl_tiocsctty(&terminal)?)
        };
        // SAFETY: between fork and exec only async-signal-safe functions may be called. This makes two system calls,
        // allocates nothing, takes no lock, and its descriptor is open in the child.
        unsafe { command.pre_exec(lead) };
        Ok(())
    }
}

pub(crate) fn resize(terminal: &OwnedFd, size: TerminalSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn piped() -> (ExitNotice, Pipe, PipeWriter) {
        let gone = ExitNotice::new().unwrap();
        let (pipe, writer) = Pipe::new(&gone).unwrap();
        (gone, pipe, writer)
    }

    #[test]
    fn a_closed_pipe_ends() {
        let (gone, mut pipe, mut writer) = piped();
        writer.write_all(b"all").unwrap();
        drop(writer);
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        assert_eq!((&bytes[..], gone.was_closed_early()), (&b"all"[..], false));
    }

    #[test]
    fn a_silent_background_process_does_not_keep_the_pipe_open() {
        let (mut gone, mut pipe, mut writer) = piped();
        writer.write_all(b"all").unwrap();
        gone.tell();
        let (before, mut bytes) = (Instant::now(), Vec::new());
        pipe.read_to_end(&mut bytes).unwrap();
        let took = before.elapsed();
        assert!(took >= SILENCE && took < MAX_WAIT, "{took:?}");
        assert_eq!((&bytes[..], gone.was_closed_early()), (&b"all"[..], true));
    }

    #[test]
    fn the_commands_own_bytes_are_read_however_late() {
        let (mut gone, mut pipe, mut writer) = piped();
        let bytes = vec![7; 60_000];
        writer.write_all(&bytes).unwrap();
        gone.tell();
        pipe.begin_grace();
        if let Some(grace) = &mut pipe.grace {
            grace.since -= 2 * MAX_WAIT;
            grace.last -= 2 * MAX_WAIT;
        }
        let mut read = Vec::new();
        pipe.read_to_end(&mut read).unwrap();
        assert!(read == bytes && gone.was_closed_early());
    }
}
