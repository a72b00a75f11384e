//! How certain the facts of policies and stores are, when they hold, what to warn of; how a preview is known.

use std::cmp::Reverse;
use std::fmt;

use jiff::civil;
use serde::{Deserialize, Serialize};

use crate::base::toml_check::{Field, Shape, needed, optional};

#[cfg(test)]
mod tests;

words! {
    /// How a fact is known, most certain first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Confidence {
        /// The agent was run, and did this.
        Run => "run",
        /// Read in the agent's source.
        Source => "source",
        /// From the vendor's documentation.
        Documented => "documented",
        /// Only seen in transcripts and issues, or not exactly.
        Observed => "observed",
        /// No evidence.
        Unknown => "unknown",
        /// Defined by the author of the file: there is nothing to check it against.
        Own => "own",
    }
}

impl Confidence {
    /// Describes how the fact is known.
    #[cfg(feature = "app")]
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Run => "checked by running the agent",
            Self::Source => "read in the agent's source",
            Self::Documented => "documented by the vendor",
            Self::Observed => "observed in transcripts and issues only",
            Self::Unknown => "no evidence",
            Self::Own => "defined by its author",
        }
    }

    /// Whether it is too weak to go unmentioned.
    pub fn is_weak(self) -> bool {
        matches!(self, Self::Observed | Self::Unknown)
    }
}

words! {
    /// How a preview is known, most certain first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Certainty {
        /// The text is from an agent's record or request, or overspill printed it.
        Recorded => "recorded",
        /// It is made of an output in an agent's store, by a policy that the agent used then.
        Reconstructed => "reconstructed",
        /// No model is known to have got it: the output is of no agent, or its limits or policy are others.
        WouldGet => "would-get",
    }
}

#[cfg(feature = "app")]
impl Certainty {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::WouldGet => "would get",
            certain => certain.as_str(),
        }
    }

    /// Returns the verb for what the model does with the text.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Recorded | Self::Reconstructed => "got",
            Self::WouldGet => "gets",
        }
    }

    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Recorded | Self::Reconstructed => "Model got",
            Self::WouldGet => "Model would get",
        }
    }
}

/// A year, a month or a day: as precise as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Date {
    Year(i16),
    /// A whole month, given by its first day.
    Month(civil::Date),
    Day(civil::Date),
}

impl Date {
    /// Returns the first day that it covers.
    pub fn first(self) -> civil::Date {
        match self {
            Self::Year(year) => civil::date(year, 1, 1),
            Self::Month(day) | Self::Day(day) => day,
        }
    }

    /// Returns the last day that it covers.
    pub fn last(self) -> civil::Date {
        match self {
            Self::Year(year) => civil::date(year, 12, 31),
            Self::Month(day) => day.last_of_month(),
            Self::Day(day) => day,
        }
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    /// Parses `2026`, `2026-08` or `2026-08-14`.
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a date; write 2026, 2026-08 or 2026-08-14");
        let parts: Vec<&str> = text.split('-').collect();
        let number = |part: &str, digits: usize| {
            let plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| part.parse::<i16>().ok()).flatten().ok_or_else(wrong)
        };
        let day = |year: &str, month: &str, day: &str| {
            let [month, day] = [number(month, 2)?, number(day, 2)?].map(|number| number as i8);
            civil::Date::new(number(year, 4)?, month, day).map_err(|_| wrong())
        };
        match parts[..] {
            [year] => number(year, 4).map(Self::Year),
            [year, month] => day(year, month, "01").map(Self::Month),
            [year, month, of_month] => day(year, month, of_month).map(Self::Day),
            _ => Err(wrong()),
        }
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Year(year) => write!(f, "{year:04}"),
            Self::Month(day) => write!(f, "{}", day.strftime("%Y-%m")),
            Self::Day(day) => write!(f, "{day}"),
        }
    }
}

/// One end of an era, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The agent's version, in its own numbering.
    pub version: Option<String>,
    pub date: Option<Date>,
}

impl fmt::Display for Edge {
    /// Formats as `2.1.238 (2026-08)`, or whichever part is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.version, self.date) {
            (Some(version), Some(date)) => write!(f, "{version} ({date})"),
            (Some(version), None) => f.write_str(version),
            (None, Some(date)) => write!(f, "{date}"),
            (None, None) => f.write_str("unknown"),
        }
    }
}

