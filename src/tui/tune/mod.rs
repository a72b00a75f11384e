//! The Tune view: limits judged on many outputs. Which settings keep the most finds for the fewest tokens, what a move to
//! one buys, and which outputs it would cut otherwise.

mod actions;
mod changed;
pub mod job;
mod plot;
mod screen;
pub(crate) mod table;
pub(crate) mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::corpus::{Corpus, TuneFault, TuneOutputs, TunePolicies};
use crate::preview::Policy;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::tune::TuneSetting;

use crate::config::{EffectivePolicy, LimitsFrom};

use super::event::Message;
use super::job::Slot;
use super::outputs::tuning::{TuneSource, TuneStart};
use super::screen::Effects;
use super::target::Opened;
use super::widget::canvas::Canvas;
use super::widget::layout;
use changed::ChangedView;
use job::{ChangedList, TuneEvent};
use table::{TuneState, TuneTable};

/// The Tune view.
pub struct TuneScreen {
    /// The size and capabilities of the terminal.
    pub canvas: Canvas,
    /// The tables, each over the one that it was opened from; the last is shown.
    pub(crate) tables: Vec<TuneTable>,
    /// The outputs that the selected setting cuts otherwise, over the table.
    pub(crate) changed: Option<ChangedView>,
    /// Which outputs are measured, in words.
    pub(crate) place: SafeText,
    /// The outputs as they were asked for, and as they are known since.
    asked: Option<TuneSource>,
    source: Option<TuneSource>,
    /// What counts as a find; without it the errors do.
    find: Option<Pattern>,
    /// The number of jobs so far.
    jobs: u64,
    /// The settings applied in this session, by policy.
    applied: BTreeMap<String, TuneSetting>,
    /// Whether the next key says what to copy of a setting.
    is_copying: bool,
    /// A message for the status line.
    pub message: Option<Message>,
}

impl TuneScreen {
    /// Creates an empty view.
    pub(crate) fn new(canvas: Canvas) -> Self {
        Self {
            canvas,
            tables: Vec::new(),
            changed: None,
            place: SafeText::default(),
            asked: None,
            source: None,
            find: None,
            jobs: 0,
            applied: BTreeMap::new(),
            is_copying: false,
            message: None,
        }
    }

    /// Opens the view on some outputs.
    pub(crate) fn start(&mut self, start: TuneStart, effects: &mut Effects) {
        self.close_tables(effects);
        (self.asked, self.place, self.find) = (Some(start.outputs), start.place, start.find);
        self.source = self.asked.clone();
        self.open_table(start.policies, effects);
    }

    /// Lays a table over the one that is shown, and has it measured.
    fn open_table(&mut self, policies: TunePolicies, effects: &mut Effects) {
        self.stop_measuring(effects);
        self.jobs += 1;
        self.tables.push(TuneTable::new(self.jobs, policies));
        self.measure(effects);
    }

    /// Has the table that is shown measured.
    fn measure(&mut self, effects: &mut Effects) {
        let (Some(table), Some(source)) = (self.tables.last(), &self.source) else { return };
        let (number, source) = (table.number, source.clone());
        let by = (table.policies.clone(), self.find.clone());
        effects.run(Slot::Tune, move |context| job::measure(number, source, by, context));
    }

    /// Stops measuring, and lets go of all tables.
    fn close_tables(&mut self, effects: &mut Effects) {
        self.stop_measuring(effects);
        self.cut_tables(0, effects);
    }

    /// Keeps this many tables. A worker lets go of what was measured, because that takes time if the outputs are many.
    fn cut_tables(&mut self, len: usize, effects: &mut Effects) {
        let gone = self.tables.drain(len.min(self.tables.len())..);
        let runs: Vec<_> = gone.filter_map(|table| table.run).collect();
        if !runs.is_empty() {
            effects.run(Slot::Other, move |_| drop(runs));
        }
        self.changed = None;
    }

    /// Measures the table that is shown from the beginning.
    fn measure_again(&mut self, effects: &mut Effects) {
        let Some(policies) = self.shown().map(|table| table.policies.clone()) else { return };
        self.stop_measuring(effects);
        self.cut_tables(self.tables.len().saturating_sub(1), effects);
        self.open_table(policies, effects);
    }

