//! The period during which something holds, by version and by date.

use std::cmp::Reverse;
use std::fmt;

use jiff::civil;
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Era {
    /// The first version and day; none if unknown.
    pub from: Option<Edge>,
    /// The last version and day; none if it still holds.
    pub until: Option<Edge>,
    /// The newest version that was checked.
    pub seen: Option<Edge>,
    /// The current form, if this is an earlier one.
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
        let edge = |edge: &Option<Edge>| edge.as_ref().and_then(|edge| edge.version.clone());
        let (from, until) = (edge(&self.from), edge(&self.until));
        let version = numbers(version);
        let after = from.as_deref().map(|from| numbers(from) <= version);
        let before = until.as_deref().map(|until| version <= numbers(until));
        (after.is_some() || before.is_some()).then(|| after != Some(false) && before != Some(false))
    }

    /// Ranks eras for a day, best first: those that may have held, and of these the latest start first.
    pub fn rank(&self, day: civil::Date) -> impl Ord + use<> {
        let began = Reverse((self.start(), self.end().unwrap_or(civil::Date::MAX)));
        (!self.holds_at(day), self.holds_at(day).then_some(began))
    }
}

/// Returns the numbers of a version, by which versions are compared: `2.1.330` is 2, 1, 330.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

/// Formats an edge with a word before it, if anything about it is known.
fn describe_edge(word: &str, edge: &Option<Edge>) -> Option<String> {
    let edge = edge.as_ref().filter(|edge| **edge != Edge::default())?;
    Some(format!("{word} {edge}"))
}

impl Era {
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

impl fmt::Display for Era {
    /// Formats the span, and the version in which it was last seen; empty if nothing is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.span().into_iter().chain(describe_edge("seen in", &self.seen)).collect();
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests;
