//! The pseudo-terminal of a command: opened, sized, and made the controlling terminal of a new session.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use super::TerminalSize;

#[derive(Debug)]
pub(crate) struct Pty {
    /// Overspill's end: the command's output is read from it, and keys are written to it.
    pub ours: OwnedFd,
    /// The command's end.
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
