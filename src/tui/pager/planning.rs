//! Makes previews: at once for a small output; by a worker for a large one, which can be abandoned.

use crate::tui::event::{Effect, Effects, Message};
use crate::tui::widget::layout::Side;

use super::Pager;
use super::advice::LimitChange;
use super::making::Planned;
use super::window::ReadWindow;

/// What the screen does once a preview has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterPlan {
    /// Leave the panes where they are.
    #[default]
    Stay,
    /// Show the cut in both panes.
    ShowCut,
    /// Show a window of lines in Preview, as the agent's read tool returns it.
    ShowWindow(ReadWindow),
    /// Scroll Spill back to a window of lines.
    GoBack(ReadWindow),
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
        let output = &mut self.output;
        self.then = then;
        match output.replan(number, true) {
            Some(task) => effects.push(Effect::Plan(Box::new(task))),
            None => self.show_planned(effects),
        }
    }

    /// Makes the preview again because more is known. If one is being made, it finishes first.
    pub(crate) fn plan_again(&mut self, effects: &mut Effects) {
        let number = self.next_plan();
        let output = &mut self.output;
        if output.wait_to_replan() {
            return;
        }
        self.then = AfterPlan::Stay;
        match output.replan(number, false) {
            Some(task) => effects.push(Effect::Plan(Box::new(task))),
            None => self.show_planned(effects),
        }
    }

    /// Handles a finished preview.
    pub(crate) fn planned(&mut self, planned: Planned, effects: &mut Effects) {
        let output = &mut self.output;
        if !output.awaits(planned.number) {
            return;
        }
        let again = output.take(planned);
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
        let name = output.subject.policy.name().to_owned();
        let words = if output.give_up() {
            format!("gave up planning {name}; showing the previous preview")
        } else {
            format!("gave up planning {name}; p picks another policy")
        };
        self.message = Some(Message::note(words));
        effects.push(Effect::StopPlan);
        self.count_all(effects);
        true
    }

    /// Scrolls the panes to what the user wants to see of the preview just made.
    fn show_planned(&mut self, effects: &mut Effects) {
        let then = std::mem::take(&mut self.then);
        self.count_kept();
        if then == AfterPlan::Stay {
            self.settle();
            return;
        }
        self.find.forget_preview();
        self.message = Some(Message::note(self.limits_in_words()));
        self.show_cut();
        match then {
            AfterPlan::ShowWindow(window) => {
                self.place(Side::Preview, 0);
                self.panes.window = window;
                self.message = Some(Message::note("the window as the agent reads it; O goes back"));
            }
            AfterPlan::GoBack(window) => self.bring_back(window),
            AfterPlan::Stay | AfterPlan::ShowCut => {}
        }
        if self.drawer.open {
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
