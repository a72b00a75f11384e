//! Asks to keep the output that is shown, and marks it as kept.

use std::path::{Path, PathBuf};

use crate::session::examine::RestOfOutput;
use crate::store::KEPT_ALREADY;
use crate::tui::screen::{Effects, Link};

use super::Pager;

impl Pager {
    /// Has the list of stored outputs keep the output.
    pub(crate) fn keep(&mut self, effects: &mut Effects) {
        let refusal = match self.output.recorded.as_ref().map(|recorded| &recorded.rest) {
            _ if self.output.subject.is_kept => Some(KEPT_ALREADY),
            _ if self.is_coming() => Some("still coming; keep it once it is complete"),
            Some(RestOfOutput::Missing(why)) => Some(*why),
            Some(RestOfOutput::NotCut) => {
                Some("not kept: the agent did not cut it, so the records hold all of it")
            }
            _ => None,
        };
        if let Some(words) = refusal {
            return self.note(words);
        }
        let output = &self.output;
        effects.send(Link::Keep(Box::new((output.subject.clone(), output.view.clone()))));
    }

    /// Takes in that the outputs of these paths are kept.
    pub(crate) fn kept(&mut self, paths: &[PathBuf]) {
        let path = Path::new(self.output.subject.path());
        self.output.subject.is_kept |= paths.iter().any(|kept| kept == path);
    }
}
