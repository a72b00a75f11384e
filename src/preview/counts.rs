//! How much of an output was kept, and its size, in each measure.

use std::ops::Range;

use crate::text::units::TotalsMask;

use super::measure::Text;
use super::model::{Preview, Reply, Status, Unit};
use super::strategy::selection::Selection;

/// How much of an output was kept, in each measure.
pub(super) struct KeptCounts {
    pub total_lines: Result<u64, TotalsMask>,
    pub total_bytes: Result<u64, TotalsMask>,
    pub total_size: Result<u64, TotalsMask>,
    pub kept_lines: Result<u64, TotalsMask>,
    pub kept_bytes: Result<u64, TotalsMask>,
    pub kept_size: Result<u64, TotalsMask>,
    /// Size in bytes as the agent counts them: raw for Go.
    pub kept_agent_bytes: Result<u64, TotalsMask>,
}

impl KeptCounts {
    pub(super) fn of(unit: Unit, text: &Text, selection: &Selection) -> Self {
        let half_bytes = 3 * selection.halves;
        Self {
            total_lines: selection.total_lines.unwrap_or_else(|| text.line_count()),
            total_bytes: text.decoded_bytes(),
            total_size: text.size(unit),
            kept_lines: selection.lines.unwrap_or(Ok(0)),
            kept_bytes: sum(text, selection, text.decoded_bytes(), |range| text.decoded_bytes_of(range))
                .map(|bytes| bytes + half_bytes),
            kept_size: kept_size(text, selection, unit),
            kept_agent_bytes: kept_size(text, selection, Unit::Bytes),
        }
    }

    pub(super) fn preview(&self, unit: Unit, reply: Reply, waiting: TotalsMask) -> Preview {
        let all = [
            self.total_lines,
            self.total_bytes,
            self.total_size,
            self.kept_lines,
            self.kept_bytes,
            self.kept_size,
        ];
        let lacking = all.iter().filter_map(|count| count.err());
        Preview {
            parts: Vec::new(),
            status: Status::Ok,
            truncated: false,
            truncated_by: None,
            reply,
            unit,
            total_lines: self.total_lines.ok(),
            total_bytes: self.total_bytes.ok(),
            total_units: self.total_size.ok(),
            kept_lines: self.kept_lines.ok(),
            kept_bytes: self.kept_bytes.ok(),
            kept_units: self.kept_size.ok(),
            text_bytes: None,
            removed_lines: None,
            removed_bytes: None,
            missing: waiting,
            ranges_missing: TotalsMask::NOTHING,
            counts_missing: lacking.fold(TotalsMask::NOTHING, |sum, want| sum | want),
            details: None,
        }
    }
}

/// Sums a measure over what was kept; if everything was kept, this is the total.
pub(super) fn sum(
    text: &Text,
    selection: &Selection,
    whole: Result<u64, TotalsMask>,
    measure: impl Fn(Range<usize>) -> u64,
) -> Result<u64, TotalsMask> {
    let mut ranges = selection.ranges.iter().filter(|range| !range.is_empty());
    match (ranges.next(), ranges.next()) {
        (Some(one), None) if *one == text.body => whole,
        _ => Ok(selection.ranges.iter().map(|range| measure(range.clone())).sum()),
    }
}

pub(super) fn kept_size(text: &Text, selection: &Selection, unit: Unit) -> Result<u64, TotalsMask> {
    if unit == Unit::Tokens {
        return kept_size(text, selection, Unit::Bytes).map(|bytes| bytes.div_ceil(4));
    }
    sum(text, selection, text.size(unit), |range| text.size_of(range, unit))
        .map(|size| size + half_size(unit) * selection.halves)
}

/// Returns the size of the U+FFFD that stands for half a character.
pub(super) fn half_size(unit: Unit) -> u64 {
    if unit == Unit::Bytes { 3 } else { 1 }
}
