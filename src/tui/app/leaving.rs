//! Going back from place to place, and leaving the screens, with a question if something would be lost.

use crate::store::Marked;
use crate::tui::event::Message;
use crate::tui::keys::Action;
use crate::tui::popup::leaving::{Leaving, Question};
use crate::tui::screen::{CommandFate, Effect, Effects, PendingFate};

use super::App;

impl App {
    /// Closes what lies over the place, else goes back to the place beneath, else leaves the screens.
    pub(super) fn quit(&mut self, effects: &mut Effects) {
        if self.on_top(|top| top.close_inner(effects)) == Some(true) {
            return;
        }
        match self.is_at_bottom() {
            true => self.leave(effects),
            false => self.go_back(effects),
        }
    }

    /// Goes back to the place beneath; at the bottom it says how to quit.
    pub(super) fn go_back(&mut self, effects: &mut Effects) {
        if self.is_at_bottom() {
            let quit = self.canvas.keys.of(self.context(), Action::Quit);
            self.say(Some(Message::note(format!("{quit} quits"))));
            return;
        }
        self.pop(1, effects);
        self.on_top(|top| top.show(effects));
    }

    /// Leaves the screens from wherever it is; asks first if something would be lost.
    pub(super) fn leave(&mut self, effects: &mut Effects) {
        let runs = self.places().any(|screen| screen.is_running());
        match runs {
            true => effects.lay(Leaving { question: Question::Command, command: CommandFate::default() }),
            false => self.leave_command(CommandFate::default(), effects),
        }
    }

    /// Leaves the screens, once it is known what becomes of the command; asks first if something is marked for
    /// deletion.
    pub(super) fn leave_command(&mut self, command: CommandFate, effects: &mut Effects) {
        let pending = self.screens().find_map(|screen| screen.pending());
        let question = pending.map(|pending| Question::deletions(pending, true));
        match question {
            Some(question) => effects.lay(Leaving { question, command }),
            None => quit(command, Vec::new(), effects),
        }
    }

    /// Leaves the screens at once.
    pub(super) fn quit_now(&mut self, command: CommandFate, marks: PendingFate, effects: &mut Effects) {
        let to_delete = match marks {
            PendingFate::Delete => self.take_pending(),
            PendingFate::Keep => Vec::new(),
        };
        quit(command, to_delete, effects);
    }

    /// Deletes what is marked for deletion.
    pub(super) fn delete_marked(&mut self, effects: &mut Effects) {
        effects.push(Effect::Delete(self.take_pending()));
    }

    fn take_pending(&mut self) -> Vec<Marked> {
        let screens = self.stack.iter_mut().chain(&mut self.shelf);
        screens.flat_map(|screen| screen.take_pending()).collect()
    }

    /// Stops what runs, else leaves the screens at once: deletes nothing, and lets the command run on.
    pub(super) fn interrupt(&mut self, effects: &mut Effects) {
        if self.on_top(|top| top.stop(effects)) != Some(true) {
            quit(CommandFate::RunsOn, Vec::new(), effects);
        }
    }
}

/// Ends the screens.
fn quit(command: CommandFate, to_delete: Vec<Marked>, effects: &mut Effects) {
    if command == CommandFate::Stops {
        effects.push(Effect::StopCommand);
    }
    effects.push(Effect::Quit(to_delete));
}
