//! The background jobs of an output, besides those that scan it whole.

use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::compare::Comparison;
use crate::source::{self, ViewSupply};
use crate::text::filter::scan::LineScan;
use crate::tui::job::{JobContext, Pace, Slot};
use crate::tui::screen::Effects;

use super::comparing::job::{CompareJob, Compared, ComparedReply};
use super::event::OutputEvent;
use super::filter::job::{SiftJob, Sifted};
use super::making::Making;

/// The screens wait two frames for a preview: one that is made by then appears in the next frame, not one later.
pub(crate) const SOON: Pace = Pace::Soon(Duration::from_millis(30));

/// Has a preview made: at once if the output is small, else by a worker.
pub(crate) fn plan(task: Making, pace: Pace, effects: &mut Effects) {
    let pace = if task.is_small() { Pace::AtOnce } else { pace };
    effects.run_at(pace, Slot::Plan, move |context| {
        if let Some(planned) = task.run(&|| context.is_wanted()) {
            context.send(OutputEvent::Planned(Box::new(planned)));
        }
    });
}

/// Reports the rows of a job as they are made, then the matches that they keep, then the end.
pub(crate) fn compare(job: &CompareJob, context: &JobContext) {
    let report = |reply| context.report(OutputEvent::Compared(Compared { number: job.number, reply }));
    let made = Mutex::new(Vec::new());
    // A policy that reads the whole output must not hold up the others, so there are several threads.
    source::share_out(
        job.choices.len(),
        || (),
        |(), number| {
            let row = context.go_on().then(|| job.row(number, &|| context.is_wanted())).flatten();
            let Some(row) = row.filter(|_| context.is_wanted()) else { return ControlFlow::Break(()) };
            let told = Comparison { kept: Vec::new(), ..row.clone() };
            made.lock().unwrap_or_else(PoisonError::into_inner).push(row);
            report(ComparedReply::Row(Box::new(told)))
        },
    );
    let rows = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    job.finds(&rows, &|| context.go_on(), &mut |finds| {
        let _ = report(finds);
    });
    if context.go_on() {
        let _ = report(ComparedReply::Ended);
    }
}

/// Bytes that a thread takes at a time, at first and later: the first results are to be on the screen at once, but each
/// report wakes the thread that draws it.
const FIRST_TAKE: usize = 2 << 20;
const MOST_TAKE: usize = 32 << 20;

/// Counts the blocks of a task in its order.
pub(crate) fn count_shown(job: &SiftJob, context: &JobContext) {
    let takes = takes(job);
    // Each thread gets its own patterns: threads that share one wait for each other.
    let state = || {
        let conditions: Vec<_> = job.conditions.to_vec();
        (ViewSupply::from(&job.view), conditions)
    };
    source::share_out(takes.len(), state, |(supply, conditions), number| {
        let scan = LineScan { conditions, ..job.scan() };
        let blocks = takes[number].clone();
        let first = blocks.start;
        match scan.count(supply, blocks, &mut || context.go_on()) {
            Some(lines) => {
                let number = job.number;
                context.report(OutputEvent::Sifted(Sifted { number, first, lines }))
            }
            None => ControlFlow::Break(()),
        }
    });
}

/// Divides the blocks of a task into what is taken at a time.
fn takes(job: &SiftJob) -> Vec<Range<usize>> {
    let mut takes = Vec::new();
    let mut bytes = FIRST_TAKE;
    for blocks in &job.blocks {
        let mut at = blocks.start;
        while at < blocks.end {
            let end = (at + (bytes / job.scan().block).max(1)).min(blocks.end);
            takes.push(at..end);
            at = end;
            bytes = (bytes * 2).min(MOST_TAKE);
        }
    }
    takes
}