/// The period during which something holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Era {
    /// The first version and day; none if unknown.
    pub from: Option<Edge>,
    /// The last version and day; none if it still holds.
    pub until: Option<Edge>,
    /// The newest version that was checked.
    pub seen: Option<Edge>,
    /// The current form, if this is an earlier one.
    #[serde(rename = "era_of")]
    pub of: Option<String>,
}

impl Era {
    fn start(&self) -> Option<civil::Date> {
        Some(self.from.as_ref()?.date?.first())
    }

    fn end(&self) -> Option<civil::Date> {
        Some(self.until.as_ref()?.date?.last())
    }

    /// Whether it may have held on a day. A month counts as a whole, and an unknown end excludes no day.
    pub fn holds_at(&self, day: civil::Date) -> bool {
        self.start().is_none_or(|start| start <= day) && self.end().is_none_or(|end| day <= end)
    }

    /// Whether it holds for a version of the agent; `None` if neither of its ends has a version.
    pub fn holds_for(&self, version: &str) -> Option<bool> {
        let edge = |edge: &Option<Edge>| Some(numbers(edge.as_ref()?.version.as_deref()?));
        let version = numbers(version);
        let after = edge(&self.from).map(|from| from <= version);
        let before = edge(&self.until).map(|until| version <= until);
        (after.is_some() || before.is_some()).then(|| after != Some(false) && before != Some(false))
    }

    /// Ranks eras for a day, best first: those that may have held, and of these the latest start first.
    pub fn rank(&self, day: civil::Date) -> impl Ord + use<> {
        let began = Reverse((self.start(), self.end().unwrap_or(civil::Date::MAX)));
        (!self.holds_at(day), self.holds_at(day).then_some(began))
    }

    /// Formats as `from 2.1.45 (2026-02) until 2.1.231 (2026-08)`, as far as known; `only 2025-12-07` if both are the
    /// same.
    pub fn span(&self) -> Option<String> {
        if self.from == self.until {
            return describe_edge("only", &self.from);
        }
        let edges = [describe_edge("from", &self.from), describe_edge("until", &self.until)];
        let known: Vec<String> = edges.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(" "))
    }
}

/// Returns the numbers of a version, by which versions are compared: `2.1.330` is 2, 1, 330.
pub(crate) fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

/// Formats an edge with a word before it, if anything about it is known.
fn describe_edge(word: &str, edge: &Option<Edge>) -> Option<String> {
    let edge = edge.as_ref().filter(|edge| **edge != Edge::default())?;
    Some(format!("{word} {edge}"))
}

impl fmt::Display for Era {
    /// Formats the span, and the version in which it was last seen; empty if nothing is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.span().into_iter().chain(describe_edge("seen in", &self.seen)).collect();
        f.write_str(&words.join(", "))
    }
}

/// A warning, and which outputs it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// Applies to outputs of more raw bytes than this; if not set, to all that were cut.
    pub over: Option<u64>,
    /// Applies only if the output does not end with a line feed.
    #[serde(default)]
    pub unended: bool,
    /// A short version for the bottom line of the screen; without one, only the facts say it.
    pub short: Option<String>,
    /// The warning in one or two sentences.
    pub text: String,
}

pub(crate) const WARNING: &[Field] = &[
    optional("over", Shape::Number),
    optional("unended", Shape::Flag),
    optional("short", Shape::Text),
    needed("text", Shape::Text),
];

/// What decides whether a warning applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The output's raw size in bytes.
    pub bytes: u64,
    /// The output's last byte, if known and not empty.
    pub last: Option<u8>,
    /// Whether the model did not get all of it.
    pub cut: bool,
}

impl Warning {
    /// Warns of an output, whatever its size.
    #[cfg(feature = "app")]
    pub(crate) fn always(text: String) -> Self {
        Self { over: None, unended: false, short: None, text }
    }

    pub fn holds(&self, extent: Extent) -> bool {
        let reached = self.over.map_or(extent.cut, |over| extent.bytes > over);
        reached && (!self.unended || extent.last.is_some_and(|last| last != b'\n'))
    }

    /// Returns the warnings that apply to an output, from its policy and its store; each text once.
    pub fn applying<'a>(policy: &'a [Self], store: &'a [Self], extent: Extent) -> Vec<&'a Self> {
        let mut all: Vec<&Self> = Vec::new();
        // An output is stored only because it was cut.
        let stored = Extent { cut: true, ..extent };
        let policy = policy.iter().filter(|warning| warning.holds(extent));
        for warning in policy.chain(store.iter().filter(|warning| warning.holds(stored))) {
            if all.iter().all(|other| other.text != warning.text) {
                all.push(warning);
            }
        }
        all
    }
}
