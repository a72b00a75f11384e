//! What an output shows, to come back to it: the policy that makes the preview, and where the panes are.

use std::ops::Range;

use crate::config::EffectivePolicy;
use crate::tui::recorded::PreviewFrom;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::panes::Place;

/// What an output shows.
#[derive(Debug, Clone)]
pub(crate) struct ViewPoint {
    pub(crate) policy: EffectivePolicy,
    pub(crate) from: PreviewFrom,
    pub(crate) place: Place,
    /// The current match in Preview: a range of its document.
    pub(crate) found: Option<Range<u64>>,
}

impl Pager {
    pub(crate) fn view_point(&self) -> ViewPoint {
        ViewPoint {
            policy: self.output.subject.policy.clone(),
            from: self.output.preview_from,
            place: self.panes.here(),
            found: self.find.current(Side::Preview).cloned(),
        }
    }
}
