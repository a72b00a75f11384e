//! Watching over a command until it and its output have ended: signals, time, and its end.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, sync_channel};
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use rustix::termios::tcgetpgrp;

use super::escalation::Escalation;
use super::exit::Stop;
use super::options::{Group, TerminalSize};
use super::pipe::Gone;
use super::pty::resize;
use super::stdin::TerminalInput;

/// Asks a running command to stop. Cheap to clone, and good from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    pub(crate) events: Sender<ProcessEvent>,
    pub(crate) keyboard: Arc<TerminalInput>,
    /// The signal that killed the command; 0 for none.
    pub(crate) killer: Arc<AtomicI32>,
}

impl Control {
    /// Passes on a signal that overspill was sent: first itself, the second time TERM, the third KILL
    /// (once two seconds have passed since TERM). False when there is nothing to stop any more, or
    /// no such signal.
    pub fn ask(&self, signal: i32) -> bool {
        Signal::from_named_raw(signal)
            .is_some_and(|signal| self.events.send(ProcessEvent::Asked(signal)).is_ok())
    }

    /// Whether this signal killed the command. At a terminal Ctrl-C reaches the command and overspill alike, and overspill's may
    /// be looked at only once the command is over.
    pub fn was_killed_by(&self, signal: i32) -> bool {
        self.killer.load(Ordering::Acquire) == signal
    }

    /// As Ctrl-C does: [`Control::ask`] with INT.
    pub fn interrupt(&self) -> bool {
        self.ask(Signal::INT.as_raw())
    }

    /// Waits until all that was asked so far has been done.
    fn settle(&self) {
        let (done, is_done) = sync_channel(1);
        if self.events.send(ProcessEvent::Settled(done)).is_ok() {
            // An error is as good: it is over.
            let _ = is_done.recv();
        }
    }

    /// Nobody wants the output any more: TERM, and two seconds later KILL.
    pub fn give_up(&self) {
        // It may be over already.
        let _ = self.events.send(ProcessEvent::Unwanted);
    }

    /// Tells a command that has a terminal of its own that it has another size now.
    pub fn resize(&self, size: TerminalSize) {
        let _ = self.events.send(ProcessEvent::Resized(size));
    }

    /// Stops a command with a group of its own, as Ctrl-Z does, and then does what is given: stop
    /// ourselves, usually. When that is done the command goes on. Our terminal has its own modes meanwhile.
    pub fn pause(&self, meanwhile: impl FnOnce()) {
        self.keyboard.pause(|| {
            let _ = self.events.send(ProcessEvent::Paused);
            self.settle();
            meanwhile();
        });
        let _ = self.events.send(ProcessEvent::GoesOn);
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ProcessEvent {
    Asked(Signal),
    Unwanted,
    Resized(TerminalSize),
    /// To be stopped for a while.
    Paused,
    GoesOn,
    /// All before this has been done: to be answered.
    Settled(SyncSender<()>),
    /// The command is gone, but not yet reaped.
    Exited,
    /// A stream has ended and is in its sink.
    Drained,
}

/// Waits for the command's end without reaping it, so that its process number, and its group's,
/// stay its own for as long as they may be signalled.
pub(crate) fn tell_exit(pid: Pid, events: &Sender<ProcessEvent>, killer: &AtomicI32) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = loop {
        match waitid(WaitId::Pid(pid), options) {
            Err(Errno::INTR) => {}
            status => break status.ok().flatten(),
        }
    };
    killer.store(status.and_then(|status| status.terminating_signal()).unwrap_or(0), Ordering::Release);
    // All may be over if a thread failed.
    let _ = events.send(ProcessEvent::Exited);
}

/// What is needed to watch over a command.
pub(crate) struct Watch {
    pub pid: Pid,
    pub group: Group,
    /// Our end of the command's own terminal, if it has one.
    pub terminal: Option<OwnedFd>,
    pub events: Receiver<ProcessEvent>,
    pub gone: Gone,
    pub ladder: Escalation,
    pub deadline: Option<Instant>,
    /// Whether it was asked to stop; told when all is over.
    pub stop: Stop,
}

impl Watch {
    /// Until the command is gone and so many streams have ended.
    pub(crate) fn until_over(&mut self, mut streams: usize) {
        let mut is_running = true;
        while is_running || streams > 0 {
            match self.next() {
                Ok(ProcessEvent::Drained) => streams -= 1,
                Ok(ProcessEvent::Exited) => {
                    is_running = false;
                    self.deadline = None;
                    self.gone.tell();
                }
                Ok(ProcessEvent::Asked(signal)) => {
                    if is_running && self.stop == Stop::No {
                        self.stop = Stop::Asked(signal.as_raw());
                    }
                    let step = self.ladder.ask(signal, Instant::now());
                    self.send(step);
                }
                Ok(ProcessEvent::Unwanted) if is_running => self.tell_to_end(Stop::Unwanted),
                Ok(ProcessEvent::Resized(size)) => {
                    // Its terminal may just have been closed.
                    let _ = self.terminal.as_ref().map(|terminal| resize(terminal, size));
                }
                Ok(ProcessEvent::Paused) => {
                    // A session of its own hears no TSTP, since no shell could make it go on.
                    let has_session = self.terminal.is_some();
                    self.send(Some(if has_session { Signal::STOP } else { Signal::TSTP }));
                }
                Ok(ProcessEvent::GoesOn) => self.send(Some(Signal::CONT)),
                Ok(ProcessEvent::Settled(done)) => {
                    // The process that asked may have ended.
                    let _ = done.send(());
                }
                Ok(ProcessEvent::Unwanted) => {}
                Err(RecvTimeoutError::Timeout) => self.press(Instant::now()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    fn next(&self) -> Result<ProcessEvent, RecvTimeoutError> {
        let next = [self.deadline, self.ladder.next()].into_iter().flatten().min();
        match next {
            Some(at) => self.events.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Does what is due by the clock.
    fn press(&mut self, now: Instant) {
        if self.deadline.take_if(|at| *at <= now).is_some() {
            self.tell_to_end(Stop::TimedOut);
        }
        let step = self.ladder.due(now);
        self.send(step);
    }

    /// TERM now, KILL in two seconds.
    fn tell_to_end(&mut self, why: Stop) {
        self.stop = why;
        let step = self.ladder.time_out(Instant::now());
        self.send(Some(step));
    }

    fn send(&self, signal: Option<Signal>) {
        let Some(signal) = signal else { return };
        // A command that is gone wants no signal, and one that is stopped hears none but these.
        self.kill(signal);
        if signal == Signal::TERM {
            self.kill(Signal::CONT);
        }
    }

    fn kill(&self, signal: Signal) {
        let _ = match self.group {
            Group::Own => kill_process_group(self.pid, signal),
            Group::Shared if matches!(signal, Signal::INT | Signal::QUIT | Signal::TSTP | Signal::CONT) => {
                Ok(())
            }
            Group::Shared => kill_process(self.pid, signal),
        };
        // A shell in a terminal of its own gives each job a group.
        let front = self.terminal.as_ref().and_then(|terminal| tcgetpgrp(terminal).ok());
        let _ = front.filter(|group| *group != self.pid).map(|group| kill_process_group(group, signal));
    }
}
