//! What the model got of an output that an agent has just stored: how much of it, and which errors it did not get.

use std::ops::Range;

use crate::base::human::{size, thousands};
use crate::base::provenance::{Certainty, Extent, Warning};
use crate::compare::{kept_ranges, lines_as_numbered, lines_from};
use crate::config::EffectivePolicy;
use crate::corpus::{CorpusOutput, CorpusReader, CutPolicies, MAX_LINE, OutputBytes, ReadFault, plan};
use crate::preview::{Preview, Status, Stream, TotalsFor};
use crate::store::Entry;
use crate::text::search::SeverityPatterns;

use super::lost::LostCounts;

#[derive(Debug, Clone)]
pub(crate) struct WatchedOutput {
    pub entry: Entry,
    /// What of it the model got, in words: `2,000 of 8,432 lines`; or why that is not known.
    pub got: String,
    /// How certain that is; `None` if it is not known.
    pub certainty: Option<Certainty>,
    /// The lines that the model got, as the policy counts them; `None` without a preview.
    pub kept_lines: Option<u64>,
    /// The lines that the model did not get, likewise.
    pub removed_lines: Option<u64>,
    /// The errors in the output and those that the model did not get; `None` without a preview, and in UTF-16.
    pub lost: Option<LostCounts>,
    /// The line of the first error (or warning, if there is no error) that the model did not get, decoded and cut.
    pub first_lost: Option<String>,
}

impl WatchedOutput {
    pub(crate) fn read(
        entry: Entry,
        policies: &CutPolicies,
        severities: &SeverityPatterns,
    ) -> Result<Self, ReadFault> {
        let output = CorpusOutput::Entry(Box::new(entry.clone()));
        CorpusReader::default()
            .look(&output, &mut || true, &mut |open| Self::new(entry.clone(), &open, policies, severities))
    }

    fn new(entry: Entry, open: &OutputBytes, policies: &CutPolicies, severities: &SeverityPatterns) -> Self {
        let bytes: &[u8] = open;
        let by = policies.resolve(&entry.path());
        let made = by.as_ref().ok().and_then(|by| plan(bytes, &entry.saved_as(), by, TotalsFor::All).ok());
        let preview = made.as_ref().filter(|made| made.status == Status::Ok);
        let kept =
            preview.map(|preview| kept_ranges(&preview.parts, bytes, Stream::Stdout)).unwrap_or_default();
        let got = match (preview, &by) {
            (Some(preview), Ok(by)) => describe_share(bytes, &kept, preview, by),
            (None, Ok(_)) => "an error".to_owned(),
            (_, Err(why)) => why.clone(),
        };
        let counted = preview.and_then(|_| LostCounts::beside(bytes, || open.supply(), &kept, severities));
        let (lost, first_lost) = counted.unzip();
        Self {
            entry,
            got,
            certainty: by.ok().map(|by| by.certainty),
            kept_lines: preview.and_then(|preview| preview.kept.lines),
            removed_lines: preview.and_then(|preview| preview.removed().lines),
            lost,
            first_lost: first_lost.flatten().map(|line| {
                let end = line.end.min(line.start + MAX_LINE);
                String::from_utf8_lossy(bytes.get(line.start..end).unwrap_or_default()).into_owned()
            }),
        }
    }
}

/// Says how much of an output a preview keeps: `2,000 of 8,432 lines`, as they are numbered on the screen. A `~` marks what
/// depends on how the agent read.
fn describe_share(bytes: &[u8], kept: &[Range<usize>], preview: &Preview, by: &EffectivePolicy) -> String {
    if !preview.truncated {
        return "all".to_owned();
    }
    let extent = Extent { bytes: bytes.len() as u64, last: bytes.last().copied(), cut: true };
    let caveats = Warning::applying(by.policy.warnings(), &by.store_warnings, extent);
    let is_sure = by.certainty == Certainty::Recorded || caveats.iter().all(|caveat| caveat.short.is_none());
    let about = if is_sure { "" } else { "~" };
    let lines = lines_from(bytecount::count(bytes, b'\n') as u64, bytes);
    match lines_as_numbered(preview, bytes, Some(lines)) {
        [Some(kept), Some(all)] if kept < all => {
            format!("{about}{} of {} lines", thousands(kept), thousands(all))
        }
        // A line was cut within.
        _ => {
            let kept = kept.iter().map(|range| range.len() as u64).sum();
            format!("{about}{} of {}", size(kept), size(bytes.len() as u64))
        }
    }
}
