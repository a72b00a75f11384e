//! The outputs on the stack: how they come on it, and what happens to the first one while it is made.

use std::any::Any;

use crate::tui::event::ScreenEvent;
use crate::tui::pager::Pager;
use crate::tui::pager::bookmark::Handover;
use crate::tui::pager::event::OutputEvent;
use crate::tui::pager::planning::AfterPlan;
use crate::tui::popup::leaving::{Leaving, Question};
use crate::tui::screen::{Effect, Effects};
use crate::tui::target::{Opened, StartAt};

use super::App;

impl App {
    /// Returns the output that is shown, or the nearest one beneath the lists.
    pub fn output(&self) -> Option<&Pager> {
        self.places().rev().find_map(|screen| (screen as &dyn Any).downcast_ref())
    }

    /// Returns the same to change it.
    pub fn output_mut(&mut self) -> Option<&mut Pager> {
        self.screen_mut()
    }

    /// Returns the outputs, the first one at the bottom.
    pub fn outputs(&self) -> impl Iterator<Item = &Pager> {
        self.places().filter_map(|screen| (screen as &dyn Any).downcast_ref())
    }

    /// Goes to the screen that serves an event, and hands it over.
    pub fn go_to(&mut self, event: impl ScreenEvent, effects: &mut Effects) {
        self.show(Box::new(event), effects);
        self.meet_requests(effects);
    }

    /// Puts an output on top, in place of one that is there.
    pub fn open(&mut self, mut opened: Opened, effects: &mut Effects) {
        self.screens().for_each(|screen| screen.adapt(&mut opened));
        let (line, under, find) = (opened.line, opened.under.take(), opened.find.take());
        let replaced = self.stack.pop_if(|screen| (&**screen as &dyn Any).is::<Pager>());
        let replaced = replaced.and_then(|screen| (screen as Box<dyn Any>).downcast::<Pager>().ok());
        let before = match replaced {
            Some(replaced) => replaced.hand_over(),
            None => self.output_mut().map_or_else(Handover::default, |pager| pager.park(effects)),
        };
        let mut pager = Pager::new(self.canvas, opened, before, effects);
        pager.errors.patterns = self.severities.clone();
        if let Some(pattern) = find {
            pager.find.look_for(pattern);
            pager.count_matches(effects);
        }
        if let Some(line) = line {
            pager.handle(OutputEvent::StartAt(StartAt::Line(line)), effects);
        }
        if let Some(policy) = under {
            pager.use_policy(policy, AfterPlan::Hold, effects);
        }
        self.on_top(|top| top.cover(effects));
        self.stack.push(Box::new(pager));
        self.layers.clear();
        self.meet_requests(effects);
    }

    /// Handles an event of the output that is still being made, which is the first one.
    pub fn live_event(&mut self, event: OutputEvent, effects: &mut Effects) {
        if matches!(event, OutputEvent::Finished) {
            let asks = |layer: &Leaving| layer.question == Question::Command;
            self.layers.pop_if(|layer| (&**layer as &dyn Any).downcast_ref().is_some_and(asks));
        }
        let is_alone = self.outputs().count() == 1;
        let first = self.stack.iter_mut().find_map(|screen| (&mut **screen as &mut dyn Any).downcast_mut());
        let Some(pager): Option<&mut Pager> = first else { return };
        // What it asks for is asked for again once it is shown.
        let mut covered = Effects::default();
        pager.handle(event, if is_alone { effects } else { &mut covered });
        self.meet_requests(effects);
    }

    /// Goes back to the outputs named on the command line, which are at the bottom, and on to the next or previous one.
    pub(super) fn other_file(&mut self, next: bool, effects: &mut Effects) {
        self.pop(self.stack.len().saturating_sub(1), effects);
        effects.push(Effect::OtherFile { next });
    }
}
