//! The workers that compare policies: one plans the output under each, and then counts the matches that each keeps; one
//! makes the previews of two.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use crate::compare::Comparison;
use crate::source;
use crate::tui::event::OutputEvent;
use crate::tui::pager::comparing::job::{CompareJob, Compared, ComparedReply};
use crate::tui::pager::pair::task::{PairPlanned, PairTask};
use crate::tui::runtime::terminal::{self, ThreadRole};

use super::scans::Background;
use super::ticket::Ticket;
use super::{Jobs, SOON};

impl Jobs {
    /// Plans the output under several policies, each reported as it is done; an earlier job is abandoned.
    pub fn compare(&self, job: CompareJob) {
        let background = self.background(&self.comparing);
        self.spawn("compare", move || compare(&job, &background));
    }

    /// Abandons comparing policies.
    pub fn stop_comparing(&self) {
        Ticket::next(&self.comparing);
    }

    /// Makes the previews of two policies; earlier ones are abandoned. They are returned or reported as in
    /// [`Self::plan`].
    pub fn plan_pair(&self, task: PairTask) -> Option<Box<PairPlanned>> {
        self.make("pair", (&self.pairing, SOON), move |wanted| task.run(wanted), OutputEvent::PairPlanned)
    }
}

/// Reports the rows of a job as they are made, then the matches that they keep, then the end.
pub(super) fn compare(job: &CompareJob, background: &Background) {
    let report = |reply| background.send(OutputEvent::Compared(Compared { number: job.number, reply }));
    let made = Mutex::new(Vec::new());
    // A policy that reads the whole output must not hold up the others, so there are several threads.
    source::share_out(
        job.choices.len(),
        || terminal::play(ThreadRole::Caught),
        |(), number| {
            let Some(row) = plan(job, number, background) else { return ControlFlow::Break(()) };
            let told = Comparison { kept: Vec::new(), ..row.clone() };
            made.lock().unwrap_or_else(PoisonError::into_inner).push(row);
            report(ComparedReply::Row(Box::new(told)))
        },
    );
    let rows = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    job.finds(&rows, &|| background.go_on(), &mut |finds| {
        let _ = report(finds);
    });
    if background.go_on() {
        let _ = report(ComparedReply::Ended);
    }
}

/// Makes a row. Returns `None` if it is no longer wanted.
fn plan(job: &CompareJob, number: usize, background: &Background) -> Option<Comparison> {
    if !background.go_on() {
        return None;
    }
    let wanted = || background.is_wanted();
    match catch_unwind(AssertUnwindSafe(|| job.row(number, &wanted))) {
        Ok(row) => row.filter(|_| wanted()),
        // A plan that was told to stop may panic over figures that it was no longer given; ignore that.
        Err(fault) if wanted() => resume_unwind(fault),
        Err(_) => None,
    }
}
