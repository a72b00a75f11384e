//! What of a text is a policy's own: how texts that agents recorded are told apart.

use std::ops::Range;

use crate::preview::template::facts::Facts;
use crate::preview::template::pattern::NoticePattern;

use super::Policy;

impl Policy {
    /// Returns what of a text, as ranges in bytes, is the notice of an output that was cut; `None` if the text is none that
    /// this policy makes of one. Whether the rest is of an output cannot be told from the text.
    pub(crate) fn notices_in(&self, text: &str) -> Option<Vec<Range<usize>>> {
        self.file.templates.added(&self.texts().cut, text)
    }

    /// Returns the forms of the notices that this policy writes, those with the most words first.
    pub(crate) fn notice_patterns(&self) -> &[NoticePattern] {
        self.file.templates.notices(&self.texts().whole)
    }

    /// Returns an output of which this policy makes a text by cutting off what goes beyond a line's length, without the
    /// rest; `None` if the policy does not cut lines so.
    pub(in crate::preview) fn unclipped(&self, text: &str) -> Option<String> {
        self.keep().unclipped(text, &self.scope(Facts::new()))
    }
}
