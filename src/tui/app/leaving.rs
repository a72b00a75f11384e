//! Going from place to place and back, and leaving the screens, with a question if something would be lost.

use crossterm::event::KeyEvent;

use crate::tui::effect::{Effect, Effects};
use crate::tui::event::Message;
use crate::tui::keys::Action;
use crate::tui::popup::Popup;
use crate::tui::popup::leaving::{Answer, CommandFate, Leaving, Question};

use super::stack::StackPlace;
use super::{App, Screen};

impl App {
    /// Shows a list: goes back to it if it is on the stack, else puts it on top.
    pub(crate) fn go_to(&mut self, list: Screen, effects: &mut Effects) {
        match self.stack.depth_of(list) {
            Some(depth) => self.pop(depth, effects),
            None => {
                if self.stack.screen() == Screen::Sessions {
                    self.sessions.leave(effects);
                }
                self.stack.push_list(list);
            }
        }
    }

    /// Takes places off the top, and continues the one beneath them.
    pub(crate) fn pop(&mut self, places: usize, effects: &mut Effects) {
        let mut left = None;
        for _ in 0..places {
            match self.stack.pop() {
                Some(StackPlace::Output(pager)) => left = left.or(Some(pager)),
                Some(StackPlace::List(list)) => self.close_list(list, effects),
                None => {}
            }
        }
        if let Some(left) = left {
            left.stop_work(effects);
            if let Some(pager) = self.stack.output_mut() {
                pager.resume(&left, effects);
            }
        }
    }

    fn close_list(&mut self, list: Screen, effects: &mut Effects) {
        match list {
            Screen::Sessions => {
                self.sessions.leave(effects);
                if self.sessions.calls.is_some() {
                    self.sessions.close_calls(effects);
                }
            }
            Screen::Tune => self.tune.close(effects),
            _ => {}
        }
    }

    /// Closes what lies over the place, else goes back to the place beneath, else leaves the screens.
    pub(crate) fn quit(&mut self, effects: &mut Effects) {
        match self.stack.screen() {
            Screen::Pager if self.close_read_form(effects) => {}
            Screen::Stores if self.stores.hits.is_some() => self.stores.close_hits(effects),
            Screen::Sessions if self.sessions.is_over_list() => self.close_calls(effects),
            Screen::Tune => self.act_on_tune(Action::Quit, None, effects),
            _ if self.stack.is_at_bottom() => self.leave(effects),
            _ => self.go_back(effects),
        }
    }

    /// Goes back to the place beneath; at the bottom it says how to quit.
    pub(crate) fn go_back(&mut self, effects: &mut Effects) {
        if self.stack.is_at_bottom() {
            let quit = self.canvas.keys.of(self.key_place(), Action::Quit);
            self.message = Some(Message::note(format!("{quit} quits")));
            return;
        }
        self.pop(1, effects);
        match self.stack.screen() {
            Screen::Stores => self.go_to_stores(effects),
            Screen::Sessions if self.sessions.calls.is_none() => self.go_to_sessions(effects),
            Screen::Sessions => self.sessions.settle(effects),
            _ => {}
        }
    }

    fn close_read_form(&mut self, effects: &mut Effects) -> bool {
        let mut closed = false;
        self.in_pager(|pager| closed = pager.close_read_form(effects));
        closed
    }

    /// Leaves the screens from wherever it is; asks first if something would be lost.
    pub(crate) fn leave(&mut self, effects: &mut Effects) {
        if self.stack.outputs().any(|pager| pager.running) {
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

    /// Stops what runs, else leaves the screens at once: deletes nothing, and lets the command run on.
    pub(crate) fn interrupt(&mut self, effects: &mut Effects) {
        let mut stopped = false;
        match self.stack.screen() {
            Screen::Pager => self.in_pager(|pager| stopped = pager.stop(effects)),
            Screen::Stores => stopped = self.in_stores(|stores| stores.stop(effects)),
            Screen::Tune => stopped = self.tune.give_up(effects),
            Screen::Sessions | Screen::Watch => {}
        }
        self.message = self.tune.message.take().or(self.message.take());
        if !stopped {
            quit(CommandFate::RunsOn, Vec::new(), effects);
        }
    }

    /// Handles a key while a question is asked. Keys that do not answer it do nothing.
    pub(crate) fn answer_key(&mut self, leaving: Leaving, key: KeyEvent, effects: &mut Effects) {
        if self.canvas.keys.action(self.key_place(), key) == Some(Action::Interrupt) {
            return self.uncover();
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
