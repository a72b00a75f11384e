//! The keys that change the limits.

use crate::preview::{Policy, Unit};
use crate::tui::event::Message;
use crate::tui::screen::Effects;

use super::Pager;
use super::limits::{other_end, turned};
use super::planning::AfterPlan;
use crate::tui::recorded::PreviewFrom;

impl Pager {
    /// Changes the line limit by the typed number, or to the next round number.
    pub(crate) fn turn_lines(&mut self, up: bool, count: Option<u64>, effects: &mut Effects) {
        let Some(lines) = self.output.policy().max_lines() else {
            return self.no_such("has no line limit");
        };
        let to = turned(lines, up, count, 1);
        self.with_policy(|policy| policy.set_max_lines(to).map_err(|e| e.to_string()), effects)
    }

    /// Changes the size limit of the policy by the typed number, or to the next round number. If the unit is bytes and
    /// the limit is at least 1 KB, the typed number counts in KB.
    pub(crate) fn turn_size(&mut self, up: bool, count: Option<u64>, effects: &mut Effects) {
        let output = &self.output;
        let Some(size) = output.policy().max_size() else {
            return self.no_such("has no size limit");
        };
        let unit = if output.policy().unit() == Unit::Bytes && size >= 1024 { 1024 } else { 1 };
        let to = turned(size, up, count, unit);
        self.with_policy(|policy| policy.set_max_size(to).map_err(|e| e.to_string()), effects)
    }

    /// Switches between keeping the start and keeping the end.
    pub(crate) fn turn_direction(&mut self, effects: &mut Effects) {
        let Some(direction) = self.output.policy().direction() else {
            return self.no_such("has no direction to change");
        };
        let other = other_end(direction);
        self.with_policy(|policy| policy.set_direction(other).map_err(|e| e.to_string()), effects)
    }

    fn no_such(&mut self, what: &str) {
        let name = self.output.policy().name().to_owned();
        self.message = Some(Message::note(format!("{name} {what}")));
    }

    /// Changes the policy and makes the preview again; the text under examination stays where it is.
    pub(crate) fn with_policy(
        &mut self,
        change: impl FnOnce(&mut Policy) -> Result<(), String>,
        effects: &mut Effects,
    ) {
        let output = &mut self.output;
        if output.is_rest_missing() {
            self.message = Some(Message::note("limits have no effect: only the recorded text is left"));
            return;
        }
        if let Err(fault) = change(&mut output.subject.policy.policy) {
            self.message = Some(Message::error(fault));
            return;
        }
        output.preview_from = PreviewFrom::Policy;
        self.plan(AfterPlan::Hold, effects)
    }
}
