//! Leaving: closes what is open, then goes back, then leaves the screens, with a question if something would be lost.

use crossterm::event::KeyEvent;

use crate::tui::event::{Effect, Effects};
use crate::tui::keys::Action;
use crate::tui::pager::Pager;
use crate::tui::pager::subject::OpenedFrom;
use crate::tui::popup::Popup;
use crate::tui::popup::leaving::{Answer, CommandFate, Leaving, Question};

use super::{App, Screen};

impl App {
    /// Closes what lies over the output, else goes back to where the view was opened from, else leaves the screens.
    pub(crate) fn quit(&mut self, effects: &mut Effects) {
        if self.screen == Screen::Pager && self.close_read_form(effects) {
            return;
        }
        match (self.screen, self.pager.as_ref().map(Pager::origin)) {
            (Screen::Stores, _) if self.stores.hits.is_some() => self.stores.close_hits(effects),
            (Screen::Pager, Some(OpenedFrom::Stores)) if self.before_output == Screen::Watch => {
                self.go_to_watch();
            }
            (Screen::Pager, Some(OpenedFrom::Stores)) => self.go_to_stores(effects),
            (Screen::Stores, _) if self.watch.is_some() => self.go_to_watch(),
            (Screen::Stores, Some(OpenedFrom::Named)) => self.screen = Screen::Pager,
            (Screen::Pager, Some(OpenedFrom::Session)) => self.screen = Screen::Sessions,
            (Screen::Pager, Some(OpenedFrom::Tune)) => self.back_to_tune(effects),
            (Screen::Sessions, _) => self.leave_sessions(effects),
            (Screen::Tune, _) => self.act_on_tune(Action::Quit, None, effects),
            (Screen::Pager | Screen::Stores | Screen::Watch, _) => self.leave(effects),
        }
    }

    fn close_read_form(&mut self, effects: &mut Effects) -> bool {
        let mut closed = false;
        self.in_pager(|pager| closed = pager.close_read_form(effects));
        closed
    }

    /// Leaves the screens from wherever it is; asks first if something would be lost.
    pub(crate) fn leave(&mut self, effects: &mut Effects) {
        if self.pager.as_ref().is_some_and(|pager| pager.running) {
            let command = CommandFate::default();
            self.lay_over(Popup::Leaving(Leaving { question: Question::Command, command }));
        } else {
            self.leave_command(CommandFate::default(), effects);
        }
    }

    /// Leaves the screens, once it is known what becomes of the command; asks first if something is marked for
    /// deletion.
    fn leave_command(&mut self, command: CommandFate, effects: &mut Effects) {
        let pending = &self.stores.listing.pending;
        if pending.is_empty() {
            return quit(command, Vec::new(), effects);
        }
        let question = Question::Deletions { outputs: pending.len(), bytes: pending.bytes() };
        self.lay_over(Popup::Leaving(Leaving { question, command }));
    }

    /// Leaves the screens at once: deletes nothing, and lets the command run on.
    pub(crate) fn interrupt(effects: &mut Effects) {
        quit(CommandFate::RunsOn, Vec::new(), effects);
    }

    /// Handles a key while a question is asked. Keys that do not answer it do nothing.
    pub(crate) fn answer_key(&mut self, leaving: Leaving, key: KeyEvent, effects: &mut Effects) {
        if self.canvas.keys.action(self.key_place(), key) == Some(Action::Interrupt) {
            return Self::interrupt(effects);
        }
        let Some(answer) = Question::answer(key) else { return };
        self.uncover();
        match (leaving.question, answer) {
            (_, Answer::Stay) => {}
            (Question::Command, Answer::Yes) => self.leave_command(CommandFate::Stops, effects),
            (Question::Command, Answer::No) => self.leave_command(CommandFate::RunsOn, effects),
            (Question::Deletions { .. }, Answer::Yes) => {
                quit(leaving.command, self.stores.take_pending(), effects);
            }
            (Question::Deletions { .. }, Answer::No) => quit(leaving.command, Vec::new(), effects),
        }
    }

    /// Takes back the question whether to stop the command, because it has ended by itself.
    pub(crate) fn command_ended(&mut self) {
        if let Some(Popup::Leaving(Leaving { question: Question::Command, .. })) = self.popup {
            self.uncover();
        }
    }
}

/// Ends the screens.
fn quit(command: CommandFate, to_delete: Vec<crate::store::Marked>, effects: &mut Effects) {
    if command == CommandFate::Stops {
        effects.push(Effect::StopCommand);
    }
    effects.push(Effect::Quit(to_delete));
}
