//! How the outputs of a list are measured: a worker lists and measures them, and reports what it found so far.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::corpus::{Corpus, TuneFault, TuneFigures, TuneOutputs, TuneRequest, TuneRun};
use crate::session::list;
use crate::session::reader::SessionFile;
use crate::tui::calls::work::Wanted;
use crate::tui::event::{Message, ScreenEvent};
use crate::tui::job::{JobContext, Slot};
use crate::tui::outputs::tuning::{TuneSource, TuneStart};
use crate::tui::screen::Effects;

use super::{Context, TuneRows, TuneState, Tuning, changed};

/// What a job reports that measures outputs for a list.
pub struct TuneReport {
    pub of: TuneRows,
    /// The number of the job.
    pub job: u64,
    pub news: TuneNews,
}

impl ScreenEvent for TuneReport {}

pub enum TuneNews {
    /// The outputs have been listed, and are being measured.
    Began(Arc<TuneRun>),
    /// There is nothing to measure.
    Nothing(TuneFault),
    /// What has been found out so far.
    Measured(Box<TuneFigures>),
    /// The job has ended; the error, if it failed.
    Ended(Option<String>),
}

impl Tuning {
    /// Lists and measures the outputs.
    pub(super) fn begin(&mut self, start: TuneStart, on: Context) {
        self.stop_measuring(on.effects);
        self.let_go(on.effects);
        on.list.clear();
        self.job += 1;
        (self.state, self.figures) = (TuneState::Listing, TuneFigures::default());
        self.start = Some(start.clone());
        let (of, number) = (self.of, self.job);
        on.effects.run(Slot::Tune, move |context| {
            measure(start, context, &|news| context.send(TuneReport { of, job: number, news }));
        });
    }

    /// Whether this was measured already, or is being measured.
    pub(super) fn has_measured(&self, start: &TuneStart) -> bool {
        let text = |start: &TuneStart| start.find.as_ref().map(|find| find.text().to_owned());
        let is_same = |own: &TuneStart| match (&own.listed, &start.listed) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        let is_policies = self.of == TuneRows::Policies;
        self.start.as_ref().is_some_and(|own| is_policies && is_same(own) && text(own) == text(start))
    }

    /// Stops measuring. Returns false if nothing was being measured.
    pub(super) fn stop_measuring(&mut self, effects: &mut Effects) -> bool {
        let is_running = self.is_running();
        if is_running {
            self.state = TuneState::Stopped;
            effects.stop([Slot::Tune]);
        }
        is_running
    }

    /// Has a worker let go of what was measured, because that takes time if the outputs are many.
    pub(super) fn let_go(&mut self, effects: &mut Effects) {
        if let Some(run) = self.run.take() {
            effects.run(Slot::Other, move |_| drop(run));
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.start.is_some() && matches!(self.state, TuneState::Listing | TuneState::Measuring)
    }

    pub(super) fn take(&mut self, news: TuneNews, on: Context) {
        match news {
            TuneNews::Began(run) => {
                if self.is_running() {
                    self.state = TuneState::Measuring;
                }
                if let Some(warning) = run.warnings().first() {
                    *on.message = Some(Message::error(warning.clone()));
                }
                self.listed(&run.corpus);
                self.run = Some(run);
            }
            TuneNews::Nothing(TuneFault::Empty(reports)) => self.state = TuneState::Empty(reports),
            TuneNews::Nothing(TuneFault::Policy(words, corpus)) => {
                self.state = TuneState::Failed(words.into());
                self.listed(&corpus);
            }
            TuneNews::Measured(figures) => {
                self.figures = *figures;
                self.fill(on.list);
                self.run.iter().for_each(|run| on.effects.send(changed::ChangedEvent::Grew(Arc::clone(run))));
            }
            TuneNews::Ended(Some(fault)) => self.state = TuneState::Failed(fault.into()),
            TuneNews::Ended(None) if self.is_running() => self.state = TuneState::Done,
            TuneNews::Ended(None) => {}
        }
    }

    /// Remembers the outputs, so that they need not be listed again.
    fn listed(&mut self, corpus: &Arc<Corpus>) {
        self.start.iter_mut().for_each(|start| start.listed = Some(Arc::clone(corpus)));
    }
}

/// Lists and measures outputs.
fn measure(start: TuneStart, context: &JobContext, report: &(dyn Fn(TuneNews) -> bool + Sync)) {
    let outputs = match (start.listed, start.outputs) {
        (Some(corpus), _) => TuneOutputs::Listed(corpus),
        (None, TuneSource::Listed(outputs)) => outputs,
        (None, TuneSource::Rows(rows)) => TuneOutputs::Entries(rows.to_vec()),
        (None, TuneSource::Session(file)) => match outputs_of(&file, context) {
            Ok(corpus) => TuneOutputs::Listed(Arc::new(corpus)),
            Err(fault) => {
                report(TuneNews::Ended(Some(fault)));
                return;
            }
        },
    };
    let request = TuneRequest { outputs, policies: start.policies, find: start.find };
    let run = match (context.services.prepare_tuning)(request) {
        Ok(run) => Arc::new(run),
        Err(fault) => {
            report(TuneNews::Nothing(fault));
            return;
        }
    };
    report(TuneNews::Began(Arc::clone(&run)));
    let ended = run.measure(&|| context.is_wanted(), &|figures| {
        report(TuneNews::Measured(Box::new(figures)));
    });
    report(TuneNews::Ended(ended.err()));
}

/// Lists the outputs that the results of a session name and that are there, in the order of its calls.
fn outputs_of(file: &SessionFile, context: &JobContext) -> Result<Corpus, String> {
    let agent = list::format_of(file).map_or("", |format| format.agent());
    let examiner = (context.services.examiner)(agent);
    let opened = list::open(file, &Wanted(&context.ticket)).map_err(|error| error.to_string())?;
    let spills = opened.transcript().calls.iter().filter_map(|call| examiner.spill(file, call));
    let mut paths: Vec<PathBuf> = spills.filter_map(|spill| spill.path().map(Path::to_path_buf)).collect();
    paths.retain(|path| examiner.is_known(file, path));
    Ok(Corpus::of_paths(&paths))
}
