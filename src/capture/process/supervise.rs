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
    Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process, kill_process_group, waitid,
};
use rustix::termios::tcgetpgrp;

use super::pipe::{ExitNotice, resize};
use super::stdin::TerminalInput;
use super::{Stop, TerminalSize};

/// Time between TERM and KILL.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often processes that start while others are signalled are looked for.
const MAX_LOOKS: u32 = 8;

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
        self.forward(signal, ProcessEvent::Asked)
    }

    /// Same for a signal that the terminal has sent to all of overspill's group, and so to a command in it.
    #[doc(hidden)]
    pub fn ask_typed(&self, signal: i32) -> bool {
        self.forward(signal, ProcessEvent::Typed)
    }

    fn forward(&self, signal: i32, event: fn(Signal) -> ProcessEvent) -> bool {
        Signal::from_named_raw(signal).is_some_and(|signal| self.events.send(event(signal)).is_ok())
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

/// The processes to which a signal for the command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipients {
    /// Its process group.
    Group,
    /// In overspill's group, which may hold others, the command and what descends from this process.
    Descendants(Pid),
}

/// Makes overspill the parent of all orphans that the command will leave, so that they can be found. Not if overspill was
/// started with children: their orphans are not the command's.
pub(crate) fn adopt_orphans() -> Option<Pid> {
    #[cfg(target_os = "linux")]
    if let Err(rustix::io::Errno::CHILD) = waitid(WaitId::All, EXIT | WaitIdOptions::NOHANG) {
        return rustix::process::set_child_subreaper(Some(getpid())).is_ok().then(getpid);
    }
    None
}

/// Waits for an exit without reaping the process.
const EXIT: WaitIdOptions = WaitIdOptions::EXITED.union(WaitIdOptions::NOWAIT);

/// Reaps adopted orphans until the command has exited, or one is not found: whoever waits for their ids to vanish goes on.
fn reap_orphans(command: Pid) {
    let has_exited = |pid, how| matches!(waitid(WaitId::Pid(pid), how | WaitIdOptions::NOHANG), Ok(Some(_)));
    let mut reaped = 1;
    while reaped > 0 && retry_on_intr(|| waitid(WaitId::All, EXIT)).is_ok() && !has_exited(command, EXIT) {
        let orphans = processes().into_iter().filter(|one| one.parent == getpid() && one.pid != command);
        reaped = orphans.filter(|one| has_exited(one.pid, WaitIdOptions::EXITED)).count();
    }
}

struct Process {
    pid: Pid,
    parent: Pid,
    group: Pid,
}

impl Process {
    fn parse<'a>(ids: impl Iterator<Item = &'a str>) -> Option<Process> {
        let mut ids = ids.map_while(|id| Pid::from_raw(id.parse().ok()?));
        Some(Process { pid: ids.next()?, parent: ids.next()?, group: ids.next()? })
    }
}

#[cfg(target_os = "linux")]
fn processes() -> Vec<Process> {
    let read = |entry: std::fs::DirEntry| {
        let stat = std::fs::read(entry.path().join("stat")).ok()?;
        // PID (NAME) STATE PARENT GROUP; the name may be anything.
        let after = String::from_utf8_lossy(&stat).rsplit_once(") ")?.1.to_owned();
        Process::parse(entry.file_name().to_str().into_iter().chain(after.split(' ').skip(1)))
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(read).collect()
}

#[cfg(not(target_os = "linux"))]
fn processes() -> Vec<Process> {
    let ids = ["-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid="];
    let listed = std::process::Command::new("ps").args(ids).output().map(|listed| listed.stdout);
    let text = String::from_utf8(listed.unwrap_or_default()).unwrap_or_default();
    text.lines().filter_map(|line| Process::parse(line.split_ascii_whitespace())).collect()
}

/// Returns these processes of overspill's group and what descends from them in it, parents first.
fn with_descendants(mut found: Vec<Pid>) -> Vec<Pid> {
    let (mut all, mut at) = (processes(), 0);
    all.retain(|one| one.group == getpgrp());
    while let Some(&parent) = found.get(at) {
        found.extend(all.extract_if(.., |one| one.parent == parent).map(|one| one.pid));
        at += 1;
    }
    found
}

/// Waits for the command to exit without reaping it: its ids cannot be reused while they may still be signalled.
pub(crate) fn tell_exit(pid: Pid, adopter: Option<Pid>, events: &Sender<ProcessEvent>, killer: &AtomicI32) {
    if adopter.is_some() {
        reap_orphans(pid);
    }
    let status = retry_on_intr(|| waitid(WaitId::Pid(pid), EXIT)).ok().flatten();
    killer.store(status.and_then(|status| status.terminating_signal()).unwrap_or(0), Ordering::Release);
    // If a thread failed, nobody is listening any more.
    let _ = events.send(ProcessEvent::Exited);
}

pub(crate) struct ProcessWatch {
    pub pid: Pid,
    pub recipients: Recipients,
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
                    let has_come =
                        matches!(event, ProcessEvent::Typed(_)) && self.recipients != Recipients::Group;
                    self.send(step.filter(|step| !has_come || *step != signal));
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
        match self.recipients {
            Recipients::Group => _ = kill_process_group(self.pid, signal),
            Recipients::Descendants(root) => self.kill_descendants(root, signal),
        }
        // In a terminal of its own, a shell puts each job in a separate group.
        let front = self.terminal.as_ref().and_then(|terminal| tcgetpgrp(terminal).ok());
        let _ = front.filter(|group| *group != self.pid).map(|group| kill_process_group(group, signal));
    }

    fn kill_descendants(&self, root: Pid, signal: Signal) {
        let mut told = HashSet::from([getpid()]);
        for _ in 0..MAX_LOOKS {
            let mut new = with_descendants(vec![self.pid, root]);
            new.retain(|pid| told.insert(*pid));
            if new.is_empty() {
                return;
            }
            for pid in new {
                // It may have exited.
                let _ = kill_process(pid, signal);
            }
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
