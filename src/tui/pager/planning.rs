//! Asks for previews, and shows them once they are made.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use crate::config::EffectivePolicy;
use crate::output::plan::{PlanDone, PlanTask};
use crate::output::recorded::{CallRequest, CallSearch, PreviewFrom, ReadyCall, RecordedCall};
use crate::session::examine::Paths;
use crate::tui::job::{Pace, Slot};
use crate::tui::keys::Action;
use crate::tui::screen::{Effect, Effects};
use crate::tui::widget::layout::Side;

use super::panes::Place;
use super::{OutputEvent, Pager};

/// The screens wait two frames for a preview: one that is made by then appears in the next frame, not one later.
const SOON: Pace = Pace::Soon(Duration::from_millis(30));

/// What an output shows, to come back to it: the policy that makes the preview, and where the panes are.
#[derive(Debug, Clone)]
pub(crate) struct ViewPoint {
    pub(crate) policy: EffectivePolicy,
    pub(crate) from: PreviewFrom,
    pub(crate) place: Place,
    /// The current match in Preview: a range of its document.
    pub(crate) found: Option<Range<u64>>,
}

#[derive(Debug, Default)]
pub(crate) enum AfterPlan {
    #[default]
    Stay,
    /// Hold the text under examination where it is on the screen, and say what became of it.
    Hold,
    /// Hold the text under examination where it is on the screen, and say what is shown now.
    Compare,
    Return(Place),
    ShowWindow,
    /// Go back from the window as the read tool returns it: to a place or, if the window has moved, to this one.
    LeaveRead(Option<Place>),
}

impl Pager {
    pub(crate) fn view_point(&self) -> ViewPoint {
        ViewPoint {
            policy: self.output.subject.policy.clone(),
            from: self.output.preview_from,
            place: self.panes.place.clone(),
            found: self.find.current(Side::Preview).cloned(),
        }
    }

    /// Makes the preview that the user is waiting for; an earlier one is abandoned.
    pub(crate) fn plan(&mut self, then: AfterPlan, effects: &mut Effects) {
        self.then = then;
        self.hold_for_plan();
        run(self.output.replan(true), SOON, effects);
    }

    /// Makes the preview again because more is known. If one is being made, it finishes first.
    pub(crate) fn plan_again(&mut self, effects: &mut Effects) {
        if !self.output.wait_to_replan() {
            self.then = AfterPlan::Stay;
            run(self.output.replan(false), Pace::Background, effects);
        }
    }

    pub(crate) fn plan_by(
        &mut self,
        policy: EffectivePolicy,
        from: PreviewFrom,
        then: AfterPlan,
        effects: &mut Effects,
    ) {
        self.output.subject.policy = policy;
        self.output.preview_from = from;
        self.plan(then, effects);
        self.count_all(effects);
    }

    /// Shows again what was shown at a view point. Does nothing if its preview is still shown.
    pub(crate) fn return_to(&mut self, point: ViewPoint, effects: &mut Effects) {
        let output = &self.output;
        if output.preview_from != point.from || !point.policy.policy.is_same(output.policy()) {
            self.plan_by(point.policy, point.from, AfterPlan::Return(point.place), effects);
        }
    }

    /// Has a worker look for the call that a stored output is of, and read what was recorded of it.
    pub(super) fn find_record(&mut self, effects: &mut Effects) {
        if self.output.recorded.is_some() || !self.output.is_stored() {
            return;
        }
        self.output.call_search = CallSearch::Running;
        let subject = self.output.subject.clone();
        effects.run(Slot::FindRecord, move |context| {
            let found = context.services.find_record(&subject, &context.ticket);
            context.send(OutputEvent::Record(subject.context.saved_as.into(), found.map(Box::new)));
        });
    }

    /// Notes the call that an output is of, and shows what was recorded of it, unless limits were changed meanwhile.
    pub(super) fn on_record(
        &mut self,
        path: &Path,
        found: Result<Box<ReadyCall>, CallSearch>,
        effects: &mut Effects,
    ) {
        if Path::new(&self.output.subject.context.saved_as) != path {
            return;
        }
        let Ok(ready) = found.map_err(|search| self.output.call_search = search) else { return };
        let is_first = self.output.limits_are_first();
        self.output.attach(*ready);
        if is_first {
            let is_at_start = self.panes.place.is_at_start();
            self.plan(if is_at_start { AfterPlan::Stay } else { AfterPlan::Compare }, effects);
        } else {
            self.plan_again(effects);
        }
    }