    /// Stops measuring. Returns false if nothing was being measured.
    fn stop_measuring(&mut self, effects: &mut Effects) -> bool {
        let Some(table) = self.tables.last_mut().filter(|table| table.is_running()) else { return false };
        table.state = TuneState::Stopped;
        effects.stop([Slot::Tune]);
        true
    }

    /// Handles an event; those of a job whose table is gone are dropped.
    fn handle(&mut self, event: TuneEvent, effects: &mut Effects) {
        match event {
            TuneEvent::Began(number, run) => {
                let Some(table) = self.table(number) else { return };
                if table.is_running() {
                    table.state = TuneState::Measuring;
                }
                let (warning, corpus) = (run.warnings().first().cloned(), Arc::clone(&run.corpus));
                table.run = Some(run);
                self.source = Some(TuneSource::Listed(TuneOutputs::Listed(corpus)));
                self.message = warning.map(Message::error).or(self.message.take());
            }
            TuneEvent::Nothing(number, fault) => self.nothing(number, fault),
            TuneEvent::Measured(number, figures) => {
                let height = self.height();
                let Some(table) = self.table(number) else { return };
                table.measured(*figures, height);
                let run = table.run.clone();
                if let (Some(view), Some(run)) =
                    (self.changed.as_ref().filter(|view| view.is_of(number)), run)
                {
                    ChangedList::ask((number, view.setting), run, effects);
                }
            }
            TuneEvent::Ended(number, fault) => {
                let Some(table) = self.table(number) else { return };
                match fault {
                    Some(fault) => table.state = TuneState::Failed(fault.into()),
                    None if table.is_running() => table.state = TuneState::Done,
                    None => {}
                }
                let unreadable = table.figures.unreadable.1.clone();
                let left_out = unreadable.map(|words| Message::error(format!("left out: {words}")));
                self.message = left_out.or(self.message.take());
            }
            TuneEvent::Changed(list) => {
                let height = self.height();
                if let Some(view) = &mut self.changed {
                    view.take(*list, height);
                }
            }
        }
    }

    fn nothing(&mut self, number: u64, fault: TuneFault) {
        let Some(table) = self.table(number) else { return };
        match fault {
            TuneFault::Empty(reports) => table.state = TuneState::Empty(reports),
            TuneFault::Policy(words, corpus) => {
                table.state = TuneState::Failed(words.into());
                self.source = Some(TuneSource::Listed(TuneOutputs::Listed(corpus)));
            }
        }
    }

    fn table(&mut self, number: u64) -> Option<&mut TuneTable> {
        self.tables.iter_mut().find(|table| table.number == number)
    }

    pub(crate) fn shown(&self) -> Option<&TuneTable> {
        self.tables.last()
    }

    /// Returns the outputs, once they are listed.
    pub(crate) fn corpus(&self) -> Option<&Corpus> {
        self.shown()?.run.as_ref().map(|run| &*run.corpus)
    }

    /// Returns the number of rows of the table, or of the list over it, on the screen.
    pub(crate) fn height(&self) -> usize {
        let area = ratatui::layout::Rect::new(0, 0, self.canvas.size.0, self.canvas.size.1);
        usize::from(layout::tune(area, view::has_plot(self)).list.height)
    }

    /// Adjusts the rows after a change of size.
    pub(crate) fn settle(&mut self) {
        let height = self.height();
        if let Some(table) = self.tables.last_mut() {
            table.cursor.settle(table.rows.len(), height);
        }
        if let Some(view) = &mut self.changed {
            view.cursor.settle(view.len(), height);
        }
    }

    /// Whether a setting of the policy is applied in this session.
    pub(crate) fn is_applied(&self, policy: &Policy, setting: &TuneSetting) -> bool {
        self.applied.get(policy.name()) == Some(setting)
    }

    /// Returns the limits that were applied in this session to outputs of this policy, and where they come from. A recorded
    /// cut stays as it was.
    pub(crate) fn applied_to(&self, opened: &Opened) -> Option<EffectivePolicy> {
        let policy = &opened.subject.policy.policy;
        let setting = self.applied.get(policy.name()).filter(|_| opened.recorded.is_none())?;
        setting.on(policy).map(tuned)
    }
}

/// Returns the policy under which an output opens for a setting.
fn tuned(policy: Policy) -> EffectivePolicy {
    EffectivePolicy { limits_from: LimitsFrom::Tune, ..EffectivePolicy::chosen(policy, true) }
}
