//! The strategies by which agents cut: each selects ranges of a text and says which limit was hit.

pub(crate) mod agents;
mod composed;
pub(crate) mod counted;
pub(crate) mod ends;
pub(crate) mod errors;
pub(crate) mod matches;
pub(crate) mod pieces;
pub(crate) mod selection;
pub(crate) mod size;
pub(crate) mod window;

use std::any::Any;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::expression::Expression;
use super::limits::Limits;
use super::measure::{Text, TrimRule, as_usize};
use super::model::{Direction, LimitHit, PlanError, Unit};
use super::rewrite::{self, Rewrite};
use super::section::{Fault, Keys, or_default};
use super::template::{Figure, Scope};
use agents::clipped::Clipped;
use agents::held::{Held, Rolling};
use pieces::Pieces;
pub(crate) use selection::Selection;

/// A way of cutting, with its figures.
pub(crate) trait Strategy: Any + Debug + Send + Sync {
    /// Selects what is kept of a text that exceeds its limits, or of any if the strategy takes every output.
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError>;
}

/// The policy around a strategy, with its current parameters.
pub(crate) struct Context<'a> {
    pub scope: &'a Scope<'a>,
    pub limits: &'a Limits,
    pub unit: Unit,
    /// The value of the policy's parameter for the direction, if it has one.
    pub direction: Option<Direction>,
}

impl Context<'_> {
    pub(crate) fn by_size(&self) -> LimitHit {
        LimitHit::Size(self.unit)
    }
}

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

type Read = fn(&mut Keys) -> Result<Box<dyn Strategy>, Fault>;

/// The name of each strategy in a policy file, which outputs it takes, and what reads its keys.
const STRATEGIES: [(&str, Takes, Read); 29] = [
    ("pieces", Takes::Large, boxed::<Pieces>),
    ("size", Takes::Large, boxed::<size::Size>),
    ("middle", Takes::Large, boxed::<ends::Middle>),
    ("ends", Takes::Large, boxed::<ends::Ends>),
    ("window", Takes::Every, boxed::<window::Window>),
    ("plain-window", Takes::Every, boxed::<window::PlainWindow>),
    ("matches", Takes::Every, boxed::<matches::Matches>),
    ("errors", Takes::Every, boxed::<errors::Errors>),
    ("balanced", Takes::Large, boxed::<agents::both_ends::Balanced>),
    ("sampled", Takes::Large, boxed::<agents::both_ends::Sampled>),
    ("held", Takes::Large, boxed::<Held>),
    ("rolling", Takes::Large, boxed::<Rolling>),
    ("collected", Takes::Every, boxed::<agents::held::Collected>),
    ("twice", Takes::Large, boxed::<counted::Twice>),
    ("snapped", Takes::Large, boxed::<ends::Snapped>),
    ("raw-tail", Takes::Every, boxed::<size::RawTail>),
    ("clipped", Takes::Every, boxed::<Clipped>),
    ("shares", Takes::Large, boxed::<agents::both_ends::Shares>),
    ("exact", Takes::Every, boxed::<counted::Exact>),
    ("view", Takes::Every, boxed::<window::View>),
    ("stripped", Takes::Large, boxed::<agents::escapes::Stripped>),
    ("text-mode", Takes::Every, boxed::<ends::TextMode>),
    ("wrapped", Takes::Every, boxed::<counted::Wrapped>),
    ("filtered", Takes::Every, boxed::<agents::escapes::Filtered>),
    ("shaped", Takes::Every, boxed::<agents::shaped::Shaped>),
    ("counted", Takes::Every, boxed::<counted::Counted>),
    ("numbered", Takes::Large, boxed::<agents::clipped::Numbered>),
    ("weighed", Takes::Every, boxed::<agents::weighed::Weighed>),
    ("celled", Takes::Every, boxed::<ends::Celled>),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Every,
    Large,
}

fn boxed<S: Strategy + DeserializeOwned>(keys: &mut Keys) -> Result<Box<dyn Strategy>, Fault> {
    Ok(Box::new(keys.read::<S>()?))
}

/// `[keep]`: a strategy, and the keys that any strategy may have.
#[derive(Debug)]
pub(crate) struct Keep {
    strategy: Box<dyn Strategy>,
    takes: Takes,
    first: Option<First>,
    /// Matches a tag of the agent's envelope, which is escaped in what is kept.
    escape_tag: Option<Expression>,
    /// What is done to the kept text last.
    pub rewrite: Rewrite,
}

impl Keep {
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, Fault> {
        let (_, takes, read) = STRATEGIES[keys.tag("strategy", &STRATEGIES.map(|(name, ..)| name))?];
        let (strategy, first) = (read(keys)?, keys.field("first")?);
        let tag: Option<String> = keys.field("escape_tag")?;
        let escape_tag = tag.map(|tag| rewrite::tag_finder(&tag)).transpose();
        let escape_tag = escape_tag.map_err(|error| keys.fault("escape_tag", error))?;
        Ok(Self { strategy, takes, first, escape_tag, rewrite: keys.read()? })
    }

    /// Whether it handles every output, even within the limits.
    pub(crate) fn is_always(&self) -> bool {
        self.takes == Takes::Every
    }

    /// Returns the strategy if it keeps whole lines of one end, and nothing else happens to them.
    #[cfg(feature = "app")]
    pub(crate) fn lines_kept(&self) -> Option<LinesKept<'_>> {
        if self.first.is_some() || self.escape_tag.is_some() || !self.rewrite.is_nothing() {
            return None;
        }
        let strategy: &dyn Any = &*self.strategy;
        let whole = strategy.downcast_ref().map(LinesKept::Whole);
        let held = || strategy.downcast_ref().map(LinesKept::Held);
        whole.or_else(held).or_else(|| strategy.downcast_ref().map(LinesKept::Rolling))
    }

    /// Makes the lines of a preview longer again that were cut to a length, if the strategy does that and says nothing else.
    #[cfg(feature = "records")]
    pub(crate) fn unclipped(&self, text: &str, scope: &Scope) -> Option<String> {
        let strategy: &dyn Any = &*self.strategy;
        strategy.downcast_ref::<Clipped>()?.unclipped(text, scope)
    }

    pub(crate) fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let cut = |first: &First| Ok(text.first(as_usize(context.scope.figure(&first.size)?), first.trim));
        let first = self.first.as_ref().map(cut).transpose()?;
        let selection = self.strategy.select(first.as_ref().unwrap_or(text), context);
        if let Some(first) = &first {
            text.absorb(first);
        }
        let mut selection = selection?;
        if first.as_ref().is_some_and(|first| first.bytes.len() < text.bytes.len()) {
            selection.shown = Some(selection.shown.unwrap_or_else(|| selection.ranges.clone()));
            selection.silent_limit = Some(LimitHit::Size(Unit::Bytes));
        }
        if let Some(finder) = &self.escape_tag {
            rewrite::escape_tags(text, finder, &mut selection.slots);
        }
        Ok(selection)
    }
}

/// A strategy that keeps whole lines of one end.
#[cfg(feature = "app")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum LinesKept<'a> {
    Whole(&'a Pieces),
    Held(&'a Held),
    Rolling(&'a Rolling),
}

/// Of a longer output, only this many raw bytes at the start are used.
#[derive(Debug, Deserialize)]
struct First {
    #[serde(rename = "first")]
    size: Figure,
    /// What is removed from their ends.
    #[serde(rename = "first_trim", deserialize_with = "or_default")]
    trim: TrimRule,
}
