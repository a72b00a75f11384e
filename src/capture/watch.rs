//! Watching over a command until it and its output have ended: signals, time, and its end.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use super::ended::Stop;
use super::ladder::Ladder;
use super::options::Group;
use super::pipe::Gone;

/// Asks a running command to stop. Cheap to clone, and good from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    pub(super) events: Sender<Event>,
}

impl Control {
    /// Passes a signal on that we were sent: first itself, the second time TERM, the third KILL
    /// (once two seconds have passed since TERM). False when there is nothing to stop any more, or
    /// no such signal.
    pub fn ask(&self, signal: i32) -> bool {
        Signal::from_named_raw(signal).is_some_and(|signal| self.events.send(Event::Asked(signal)).is_ok())
    }

    /// As Ctrl-C does: [`Control::ask`] with INT.
    pub fn interrupt(&self) -> bool {
        self.ask(Signal::INT.as_raw())
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Asked(Signal),
    /// The command is gone, but not yet reaped.
    Exited,
    /// A stream has ended and is in its sink.
    Drained,
}

/// Waits for the command's end without reaping it, so that its process number, and its group's,
/// stay its own for as long as we may signal them.
pub(super) fn tell_exit(pid: Pid, events: &Sender<Event>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(pid), options).is_err_and(|error| error == Errno::INTR) {}
    // All may be over if a thread failed.
    let _ = events.send(Event::Exited);
}

/// What is needed to watch over a command.
pub(super) struct Watch {
    pub pid: Pid,
    pub group: Group,
    pub events: Receiver<Event>,
    pub gone: Gone,
    pub ladder: Ladder,
    pub deadline: Option<Instant>,
    /// Whether it was asked to stop; told when all is over.
    pub stop: Stop,
}

impl Watch {
    /// Until the command is gone and so many streams have ended.
    pub fn until_over(&mut self, mut streams: usize) {
        let mut is_running = true;
        while is_running || streams > 0 {
            match self.next() {
                Ok(Event::Drained) => streams -= 1,
                Ok(Event::Exited) => {
                    is_running = false;
                    self.deadline = None;
                    self.gone.tell();
                }
                Ok(Event::Asked(signal)) => {
                    if is_running && self.stop == Stop::No {
                        self.stop = Stop::Asked(signal.as_raw());
                    }
                    let step = self.ladder.ask(signal, Instant::now());
                    self.send(step);
                }
                Err(RecvTimeoutError::Timeout) => self.press(Instant::now()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    fn next(&self) -> Result<Event, RecvTimeoutError> {
        let next = [self.deadline, self.ladder.next()].into_iter().flatten().min();
        match next {
            Some(at) => self.events.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Does what is due by the clock.
    fn press(&mut self, now: Instant) {
        if self.deadline.take_if(|at| *at <= now).is_some() {
            self.stop = Stop::TimedOut;
            let step = self.ladder.time_out(now);
            self.send(Some(step));
        }
        let step = self.ladder.due(now);
        self.send(step);
    }

    fn send(&self, signal: Option<Signal>) {
        let Some(signal) = signal else { return };
        let kill = |signal| match self.group {
            Group::Own => kill_process_group(self.pid, signal),
            Group::Shared if matches!(signal, Signal::INT | Signal::QUIT) => Ok(()),
            Group::Shared => kill_process(self.pid, signal),
        };
        // A command that is gone wants no signal, and one that is stopped hears none but these.
        let _ = kill(signal);
        if signal == Signal::TERM {
            let _ = kill(Signal::CONT);
        }
    }
}
