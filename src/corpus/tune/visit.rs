//! Visits one output: what every setting does to it, in figures, and how many matches lie within what it keeps.

use std::ops::{ControlFlow, Range};

use smallvec::SmallVec;

use crate::compare::{StretchCounts, kept_ranges, line_end};
use crate::preview::sweep::{Marks, Sweep, SweptPreview};
use crate::preview::{Input, Output, PlanError, Policy, Stream, Totals, TotalsMask};
use crate::text::filter::KeptRanges;
use crate::text::search::{Pattern, Severity, SeverityPatterns, each_match};
use crate::text::supply::Supply;

/// Visits outputs, one after the other; each thread has its own.
pub(crate) struct Tuner<'p> {
    pub(super) sweeps: Vec<Sweep<'p>>,
    /// What counts as a find; without it the errors do, and the warnings in an output without an error.
    find: Option<&'p Pattern>,
    severities: &'p SeverityPatterns,
    /// Which setting the others are compared with.
    present: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VisitedOutput {
    pub bytes: u64,
    pub matches: u64,
    pub severity: Severity,
    pub settings: Vec<SettingEffect>,
    /// Whether each setting keeps other parts of it than the present one; empty without a present one.
    pub otherwise: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SettingEffect {
    /// The length of the preview in UTF-8 bytes.
    pub preview_bytes: u64,
    pub kept_matches: u64,
    pub is_cut: bool,
    /// Whether the model does not get its last line whole.
    pub lost_last_line: bool,
    /// Whether it has an error, and the model does not get the first one.
    pub lost_first_error: bool,
    pub lost_all: bool,
}

struct KeptPreview {
    preview_bytes: u64,
    is_cut: bool,
    /// What it keeps of the output, in bytes, in order, disjoint: mostly none or one.
    stretches: SmallVec<[Range<usize>; 1]>,
}

impl<'p> Tuner<'p> {
    /// Takes settings of one policy, which are compared with the `present` one of them, or else policies that may differ in
    /// more than their parameters.
    pub(crate) fn new(
        policies: &'p [Policy],
        present: Option<usize>,
        find: Option<&'p Pattern>,
        severities: &'p SeverityPatterns,
    ) -> Self {
        let together = if present.is_some() { policies.len() } else { 1 };
        Self { sweeps: policies.chunks(together.max(1)).map(Sweep::new).collect(), find, severities, present }
    }

    /// Passes on the matches in an output. Returns their severity, and its first error or warning.
    fn count(
        &self,
        supply: &mut impl Supply,
        found: &mut dyn FnMut(&Range<usize>),
    ) -> (Severity, Option<Range<usize>>) {
        let mut first = None;
        if let Some(find) = self.find {
            each_match(supply, find, &mut |range| {
                found(&range);
                ControlFlow::Continue(())
            });
            if let Some(pattern) = self.severities.get(Severity::Error) {
                each_match(supply, pattern, &mut |range| {
                    first = Some(range);
                    ControlFlow::Break(())
                });
            }
            return (Severity::Error, first);
        }
        for severity in Severity::ALL {
            let Some(pattern) = self.severities.get(severity) else { continue };
            each_match(supply, pattern, &mut |range| {
                found(&range);
                first.get_or_insert(range);
                ControlFlow::Continue(())
            });
            if first.is_some() {
                return (severity, first);
            }
        }
        (Severity::Error, None)
    }

    /// Visits an output that notices say is saved at `saved_as`; `supply` has the same bytes.
    pub(crate) fn visit(
        &mut self,
        bytes: &[u8],
        supply: &mut impl Supply,
        saved_as: &str,
    ) -> Result<VisitedOutput, PlanError> {
        let marks = Marks::new(bytes);
        let mut kept = Vec::new();
        let totals = Totals::from_measure(&marks.total(), TotalsMask::ALL);
        let input = Input::new(Output { bytes, totals: &totals }, saved_as);
        for sweep in &mut self.sweeps {
            sweep.each(bytes, &marks, saved_as, |_, swept| kept.push(KeptPreview::new(swept, &input)))?;
        }
        let mut counts = StretchCounts::new(kept.iter().flat_map(|kept| kept.stretches.as_slice()));
        let (severity, first_error) = self.count(supply, &mut |found| counts.add(found));
        let matches = counts.end();
        let last_line = last_line(bytes);
        let under = |kept: &KeptPreview| SettingEffect {
            preview_bytes: kept.preview_bytes,
            kept_matches: counts.within(&kept.stretches),
            is_cut: kept.is_cut,
            lost_last_line: !bytes.is_empty() && !kept.holds(&last_line),
            lost_first_error: first_error.as_ref().is_some_and(|error| !kept.holds(error)),
            lost_all: !bytes.is_empty() && kept.stretches.is_empty(),
        };
        let present = self.present.and_then(|present| kept.get(present));
        let otherwise = present.map_or_else(Vec::new, |present| {
            kept.iter().map(|kept| kept.stretches != present.stretches).collect()
        });
        Ok(VisitedOutput {
            bytes: bytes.len() as u64,
            matches,
            severity,
            settings: kept.iter().map(under).collect(),
            otherwise,
        })
    }
}

impl KeptPreview {
    fn new(swept: SweptPreview, input: &Input) -> Self {
        match swept {
            SweptPreview::Lines { bytes, truncated, range } => Self {
                preview_bytes: bytes,
                is_cut: truncated,
                stretches: Some(range).filter(|range| !range.is_empty()).into_iter().collect(),
            },
            SweptPreview::Planned(preview) => Self {
                preview_bytes: preview.byte_len(input),
                is_cut: preview.truncated,
                stretches: kept_ranges(&preview.parts, input.output.bytes, Stream::Stdout)
                    .into_iter()
                    .collect(),
            },
            SweptPreview::Refused(message) => {
                Self { preview_bytes: message.len() as u64, is_cut: true, stretches: SmallVec::new() }
            }
        }
    }

    fn holds(&self, line: &Range<usize>) -> bool {
        KeptRanges(&self.stretches).covers(line)
    }
}

/// Returns the last line, without its line feed or CR LF.
pub(super) fn last_line(bytes: &[u8]) -> Range<usize> {
    let end = bytes.len() - line_end(bytes);
    memchr::memrchr(b'\n', bytes.get(..end).unwrap_or_default()).map_or(0, |feed| feed + 1)..end
}
