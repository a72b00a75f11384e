//! Supervises a command until it has exited and its output has ended: signals, timeout, exit.

#![warn(missing_docs)]

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, getpgrp, getpid, kill_process, kill_process_group, waitid,
};
use rustix::termios::tcgetpgrp;

use super::pipe::{ExitNotice, resize};
use super::stdin::TerminalInput;
use super::{Stop, TerminalSize};

/// Time between TERM and KILL.
const PATIENCE: Duration = Duration::from_secs(2);

/// Stops a running command, from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    pub(crate) events: Sender<ProcessEvent>,
    pub(crate) keyboard: Arc<TerminalInput>,
    /// The signal that killed the command; 0 for none.
    pub(crate) killer: Arc<AtomicI32>,
}

impl Control {
    /// Forwards a signal that overspill received: the signal itself the first time, then TERM, then KILL (once two
    /// seconds have passed since TERM). Returns false if nothing is left to stop, or the signal does not exist.
    #[doc(hidden)]
    pub fn ask(&self, signal: i32) -> bool {
        Signal::from_named_raw(signal)
            .is_some_and(|signal| self.events.send(ProcessEvent::Asked(signal)).is_ok())
    }

    /// Same for a signal that the terminal has sent to all of overspill's group, and so to a command in it.
    #[doc(hidden)]
    pub fn ask_typed(&self, signal: i32) -> bool {
        Signal::from_named_raw(signal)
            .is_some_and(|signal| self.events.send(ProcessEvent::Typed(signal)).is_ok())
    }

    /// Whether this signal killed the command. At a terminal Ctrl-C reaches both the command and overspill, and
    /// overspill may get to handle its own only after the command has exited.
    #[doc(hidden)]
    pub fn was_killed_by(&self, signal: i32) -> bool {
        self.killer.load(Ordering::Acquire) == signal
    }

    /// Stops the command: TERM, then KILL two seconds later. What it printed by then is captured.
    pub fn cancel(&self) {
        self.end(Stop::Asked(Signal::TERM.as_raw()));
    }

    /// Same, for a command whose output nobody wants any more.
    #[doc(hidden)]
    pub fn give_up(&self) {
        self.end(Stop::Unwanted);
    }

    fn end(&self, why: Stop) {
        // The command may be finished already.
        let _ = self.events.send(ProcessEvent::End(why));
    }

    /// Tells a command with its own terminal that the terminal has been resized.
    #[doc(hidden)]
    pub fn resize(&self, size: TerminalSize) {
        let _ = self.events.send(ProcessEvent::Resized(size));
    }

