//! Trying on a policy: the panes show its preview until it is taken or given back.

use crate::config::EffectivePolicy;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::panes::Place;
use super::planning::AfterPlan;

/// What the panes showed before the first policy was tried on.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    policy: EffectivePolicy,
    place: Place,
}

impl Pager {
    /// Shows the preview of a policy without taking it.
    pub(crate) fn try_on(&mut self, choice: &EffectivePolicy, effects: &mut Effects) {
        if self.trial.is_none() {
            self.trial = Some(Trial { policy: self.output.subject.policy.clone(), place: self.panes.here() });
        }
        self.panes.focus = Side::Preview;
        self.use_policy(choice.clone(), AfterPlan::Hold, effects);
    }

    /// Returns to the policy, the limits and the place that one had before trying on others. Does nothing if none was
    /// tried on.
    pub(crate) fn give_back(&mut self, effects: &mut Effects) {
        let Some(Trial { policy, place }) = self.trial.take() else { return };
        self.use_policy(policy, AfterPlan::Return(place), effects);
        self.message = None;
    }

    /// Returns the policy that one had before trying on others.
    pub(crate) fn own_policy(&self) -> &EffectivePolicy {
        self.trial.as_ref().map_or(&self.output.subject.policy, |trial| &trial.policy)
    }
}
