//! Asks for previews, and shows them once they are made.

use crate::tui::event::Message;
use crate::tui::job::{Pace, Slot};
use crate::tui::keys::Action;
use crate::tui::screen::Effects;

use super::Pager;
use super::advice::LimitChange;
use super::jobs::{self, SOON};
use super::making::Planned;
use super::panes::Place;
use super::viewpoint::ViewPoint;

/// What the screen does once a preview has been made.
#[derive(Debug, Default)]
pub(crate) enum AfterPlan {
    /// Leave the panes where they are.
    #[default]
    Stay,
    /// Hold the text under examination where it is on the screen, and say what became of it.
    Hold,
    /// Hold the text under examination where it is on the screen, and say what is shown now.
    Compare,
    /// Scroll the panes back to where they were.
    Return(Place),
    /// Show the window of lines in Preview, as the agent's read tool returns it, and remember where the user was.
    ShowWindow(Box<ViewPoint>),
    /// Go back from the window as the read tool returns it: to a place or, if the window has moved, to this one.
    LeaveRead(Option<Place>),
}

impl Pager {
    /// Returns a new task number.
    pub(crate) fn next_plan(&mut self) -> u64 {
        self.plans += 1;
        self.plans
    }

    /// Makes the preview that the user is waiting for; an earlier one is abandoned.
    pub(crate) fn plan(&mut self, then: AfterPlan, effects: &mut Effects) {
        let number = self.next_plan();
        self.then = then;
        self.hold_for_plan();
        jobs::plan(self.output.replan(number, true), SOON, effects);
    }

    /// Makes the preview again because more is known. If one is being made, it finishes first.
    pub(crate) fn plan_again(&mut self, effects: &mut Effects) {
        let number = self.next_plan();
        let output = &mut self.output;
        if output.wait_to_replan() {
            return;
        }
        self.then = AfterPlan::Stay;
        jobs::plan(output.replan(number, false), Pace::Background, effects);
    }

    /// Makes the preview of a view point again, then does `then`.
    pub(crate) fn plan_from(&mut self, point: &ViewPoint, then: AfterPlan, effects: &mut Effects) {
        self.output.subject.policy = point.policy.clone();
        self.output.preview_from = point.from;
        self.plan(then, effects);
        self.count_all(effects);
    }

    /// Shows again what was shown at a view point. Does nothing if its preview is still shown.
    pub(crate) fn return_to(&mut self, point: ViewPoint, effects: &mut Effects) {
        let output = &self.output;
        if output.preview_from != point.from || !point.policy.policy.is_same(output.policy()) {
            let place = point.place.clone();
            self.plan_from(&point, AfterPlan::Return(place), effects);
        }
    }

    /// Handles a finished preview.
    pub(crate) fn planned(&mut self, planned: Planned, effects: &mut Effects) {
        if !self.output.awaits(planned.number) {
            return;
        }
        self.hold_for_plan();
        let again = self.output.take(planned);
        self.show_planned(effects);
        if again {
            self.plan_again(effects);
        }
    }

    /// Stops waiting for a preview; the one shown before stays. Returns false if none was awaited.
    pub(crate) fn give_up_planning(&mut self, effects: &mut Effects) -> bool {
        let output = &mut self.output;
        if !output.is_awaited() {
            return false;
        }
        let name = output.policy().name().to_owned();
        let words = if output.give_up() {
            format!("gave up planning {name}; showing the previous preview")
        } else {
            format!("gave up planning {name}; {} changes limits", self.key_of(Action::Limits))
        };
        self.message = Some(Message::note(words));
        effects.stop([Slot::Plan]);
        self.count_all(effects);
        true
    }

    /// Remembers the text under examination if it is to be held while the preview changes.
    fn hold_for_plan(&mut self) {
        if matches!(self.then, AfterPlan::Hold | AfterPlan::Compare) {
            self.hold();
        }
    }

    /// Scrolls the panes to what the user wants to see of the preview just made.
    fn show_planned(&mut self, effects: &mut Effects) {
        self.count_kept();
        self.count_kept_errors();
        self.filter_again(effects);
        match std::mem::take(&mut self.then) {
            AfterPlan::Stay => return self.settle(),
            AfterPlan::Hold => {
                self.find.forget_preview();
                self.find_again();
                self.hold_still();
                self.message = Some(Message::note(self.outcome()));
            }
            AfterPlan::Compare => {
                self.find.forget_preview();
                self.find_again();
                self.hold_still();
                self.message = Some(Message::note(self.evidence_in_words()));
            }
            AfterPlan::Return(place) => {
                self.find_again();
                self.go_back(&place);
            }
            AfterPlan::ShowWindow(before) => self.show_window(*before),
            AfterPlan::LeaveRead(place) => self.leave_window(place),
        }
        if self.drawer.is_open() {
            self.advise(effects);
        }
    }

    /// Handles the answer to what keeps a line.
    pub(crate) fn advised(&mut self, number: u64, change: Option<LimitChange>) {
        if let Some(advice) = self.drawer.advice.as_mut().filter(|advice| advice.asked == Some(number)) {
            advice.asked = None;
            advice.change = change;
        }
    }
}