    /// Stops a command that has its own process group, as Ctrl-Z does, then runs `meanwhile` (usually: stop overspill
    /// itself) and continues the command. Meanwhile overspill's terminal is back in its original modes.
    #[doc(hidden)]
    pub fn pause(&self, meanwhile: impl FnOnce()) {
        self.keyboard.pause(|| {
            let _ = self.events.send(ProcessEvent::Paused);
            let (done, is_done) = sync_channel(1);
            if self.events.send(ProcessEvent::Answer(done)).is_ok() {
                // An error means that the supervisor has finished, which is just as good.
                let _ = is_done.recv();
            }
            meanwhile();
        });
        let _ = self.events.send(ProcessEvent::Resumed);
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ProcessEvent {
    Asked(Signal),
    Typed(Signal),
    /// Send TERM, and KILL in two seconds.
    End(Stop),
    Resized(TerminalSize),
    Paused,
    Resumed,
    /// Reply once every earlier event has been handled.
    Answer(SyncSender<()>),
    /// The command has exited but has not been reaped.
    Exited,
    /// A stream has ended and all of it is in its sink.
    Drained,
}

/// Makes overspill the parent of the command's orphans, to find them. Not if overspill has children already: orphans of
/// those would be taken for the command's. Nor if the system does not list children: then no orphan would be reaped.
pub(crate) fn adopt_orphans() -> Option<Pid> {
    #[cfg(target_os = "linux")]
    if let Err(rustix::io::Errno::CHILD) = waitid(WaitId::All, EXIT | WaitIdOptions::NOHANG) {
        std::fs::read("/proc/thread-self/children").ok()?;
        return rustix::process::set_child_subreaper(Some(getpid())).is_ok().then(getpid);
    }
    None
}

/// Waits for an exit without reaping the process.
const EXIT: WaitIdOptions = WaitIdOptions::EXITED.union(WaitIdOptions::NOWAIT);

/// Returns the children of a process, as far as the system tells.
fn children(parent: Pid) -> Vec<Pid> {
    #[cfg(target_os = "linux")]
    let listed: String = {
        let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect()
    };
    #[cfg(not(target_os = "linux"))]
    let listed = std::process::Command::new("pgrep").args(["-P", &parent.to_string()]).output().ok();
    #[cfg(not(target_os = "linux"))]
    let listed = listed.and_then(|listed| String::from_utf8(listed.stdout).ok()).unwrap_or_default();
    listed.split_ascii_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}

/// Waits for the command to exit without reaping it: its ids cannot be reused while they may still be signalled.
pub(crate) fn tell_exit(pid: Pid, adopter: Option<Pid>, events: &Sender<ProcessEvent>, killer: &AtomicI32) {
    let exited = |pid, how| waitid(WaitId::Pid(pid), how | WaitIdOptions::NOHANG).ok().flatten();
    let wait = |whom: WaitId| retry_on_intr(|| waitid(whom.clone(), EXIT));
    while adopter.is_some() && wait(WaitId::All).is_ok() && exited(pid, EXIT).is_none() {
        // An adopted orphan is reaped, since others may wait for its id to vanish. If it is not listed, reaping ends, or this
        // loop would never wait.
        let orphans = children(getpid()).into_iter().filter(|child| *child != pid);
        if orphans.filter(|orphan| exited(*orphan, WaitIdOptions::EXITED).is_some()).count() == 0 {
            break;
        }
    }
    let status = wait(WaitId::Pid(pid)).ok().flatten();
    killer.store(status.and_then(|status| status.terminating_signal()).unwrap_or(0), Ordering::Release);
    // If a thread failed, nobody is listening any more.
    let _ = events.send(ProcessEvent::Exited);
}

pub(crate) struct ProcessWatch {
    pub pid: Pid,
    /// The process whose descendants in overspill's group are signalled; none if the command has a group of its own.
    pub ancestor: Option<Pid>,
    /// Overspill's end of the command's own terminal, if it has one.
    pub terminal: Option<OwnedFd>,
    pub events: Receiver<ProcessEvent>,
    pub gone: ExitNotice,
    pub escalation: Escalation,
    pub deadline: Option<Instant>,
    /// Whether the command was asked to stop; reported at the end.
    pub stop: Stop,
}

impl ProcessWatch {
    /// Runs until the command has exited and this many streams have ended.
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
                Ok(event @ (ProcessEvent::Asked(signal) | ProcessEvent::Typed(signal))) => {
                    if is_running {
                        self.stopped_by(Stop::Asked(signal.as_raw()));
                    }
                    let step = self.escalation.ask(signal, Instant::now());
                    let is_shared = matches!(event, ProcessEvent::Typed(_)) && self.ancestor.is_some();
                    self.send(step.filter(|step| !is_shared || *step != signal));
                }
                Ok(ProcessEvent::End(why)) if is_running => self.tell_to_end(why),
                Ok(ProcessEvent::Resized(size)) => {
                    // The terminal may just have been closed.
                    let _ = self.terminal.as_ref().map(|terminal| resize(terminal, size));
                }
                Ok(ProcessEvent::Paused) => {
                    // A command that leads a session of its own ignores TSTP, since no shell could continue it.
                    let has_session = self.terminal.is_some();
                    self.send(Some(if has_session { Signal::STOP } else { Signal::TSTP }));
                }
                Ok(ProcessEvent::Resumed) => self.send(Some(Signal::CONT)),
                Ok(ProcessEvent::Answer(done)) => {
                    // The caller may have given up.
                    let _ = done.send(());
                }
                Ok(ProcessEvent::End(_)) => {}
                Err(RecvTimeoutError::Timeout) => self.press(Instant::now()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    fn next(&self) -> Result<ProcessEvent, RecvTimeoutError> {
        let next = [self.deadline, self.escalation.kill_at].into_iter().flatten().min();
        match next {
            Some(at) => self.events.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Handles the timeout and sends whichever signal is due.
    fn press(&mut self, now: Instant) {
        if self.deadline.take_if(|at| *at <= now).is_some() {
            self.tell_to_end(Stop::TimedOut);
        }
        let step = self.escalation.due(now);
        self.send(step);
    }

    fn tell_to_end(&mut self, why: Stop) {
        self.stopped_by(why);
        let step = self.escalation.time_out(Instant::now());
        self.send(Some(step));
    }

    /// Remembers why the command has to end; of several reasons the first.
    fn stopped_by(&mut self, why: Stop) {
        if self.stop == Stop::No {
            self.stop = why;
        }
    }

    fn send(&self, signal: Option<Signal>) {
        let Some(signal) = signal else { return };
        // The command may have exited. A stopped command reacts to nothing but KILL and CONT.
        self.kill(signal);
        if signal == Signal::TERM {
            self.kill(Signal::CONT);
        }
    }

    fn kill(&self, signal: Signal) {
        match self.ancestor {
            None => _ = kill_process_group(self.pid, signal),
            Some(ancestor) => self.kill_descendants(ancestor, signal),
        }
        // In a terminal of its own, a shell puts each job in a separate group.
        let front = self.terminal.as_ref().and_then(|terminal| tcgetpgrp(terminal).ok());
        let _ = front.filter(|group| *group != self.pid).map(|group| kill_process_group(group, signal));
    }

    fn kill_descendants(&self, ancestor: Pid, signal: Signal) {
        let mut told = HashSet::from([getpid()]);
        // A few looks find what starts meanwhile.
        for _ in 0..8 {
            let (mut family, mut next) = (vec![self.pid, ancestor], 0..);
            while let Some(&parent) = next.next().and_then(|at| family.get(at)) {
                family.extend(children(parent));
            }
            family.retain(|pid| getpgid(Some(*pid)) == Ok(getpgrp()) && told.insert(*pid));
            if family.is_empty() {
                break;
            }
            family.into_iter().for_each(|pid| _ = kill_process(pid, signal));
        }
    }
}

/// The steps that stop a command, as far as they were taken: the received signal, TERM, KILL.
#[derive(Debug, Default)]
pub(crate) struct Escalation {
    asked: u32,
    told_at: Option<Instant>,
    kill_at: Option<Instant>,
}

impl Escalation {
    /// Returns the next step when `signal` asks to stop: first that signal itself, then TERM, then KILL. A third
    /// request sends KILL only once two seconds have passed since TERM; a fourth does not wait.
    fn ask(&mut self, signal: Signal, now: Instant) -> Option<Signal> {
        self.asked += 1;
        match self.asked {
            1 => Some(signal),
            2 => {
                self.told_at = Some(now);
                Some(Signal::TERM)
            }
            3 => {
                self.kill_at = self.told_at.map(|told| told + PATIENCE);
                self.due(now)
            }
            _ => Some(Signal::KILL),
        }
    }

    /// Handles a timeout: TERM now, KILL in two seconds. If KILL is to come already, it comes no later.
    fn time_out(&mut self, now: Instant) -> Signal {
        self.asked = self.asked.max(2);
        self.told_at = Some(now);
        self.kill_at.get_or_insert(now + PATIENCE);
        Signal::TERM
    }

    fn due(&mut self, now: Instant) -> Option<Signal> {
        self.kill_at.take_if(|at| *at <= now).map(|_| Signal::KILL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_requests_escalate() {
        let (mut escalation, now) = (Escalation::default(), Instant::now());
        assert_eq!(escalation.ask(Signal::INT, now), Some(Signal::INT));
        assert_eq!(escalation.ask(Signal::INT, now), Some(Signal::TERM));
        assert_eq!((escalation.ask(Signal::INT, now), escalation.kill_at), (None, Some(now + PATIENCE)));
        assert_eq!(escalation.due(now), None);
        assert_eq!((escalation.due(now + PATIENCE), escalation.kill_at), (Some(Signal::KILL), None));
    }

    #[test]
    fn a_late_third_and_any_fourth_kill_at_once() {
        let (mut escalation, now) = (Escalation::default(), Instant::now());
        escalation.ask(Signal::INT, now);
        escalation.ask(Signal::INT, now);
        assert_eq!(escalation.ask(Signal::INT, now + PATIENCE), Some(Signal::KILL));
        assert_eq!(escalation.ask(Signal::INT, now + PATIENCE), Some(Signal::KILL));
    }

    #[test]
    fn other_signals_are_passed_on_first() {
        assert_eq!(Escalation::default().ask(Signal::HUP, Instant::now()), Some(Signal::HUP));
    }

    #[test]
    fn a_timeout_sends_term_then_kill() {
        let (mut escalation, now) = (Escalation::default(), Instant::now());
        assert_eq!((escalation.time_out(now), escalation.due(now)), (Signal::TERM, None));
        assert_eq!(escalation.time_out(now + PATIENCE / 2), Signal::TERM);
        assert_eq!(escalation.due(now + PATIENCE), Some(Signal::KILL));
        assert_eq!(escalation.kill_at, None);
    }
}
