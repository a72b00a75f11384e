//! What the Tune view asks of its workers, and what they report.

use std::sync::Arc;

use crate::corpus::{TuneFault, TuneFigures, TuneOutputs, TunePolicies, TuneRequest, TuneRun};
use crate::text::search::Pattern;
use crate::tui::event::ScreenEvent;
use crate::tui::job::{JobContext, Slot};
use crate::tui::outputs::tuning::TuneSource;
use crate::tui::screen::Effects;
use crate::tune::ChangedOutput;

/// An event for the Tune view.
pub enum TuneEvent {
    /// The outputs of a job have been listed, and are being measured.
    Began(u64, Arc<TuneRun>),
    /// A job has nothing to measure.
    Nothing(u64, TuneFault),
    /// What a job has found out so far.
    Measured(u64, Box<TuneFigures>),
    /// A job has ended; the error, if it failed.
    Ended(u64, Option<String>),
    /// The outputs that a setting cuts otherwise have been put in order.
    Changed(Box<ChangedList>),
}

/// The outputs that a setting cuts otherwise than the present one.
#[derive(Debug)]
pub struct ChangedList {
    /// The number of the job that measured them.
    pub job: u64,
    /// The number of the setting.
    pub setting: usize,
    /// How many there are.
    pub all: u64,
    /// The worst of them, worst first.
    pub(crate) worst: Vec<ChangedOutput>,
}

/// Lists and measures outputs by the job of this number. `find` is what counts as a find; without it the errors do.
pub(super) fn measure(
    number: u64,
    source: TuneSource,
    (policies, find): (TunePolicies, Option<Pattern>),
    context: &JobContext,
) {
    let outputs = match source {
        TuneSource::Listed(outputs) => outputs,
        TuneSource::Rows(rows) => TuneOutputs::Entries(rows.to_vec()),
    };
    let run = match (context.services.prepare_tuning)(TuneRequest { outputs, policies, find }) {
        Ok(run) => Arc::new(run),
        Err(fault) => {
            context.send(TuneEvent::Nothing(number, fault));
            return;
        }
    };
    context.send(TuneEvent::Began(number, Arc::clone(&run)));
    let ended = run.measure(&|| context.is_wanted(), &|figures| {
        context.send(TuneEvent::Measured(number, Box::new(figures)));
    });
    context.send(TuneEvent::Ended(number, ended.err()));
}

impl ChangedList {
    /// Has the outputs put in order that a setting of a job cuts otherwise: `of` are the numbers of the job and the setting.
    pub(crate) fn ask(of: (u64, usize), run: Arc<TuneRun>, effects: &mut Effects) {
        let (job, setting) = of;
        effects.run(Slot::Other, move |context| {
            let (all, worst) = run.changed(setting);
            context.send(TuneEvent::Changed(Box::new(Self { job, setting, all, worst })));
        });
    }
}

impl ScreenEvent for TuneEvent {}
