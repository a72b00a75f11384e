//! Background jobs. A job is a closure in a slot: a newer job in the slot, or a stop, abandons it.

use std::any::Any;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::store::Env;

use super::event::Event;
use super::target::Services;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    CountLines,
    Search,
    CountMatches,
    CountErrors,
    CountWarnings,
    Filter,
    Plan,
    Compare,
    Advise,
    Scan,
    Sort,
    PlanBeside,
    Grep,
    ReadTexts,
    MeasureKept,
    /// Copying an output to keep it. Such a job is waited for when the screens are left.
    Keep,
    Tune,
    FindSessions,
    SumSessions,
    /// Holds the open session, and answers requests.
    OpenSession,
    /// Short jobs that all run to their end.
    Other,
}

impl Slot {
    pub(crate) const COUNT: usize = Slot::Other as usize + 1;

    /// Jobs of background work wait at [`JobContext::go_on`] while a job of a higher rank runs.
    pub(crate) fn rank(self) -> usize {
        match self {
            Slot::Search => 2,
            Slot::Filter => 1,
            _ => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Not at all.
    Background,
    /// Until its first event, but no longer than this: what is ready by then is in the next frame.
    Soon(Duration),
    /// The job is so short that the thread of the screens does it.
    AtOnce,
}

/// Work to be done outside the thread of the screens.
pub struct Job {
    pub slot: Slot,
    pub pace: Pace,
    /// Grows with each job: one that was asked for earlier does not replace a later one.
    pub(crate) order: u64,
    work: Box<dyn FnOnce(&JobContext) + Send>,
}

pub type JobRequest = Box<dyn Any + Send>;

impl Job {
    pub(crate) fn new(slot: Slot, pace: Pace, work: impl FnOnce(&JobContext) + Send + 'static) -> Self {
        static ASKED: AtomicU64 = AtomicU64::new(0);
        Self { slot, pace, order: ASKED.fetch_add(1, Ordering::Relaxed), work: Box::new(work) }
    }

    pub(crate) fn run(self, context: &JobContext) {
        (self.work)(context);
    }

    /// Does the work on this thread. Returns what it reports.
    pub fn run_here(self, services: &Arc<Services>) -> Vec<Event> {
        let slot = self.slot;
        JobContext::collect(slot, services, |context| self.run(context))
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({:?}, {:?})", self.slot, self.pace)
    }
}

pub struct JobContext {
    pub(crate) slot: Slot,
    pub(crate) services: Arc<Services>,
    pub(crate) ticket: Ticket,
    pub(crate) gate: Gate,
    pub(crate) events: Reporter,
    pub(crate) requests: Mutex<Option<Receiver<JobRequest>>>,
}

impl JobContext {
    /// Runs work in a context of its own. Returns what it reports.
    pub(crate) fn collect(slot: Slot, services: &Arc<Services>, work: impl FnOnce(&Self)) -> Vec<Event> {
        let (sender, events) = channel();
        work(&Self {
            slot,
            services: services.clone(),
            ticket: Ticket::next(&Arc::default()),
            gate: Gate::default(),
            events: Arc::new(move |event| sender.send(event).is_ok()),
            requests: Mutex::default(),
        });
        events.into_iter().collect()
    }

    pub(crate) fn env(&self) -> &Env {
        &self.services.env
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.ticket.is_wanted()
    }

    /// Waits for jobs of a higher rank. Returns whether the job has not been abandoned.
    pub(crate) fn go_on(&self) -> bool {
        self.gate.wait(self.slot.rank());
        self.is_wanted()
    }

    /// Sends an event. Returns whether the event loop still receives.
    pub(crate) fn send(&self, event: impl Into<Event>) -> bool {
        (self.events)(event.into())
    }

    /// Sends an event; breaks once the event loop no longer receives.
    pub(crate) fn report(&self, event: impl Into<Event>) -> ControlFlow<()> {
        if self.send(event) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Returns the requests to this job; none arrive if they were taken before.
    pub(crate) fn take_requests(&self) -> Receiver<JobRequest> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.take().unwrap_or_else(|| channel().1)
    }
}

/// Sends an event to the event loop; returns whether that still receives.
pub(crate) type Reporter = Arc<dyn Fn(Event) -> bool + Send + Sync>;

/// Shows whether a job is still wanted.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    newest: Arc<AtomicU64>,
    mine: u64,
}

impl Ticket {
    /// Takes a ticket, which voids those taken before.
    pub(crate) fn next(newest: &Arc<AtomicU64>) -> Self {
        let mine = newest.fetch_add(1, Ordering::Relaxed) + 1;
        Self { newest: newest.clone(), mine }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.newest.load(Ordering::Relaxed) == self.mine
    }
}

/// Gives jobs that the user waits for precedence: counts the running jobs of each rank.
#[derive(Debug, Default, Clone)]
pub(crate) struct Gate(Arc<(Mutex<[usize; 3]>, Condvar)>);

/// Jobs of a lower rank wait while this exists.
pub(crate) struct PauseGuard<'a>(&'a Gate, usize);

impl Gate {
    fn lock(&self) -> MutexGuard<'_, [usize; 3]> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds jobs of a lower rank back until the guard is dropped.
    pub(crate) fn pass(&self, rank: usize) -> PauseGuard<'_> {
        self.lock()[rank] += 1;
        PauseGuard(self, rank)
    }

    /// Waits until no job of a higher rank runs.
    fn wait(&self, rank: usize) {
        let is_held = |running: &mut [usize; 3]| running[rank + 1..].iter().any(|jobs| *jobs > 0);
        let wait = self.0.1.wait_while(self.lock(), is_held);
        drop(wait.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        self.0.lock()[self.1] -= 1;
        self.0.0.1.notify_all();
    }
}
