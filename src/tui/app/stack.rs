//! The stack of places: what comes on it, where leaving leads back to, and what is asked before the screens are left.

use std::any::Any;

use crate::store::{Pending, PendingDelete};
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::list::screen::ListScreen;
use crate::tui::outputs::Outputs;
use crate::tui::pager::{OutputEvent, Pager};
use crate::tui::popup::leaving::Leaving;
use crate::tui::screen::{Effect, Effects, ExitChoice, Layer, Link, Screen};
use crate::tui::target::PagerInput;
use crate::tui::tune::Tuning;

use super::App;

impl App {
    pub fn top(&self) -> Option<&dyn Screen> {
        self.stack.last().or(self.idle_screens.first()).map(|screen| &**screen)
    }

    pub(super) fn on_top<T>(&mut self, act: impl FnOnce(&mut dyn Screen) -> T) -> Option<T> {
        let top = self.stack.last_mut().or(self.idle_screens.first_mut())?;
        Some(act(&mut **top))
    }

    pub fn context(&self) -> KeyContext {
        self.top().map_or(KeyContext::Everywhere, Screen::context)
    }

    pub fn places(&self) -> impl DoubleEndedIterator<Item = &dyn Screen> {
        self.stack.iter().map(|screen| &**screen)
    }

    /// Returns the screen of a type: the uppermost on the stack, else as it was left.
    pub fn screen<S: Screen>(&self) -> Option<&S> {
        let mut screens = self.stack.iter().rev().chain(&self.idle_screens);
        screens.find_map(|screen| (&**screen as &dyn Any).downcast_ref())
    }

    pub fn screen_mut<S: Screen>(&mut self) -> Option<&mut S> {
        let mut screens = self.stack.iter_mut().rev().chain(&mut self.idle_screens);
        screens.find_map(|screen| (&mut **screen as &mut dyn Any).downcast_mut())
    }

    pub fn outputs(&self) -> impl DoubleEndedIterator<Item = &Pager> {
        self.places().filter_map(as_pager)
    }

    /// Returns the output that is shown, or the nearest one beneath the lists.
    pub fn output(&self) -> Option<&Pager> {
        self.outputs().next_back()
    }

    pub fn layers(&self) -> impl DoubleEndedIterator<Item = &dyn Layer> {
        self.layers.iter().map(|layer| &**layer)
    }

    pub fn go_to(&mut self, link: Link, effects: &mut Effects) {
        self.show(link, effects);
        self.handle_requests(effects);
    }

    /// Goes to the screen that serves a link: back to it if it is on the stack, else it comes on top.
    pub(super) fn show(&mut self, link: Link, effects: &mut Effects) {
        let serves = |screen: &dyn Screen| screen.serves(&link);
        let depth = self.places().rev().position(serves);
        if let Some(depth) = depth {
            self.pop(depth, effects);
        } else if let Some(at) = self.idle_screens.iter().position(|screen| serves(&**screen)) {
            let screen = self.idle_screens.remove(at);
            self.on_top(|top| top.cover(effects));
            self.stack.push(screen);
        }
        self.send(link.into(), effects);
        self.on_top(|top| top.show(effects));
    }

    /// Goes to the screen that serves a link in place of the one on top, which takes its place if it is on the stack.
    pub(super) fn turn(&mut self, link: Link, effects: &mut Effects) {
        let at = self.places().position(|screen| screen.serves(&link));
        if let Some(at) = at {
            self.on_top(|top| top.cover(effects));
            let top = self.stack.len() - 1;
            self.stack.swap(at, top);
        } else {
            self.pop(1, effects);
        }
        self.show(link, effects);
    }

    /// Takes places off the top, and continues the output beneath one that was taken off.
    pub(super) fn pop(&mut self, places: usize, effects: &mut Effects) {
        let mut uppermost = None;
        for mut screen in self.stack.split_off(self.stack.len().saturating_sub(places)).into_iter().rev() {
            screen.close(effects);
            match into_pager(screen) {
                Ok(pager) => {
                    self.what_ifs.extend(pager.what_if_to_keep());
                    uppermost = uppermost.or(Some(pager));
                }
                Err(list) => self.idle_screens.push(list),
            }
        }
        if let (Some(closed), Some(pager)) = (uppermost, self.screen_mut::<Pager>()) {
            pager.resume(closed.search_history(), effects);
        }
    }

