//! Runs background jobs on threads of their own, and makes them stop when newer ones replace theirs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SendError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::tui::event::{Event, Message};
use crate::tui::job::{Gate, Job, JobContext, JobRequest, Pace, Reporter, Slot, Tickets};
use crate::tui::target::Services;

use super::Signal;
use super::terminal::{self, ThreadRole};

pub(super) struct Jobs {
    services: Arc<Services>,
    events: Reporter,
    tickets: Tickets,
    /// To the job in each slot.
    requests: [Option<Sender<JobRequest>>; Slot::COUNT],
    gate: Gate,
    keeping: Vec<JoinHandle<()>>,
}

impl Jobs {
    pub(super) fn new(signals: Sender<Signal>, services: Arc<Services>, tickets: Tickets) -> Self {
        Self {
            services,
            events: Arc::new(move |event| signals.send(Signal::App(event)).is_ok()),
            tickets,
            requests: Default::default(),
            gate: Gate::default(),
            keeping: Vec::new(),
        }
    }

    /// Starts a job, unless it has been replaced already. Returns the events that it has for the next frame.
    pub(super) fn run(&mut self, job: Job) -> Vec<Event> {
        if !job.ticket.is_wanted() {
            return Vec::new();
        }
        let patience = match job.pace {
            Pace::AtOnce => return job.run_here(&self.services),
            Pace::Soon(patience) => patience,
            Pace::Background => {
                self.start(job, self.events.clone());
                return Vec::new();
            }
        };
        // The channel has no buffer: sending succeeds only while this thread waits.
        let (here, soon) = sync_channel(0);
        let events = self.events.clone();
        let report = move |event| match here.send(event) {
            Ok(()) => true,
            Err(SendError(event)) => events(event),
        };
        self.start(job, Arc::new(report));
        soon.recv_timeout(patience).into_iter().collect()
    }

    pub(super) fn stop(&mut self, slot: Slot) {
        self.requests[slot as usize] = None;
    }

    /// Passes a request to the job in a slot. A job that has ended has said why.
    pub(super) fn ask(&self, slot: Slot, request: JobRequest) {
        if let Some(requests) = &self.requests[slot as usize] {
            let _ = requests.send(request);
        }
    }

    pub(super) fn finish_keeping(&mut self) {
        // A panic has been reported.
        self.keeping.drain(..).for_each(|thread| drop(thread.join()));
    }

    fn start(&mut self, job: Job, events: Reporter) {
        let slot = job.slot();
        let (sender, requests) = channel();
        self.requests[slot as usize] = Some(sender);
        let context = JobContext {
            services: self.services.clone(),
            ticket: job.ticket.clone(),
            gate: self.gate.clone(),
            events,
            requests: Mutex::new(requests),
        };
        let guarded = move || {
            terminal::play(ThreadRole::Caught);
            let _passing = context.gate.pass(slot.rank());
            if catch_unwind(AssertUnwindSafe(|| job.run(&context))).is_err() {
                let words = "a background task crashed; some figures are missing";
                context.send_always(Event::Message(Message::error(words)));
            }
        };
        match std::thread::Builder::new().name(format!("{slot:?}")).spawn(guarded) {
            Ok(thread) if slot == Slot::Keep => self.keeping.push(thread),
            Ok(_) => {}
            Err(error) => {
                let words = format!("cannot start a thread: {error}");
                (self.events)(Event::Message(Message::error(words)));
            }
        }
    }
}

/// Stops the copy being made and waits for it, so that none is left half done, however the screens end.
impl Drop for Jobs {
    fn drop(&mut self) {
        self.tickets.void(Slot::Keep);
        self.finish_keeping();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Env;

    #[test]
    fn a_job_that_panics_says_so_and_others_go_on() {
        let (signals, received) = channel();
        let tickets = Tickets::default();
        let services = Services::none(Env::hermetic(std::path::Path::new("/nowhere")));
        let mut jobs = Jobs::new(signals, Arc::new(services), tickets.clone());
        let next = || tickets.next(Slot::CountLines);
        jobs.run(Job::new(next(), Pace::Background, |_| panic!("a job's fault")));
        let told = received.recv().unwrap();
        assert!(matches!(told, Signal::App(Event::Message(message)) if message.is_error), "an error line");
        let word = |context: &JobContext| context.send_always(Event::Message(Message::note("a word")));
        jobs.run(Job::new(next(), Pace::Background, word));
        assert!(
            matches!(received.recv().unwrap(), Signal::App(Event::Message(message)) if !message.is_error)
        );
    }
}
