//! What a template may use: the figures of a plan, and the totals on which they depend.

use std::collections::BTreeMap;

use crate::text::units::TotalsMask;

/// Every figure and slot that a template may use besides the parameters.
/// `docs/policies.md` explains each.
pub(super) const NAMES: &[&str] = &[
    "kept",
    "head",
    "tail",
    "stdout",
    "stderr",
    "stderr_whole",
    "path",
    "exit_code",
    "stream",
    "stdout_empty",
    "stderr_empty",
    "stderr_given",
    "unit",
    "hit",
    "over",
    "partial",
    "gap",
    "kept_empty",
    "is_empty",
    "is_blank",
    "json_units",
    "kept_lines",
    "kept_size",
    "kept_bytes",
    "raw_bytes",
    "more",
    "many",
    "full",
    "clipped",
    "line_cut",
    "text_cut",
    "cut_size",
    "elided",
    "shown",
    "begins",
    "marker",
    "tail_empty",
    "kept_points",
    "removed_points",
    "rest_lines",
    "next",
    "number",
    "stop",
    "line_bytes",
    "rest_bytes",
    "pieces",
    "lines",
    "removed_lines",
    "middle_lines",
    "first",
    "last",
    "count",
    "bytes",
    "removed_bytes",
    "units",
    "points",
    "size",
    "removed_size",
    "removed",
    "head_lines",
    "tail_lines",
    "head_size",
    "composed_size",
    "composed_bytes",
    "blank",
    "ended",
    "included",
];
/// One figure of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    Number(u64),
    Signed(i64),
    Text(String),
    Flag(bool),
    /// The place of parts: their index among the slots.
    Slot(usize),
    /// Unknown until these totals are counted.
    Waiting(TotalsMask),
    Nothing,
}

impl From<Result<u64, TotalsMask>> for Fact {
    fn from(figure: Result<u64, TotalsMask>) -> Self {
        figure.map_or_else(Self::Waiting, Self::Number)
    }
}

/// The figures of one plan, by name.
pub(crate) type Facts = BTreeMap<&'static str, Fact>;

/// Whether templates may use this name besides the parameters.
pub(crate) fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}
