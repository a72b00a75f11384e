//! How long the agent's words are in a preview, rendered once for all figures of as many digits.

use std::collections::HashMap;

use crate::preview::model::{LimitHit, Unit};
use crate::preview::policy::Policy;
use crate::preview::template::Template;

/// The bits that a figure takes in a key: its number of digits is at most 20.
const BITS: u32 = 5;

/// What decides the length of a template's words.
#[derive(Debug)]
pub(super) struct Deciders(Vec<Decider>);

/// A figure of the engine's by which notices differ in length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decider {
    Number(Figure),
    /// Whether lines or the size are spoken of.
    Unit,
    Hit,
    IsEmpty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Pieces,
    Lines,
    Bytes,
    Units,
    Points,
    Size,
    RawBytes,
    KeptLines,
    KeptSize,
    KeptBytes,
    KeptPoints,
    RemovedPoints,
    RestLines,
    RemovedLines,
    RemovedSize,
    RemovedBytes,
    Removed,
    First,
    Last,
}

/// The figures of one preview, as templates see them.
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

/// The words of one setting that are known already, by the lengths of their figures.
#[derive(Debug, Default)]
pub(super) struct KnownWords(HashMap<(bool, u128), Words>);

impl KnownWords {
    pub(super) fn get(&self, is_cut: bool, key: u128) -> Option<Words> {
        self.0.get(&(is_cut, key)).copied()
    }

    pub(super) fn put(&mut self, is_cut: bool, key: u128, words: Words) {
        self.0.insert((is_cut, key), words);
    }
}

impl Deciders {
    /// Reads them off a template of a policy; none if its length depends on more than how long its figures are.
    pub(super) fn of(policy: &Policy, template: &Template) -> Option<Self> {
        let is_param = |name: &str| policy.params().iter().any(|param| param.name == name);
        let uses = policy.file().templates.uses(template, &is_param)?;
        if ["kept", "path"].into_iter().any(|name| uses.exact.contains(name)) {
            return None;
        }
        let mut all = Vec::new();
        for name in &uses.printed {
            if !matches!(name.as_str(), "kept" | "path" | "exit_code" | "stream") {
                all.push(Decider::of(name)?);
            }
        }
        for name in &uses.exact {
            match name.as_str() {
                "exit_code" | "stream" | "partial" | "kept_empty" => {}
                name => match Decider::of(name)? {
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
    fn of(name: &str) -> Option<Self> {
        Some(Decider::Number(match name {
            "unit" => return Some(Decider::Unit),
            "hit" => return Some(Decider::Hit),
            "is_empty" => return Some(Decider::IsEmpty),
            "pieces" => Figure::Pieces,
            "lines" => Figure::Lines,
            "bytes" => Figure::Bytes,
            "units" => Figure::Units,
            "points" => Figure::Points,
            "size" => Figure::Size,
            "raw_bytes" => Figure::RawBytes,
            "kept_lines" => Figure::KeptLines,
            "kept_size" => Figure::KeptSize,
            "kept_bytes" => Figure::KeptBytes,
            "kept_points" => Figure::KeptPoints,
            "removed_points" => Figure::RemovedPoints,
            "rest_lines" => Figure::RestLines,
            "removed_lines" => Figure::RemovedLines,
            "removed_size" => Figure::RemovedSize,
            "removed_bytes" => Figure::RemovedBytes,
            "removed" => Figure::Removed,
            "first" => Figure::First,
            "last" => Figure::Last,
            _ => return None,
        }))
    }

    fn code(self, of: &NoticeFigures) -> u32 {
        match self {
            Decider::Number(figure) => digits(of.figure(figure)),
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

    fn figure(&self, figure: Figure) -> u64 {
        let less = |total: u64, kept: u64| total.saturating_sub(kept);
        match figure {
            Figure::Pieces => self.feeds + 1,
            Figure::Lines => self.lines,
            Figure::Bytes => self.bytes,
            Figure::Units => self.units,
            Figure::Points => self.points,
            Figure::Size => self.size,
            Figure::RawBytes => self.raw_bytes,
            Figure::KeptLines => self.kept_lines,
            Figure::KeptSize => self.kept_size,
            Figure::KeptBytes => self.kept_bytes,
            Figure::KeptPoints => self.kept_points,
            Figure::RemovedPoints => less(self.points, self.kept_points),
            Figure::RestLines => less(self.feeds, self.kept_feeds) + 1,
            Figure::RemovedBytes => less(self.bytes, self.kept_bytes),
            Figure::RemovedSize => less(self.size, self.kept_size),
            Figure::Removed if !self.is_by_lines() => less(self.size, self.kept_size),
            Figure::RemovedLines | Figure::Removed => less(self.lines, self.kept_lines),
            Figure::First => self.first,
            Figure::Last => self.last,
        }
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