    /// Puts an output on top, in place of one that is there.
    pub fn open(&mut self, mut opened: PagerInput, effects: &mut Effects) {
        let file = opened.subject.file.as_ref().filter(|_| !opened.is_named);
        let what_if = file.and_then(|file| self.what_ifs.get(file).cloned().flatten());
        opened.start.under = opened.start.under.take().or(what_if);
        let screens = self.stack.iter().chain(&self.idle_screens);
        let tuning = screens.filter_map(|screen| (&**screen as &dyn Any).downcast_ref());
        tuning.for_each(|tuning: &ListScreen<Tuning>| tuning.of.adapt(&mut opened));
        let before = self.screen_mut::<Pager>().map(|pager| pager.pause(effects)).unwrap_or_default();
        let replaced = self.stack.pop_if(|screen| as_pager(&**screen).is_some());
        self.idle_screens
            .extend(replaced.filter(|screen| as_pager(&**screen).is_some_and(|pager| pager.is_named)));
        let is_it = |screen: &dyn Screen| as_pager(screen).is_some_and(|pager| pager.is_same_as(&opened));
        let left = self.idle_screens.iter().position(|screen| is_it(&**screen));
        let pager = match left.map(|at| into_pager(self.idle_screens.remove(at))) {
            Some(Ok(mut pager)) => {
                pager.reopen(opened, before, effects);
                pager
            }
            _ => {
                let mut pager = Box::new(Pager::new(self.canvas, opened, before, effects));
                pager.mark_severities(self.severities.clone(), effects);
                pager
            }
        };
        self.on_top(|top| top.cover(effects));
        self.stack.push(pager);
        self.layers.clear();
        self.handle_requests(effects);
    }

    /// Handles an event of the output that is still being made, which is the first one.
    pub fn live_event(&mut self, event: OutputEvent, effects: &mut Effects) {
        if matches!(event, OutputEvent::Ended(_)) {
            let asks = |layer: &Leaving| matches!(layer, Leaving::Command(_));
            self.layers.pop_if(|layer| (&**layer as &dyn Any).downcast_ref().is_some_and(asks));
        }
        let is_alone = self.outputs().map(|pager| pager.file).eq([0]);
        let screens = self.stack.iter_mut().chain(&mut self.idle_screens);
        let mut pagers = screens.filter_map(|screen| (&mut **screen as &mut dyn Any).downcast_mut::<Pager>());
        let Some(pager) = pagers.find(|pager| pager.is_named && pager.file == 0) else { return };
        // The pager repeats its requests when shown.
        let mut covered = Effects::default();
        pager.handle(event, if is_alone { effects } else { &mut covered });
        self.handle_requests(effects);
    }

    /// Goes back to the outputs named on the command line, which are at the bottom, and on to the one of this index.
    pub(super) fn other_file(&mut self, number: usize, effects: &mut Effects) {
        self.pop(self.stack.len().saturating_sub(1), effects);
        effects.push(Effect::OtherFile(number));
    }

    pub(super) fn quit(&mut self, effects: &mut Effects) {
        if self.on_top(|top| top.close_inner(effects)) == Some(true) {
            return;
        }
        if self.stack.len() > 1 { self.go_back(effects) } else { self.leave(ExitChoice::default(), effects) }
    }

    pub(super) fn go_back(&mut self, effects: &mut Effects) {
        if self.stack.len() > 1 {
            self.pop(1, effects);
            self.on_top(|top| top.show(effects));
            return;
        }
        let quit = self.canvas.keys.label(self.context(), Action::Quit);
        self.say(Some(Message::note(format!("{quit} quits"))));
    }

    /// Leaves the screens from wherever it is; asks first about what would be lost, unless that is chosen.
    pub(super) fn leave(&mut self, choice: ExitChoice, effects: &mut Effects) {
        if choice.stop_command.is_none() && self.places().any(|screen| screen.is_running()) {
            return effects.push_layer(Leaving::Command(choice));
        }
        if let (None, Some(pending)) = (choice.delete_marked, self.pending()) {
            return effects.push_layer(Leaving::deletions(pending, 0, Some(choice)));
        }
        if choice.stop_command == Some(true) {
            effects.push(Effect::StopCommand);
        }
        let to_delete = if choice.delete_marked == Some(true) { self.take_pending() } else { Vec::new() };
        effects.push(Effect::Quit(to_delete));
    }

    /// Stops a job, else leaves the screens, and deletes nothing; asks while the command runs.
    pub(super) fn interrupt(&mut self, effects: &mut Effects) {
        let is_stopped = self.on_top(|top| top.stop(effects)) == Some(true);
        let outputs = self.screen_mut::<ListScreen<Outputs>>();
        if !is_stopped && !outputs.is_some_and(|outputs| outputs.of.give_up_keeping(effects)) {
            self.leave(ExitChoice { delete_marked: Some(false), ..ExitChoice::default() }, effects);
        }
    }

    pub fn pending(&self) -> Option<&Pending> {
        let outputs = self.screen::<ListScreen<Outputs>>()?;
        Some(&outputs.of.pending).filter(|pending| !pending.is_empty())
    }

    pub fn take_pending(&mut self) -> Vec<PendingDelete> {
        self.screen_mut::<ListScreen<Outputs>>().map_or_else(Vec::new, |outputs| outputs.of.pending.take())
    }
}

fn as_pager(screen: &dyn Screen) -> Option<&Pager> {
    (screen as &dyn Any).downcast_ref()
}

fn into_pager(screen: Box<dyn Screen>) -> Result<Box<Pager>, Box<dyn Screen>> {
    match as_pager(&*screen).is_some() {
        true => (screen as Box<dyn Any>).downcast().map_err(|_| unreachable!()),
        false => Err(screen),
    }
}