    pub(crate) fn toggle_evidence(&mut self, effects: &mut Effects) {
        if self.open_claim(effects) {
            return;
        }
        if let Some(why) = self.nothing_to_reconstruct() {
            return self.note(why);
        }
        if let Some(before) = self.end_read_view() {
            (self.output.subject.policy, self.before_read) = (before.policy, None);
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
        let Some(RecordedCall { index: Some(index), claim: Some(claim), .. }) = &self.output.recorded else {
            return false;
        };
        if std::mem::replace(&mut self.claim_shown, true) {
            effects.push(Effect::Ask(CallRequest::Show(*index, Paths::Any)));
        } else {
            self.note(format!("in no known store: {} · {key} again opens it", claim.display()));
        }
        true
    }

    /// Returns why what was recorded cannot be set against a reconstruction; `None` if it can.
    fn nothing_to_reconstruct(&self) -> Option<String> {
        let Some(recorded) = &self.output.recorded else {
            let [lists, sessions] = [Action::Stores, Action::Other].map(|action| self.key_of(action));
            return Some(format!(
                "no record of this output is known; {lists} {sessions} lists recorded sessions"
            ));
        };
        recorded.rest.why_text_only().map(|why| format!("nothing to reconstruct the preview from: {why}"))
    }

    pub(crate) fn on_plan(&mut self, planned: PlanDone, effects: &mut Effects) {
        self.hold_for_plan();
        let kept = |at: &Range<u64>| Some((self.output.made.seen.kept_at(at.start)?, at.end - at.start));
        let matches =
            [self.find.current(Side::Preview), self.find.first.as_ref()].map(|at| at.and_then(kept));
        let again = self.output.accept(planned);
        // A total that is known now makes a notice longer, and the text behind it moves.
        if let Some(line) = &mut self.panes.target {
            line.at = self.output.position(line.side, line.offset);
        }
        for (at, found) in
            [&mut self.find.current[Side::Preview as usize], &mut self.find.first].into_iter().zip(matches)
        {
            if let Some((offset, bytes)) = found {
                *at = self.output.seen_match(offset, bytes);
            }
        }
        self.show_plan(effects);
        if let Some((sought, Side::Preview)) = self.find.seeking {
            self.seek_in(Side::Preview, sought, effects);
        }
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
            format!("gave up planning {name}; the old preview stays")
        } else {
            format!("gave up planning {name}; {} changes limits", self.key_of(Action::Limits))
        };
        self.note(words);
        effects.stop([Slot::Plan]);
        self.count_all(effects);
        true
    }

    fn hold_for_plan(&mut self) {
        if matches!(self.then, AfterPlan::Hold | AfterPlan::Compare) {
            self.save_anchor();
        }
    }

    fn show_plan(&mut self, effects: &mut Effects) {
        self.count_all_kept();
        self.filter_again(effects);
        match std::mem::take(&mut self.then) {
            AfterPlan::Stay => {
                self.align_panes();
                return self.follow();
            }
            then @ (AfterPlan::Hold | AfterPlan::Compare) => {
                self.find.current[Side::Preview as usize] = None;
                self.find_again();
                self.restore_anchor();
                self.note(match then {
                    AfterPlan::Compare => self.output.evidence(),
                    _ => self.outcome(),
                });
            }
            AfterPlan::Return(place) => {
                self.find_again();
                self.go_back(&place);
            }
            AfterPlan::ShowWindow => self.show_window(),
            AfterPlan::LeaveRead(place) => self.leave_window(place),
        }
        if self.drawer.is_open() {
            self.advise(effects);
        }
    }
}

fn run(task: PlanTask, pace: Pace, effects: &mut Effects) {
    let pace = if task.is_small() { Pace::AtOnce } else { pace };
    effects.run_at(pace, Slot::Plan, move |context| {
        if let Some(planned) = task.run(&|| context.is_wanted()) {
            context.send(OutputEvent::Planned(Box::new(planned)));
        }
    });
}
