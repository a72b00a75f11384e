//! Signals that are meant for the command, not for overspill.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::tcgetwinsize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::capture::{Control, Group, TerminalSize};

/// How many signals that are heard only once the command is over may still be meant for it: by the next one, whoever
/// sends them wants overspill to end, spill or no spill.
const LATE: u32 = 2;

/// The signals that ask a program to stop, taken from now on; they wait until there is a command.
pub(crate) struct StopSignals {
    give: Sender<Control>,
    finished: Arc<AtomicBool>,
}

/// While this lives, the command's spill and preview are not finished yet.
#[must_use]
pub(crate) struct Finishing(Arc<AtomicBool>);

impl Drop for Finishing {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl StopSignals {
    /// Takes them, but for those that the process that started overspill has set aside, as `nohup` does. What Ctrl-Z sends is
    /// passed on as well to a command that does not hear it itself, being in a group of its own.
    pub(crate) fn begin(group: Group) -> io::Result<StopSignals> {
        let mut all = vec![SIGINT, SIGTERM, SIGHUP, SIGQUIT];
        all.extend((group == Group::Own).then_some(SIGTSTP));
        let mut signals = Signals::new(all.into_iter().filter(|signal| !is_ignored(*signal)))?;
        let (give, taken) = channel::<Control>();
        let finished = Arc::new(AtomicBool::new(false));
        let is_finished = Arc::clone(&finished);
        // Before there is a command, so that none runs that nobody could stop.
        thread::Builder::new().name("passing".into()).spawn(move || {
            if let Ok(control) = taken.recv() {
                pass(&mut signals, &control, &is_finished);
            }
        })?;
        Ok(StopSignals { give, finished })
    }

    /// Passes them to a command, those that have come meanwhile first. Once its spill and preview are finished, they
    /// act on overspill again.
    pub(crate) fn to(self, control: Control) -> Finishing {
        // The thread waits for nothing else.
        let _ = self.give.send(control);
        Finishing(self.finished)
    }
}

fn pass(signals: &mut Signals, control: &Control, is_finished: &AtomicBool) {
    let (mut is_first, mut late) = (true, 0);
    for signal in signals.forever() {
        let is_first = std::mem::take(&mut is_first);
        match signal {
            SIGTSTP => control.pause(|| drop(emulate_default_handler(signal))),
            _ if control.ask(signal) => {}
            // One of several that made the command end is heard late. To end now would lose what it wrote.
            _ if late < LATE && !is_finished.load(Ordering::Acquire) => late += 1,
            // The signal that ended the command came here as well, late: ignore it.
            _ if is_first && control.was_killed_by(signal) => {}
            // What it cannot do would have been done to overspill long ago.
            _ => drop(emulate_default_handler(signal)),
        }
    }
}

/// Passes them to a command that is already running; if that fails, they end overspill as usual.
#[must_use]
pub(crate) fn pass_on(group: Group, control: Control) -> Option<Finishing> {
    StopSignals::begin(group).ok().map(|passing| passing.to(control))
}

/// Gives a command up once the reader of standard output has closed it.
pub(crate) fn give_up_unread(control: Control) -> io::Result<()> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    thread::Builder::new().name("unread".into()).spawn(move || {
        loop {
            // Nothing is asked for: what is told unasked is that no one holds the other end.
            let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut ends, None) {
                Ok(_) => return control.give_up(),
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    })?;
    Ok(())
}

/// Keeps the command's own terminal at the size of the outer terminal.
pub(crate) fn follow_size(control: Control) -> io::Result<()> {
    let mut resized = Signals::new([SIGWINCH])?;
    // It may have changed since the command was given its own.
    control.resize(terminal_size());
    let follow = move || resized.forever().for_each(|_| control.resize(terminal_size()));
    thread::Builder::new().name("size".into()).spawn(follow)?;
    Ok(())
}

/// The size of the terminal; 80 by 24 without one, or if it does not know.
pub(crate) fn terminal_size() -> TerminalSize {
    let (err, out, stdin) = (io::stderr(), io::stdout(), io::stdin());
    let sizes = [err.as_fd(), out.as_fd(), stdin.as_fd()].into_iter().filter_map(|fd| tcgetwinsize(fd).ok());
    let mut known = sizes.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    known
        .next()
        .map_or(TerminalSize::default(), |size| TerminalSize { columns: size.ws_col, rows: size.ws_row })
}

/// Passes the first Ctrl-C on; a second one ends overspill.
pub(crate) fn ignore_once() -> io::Result<()> {
    if is_ignored(SIGINT) {
        return Ok(());
    }
    let came = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&came))?;
    signal_hook::flag::register(SIGINT, came)?;
    Ok(())
}

/// Whether overspill was started with this signal ignored. Only Linux tells without unsafe code.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_mask(&status) & (1 << (signal - 1)) != 0
}

fn ignored_mask(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tx\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n";
        assert_eq!(ignored_mask(status), 1 << (SIGHUP - 1) | 1 << 12);
        assert_eq!(ignored_mask(""), 0);
    }
}
