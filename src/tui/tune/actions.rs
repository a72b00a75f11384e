//! What keys do in the Tune view.

use std::sync::Arc;

use crate::config::Overrides;
use crate::corpus::TunePolicies;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::limits_text;
use crate::tui::screen::{Effect, Effects, OpenRequest};
use crate::tui::target::OpenedFrom;
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::TuneScreen;
use super::changed::ChangedView;
use super::job::ChangedList;
use super::table::TuneTable;

impl TuneScreen {
    /// Carries out an action.
    pub(super) fn carry_out(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
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
        match moved {
            true => {}
            false if self.changed.is_some() => self.act_on_changed(action, effects),
            false => self.act_on_table(action, effects),
        }
    }

    fn act_on_table(&mut self, action: Action, effects: &mut Effects) {
        match action {
            Action::Open => self.use_chosen(effects),
            Action::Outputs => self.list_changed(effects),
            Action::Policy => self.show_policies(effects),
            Action::Search => {
                let find = self.find.as_ref().map_or("", |find| find.text());
                effects.lay(Prompt::with(Purpose::Find, find));
            }
            Action::Copy if self.shown().is_some_and(|table| table.chosen_setting().is_some()) => {
                self.is_copying = true;
                self.message = Some(Message::note(limits_text::choice(self.canvas.keys)));
            }
            Action::Copy => self.message = Some(Message::note("there is no setting to copy here")),
            Action::Refresh => {
                // Stored outputs are listed again.
                self.source = self.asked.clone();
                self.measure_again(effects);
            }
            _ => {}
        }
    }

    /// Closes the list, else stops measuring, else goes back to the table beneath. Returns false if there is none of
    /// these. The key to quit does not merely stop.
    pub(super) fn back(&mut self, action: Action, effects: &mut Effects) -> bool {
        if self.changed.take().is_some() || action == Action::Back && self.give_up(effects) {
            return true;
        }
        self.stop_measuring(effects);
        let is_over_table = self.tables.len() > 1;
        if is_over_table {
            self.cut_tables(self.tables.len() - 1, effects);
            self.settle();
        }
        is_over_table
    }

    /// Stops measuring, and says what that leaves. Returns false if nothing was being measured.
    pub(crate) fn give_up(&mut self, effects: &mut Effects) -> bool {
        let stopped = self.stop_measuring(effects);
        if stopped {
            let again = self.canvas.keys.of(KeyContext::Tune, Action::Refresh);
            self.message =
                Some(Message::note(format!("stopped: figures so far; {again} measures all again")));
        }
        stopped
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
            self.message = Some(Message::note("there is no setting to use here"));
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

    /// Shows what each policy does to the outputs.
    pub(crate) fn show_policies(&mut self, effects: &mut Effects) {
        let is_policies = |table: &TuneTable| matches!(table.policies, TunePolicies::Current);
        match self.tables.iter().rposition(is_policies) {
            Some(at) if at + 1 == self.tables.len() => {}
            Some(at) => {
                self.stop_measuring(effects);
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
            text => Some(Pattern::new(text).map_err(|error| error.describe())?),
        };
        // What lies beneath was judged by other finds.
        if let Some(policies) = self.shown().map(|table| table.policies.clone()) {
            self.close_tables(effects);
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
        ChangedList::ask((table.number, number), Arc::clone(run), effects);
        self.changed = Some(ChangedView::new(table.number, number));
    }

    fn act_on_changed(&mut self, action: Action, effects: &mut Effects) {
        match action {
            Action::Open => self.open_chosen(effects),
            Action::Outputs => self.changed = None,
            _ => {
                let back = self.canvas.keys.of(KeyContext::Tune, Action::Back);
                self.message =
                    Some(Message::note(format!("not in this list; {back} goes back to the settings")));
            }
        }
    }

    /// Opens the selected output under the setting.
    fn open_chosen(&mut self, effects: &mut Effects) {
        let (Some(view), Some(table)) = (&self.changed, self.shown()) else { return };
        let output = view.chosen().and_then(|output| self.corpus()?.outputs.get(output.number));
        let policy = table.run.as_ref().and_then(|run| run.policy(view.setting)).cloned();
        if let (Some(output), Some(policy)) = (output, policy) {
            let (path, under) = (output.path().into_owned(), Some(Box::new(super::tuned(policy))));
            effects.push(Effect::Open(OpenRequest {
                path,
                line: None,
                under,
                find: None,
                origin: OpenedFrom::Tune,
                name: SafeText::default(),
            }));
        }
    }
}
