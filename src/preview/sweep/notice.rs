//! How long the agent's words are in a preview, rendered once for all figures of as many digits.

use std::collections::HashMap;

use crate::preview::model::{LimitHit, Unit};
use crate::preview::plan::counts::{NOTICE_FIGURES, NoticeFigure, NoticeFigures};
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
    Number(NoticeFigure),
    First,
    Last,
    /// Whether lines or the size are spoken of.
    Unit,
    Hit,
    IsEmpty,
}

/// What notices of lines of one end state.
pub(super) struct LinesFigures<'a> {
    pub of: NoticeFigures<'a>,
    /// Numbers of the first and the last line that is kept, from 1.
    pub first: u64,
    pub last: u64,
    pub is_kept_empty: bool,
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
                    Decider::Number(_) | Decider::First | Decider::Last => return None,
                    decider => all.push(decider),
                },
            }
        }
        (all.len() < (u128::BITS / BITS) as usize).then_some(Self(all))
    }

    /// Returns what all figures have in common for which the words are as long.
    pub(super) fn key(&self, figures: &LinesFigures) -> u128 {
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
            "first" => Some(Self::First),
            "last" => Some(Self::Last),
            name => {
                let figure = NOTICE_FIGURES.iter().find(|(known, _)| *known == name);
                figure.map(|(_, figure)| Self::Number(*figure))
            }
        }
    }

    fn code(self, figures: &LinesFigures) -> u32 {
        match self {
            Decider::Number(figure) => digits(figure(&figures.of).unwrap_or_default()),
            Decider::First => digits(figures.first),
            Decider::Last => digits(figures.last),
            Decider::Unit => u32::from(figures.of.is_by_lines()),
            Decider::IsEmpty => u32::from(figures.of.text.is_empty()),
            Decider::Hit => match figures.of.hit {
                None => 0,
                Some(LimitHit::Lines) => 1,
                Some(LimitHit::Size(_)) => 2,
                Some(LimitHit::Matches) => 3,
            },
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
