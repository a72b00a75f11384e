//! Making previews: at once of a small output, by a worker of a large one, which can be given up.

use crate::tui::event::{Effect, Effects, Message};
use crate::tui::widget::layout::Side;

use super::Pager;
use super::advice::LimitChange;
use super::making::Planned;
use super::window::ReadWindow;

/// What the screens do once a preview has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterPlan {
    /// The panes stay where they are.
    #[default]
    Stay,
    /// Both panes show where it is cut.
    ShowCut,
    /// Preview shows a window of lines as the agent's read tool gives it.
    ShowWindow(ReadWindow),
    /// Spill goes back to a window of lines.
    GoBack(ReadWindow),
}

impl Pager {
    /// A number that no task has had.
    pub(crate) fn next_plan(&mut self) -> u64 {
        self.plans += 1;
        self.plans
    }

    /// Makes the preview that a person waits for; an earlier one is no longer wanted.
    pub(crate) fn plan(&mut self, then: AfterPlan, effects: &mut Effects) {
        let number = self.next_plan();
        let output = &mut self.output;
        self.then = then;
        match output.replan(number, true) {
            Some(task) => effects.push(Effect::Plan(Box::new(task))),
            None => self.show_planned(effects),
        }
    }

    /// Makes the preview anew because more is known; one that is being made is let finish first.
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

    /// A preview has been made.
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

    /// Nobody waits for the preview any longer: what was shown before stands. False if nobody did.
    pub(crate) fn give_up_planning(&mut self, effects: &mut Effects) -> bool {
        let output = &mut self.output;
        if !output.is_awaited() {
            return false;
        }
        let name = output.subject.policy.name().to_owned();
        let words = if output.give_up() {
            format!("gave up planning {name}; this is the preview from before")
        } else {
            format!("gave up planning {name}; p picks another policy")
        };
        self.message = Some(Message::note(words));
        effects.push(Effect::StopPlan);
        self.count_all(effects);
        true
    }

    /// Puts the panes where the person wants to see the preview that has been made.
    fn show_planned(&mut self, effects: &mut Effects) {
        let then = std::mem::take(&mut self.then);
        if then == AfterPlan::Stay {
            self.settle();
            return;
        }
        self.find.forget_preview();
        self.count_kept();
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

    /// Takes in what it takes to keep a line.
    pub(crate) fn advised(&mut self, number: u64, change: Option<LimitChange>) {
        if let Some(advice) = self.drawer.advice.as_mut().filter(|advice| advice.asked == Some(number)) {
            advice.asked = None;
            advice.change = change;
        }
    }
}
