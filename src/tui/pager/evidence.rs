//! What the preview shows, the record of a call or what a policy makes of the output, and how certain it is that the model got that.

use crate::output::recorded::{CallFacts, CallRequest, PreviewFrom};
use crate::session::examine::{Paths, RestOfOutput};
use crate::session::verify::Verdict;
use crate::tui::job::Slot;
use crate::tui::keys::Action;
use crate::tui::screen::Effects;

use super::Pager;
use super::planning::AfterPlan;

impl Pager {
    /// Switches between what was recorded and what the policy makes of the output; the text under examination stays where
    /// it is.
    pub(crate) fn turn_evidence(&mut self, effects: &mut Effects) {
        if self.open_claim(effects) {
            return;
        }
        if let Some(why) = self.nothing_to_reconstruct() {
            return self.note(why);
        }
        self.output.is_compared = true;
        self.output.preview_from = match self.output.preview_from {
            PreviewFrom::Records => PreviewFrom::Policy,
            PreviewFrom::Policy => PreviewFrom::Records,
        };
        self.plan(AfterPlan::Compare, effects);
    }

    /// Shows where the records claim the spill to be, and opens it once that was shown. Returns false if there is no claim.
    fn open_claim(&mut self, effects: &mut Effects) -> bool {
        let key = self.key_of(Action::Evidence);
        let Some(recorded) = &self.output.recorded else { return false };
        let Some(claim) = &recorded.claim else { return false };
        if std::mem::replace(&mut self.claim_shown, true) {
            effects.ask(Slot::OpenSession, CallRequest::Show(recorded.index, Paths::Any));
        } else {
            let path = claim.display();
            self.note(format!("in no known store: {path} · {key} again opens it"));
        }
        true
    }

    /// Returns why what was recorded cannot be set against a reconstruction; `None` if it can.
    pub(crate) fn nothing_to_reconstruct(&self) -> Option<String> {
        let Some(recorded) = &self.output.recorded else {
            let [lists, sessions] = [Action::Stores, Action::Other].map(|action| self.key_of(action));
            return Some(format!(
                "no record of this output is known; {lists} {sessions} lists the sessions that agents recorded"
            ));
        };
        let why = match recorded.rest {
            RestOfOutput::Here => return None,
            RestOfOutput::Missing(why) => why,
            RestOfOutput::NotCut => "the agent did not cut it",
        };
        Some(format!("nothing to reconstruct the preview from: {why}"))
    }

    pub(crate) fn take_facts(&mut self, index: usize, facts: CallFacts) {
        if let Some(recorded) = self.output.recorded.as_mut().filter(|recorded| recorded.index == index) {
            (recorded.facts, recorded.texts) = (facts.facts, Some(facts.texts));
        }
    }

    /// Takes in whether a policy makes the same text as was recorded.
    pub(crate) fn checked(&mut self, index: usize, verdict: Verdict) {
        if let Some(recorded) = self.output.recorded.as_mut().filter(|recorded| recorded.index == index) {
            recorded.check = Some(verdict);
        }
    }
}
