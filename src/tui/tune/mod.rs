//! The Tune view: limits judged on many outputs. Which settings keep the most finds for the fewest tokens, what a move to
//! one buys, and which outputs it would cut otherwise.

mod changed;
pub mod job;
mod plot;
pub(crate) mod table;
pub(crate) mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::Overrides;
use crate::corpus::{Corpus, TuneFault, TuneOutputs, TunePolicies};
use crate::preview::Policy;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::tune::TuneSetting;

use super::event::{Effect, Effects, Message};
use super::keys::{Action, KeyContext};
use super::pager::limits_text;
use super::pager::subject::Opened;
use super::widget::canvas::Canvas;
use super::widget::layout;
use changed::ChangedView;
use job::{TuneEvent, TuneJob, TuneSource, TuneStart};
use table::{TuneState, TuneTable};

/// Where the limits of an output come from that opens with an applied setting.
const LIMITS_FROM: &str = "Tune, in this session";

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
    /// The policy under which the output being opened is to be shown.
    opening: Option<Policy>,
    /// A message for the status line.
    pub message: Option<Message>,
}

/// What a key requests from the rest of the program.
pub(crate) enum TuneNext {
    /// Stay in the view.
    Stay,
    /// Ask what counts as a find; the prompt begins with this text.
    Find(String),
    /// Ask what to copy.
    Copying,
    /// Go back to where the view was opened from.
    Away,
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
            opening: None,
            message: None,
        }
    }

    /// Opens the view on some outputs.
    pub(crate) fn start(&mut self, start: TuneStart, effects: &mut Effects) {
        self.close(effects);
        (self.asked, self.place, self.find) = (Some(start.outputs), start.place, start.find);
        self.source = self.asked.clone();
        self.open_table(start.policies, effects);
    }

    /// Lays a table over the one that is shown, and has it measured.
    fn open_table(&mut self, policies: TunePolicies, effects: &mut Effects) {
        self.stop(effects);
        self.jobs += 1;
        self.tables.push(TuneTable::new(self.jobs, policies));
        self.measure(effects);
    }

    /// Has the table that is shown measured.
    fn measure(&mut self, effects: &mut Effects) {
        let (Some(table), Some(source)) = (self.tables.last(), &self.source) else { return };
        effects.push(Effect::Tune(Box::new(TuneJob {
            number: table.number,
            source: source.clone(),
            policies: table.policies.clone(),
            find: self.find.clone(),
        })));
    }

    /// Stops measuring, and lets go of all tables.
    pub(crate) fn close(&mut self, effects: &mut Effects) {
        self.stop(effects);
        self.cut_tables(0, effects);
    }

    /// Keeps this many tables. A worker lets go of what was measured, because that takes time if the outputs are many.
    fn cut_tables(&mut self, len: usize, effects: &mut Effects) {
        let gone = self.tables.drain(len.min(self.tables.len())..);
        let runs: Vec<_> = gone.filter_map(|table| table.run).collect();
        if !runs.is_empty() {
            effects.push(Effect::LetGo(runs));
        }
        self.changed = None;
    }

    /// Measures the table that is shown from the beginning.
    fn measure_again(&mut self, effects: &mut Effects) {
        let Some(policies) = self.shown().map(|table| table.policies.clone()) else { return };
        self.stop(effects);
        self.cut_tables(self.tables.len().saturating_sub(1), effects);
        self.open_table(policies, effects);
    }

    /// Stops measuring. Returns false if nothing was being measured.
    fn stop(&mut self, effects: &mut Effects) -> bool {
        let Some(table) = self.tables.last_mut().filter(|table| table.is_running()) else { return false };
        table.state = TuneState::Stopped;
        effects.push(Effect::StopTune);
        true
    }

    /// Handles an event; those of a job whose table is gone are dropped.
    pub(crate) fn update(&mut self, event: TuneEvent, effects: &mut Effects) {
        match event {
            TuneEvent::Start(start) => self.start(*start, effects),
            TuneEvent::Began(number, run) => {
                let Some(table) = self.table(number) else { return };
                if table.is_running() {
                    table.state = TuneState::Measuring;
                }
                let (warning, corpus) = (run.warnings().first().cloned(), Arc::clone(&run.corpus));
                table.run = Some(run);
                self.source = Some(TuneSource::Listed(TuneOutputs::Listed(corpus)));
                self.message = warning.map(Message::error);
            }
            TuneEvent::Nothing(number, fault) => self.nothing(number, fault),
            TuneEvent::Measured(number, figures) => {
                let height = self.height();
                if let Some(table) = self.table(number) {
                    table.measured(*figures, height);
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
                self.message = unreadable.map(|words| Message::error(format!("left out: {words}")));
            }
            TuneEvent::Changed(list) => {
                if let Some(view) = &mut self.changed {
                    view.take(*list);
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

    /// Returns the table that is shown.
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

    /// Carries out an action. Returns what it requests from the rest of the program.
    pub(crate) fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) -> TuneNext {
        let height = self.height();
        let moved = match (&mut self.changed, self.tables.last_mut()) {
            (Some(view), _) => view.cursor.act(action, count, view.len(), height),
            (None, Some(table)) => {
                let moved = table.cursor.act(action, count, table.rows.len(), height);
                table.touched |= moved;
                moved
            }
            (None, None) => false,
        };
        match action {
            _ if moved => TuneNext::Stay,
            Action::Back | Action::Quit => self.back(action, effects),
            _ if self.changed.is_some() => self.act_on_changed(action, effects),
            _ => self.act_on_table(action, effects),
        }
    }

    fn act_on_table(&mut self, action: Action, effects: &mut Effects) -> TuneNext {
        match action {
            Action::Open => self.use_chosen(effects),
            Action::Outputs => self.list_changed(effects),
            Action::Policy => self.show_policies(effects),
            Action::Search => {
                return TuneNext::Find(
                    self.find.as_ref().map_or_else(String::new, |find| find.text().to_owned()),
                );
            }
            Action::Copy if self.shown().is_some_and(|table| table.chosen_setting().is_some()) => {
                return TuneNext::Copying;
            }
            Action::Copy => self.message = Some(Message::note("there is no setting to copy here")),
            Action::Refresh => {
                // Stored outputs are listed again.
                self.source = self.asked.clone();
                self.measure_again(effects);
            }
            _ => {}
        }
        TuneNext::Stay
    }

    /// Closes the list, else stops measuring, else goes back to the table beneath, else leaves the view. The key to quit
    /// does not merely stop.
    fn back(&mut self, action: Action, effects: &mut Effects) -> TuneNext {
        if self.changed.take().is_some() {
            return TuneNext::Stay;
        }
        if self.stop(effects) && action == Action::Back {
            let again = self.canvas.keys.of(KeyContext::Tune, Action::Refresh);
            self.message =
                Some(Message::note(format!("stopped: figures so far; {again} measures all again")));
            return TuneNext::Stay;
        }
        if self.tables.len() > 1 {
            self.cut_tables(self.tables.len() - 1, effects);
            self.settle();
            return TuneNext::Stay;
        }
        TuneNext::Away
    }

    /// Applies the selected setting in this session, or tunes the selected policy.
    fn use_chosen(&mut self, effects: &mut Effects) {
        let Some(table) = self.shown() else { return };
        if let Some(policy) = table.chosen().and_then(|number| table.listed_policies().get(number)) {
            let overrides =
                Overrides { policy: Some(policy.policy.name().to_owned()), ..Overrides::default() };
            return self.open_table(TunePolicies::Around(Box::new(overrides)), effects);
        }
        let (Some((number, setting, policy)), Some((_, grid))) = (table.chosen_setting(), table.grid())
        else {
            return;
        };
        let (name, words) = (policy.name().to_owned(), setting.words(policy.unit()));
        if number == grid.current {
            self.applied.remove(&name);
            self.message = Some(Message::note(format!("{name} keeps its present limits: {words}")));
        } else {
            self.applied.insert(name.clone(), setting);
            self.message =
                Some(Message::note(format!("outputs of {name} open with {words} in this session")));
        }
    }

    /// Whether a setting of the policy is applied in this session.
    pub(crate) fn is_applied(&self, policy: &Policy, setting: &TuneSetting) -> bool {
        self.applied.get(policy.name()) == Some(setting)
    }

    /// Shows what each policy does to the outputs.
    pub(crate) fn show_policies(&mut self, effects: &mut Effects) {
        let is_policies = |table: &TuneTable| matches!(table.policies, TunePolicies::Current);
        match self.tables.iter().rposition(is_policies) {
            Some(at) if at + 1 == self.tables.len() => {}
            Some(at) => {
                self.stop(effects);
                self.cut_tables(at + 1, effects);
                self.settle();
            }
            None => self.open_table(TunePolicies::Current, effects),
        }
    }

    /// Changes what counts as a find, and measures again. An empty text stands for errors.
    ///
    /// # Errors
    /// The pattern cannot be compiled.
    pub(crate) fn set_find(&mut self, text: &str, effects: &mut Effects) -> Result<(), String> {
        self.find = match text {
            "" => None,
            text => Some(Pattern::new(text).map_err(|error| match error.at {
                Some(at) => format!("{error} at column {}", at + 1),
                None => error.to_string(),
            })?),
        };
        // What lies beneath was judged by other finds.
        if let Some(policies) = self.shown().map(|table| table.policies.clone()) {
            self.close(effects);
            self.open_table(policies, effects);
        }
        Ok(())
    }

    /// Copies the selected setting as the action says.
    pub(crate) fn copy(&mut self, action: Option<Action>, effects: &mut Effects) {
        let keys = self.canvas.keys;
        let policy = self.shown().and_then(TuneTable::chosen_setting).map(|(_, _, policy)| policy);
        self.message = policy.and_then(|policy| limits_text::copy(policy, action, keys, effects));
    }

    /// Lists the outputs that the selected setting cuts otherwise.
    fn list_changed(&mut self, effects: &mut Effects) {
        let Some(table) = self.shown() else { return };
        let (Some((number, ..)), Some(run)) = (table.chosen_setting(), &table.run) else { return };
        if table.grid().is_some_and(|(_, grid)| grid.current == number) {
            let words = "this is the present setting; choose another one to see what it would cut otherwise";
            self.message = Some(Message::note(words));
            return;
        }
        effects.push(Effect::ListChanged(table.number, Arc::clone(run), number));
        self.changed = Some(ChangedView::new(table.number, number));
    }

    fn act_on_changed(&mut self, action: Action, effects: &mut Effects) -> TuneNext {
        match action {
            Action::Open => self.open_chosen(effects),
            Action::Outputs => self.changed = None,
            _ => {
                let back = self.canvas.keys.of(KeyContext::Tune, Action::Back);
                self.message =
                    Some(Message::note(format!("not in this list; {back} goes back to the settings")));
            }
        }
        TuneNext::Stay
    }

    /// Opens the selected output under the setting.
    fn open_chosen(&mut self, effects: &mut Effects) {
        let (Some(view), Some(table)) = (&self.changed, self.shown()) else { return };
        let output = view.chosen().and_then(|output| self.corpus()?.outputs.get(output.number));
        let policy = table.run.as_ref().and_then(|run| run.policy(view.setting)).cloned();
        if let (Some(output), Some(policy)) = (output, policy) {
            effects.push(Effect::Open(output.path().into_owned()));
            self.opening = Some(policy);
        }
    }

    /// Returns the policy under which the output that has just been opened is to be shown, and where its limits come
    /// from.
    pub(crate) fn take_opening(&mut self) -> Option<(Policy, String)> {
        Some((self.opening.take()?, "Tune".to_owned()))
    }

    /// Gives an output the limits that were applied in this session. A recorded cut stays as it was.
    pub(crate) fn apply_to(&self, opened: &mut Opened) {
        let subject = &mut opened.subject;
        let setting = self.applied.get(subject.policy.name()).filter(|_| opened.recorded.is_none());
        if let Some(policy) = setting.and_then(|setting| setting.on(&subject.policy)) {
            (subject.policy, subject.limits_from) = (policy, LIMITS_FROM.to_owned());
        }
    }
}
