//! How long the agent's words are in a preview, rendered once for all figures of as many digits.

use std::collections::HashMap;

use crate::preview::model::{LimitHit, Unit};
use crate::preview::policy::Policy;
use crate::preview::template::Template;

/// The bits that a figure takes in a key: its number of digits is at most 20.
const BITS: u32 = 5;

/// What decides the length of a template's words.
#[derive(Debug)]
pub(crate) struct Deciders(Vec<Decider>);

/// A figure of the engine's by which notices differ in length.
#[derive(Debug, Clone, Copy)]
enum Decider {
    Number(Figure),
    /// Whether lines or the size are spoken of.
    Unit,
    Hit,
    IsEmpty,
}

type Figure = fn(&NoticeFigures) -> u64;

/// The figures by which notices differ in length: what templates call each, and what it is.
const FIGURES: [(&str, Figure); 19] = [
    ("pieces", |of| of.feeds + 1),
    ("lines", |of| of.lines),
    ("bytes", |of| of.bytes),
    ("units", |of| of.units),
    ("points", |of| of.points),
    ("size", |of| of.size),
    ("raw_bytes", |of| of.raw_bytes),
    ("kept_lines", |of| of.kept_lines),
    ("kept_size", |of| of.kept_size),
    ("kept_bytes", |of| of.kept_bytes),
    ("kept_points", |of| of.kept_points),
    ("removed_points", |of| of.points.saturating_sub(of.kept_points)),
    ("rest_lines", |of| of.feeds.saturating_sub(of.kept_feeds) + 1),
    ("removed_lines", NoticeFigures::removed_lines),
    ("removed_size", NoticeFigures::removed_size),
    ("removed_bytes", |of| of.bytes.saturating_sub(of.kept_bytes)),
    ("removed", |of| if of.is_by_lines() { of.removed_lines() } else { of.removed_size() }),
    ("first", |of| of.first),
    ("last", |of| of.last),
];

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NoticeFigures {
    pub lines: u64,
    pub kept_lines: u64,
    pub feeds: u64,
    pub kept_feeds: u64,
    pub bytes: u64,
    pub kept_bytes: u64,
    pub units: u64,
    pub points: u64,
    pub kept_points: u64,
    pub size: u64,
    pub kept_size: u64,
    pub raw_bytes: u64,
    pub first: u64,
    pub last: u64,
    pub hit: Option<LimitHit>,
    pub is_kept_empty: bool,
    pub is_empty: bool,
}

/// The length of the words around what is kept, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words {
    pub fixed: u64,
    /// For each byte of the path.
    pub per_path: u64,
    /// How many times what is kept is printed.
    pub slots: u64,
}

/// The words of one setting that are known already, by whether it cuts and the lengths of their figures.
pub(super) type KnownWords = HashMap<(bool, u128), Words>;

impl Deciders {
    /// Reads them off a template of a policy; none if its length depends on more than how long its figures are.
    pub(super) fn new(policy: &Policy, template: &Template) -> Option<Self> {
        let is_param = |name: &str| policy.params().iter().any(|param| param.name == name);
        let uses = policy.file().templates.uses(template, &is_param)?;
        if ["kept", "path"].into_iter().any(|name| uses.exact.contains(name)) {
            return None;
        }
        let mut all = Vec::new();
        for name in &uses.printed {
            if !matches!(name.as_str(), "kept" | "path" | "exit_code" | "stream") {
                all.push(Decider::from_name(name)?);
            }
        }
        for name in &uses.exact {
            match name.as_str() {
                "exit_code" | "stream" | "partial" | "kept_empty" => {}
                name => match Decider::from_name(name)? {
                    Decider::Number(_) => return None,
                    decider => all.push(decider),
                },
            }
        }
        (all.len() < (u128::BITS / BITS) as usize).then_some(Self(all))
    }

    /// Returns what all figures have in common for which the words are as long.
    pub(super) fn key(&self, figures: &NoticeFigures) -> u128 {
        let first = u128::from(figures.is_kept_empty);
        self.0.iter().fold(first, |key, decider| key << BITS | u128::from(decider.code(figures)))
    }
}

impl Decider {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "unit" => Some(Self::Unit),
            "hit" => Some(Self::Hit),
            "is_empty" => Some(Self::IsEmpty),
            name => FIGURES.iter().find(|(known, _)| *known == name).map(|(_, figure)| Self::Number(*figure)),
        }
    }

    fn code(self, of: &NoticeFigures) -> u32 {
        match self {
            Decider::Number(figure) => digits(figure(of)),
            Decider::Unit => u32::from(of.is_by_lines()),
            Decider::IsEmpty => u32::from(of.is_empty),
            Decider::Hit => match of.hit {
                None => 0,
                Some(LimitHit::Lines) => 1,
                Some(LimitHit::Size(_)) => 2,
                Some(LimitHit::Matches) => 3,
            },
        }
    }
}

impl NoticeFigures {
    fn is_by_lines(&self) -> bool {
        matches!(self.hit, Some(LimitHit::Lines | LimitHit::Matches) | None)
    }

    fn removed_lines(&self) -> u64 {
        self.lines.saturating_sub(self.kept_lines)
    }

    fn removed_size(&self) -> u64 {
        self.size.saturating_sub(self.kept_size)
    }
}

/// Returns the number of decimal digits; 0 for 0, which templates may treat on its own.
fn digits(number: u64) -> u32 {
    number.checked_ilog10().map_or(0, |log| log + 1)
}

/// Whether sizes in a unit add up over lines.
pub(super) fn adds_up(unit: Unit) -> bool {
    matches!(unit, Unit::Bytes | Unit::Utf16 | Unit::Chars)
}
