//! Trying on a policy: the panes show its preview until it is taken or given back.

use crate::preview::Policy;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::panes::Place;
use super::planning::AfterPlan;
use crate::tui::target::Choice;

/// What the panes showed before the first policy was tried on.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    policy: Policy,
    limits_from: String,
    place: Place,
}

impl Pager {
    /// Shows the preview of a policy without taking it.
    pub(crate) fn try_on(&mut self, choice: &Choice, effects: &mut Effects) {
        let subject = &self.output.subject;
        if self.trial.is_none() {
            let (policy, limits_from) = (subject.policy.clone(), subject.limits_from.clone());
            self.trial = Some(Trial { policy, limits_from, place: self.panes.here() });
        }
        self.panes.focus = Side::Preview;
        self.use_policy_then(choice.policy.clone(), choice.limits_from.clone(), AfterPlan::Hold, effects);
    }

    /// Returns to the policy, the limits and the place that one had before trying on others. Does nothing if none was
    /// tried on.
    pub(crate) fn give_back(&mut self, effects: &mut Effects) {
        let Some(Trial { policy, limits_from, place }) = self.trial.take() else { return };
        self.use_policy_then(policy, limits_from, AfterPlan::Return(place), effects);
        self.message = None;
    }

    /// Returns the policy and the limits that one had before trying on others.
    pub(crate) fn own_policy(&self) -> (&Policy, &str) {
        let subject = &self.output.subject;
        let tried = self.trial.as_ref().map(|trial| (&trial.policy, &trial.limits_from));
        let (policy, limits_from) = tried.unwrap_or((&subject.policy, &subject.limits_from));
        (policy, limits_from)
    }
}
