//! What the Tune view asks of its workers, and what they report.

use std::sync::Arc;

use crate::corpus::{TuneFault, TuneFigures, TuneOutputs, TunePolicies, TuneRequest, TuneRun};
use crate::store::Entry;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::tui::effect::Effects;
use crate::tui::event::ScreenEvent;
use crate::tui::job::{JobContext, Slot};
use crate::tui::stores::sort::ShownEntries;
use crate::tune::ChangedOutput;

/// What the Tune view opens with.
#[derive(Debug, Clone)]
pub struct TuneStart {
    pub outputs: TuneSource,
    /// Which those are, in words.
    pub place: SafeText,
    pub policies: TunePolicies,
    /// What counts as a find; without it the errors do.
    pub find: Option<Pattern>,
}

/// Where the outputs come from.
#[derive(Debug, Clone)]
pub enum TuneSource {
    /// They were listed, or are to be listed from the stores.
    Listed(TuneOutputs),
    /// The list of stored outputs shows them.
    Shown(ShownEntries),
    /// They are marked in the list of stored outputs.
    Marked(Vec<Entry>),
}

/// Outputs to measure; a worker does it.
#[derive(Debug, Clone)]
pub struct TuneJob {
    /// The number of the job, repeated in what it reports.
    pub number: u64,
    pub source: TuneSource,
    pub policies: TunePolicies,
    /// What counts as a find; without it the errors do.
    pub find: Option<Pattern>,
}

/// An event for the Tune view.
pub enum TuneEvent {
    /// The view opens with this.
    Start(Box<TuneStart>),
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

impl TuneJob {
    /// Lists and measures the outputs.
    pub(crate) fn run(self, context: &JobContext) {
        let number = self.number;
        let run = match (context.services.prepare_tuning)(self.request()) {
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

    fn request(self) -> TuneRequest {
        let outputs = match self.source {
            TuneSource::Listed(outputs) => outputs,
            TuneSource::Shown(shown) => TuneOutputs::Entries(shown.to_vec()),
            TuneSource::Marked(entries) => TuneOutputs::Entries(entries),
        };
        TuneRequest { outputs, policies: self.policies, find: self.find }
    }
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
