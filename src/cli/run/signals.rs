//! Signals that are meant for the command rather than for overspill.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::{io, thread};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::tcgetwinsize;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::{Signals, SignalsInfo, exfiltrator::WithRawSiginfo};
use signal_hook::low_level::emulate_default_handler;

use crate::capture::{Control, Group, TerminalSize};

/// The origin of a signal that no process has sent.
const SI_KERNEL: i32 = 0x80;

/// How many signals may arrive after the end and still be meant for the command; the next one ends overspill.
const LATE: u32 = 2;

/// Captures the signals that ask a program to stop, and holds them until there is a command.
pub(crate) struct StopSignals {
    give: Sender<Control>,
    finished: Arc<AtomicBool>,
}

/// Exists until the command's spill and preview are finished.
#[must_use]
pub(crate) struct Finishing(Arc<AtomicBool>);

impl Drop for Finishing {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl StopSignals {
    /// Leaves out what `nohup` ignores. Ctrl-Z is for a command in a group of its own, which does not get it otherwise.
    pub(crate) fn begin(group: Group) -> io::Result<StopSignals> {
        let mut all = vec![SIGINT, SIGTERM, SIGHUP, SIGQUIT];
        all.extend((group == Group::Own).then_some(SIGTSTP));
        let mut signals = SignalsInfo::<WithRawSiginfo>::new(not_ignored(all))?;
        if is_ignored(SIGCHLD) {
            // Else the system forgets how the command ended.
            signal_hook::flag::register(SIGCHLD, Arc::default())?;
        }
        let (give, taken) = channel::<Control>();
        let finished = Arc::new(AtomicBool::new(false));
        let is_finished = Arc::clone(&finished);
        // Started before the command, so that no command runs that nobody could stop.
        thread::Builder::new().name("passing".into()).spawn(move || {
            if let Ok(control) = taken.recv() {
                forward(&mut signals, &control, &is_finished);
            }
        })?;
        Ok(StopSignals { give, finished })
    }

    /// Forwards them, those already received first; once spill and preview are finished, they act on overspill again.
    pub(crate) fn to(self, control: Control) -> Finishing {
        // The thread only waits for this.
        let _ = self.give.send(control);
        Finishing(self.finished)
    }
}

fn forward(signals: &mut SignalsInfo<WithRawSiginfo>, control: &Control, is_finished: &AtomicBool) {
    let (mut is_first, mut late) = (true, 0);
    // One that goes to a process and then to its group comes twice at once, and is one request.
    let batches = std::iter::repeat_with(|| {
        let mut batch: Vec<_> = signals.wait().collect();
        batch.dedup_by_key(|came| came.si_signo);
        batch
    });
    for came in batches.flatten() {
        let (is_first, signal) = (std::mem::take(&mut is_first), came.si_signo);
        match signal {
            SIGTSTP => control.pause(|| drop(emulate_default_handler(signal))),
            // Only Linux tells whether the terminal sent a signal, and so to all of its foreground group.
            SIGINT | SIGQUIT
                if (!cfg!(target_os = "linux") || came.si_code == SI_KERNEL) && control.ask_typed(signal) => {
            }
            _ if control.ask(signal) => {}
            // One of several signals that ended the command arrives late. To end now would lose the command's output.
            _ if late < LATE && !is_finished.load(Ordering::Acquire) => late += 1,
            // The signal that ended the command also arrives here, late: ignore it.
            _ if is_first && control.was_killed_by(signal) => {}
            // A signal that cannot be handled would have acted on overspill long ago.
            _ => drop(emulate_default_handler(signal)),
        }
    }
}

/// Forwards the signals to a command that is already running; if that fails, they end overspill as usual.
#[must_use]
pub(crate) fn pass_on(group: Group, control: Control) -> Option<Finishing> {
    StopSignals::begin(group).ok().map(|passing| passing.to(control))
}

pub(crate) fn give_up_unread(control: Control) -> io::Result<()> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    thread::Builder::new().name("unread".into()).spawn(move || {
        loop {
            // No events are requested: poll always reports that the other end is closed.
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

pub(crate) fn follow_size(control: Control) -> io::Result<()> {
    let mut resized = Signals::new([SIGWINCH])?;
    // It may have changed since the command's terminal was created.
    control.resize(terminal_size());
    let follow = move || resized.forever().for_each(|_| control.resize(terminal_size()));
    thread::Builder::new().name("size".into()).spawn(follow)?;
    Ok(())
}

/// Returns the size of the terminal; 80 by 24 if there is none, or its size is unknown.
pub(crate) fn terminal_size() -> TerminalSize {
    let (err, out, stdin) = (io::stderr(), io::stdout(), io::stdin());
    let sizes = [err.as_fd(), out.as_fd(), stdin.as_fd()].into_iter().filter_map(|fd| tcgetwinsize(fd).ok());
    let mut sizes = sizes.map(|size| TerminalSize { columns: size.ws_col, rows: size.ws_row });
    sizes.find(|size| size.columns > 0 && size.rows > 0).unwrap_or_default()
}

/// Ignores the first Ctrl-C, which is meant for the command; a second one ends overspill.
pub(crate) fn ignore_once() -> io::Result<()> {
    if is_ignored(SIGINT) {
        return Ok(());
    }
    let came = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&came))?;
    signal_hook::flag::register(SIGINT, came)?;
    Ok(())
}

/// Leaves out the signals that overspill was started with ignored, which only Linux tells without unsafe code.
pub(crate) fn not_ignored(signals: impl IntoIterator<Item = i32>) -> impl Iterator<Item = i32> {
    let ignored = ignored_mask(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
    signals.into_iter().filter(move |signal| ignored & (1 << (signal - 1)) == 0)
}

pub(crate) fn is_ignored(signal: i32) -> bool {
    not_ignored([signal]).next().is_none()
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
