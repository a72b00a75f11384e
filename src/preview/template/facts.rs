//! What a template may use: the figures of a plan, and the totals on which they depend.

use std::collections::BTreeMap;

use crate::preview::model::Unit;
use crate::text::units::Want;

const COUNTED: Want = Want::LINE_FEEDS.with(Want::LONE_RETURNS);

/// Every figure and slot that a template may use besides the parameters, with the totals on which it depends.
/// `docs/policies.md` explains each.
const NAMES: &[(&str, Want)] = &[
    ("kept", Want::NOTHING),
    ("head", Want::NOTHING),
    ("tail", Want::NOTHING),
    ("stdout", Want::NOTHING),
    ("stderr", Want::NOTHING),
    ("stderr_whole", Want::NOTHING),
    ("path", Want::NOTHING),
    ("exit_code", Want::NOTHING),
    ("stream", Want::NOTHING),
    ("stdout_empty", Want::NOTHING),
    ("stderr_empty", Want::NOTHING),
    ("stderr_given", Want::NOTHING),
    ("unit", Want::NOTHING),
    ("hit", Want::NOTHING),
    ("over", Want::NOTHING),
    ("partial", Want::NOTHING),
    ("gap", Want::NOTHING),
    ("kept_empty", Want::NOTHING),
    ("is_empty", Want::NOTHING),
    ("is_blank", Want::NOTHING),
    ("json_units", Want::NOTHING),
    ("kept_lines", Want::NOTHING),
    ("kept_size", Want::NOTHING),
    ("kept_bytes", Want::NOTHING),
    ("raw_bytes", Want::NOTHING),
    ("more", Want::LINE_FEEDS),
    ("many", Want::NOTHING),
    ("full", Want::NOTHING),
    ("clipped", Want::NOTHING),
    ("line_cut", Want::NOTHING),
    ("text_cut", Want::NOTHING),
    ("cut_size", Want::NOTHING),
    ("elided", Want::NOTHING),
    ("shown", Want::NOTHING),
    ("begins", Want::NOTHING),
    ("marker", Want::NOTHING),
    ("tail_empty", Want::NOTHING),
    ("kept_points", Want::NOTHING),
    ("removed_points", Want::POINTS),
    ("rest_lines", Want::LINE_FEEDS),
    ("next", Want::NOTHING),
    ("number", Want::NOTHING),
    ("stop", Want::NOTHING),
    ("line_bytes", Want::NOTHING),
    ("rest_bytes", Want::NOTHING),
    ("pieces", Want::LINE_FEEDS),
    ("lines", Want::LINE_FEEDS),
    ("removed_lines", Want::LINE_FEEDS),
    ("middle_lines", Want::LINE_FEEDS),
    ("first", Want::LINE_FEEDS),
    ("last", Want::LINE_FEEDS),
    ("count", COUNTED),
    ("bytes", Want::DECODED_BYTES),
    ("removed_bytes", Want::DECODED_BYTES),
    ("units", Want::UNITS),
    ("points", Want::POINTS),
    ("size", Want::NOTHING),
    ("removed_size", Want::NOTHING),
    ("removed", Want::LINE_FEEDS),
    ("head_lines", Want::NOTHING),
    ("tail_lines", Want::NOTHING),
    ("head_size", Want::NOTHING),
    ("composed_size", Want::NOTHING),
    ("composed_bytes", Want::NOTHING),
    ("blank", Want::NOTHING),
    ("ended", Want::NOTHING),
    ("included", Want::NOTHING),
];
/// Figures that are measured in the policy's own unit.
const IN_UNIT: [&str; 3] = ["size", "removed_size", "removed"];

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
    Waiting(Want),
    Nothing,
}

impl From<Result<u64, Want>> for Fact {
    fn from(figure: Result<u64, Want>) -> Self {
        figure.map_or_else(Self::Waiting, Self::Number)
    }
}

/// The figures of one plan, by name.
pub(crate) type Facts = BTreeMap<&'static str, Fact>;

/// Whether templates may use this name besides the parameters.
pub(crate) fn is_known(name: &str) -> bool {
    NAMES.iter().any(|(known, _)| *known == name)
}

/// Returns the totals on which a figure depends, under a policy of that unit.
pub(crate) fn totals_of(name: &str, unit: Unit) -> Want {
    let own = if IN_UNIT.contains(&name) { unit_total(unit) } else { Want::NOTHING };
    NAMES.iter().filter(|(known, _)| *known == name).fold(own, |sum, (_, want)| sum | *want)
}

fn unit_total(unit: Unit) -> Want {
    match unit {
        Unit::Bytes | Unit::Tokens => Want::DECODED_BYTES,
        Unit::Utf16 => Want::UNITS,
        Unit::Chars => Want::POINTS,
        Unit::Cells => Want::NOTHING,
    }
}
