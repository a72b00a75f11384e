//! A pseudo-terminal of its own for a command: opened, sized, and made the controlling terminal of a new session.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use super::options::TerminalSize;

/// Both ends of a terminal that nobody sees.
#[derive(Debug)]
pub(crate) struct Pty {
    /// Ours: what the command prints is read here, and keys are written here.
    pub ours: OwnedFd,
    /// The command's.
    pub its: OwnedFd,
}

impl Pty {
    /// A new terminal of this size; with the system's settings otherwise, so that a line feed that is
    /// printed arrives as CR LF.
    pub(crate) fn open(size: TerminalSize) -> io::Result<Pty> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        // Elsewhere it takes a second call, between which another thread may start a program.
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

    /// What comes on its keys is not printed as well: for keys that nobody types.
    pub(crate) fn without_echo(&self) -> io::Result<()> {
        let mut modes = tcgetattr(&self.its)?;
        modes.local_modes -= LocalModes::ECHO;
        Ok(tcsetattr(&self.its, OptionalActions::Now, &modes)?)
    }

    /// Lets the command lead a session whose controlling terminal this is; its group is then its own.
    #[allow(unsafe_code)]
    pub(crate) fn lead_session(&self, command: &mut Command) -> io::Result<()> {
        let terminal = self.its.try_clone()?;
        let lead = move || {
            setsid()?;
            Ok(ioctl_tiocsctty(&terminal)?)
        };
        // SAFETY: between fork and exec only what is safe in a signal handler may be called. This makes
        // two system calls, allocates nothing, takes no lock, and its descriptor is open in the child.
        unsafe { command.pre_exec(lead) };
        Ok(())
    }
}

/// Gives a terminal another size, and tells what runs in it.
pub(crate) fn resize(terminal: &OwnedFd, size: TerminalSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}
