//! Background jobs. A job is a closure in a slot: a newer job in the slot, or a stop, abandons it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::base::lock;
use crate::output::recorded::CallRequest;
use crate::store::Env;

use super::event::{Event, ScreenEvent};
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
    FindRecord,
    Scan,
    Sort,
    PlanBeside,
    Grep,
    ReadTexts,
    MeasureKept,
    FindCalls,
    /// Copying an output to keep it. Such a job is waited for when the screens are left.
    Keep,
    Tune,
    /// Measuring policies, which goes on while settings are measured.
    TunePolicies,
    FindSessions,
    SumSessions,
    OpenSession,
    /// Short jobs that all run to their end.
    Other,
}

impl Slot {
    pub(crate) const COUNT: usize = Slot::Other as usize + 1;

    /// The slots of the output that is shown, which all outputs share.
    pub(crate) const OF_OUTPUT: [Self; 10] = [
        Self::CountLines,
        Self::Search,
        Self::CountMatches,
        Self::CountErrors,
        Self::CountWarnings,
        Self::Filter,
        Self::Plan,
        Self::Compare,
        Self::Advise,
        Self::FindRecord,
    ];

    /// Jobs of background work wait at [`JobContext::wait_turn`] while a job of a higher rank runs.
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
    Background,
    /// Until its first event, but no longer than this: what is ready by then is in the next frame.
    Soon(Duration),
    /// The job is so short that the thread of the screens does it.
    AtOnce,
}

pub struct Job {
    pub pace: Pace,
    pub(crate) ticket: Ticket,
    pub(crate) work: Box<dyn FnOnce(&JobContext) + Send>,
}

impl Job {
    pub fn slot(&self) -> Slot {
        self.ticket.slot
    }

    pub fn run_here(self, services: &Arc<Services>) -> Vec<Event> {
        let (sender, events) = channel();
        let context = JobContext {
            services: services.clone(),
            ticket: self.ticket.clone(),
            gate: Gate::default(),
            events: Arc::new(move |event| sender.send(event).is_ok()),
            requests: Mutex::new(channel().1),
        };
        (self.work)(&context);
        drop(context);
        events.into_iter().collect()
    }

    pub fn report(&self, event: impl Into<Event>) -> Event {
        self.ticket.stamp(event)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({:?}, {:?})", self.slot(), self.pace)
    }
}

pub struct JobContext {
    pub(crate) services: Arc<Services>,
    pub(crate) ticket: Ticket,
    pub(crate) gate: Gate,
    pub(crate) events: Reporter,
    pub(crate) requests: Mutex<Receiver<CallRequest>>,
}

impl JobContext {
    pub(crate) fn env(&self) -> &Env {
        &self.services.config.env
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.ticket.is_wanted()
    }

    /// Waits for jobs of a higher rank. Returns whether the job has not been abandoned.
    pub(crate) fn wait_turn(&self) -> bool {
        self.gate.wait(self.ticket.slot.rank());
        self.is_wanted()
    }

    /// Sends an event. Returns false if the job has been abandoned, or the event loop no longer receives.
    pub(crate) fn send(&self, event: impl Into<Event>) -> bool {
        self.is_wanted() && (self.events)(self.ticket.stamp(event))
    }

    /// Sends what holds even of a job that has been abandoned: that something was done, or failed.
    pub(crate) fn send_always(&self, event: impl Into<Event>) {
        (self.events)(event.into());
    }

    pub(crate) fn report(&self, event: impl Into<Event>) -> ControlFlow<()> {
        if self.send(event) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Sends an event to the event loop; returns whether that still receives.
pub(crate) type Reporter = Arc<dyn Fn(Event) -> bool + Send + Sync>;

#[derive(Debug, Clone, Default)]
pub struct Tickets(Arc<[AtomicU64; Slot::COUNT]>);

impl Tickets {
    /// Takes a ticket, which voids those taken before of its slot.
    pub(crate) fn next(&self, slot: Slot) -> Ticket {
        Ticket { mine: self.void(slot), slot, all: self.clone() }
    }

    /// Voids the tickets of a slot; those of short jobs stay. Returns the number of the next.
    pub(crate) fn void(&self, slot: Slot) -> u64 {
        match slot {
            Slot::Other => 0,
            _ => self.0[slot as usize].fetch_add(1, Ordering::Relaxed) + 1,
        }
    }
}

/// Shows whether a job is still wanted: the newest that was asked for in its slot, also once it has ended.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    all: Tickets,
    pub(crate) slot: Slot,
    mine: u64,
}

impl Ticket {
    pub(crate) fn is_wanted(&self) -> bool {
        self.all.0[self.slot as usize].load(Ordering::Relaxed) == self.mine
    }

    fn stamp(&self, event: impl Into<Event>) -> Event {
        JobEvent { ticket: self.clone(), event: event.into() }.into()
    }
}

struct JobEvent {
    ticket: Ticket,
    event: Event,
}

impl ScreenEvent for JobEvent {
    fn patience(&self) -> Duration {
        self.event.patience()
    }
}

/// Returns an event without the ticket of its job; `None` if that has been abandoned since.
pub(crate) fn unstamp(event: Event) -> Option<Event> {
    match event.downcast::<JobEvent>() {
        Ok(JobEvent { ticket, event }) => ticket.is_wanted().then_some(event),
        Err(event) => Some(event),
    }
}

/// Gives jobs that the user waits for precedence: counts the running jobs of each rank.
#[derive(Debug, Default, Clone)]
pub(crate) struct Gate(Arc<(Mutex<[usize; 3]>, Condvar)>);

impl Gate {
    /// Does the work of a job, which must not panic.
    pub(crate) fn pass(&self, rank: usize, work: impl FnOnce()) {
        lock(&self.0.0)[rank] += 1;
        work();
        lock(&self.0.0)[rank] -= 1;
        self.0.1.notify_all();
    }

    fn wait(&self, rank: usize) {
        let is_held = |running: &mut [usize; 3]| running[rank + 1..].iter().any(|jobs| *jobs > 0);
        let wait = self.0.1.wait_while(lock(&self.0.0), is_held);
        drop(wait.unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::event::Message;

    #[test]
    fn events_of_a_job_that_was_replaced_or_stopped_are_dropped() {
        let tickets = Tickets::default();
        let event = |ticket: &Ticket| unstamp(ticket.stamp(Event::Message(Message::note("a word"))));
        let (first, other) = (tickets.next(Slot::Plan), tickets.next(Slot::Search));
        assert!(event(&first).is_some());
        let second = tickets.next(Slot::Plan);
        assert!(event(&first).is_none() && event(&second).is_some() && event(&other).is_some());
        tickets.void(Slot::Plan);
        assert!(event(&second).is_none() && event(&other).is_some());
        let short = [tickets.next(Slot::Other), tickets.next(Slot::Other)];
        tickets.void(Slot::Other);
        assert!(short.iter().all(|ticket| event(ticket).is_some()), "all run to their end");
    }
}
