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
    /// Selects what is kept of a text that exceeds its limits, or of any if the strategy decides itself whether to cut.
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

/// The name of each strategy in a policy file, what decides whether it cuts, and what reads its keys.
const STRATEGIES: &[(&str, Decides, Read)] = &[
    ("pieces", Decides::When, boxed::<Pieces>),
    ("size", Decides::When, boxed::<size::Size>),
    ("middle", Decides::When, boxed::<ends::Middle>),
    ("ends", Decides::When, boxed::<ends::Ends>),
    ("window", Decides::Itself, boxed::<window::Window>),
    ("plain-window", Decides::Itself, boxed::<window::PlainWindow>),
    ("matches", Decides::Itself, boxed::<matches::Matches>),
    ("errors", Decides::Itself, boxed::<errors::Errors>),
    ("balanced", Decides::When, boxed::<agents::both_ends::Balanced>),
    ("sampled", Decides::When, boxed::<agents::both_ends::Sampled>),
    ("held", Decides::When, boxed::<Held>),
    ("rolling", Decides::When, boxed::<Rolling>),
    ("collected", Decides::Itself, boxed::<agents::held::Collected>),
    ("twice", Decides::When, boxed::<counted::Twice>),
    ("snapped", Decides::When, boxed::<ends::Snapped>),
    ("raw-tail", Decides::Itself, boxed::<size::RawTail>),
    ("clipped", Decides::Itself, boxed::<Clipped>),
    ("shares", Decides::When, boxed::<agents::both_ends::Shares>),
    ("exact", Decides::Itself, boxed::<counted::Exact>),
    ("view", Decides::Itself, boxed::<window::View>),
    ("stripped", Decides::When, boxed::<agents::escapes::Stripped>),
    ("text-mode", Decides::Itself, boxed::<ends::TextMode>),
    ("wrapped", Decides::Itself, boxed::<counted::Wrapped>),
    ("filtered", Decides::Itself, boxed::<agents::escapes::Filtered>),
    ("shaped", Decides::Itself, boxed::<agents::shaped::Shaped>),
    ("counted", Decides::Itself, boxed::<counted::Counted>),
    ("numbered", Decides::When, boxed::<agents::clipped::Numbered>),
    ("weighed", Decides::Itself, boxed::<agents::weighed::Weighed>),
    ("celled", Decides::Itself, boxed::<ends::Celled>),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decides {
    Itself,
    /// The limits of `[when]`.
    When,
}

fn boxed<S: Strategy + DeserializeOwned>(keys: &mut Keys) -> Result<Box<dyn Strategy>, Fault> {
    Ok(Box::new(keys.read::<S>()?))
}

/// `[keep]`: a strategy, and the keys that any strategy may have.
#[derive(Debug)]
pub(crate) struct Keep {
    strategy: Box<dyn Strategy>,
    decides: Decides,
    first: Option<First>,
    /// Matches a tag of the agent's envelope, which is escaped in what is kept.
    escape_tag: Option<Expression>,
    /// What is done to the kept text last.
    pub rewrite: Rewrite,
}

impl Keep {
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, Fault> {
        let names: Vec<_> = STRATEGIES.iter().map(|(name, ..)| *name).collect();
        let (_, decides, read) = STRATEGIES[keys.tag("strategy", &names)?];
        let (strategy, first) = (read(keys)?, keys.field("first")?);
        let tag: Option<String> = keys.field("escape_tag")?;
        let escape_tag = tag.map(|tag| rewrite::tag_finder(&tag)).transpose();
        let escape_tag = escape_tag.map_err(|error| keys.fault("escape_tag", error))?;
        Ok(Self { strategy, decides, first, escape_tag, rewrite: keys.read()? })
    }

    /// Whether the strategy decides itself whether to cut.
    pub(crate) fn decides_itself(&self) -> bool {
        self.decides == Decides::Itself
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
            for (_, parts) in &mut selection.slots {
                *parts = parts.drain(..).flat_map(|part| rewrite::escaped(text, finder, part)).collect();
            }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PAGE: &str = include_str!("../../../docs/policies.md");

    fn between(start: &str, end: &str) -> &'static str {
        let rest = PAGE.split_once(start).unwrap().1;
        rest.split_once(end).unwrap().0
    }

    /// Returns what stands between backticks.
    fn quoted(text: &'static str) -> BTreeSet<&'static str> {
        text.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn the_documentation_names_the_strategies_that_decide_themselves() {
        let themselves = STRATEGIES.iter().filter(|(_, decides, _)| *decides == Decides::Itself);
        let listed = quoted(between("The strategies ", "decide\nthemselves"));
        assert_eq!(listed, themselves.map(|(name, ..)| *name).collect());
    }

    #[test]
    fn the_documentation_has_an_entry_for_every_strategy() {
        let entries = between("## `[keep]`", "Keys that several").split("\n* `").skip(1);
        let mut found: BTreeSet<_> = entries.filter_map(|entry| entry.split('`').next()).collect();
        found.extend(quoted(between("Strategies of one agent each;", "\n\n")));
        assert_eq!(found, STRATEGIES.iter().map(|(name, ..)| *name).collect());
    }
}
