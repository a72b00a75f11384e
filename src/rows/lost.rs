//! How many errors and warnings of an output that an agent cut its model did not get.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::human::thousands;
use crate::compare::{kept_ranges, lost_errors};
use crate::corpus::ErrorsLost;
use crate::preview::{self, Input, Stream};
use crate::session::examine::CallInspector;
use crate::session::model::Call;
use crate::session::text;
use crate::source::{MapView, ViewSupply};
use crate::text::search::{Severity, SeverityPatterns};

use super::column::{RowCell, SlowFigure, Tone};

/// The longest output, in bytes, whose errors are counted for a list: reading more would hold up all others.
const MAX_OUTPUT: usize = 256 << 20;

/// The longest result, in bytes, that is looked for in its output.
const MAX_RESULT: usize = 16 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostInCall {
    pub errors: ErrorsLost,
    pub warnings: ErrorsLost,
}

impl LostInCall {
    /// Counts them; `None` if the whole output or the result is not at hand.
    pub(crate) fn count(
        inspector: &CallInspector,
        call: &Call,
        severities: &SeverityPatterns,
    ) -> Option<Self> {
        let best = inspector.best(call);
        let (result, facts) = text::to_text(inspector.transcript, &best.first()?.pieces, MAX_RESULT).ok()?;
        if facts.is_stopped {
            return None;
        }
        let mut count = |view: &MapView| {
            if view.len() > MAX_OUTPUT {
                return None;
            }
            let preview = preview::recorded(&result, &Input::from_bytes(view, "")).ok()?;
            Self::beside(view, &kept_ranges(&preview.parts, Stream::Stdout), severities).map(|(lost, _)| lost)
        };
        inspector.read_whole(call, &mut count).flatten()
    }

    /// Counts them in all outputs of a session that were cut, as far as those are at hand, until `goes_on` says no; `None` if
    /// none is. Adds their spills to `spills`.
    pub(crate) fn count_all(
        inspector: &CallInspector,
        severities: &SeverityPatterns,
        spills: &mut Vec<PathBuf>,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for call in inspector.transcript.calls.iter().filter(|call| call.is_cut()) {
            if !goes_on() {
                return None;
            }
            spills.extend(inspector.spill(call).and_then(|spill| spill.path().map(Path::to_path_buf)));
            if let Some(lost) = Self::count(inspector, call, severities) {
                sum.get_or_insert_default().add(lost);
            }
        }
        sum
    }

    /// Counts them in an output of which these ranges were kept, and returns the line of the first lost error, or of the
    /// first lost warning if there is no error; `None` if the output is too long for a list.
    pub(crate) fn beside(
        view: &MapView,
        kept: &[Range<usize>],
        severities: &SeverityPatterns,
    ) -> Option<(Self, Option<Range<usize>>)> {
        if view.len() > MAX_OUTPUT {
            return None;
        }
        let [errors, warnings] = [Severity::Error, Severity::Warning].map(|severity| {
            let pattern = severities.get(severity);
            let lost = |pattern| lost_errors(view, &mut ViewSupply::from(view), kept, pattern);
            pattern.map(lost).unwrap_or_default()
        });
        let lost = Self { errors: (&errors).into(), warnings: (&warnings).into() };
        Some((lost, if errors.all > 0 { errors.first_lost } else { warnings.first_lost }))
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (sum, more) in [(&mut self.errors, other.errors), (&mut self.warnings, other.warnings)] {
            (sum.all, sum.lost) = (sum.all + more.all, sum.lost + more.lost);
        }
    }

    /// Returns the cell of a column of lost errors. Where an output has no error, its warnings stand there.
    pub(crate) fn cell(figure: &SlowFigure<Self>) -> RowCell {
        let tone = match figure.value {
            Some(lost) if lost.errors.lost > 0 => Tone::Warning,
            _ => Tone::Dim,
        };
        let words = figure.describe(|lost| match lost {
            Self { errors, warnings } if errors.all == 0 && warnings.lost > 0 => {
                format!("{} w", thousands(warnings.lost))
            }
            Self { errors, .. } => thousands(errors.lost),
        });
        RowCell::new(words, tone)
    }

    /// Orders by lost errors, then by lost warnings, the most first. What is not known comes last.
    pub(crate) fn compare(a: &SlowFigure<Self>, b: &SlowFigure<Self>) -> Ordering {
        let key = |figure: &SlowFigure<Self>| {
            Reverse(figure.value.map(|lost| match lost.errors.all {
                0 => (0, lost.warnings.lost),
                _ => (lost.errors.lost, 0),
            }))
        };
        key(a).cmp(&key(b))
    }
}
