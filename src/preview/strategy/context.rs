//! What a strategy is, what it works with besides its own figures, and the types that several strategies share.

use std::any::Any;
use std::fmt::Debug;

use serde::{Deserialize, Deserializer};

use crate::preview::error::PlanError;
use crate::preview::limits::Limits;
use crate::preview::measure::Text;
use crate::preview::model::{Direction, LimitHit, Unit};
use crate::preview::template::scope::Scope;

use super::selection::Selection;

/// A way of cutting, with its figures.
pub(crate) trait Strategy: Any + Debug + Send + Sync {
    /// Selects what is kept of a text that exceeds its limits, or of any if the strategy takes every output.
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError>;
}

/// The policy around a strategy, with its current parameters.
pub(crate) struct Context<'a> {
    pub scope: &'a Scope<'a>,
    pub limits: &'a Limits,
    /// The unit of the policy's sizes.
    pub unit: Unit,
    /// The value of the policy's parameter for the direction, if it has one.
    pub direction: Option<Direction>,
}

impl Context<'_> {
    /// The limit on size, in the policy's own unit.
    pub(crate) fn by_size(&self) -> LimitHit {
        LimitHit::Size(self.unit)
    }
}

/// Which end a strategy keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum From {
    #[default]
    Head,
    Tail,
    /// As the parameter with that role says.
    Direction,
}

impl From {
    pub(crate) fn resolve(self, context: &Context) -> Direction {
        match self {
            Self::Head => Direction::Head,
            Self::Tail => Direction::Tail,
            Self::Direction => context.direction.unwrap_or(Direction::Head),
        }
    }
}

/// Where a cut by size may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Boundary {
    /// Between characters, moved inward.
    #[default]
    Character,
    /// Between units of the size: half a surrogate pair becomes U+FFFD.
    Unit,
    /// Anywhere between raw bytes.
    Byte,
}

/// Reads a unit; UTF-16 units if the key is absent.
pub(crate) fn or_utf16<'de, D: Deserializer<'de>>(key: D) -> Result<Unit, D::Error> {
    Ok(Option::deserialize(key)?.unwrap_or(Unit::Utf16))
}
