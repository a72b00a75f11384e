//! The Tune view within the whole: how it is opened and left, and what its events lead to.

use crossterm::event::KeyEvent;

use crate::corpus::{TuneOutputs, TunePolicies};
use crate::text::label::SafeText;
use crate::tui::effect::Effects;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::jump::Waiting;
use crate::tui::pager::limits_text;
use crate::tui::popup::Popup;
use crate::tui::popup::prompt::{Prompt, Purpose};
use crate::tui::stores::tuning::{TunedBy, TunedEntries};
use crate::tui::tune::TuneNext;
use crate::tui::tune::job::{TuneEvent, TuneSource, TuneStart};

use super::{App, Screen};

impl App {
    /// Opens the Tune view on stored outputs.
    pub(crate) fn tune_stored(
        &mut self,
        (entries, place): (TunedEntries, SafeText),
        by: TunedBy,
        effects: &mut Effects,
    ) {
        let outputs = match entries {
            TunedEntries::All => TuneSource::Listed(TuneOutputs::Stored(None)),
            TunedEntries::Shown(shown) => TuneSource::Shown(shown),
            TunedEntries::Marked(entries) => TuneSource::Marked(entries),
        };
        let policies = match by {
            TunedBy::Settings => TunePolicies::Around(Box::default()),
            TunedBy::Policies => TunePolicies::Current,
        };
        let start = TuneStart { outputs, place, policies, find: None };
        self.go_to(Screen::Tune, effects);
        self.tune.start(start, effects);
    }

    /// Handles an event of the Tune view.
    pub(crate) fn tune_event(&mut self, event: TuneEvent, effects: &mut Effects) {
        if matches!(event, TuneEvent::Start(_)) {
            self.go_to(Screen::Tune, effects);
        }
        self.tune.update(event, effects);
        self.message = self.tune.message.take().or(self.message.take());
    }

    /// Carries out an action in the Tune view.
    pub(crate) fn act_on_tune(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if action == Action::Stores {
            return self.go_to_stores(effects);
        }
        let next = self.tune.act(action, count, effects);
        self.message = self.tune.message.take().or(self.message.take());
        match next {
            TuneNext::Stay => {}
            TuneNext::Find(text) => self.popup = Some(Popup::Prompt(Prompt::with(Purpose::Find, &text))),
            TuneNext::Copying => self.wait(Waiting::Limits, &limits_text::choice(self.canvas.keys)),
            TuneNext::Away if action == Action::Quit && self.stack.is_at_bottom() => self.leave(effects),
            TuneNext::Away => self.go_back(effects),
        }
    }

    /// Handles the key that says what to copy of a setting.
    pub(crate) fn copy_setting_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        self.tune.copy(self.canvas.keys.action(KeyContext::Copying, key), effects);
        self.message = self.tune.message.take();
    }
}
