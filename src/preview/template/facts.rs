//! What a template may use: the values of parameters, the figures of a plan, the totals on which they depend, and the marks
//! that stand for them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use crate::preview::model::WAITING;
use crate::text::units::TotalsMask;

/// Every figure and slot that a template may use besides the parameters: those that `docs/policies.md` explains, then those
/// of single strategies, which the policies that use them show.
#[rustfmt::skip]
pub(super) const NAMES: &[&str] = &[
    "kept", "head", "tail", "stdout", "stderr", "stderr_whole", "stdout_empty", "stderr_empty", "stderr_given",
    "path", "exit_code", "stream", "pieces", "lines", "bytes", "units", "points", "size", "raw_bytes",
    "kept_lines", "kept_bytes", "kept_points", "kept_size", "kept_empty",
    "removed_lines", "removed_bytes", "removed_points", "removed_size", "removed", "unit", "hit",
    "middle_lines", "rest_lines", "first", "last", "next", "count", "more", "stop",
    "partial", "line_bytes", "rest_bytes", "head_lines", "tail_lines", "is_empty", "is_blank", "json_units",

    "elided", "gap", "marker", "over", "many", "full", "clipped", "line_cut", "text_cut", "cut_size", "shown",
    "begins", "tail_empty", "number", "head_size", "composed_size", "composed_bytes", "blank", "ended", "included",
];

/// A parameter's value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A whole number, 0 or more.
    Integer(u64),
    /// `true` or `false`.
    Boolean(bool),
    /// Text, possibly one of a few words.
    Text(String),
}

impl Value {
    /// Converts a value of a policy file; `None` if it has another type.
    pub(crate) fn from_toml(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::Integer(number) => u64::try_from(*number).ok().map(Self::Integer),
            toml::Value::Boolean(flag) => Some(Self::Boolean(*flag)),
            toml::Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

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

pub(crate) type Facts = BTreeMap<&'static str, Fact>;

/// Surrounds a slot's index in rendered text, unless a variable's text holds it. No template does.
pub(super) const SLOT: char = '\0';
/// The marks that then surround it instead: private characters, of which one is in none of the texts.
pub(super) const OTHER_SLOTS: RangeInclusive<char> = '\u{f0000}'..='\u{ffffd}';
pub(super) fn waiting(mark: char) -> String {
    format!("{mark}{WAITING}{mark}")
}

/// Whether a value is a marked `…`, and nothing else.
pub(super) fn is_waiting(text: &str) -> bool {
    let is_mark = |mark: char| mark == SLOT || OTHER_SLOTS.contains(&mark);
    text.chars().next().is_some_and(|mark| is_mark(mark) && text == waiting(mark))
}
