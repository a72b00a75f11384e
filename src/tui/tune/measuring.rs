//! How the outputs of a list are measured: a worker lists and measures them, and reports what it found so far.

use std::sync::Arc;

use crate::corpus::{Corpus, TuneFault, TuneFigures, TuneOutputs, TuneRun, prepare_tuning};
use crate::rows::settings::TuneRow;
use crate::tui::event::{Message, ScreenEvent};
use crate::tui::job::{JobContext, Slot};
use crate::tui::list::screen::ListContext;
use crate::tui::screen::{Effects, TuneStart};

use super::{TuneRows, TuneState, Tuning, changed};

/// What a job found out, even after it was stopped. That of an earlier job is dropped by its number.
pub struct TuneReport {
    pub of: TuneRows,
    pub job: u64,
    pub news: TuneNews,
}

impl ScreenEvent for TuneReport {}

pub enum TuneNews {
    Began(Arc<TuneRun>),
    Nothing(TuneFault),
    Measured(Box<TuneFigures>),
    /// The job has ended; the error, if it failed.
    Ended(Option<String>),
}

impl Tuning {
    pub(super) fn begin(&mut self, start: TuneStart, on: ListContext<TuneRow>) {
        self.stop_measuring(on.effects);
        self.let_go(on.effects);
        on.list.clear();
        self.job += 1;
        (self.state, self.figures) = (TuneState::Listing, TuneFigures::default());
        self.start = Some(start.clone());
        let (of, job) = (self.of, self.job);
        on.effects.run(of.slot(), move |context| {
            let report = |news| context.send_always(TuneReport { of, job, news });
            report(measure(start, context, &report).unwrap_or_else(|end| end));
        });
    }

    pub(super) fn has_measured(&self, start: &TuneStart) -> bool {
        let Some(own) = self.start.as_ref().filter(|_| self.of == TuneRows::Policies) else { return false };
        let text = |start: &TuneStart| start.find.as_ref().map(|find| find.text().to_owned());
        let both = own.listed.as_ref().zip(start.listed.as_ref());
        both.is_some_and(|(own, other)| Arc::ptr_eq(own, other)) && text(own) == text(start)
    }

    pub(super) fn stop_measuring(&mut self, effects: &mut Effects) -> bool {
        let is_running = self.is_running();
        if is_running {
            self.state = TuneState::Stopped;
            effects.stop([self.of.slot()]);
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

    pub(super) fn on_news(&mut self, news: TuneNews, on: ListContext<TuneRow>) {
        match news {
            TuneNews::Began(run) => {
                if self.is_running() {
                    self.state = TuneState::Measuring;
                }
                if let Some(warning) = run.warnings().first() {
                    *on.message = Some(Message::error(warning.clone()));
                }
                self.keep_corpus(&run.corpus);
                self.run = Some(run);
            }
            TuneNews::Nothing(TuneFault::Empty(reports)) => self.state = TuneState::Empty(reports),
            TuneNews::Nothing(TuneFault::Policy(words, corpus)) => {
                self.state = TuneState::Failed(words.into());
                self.keep_corpus(&corpus);
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

    fn keep_corpus(&mut self, corpus: &Arc<Corpus>) {
        self.start.iter_mut().for_each(|start| start.listed = Some(Arc::clone(corpus)));
    }
}

fn measure(
    start: TuneStart,
    context: &JobContext,
    report: &(dyn Fn(TuneNews) + Sync),
) -> Result<TuneNews, TuneNews> {
    let outputs = match start.listed {
        Some(corpus) => TuneOutputs::Listed(corpus),
        None => (start.list)(context).map_err(|fault| TuneNews::Ended(Some(fault)))?,
    };
    let run = prepare_tuning(&context.services.config, outputs, start.policies, start.find);
    let run = Arc::new(run.map_err(TuneNews::Nothing)?);
    report(TuneNews::Began(Arc::clone(&run)));
    let ended = run.measure(&|| context.is_wanted(), &|figures| {
        report(TuneNews::Measured(Box::new(figures)));
    });
    Ok(TuneNews::Ended(ended.err()))
}
