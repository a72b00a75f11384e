//! The workers of the Tune view: one lists and measures outputs, another puts those in order that a setting cuts otherwise.

use std::sync::Arc;

use crate::corpus::TuneRun;
use crate::tui::runtime::TunePreparer;
use crate::tui::tune::job::{ChangedList, TuneEvent, TuneJob};

use super::Jobs;
use super::ticket::Ticket;

impl Jobs {
    /// Measures outputs under many settings; an earlier job is abandoned.
    pub fn tune(&self, job: TuneJob, preparer: TunePreparer) {
        let (events, ticket) = (self.events.clone(), Ticket::next(&self.tuning));
        self.spawn("tune", move || {
            let send = |event: TuneEvent| _ = events.send(event);
            job.run(&*preparer, &|| ticket.is_wanted(), &send);
        });
    }

    /// Abandons measuring.
    pub fn stop_tune(&self) {
        _ = Ticket::next(&self.tuning);
    }

    /// Frees what has been measured, which takes time if the outputs are many.
    pub fn let_go(&self, runs: Vec<Arc<TuneRun>>) {
        if !runs.is_empty() {
            self.spawn("let go", move || drop(runs));
        }
    }

    /// Puts the outputs in order that a setting cuts otherwise.
    pub fn list_changed(&self, job: u64, run: Arc<TuneRun>, setting: usize) {
        let events = self.events.clone();
        self.spawn("changed outputs", move || {
            events.send(TuneEvent::Changed(Box::new(ChangedList::of(job, &run, setting))));
        });
    }
}
