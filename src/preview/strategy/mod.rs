//! The strategies by which agents cut: each selects ranges of a text and says which limit was hit.

pub(crate) mod agents;
mod composed;
pub(crate) mod counted;
pub(crate) mod ends;
pub(crate) mod errors;
pub(crate) mod matches;
pub(crate) mod one_end;
pub(crate) mod window;

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::limits::Limits;
use super::measure::{Text, TrimRule, as_usize};
use super::model::{Direction, LimitHit, Part, PlanError, Unit};
use super::rewrite::{self, Expression, Rewrite};
use super::section::{Fault, Keys};
use super::template::{Fact, Facts, Figure, Scope};
use crate::text::units::TotalsMask;
use agents::clipped::Clipped;
use agents::held::{Held, Rolling};
use one_end::{Pieces, RawTail, Size};

/// A way of cutting, with its figures.
pub(crate) trait Strategy: Any + Debug + Send + Sync {
    /// Selects what is kept of a text that exceeds its limits, or of any if the strategy decides itself whether to cut.
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError>;
}

/// What a strategy returns: the ranges to keep, and its figures. All strategies set `slots`, `ranges` and `lines`; `hit`, if
/// it need not be the limit that `[when]` found exceeded; and `uncut`, if they decide themselves whether to cut.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The parts for each slot of the template.
    pub slots: Vec<(&'static str, Vec<Part>)>,
    /// What of the output was kept, in order: what notices count, however the parts change it.
    pub ranges: Vec<Range<usize>>,
    /// Number of lines kept at least in part, or the total needed for it.
    pub lines: Option<Result<u64, TotalsMask>>,
    /// The limit of which notices speak; if none, the one that `[when]` found exceeded.
    pub hit: Option<LimitHit>,
    /// Whether the agent answers as for an output within its limits, although the strategy was asked to cut it.
    pub uncut: bool,
    /// The ranges whose text the model got, for agents that may leave something out without a word: an output of which
    /// text is missing is then cut, although the agent answers as for one within its limits.
    pub shown: Option<Vec<Range<usize>>>,
    /// The limit by which text is missing if there is no `hit`.
    pub silent_limit: Option<LimitHit>,
    /// Number of halves of characters that became U+FFFD.
    pub halves: u64,
    /// Whether a line was kept in part.
    pub partial: bool,
    /// Figures that only this strategy has.
    pub facts: Facts,
    /// The agent's message when it crashes; all else is then empty.
    pub crash: Option<String>,
    pub details: Option<CutDetails>,
    /// Number of lines in the whole, if the strategy counts them differently from the policy's pieces.
    pub total_lines: Option<Result<u64, TotalsMask>>,
    /// Line numbers (1-based, inclusive) that were kept.
    pub span: Option<(Result<u64, TotalsMask>, Result<u64, TotalsMask>)>,
}

impl Selection {
    pub(crate) fn everything(text: &Text) -> Self {
        Self {
            slots: vec![("kept", text.kept(text.body.clone()).into_iter().collect())],
            ranges: vec![text.body.clone()],
            lines: Some(text.line_count()),
            ..Self::default()
        }
    }

    /// Keeps a whole text, for a strategy that decides itself whether to cut.
    pub(crate) fn uncut(text: &Text) -> Self {
        Self { uncut: true, ..Self::everything(text) }
    }

    pub(crate) fn ends(text: &Text, head: Range<usize>, tail: Range<usize>) -> Self {
        let parts = |range: &Range<usize>| text.kept(range.clone()).into_iter().collect();
        Self {
            slots: vec![("head", parts(&head)), ("tail", parts(&tail))],
            ranges: vec![head, tail],
            ..Self::default()
        }
    }

    pub(crate) fn with_fact(mut self, name: &'static str, fact: Fact) -> Self {
        self.facts.insert(name, fact);
        self
    }
}

/// The input and result of an agent's own cutting function, for its details.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CutDetails {
    pub is_cut: bool,
    /// Whether the first line alone exceeded the size limit.
    pub first_line: bool,
    /// Lines and bytes of its input, if they differ from those of the whole.
    pub totals: Option<(u64, u64)>,
    /// Bytes of its result, if that includes text of its own.
    pub output_bytes: Option<u64>,
    /// The limit on matches that was reached.
    pub limited: Option<u64>,
    pub clipped: bool,
}

impl CutDetails {
    pub(crate) fn new(text: &Text, is_cut: bool, first_line: bool) -> Self {
        let totals = text.line_count().ok().zip(text.size(Unit::Bytes).ok());
        Self { is_cut, first_line, totals, ..Self::default() }
    }
}

/// Returns the number of lines, as the policy counts them, of which a range holds any part.
pub(crate) fn lines_in(text: &Text, range: &Range<usize>) -> u64 {
    let end = match range.is_empty() {
        true => return 0,
        // A line feed belongs to the line before it, unless the policy counts an empty line after the last one.
        false if ends_line(text, range) => {
            range.end - usize::from(range.end < text.body.end || text.final_feed())
        }
        false => range.end,
    };
    text.line_feeds_of(range.start..end) + 1
}

fn ends_line(text: &Text, range: &Range<usize>) -> bool {
    text.bytes[..range.end].last() == Some(&b'\n')
}

/// How much of a gap between two kept ranges is looked at before all line feeds are counted, in bytes.
const GAP: usize = 4096;

/// Returns the number of lines of which any of these ranges, in order, holds a part; or the total needed for it.
pub(crate) fn lines_in_all(text: &Text, ranges: &[Range<usize>]) -> Result<u64, TotalsMask> {
    let kept: Vec<&Range<usize>> = ranges.iter().filter(|range| !range.is_empty()).collect();
    let mut lines = kept.iter().map(|range| lines_in(text, range)).sum();
    for pair in kept.windows(2).filter(|pair| !ends_line(text, pair[0])) {
        lines -= u64::from(is_within_line(text, pair[0].end..pair[1].start)?);
    }
    Ok(lines)
}

fn is_within_line(text: &Text, gap: Range<usize>) -> Result<bool, TotalsMask> {
    let near = gap.end.min(gap.start + GAP);
    if gap.start >= near || text.feed_after(gap.start, near).is_some() {
        return Ok(gap.start >= near);
    }
    let around = [text.body.start..gap.start, gap.end..text.body.end];
    // Of the two, the shorter is read, so that many gaps read an output once.
    if gap.len() <= around.iter().map(Range::len).sum() {
        return Ok(text.feed_after(near, gap.end).is_none());
    }
    Ok(text.line_feeds()? == around.map(|range| text.line_feeds_of(range)).iter().sum::<u64>())
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeptEnd {
    Head,
    Tail,
    /// As the parameter with that role says.
    Direction,
}

impl KeptEnd {
    pub(crate) fn resolve(self, context: &Context) -> Direction {
        match self {
            Self::Head => Direction::Head,
            Self::Tail => Direction::Tail,
            Self::Direction => context.direction.unwrap_or(Direction::Head),
        }
    }
}

/// Where a cut by size may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Boundary {
    /// Between characters, moved inward.
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

/// The name of each strategy in a policy file, whether it decides itself whether to cut (else `[when]` does), and its keys.
const STRATEGIES: &[(&str, bool, Read)] = &[
    ("pieces", false, boxed::<Pieces>),
    ("size", false, boxed::<Size>),
    ("middle", false, boxed::<ends::Middle>),
    ("ends", false, boxed::<ends::Ends>),
    ("window", true, boxed::<window::Window>),
    ("plain-window", true, boxed::<window::PlainWindow>),
    ("matches", true, boxed::<matches::Matches>),
    ("errors", true, boxed::<errors::Errors>),
    ("balanced", false, boxed::<agents::both_ends::Balanced>),
    ("sampled", false, boxed::<agents::both_ends::Sampled>),
    ("held", false, boxed::<Held>),
    ("rolling", false, boxed::<Rolling>),
    ("collected", true, boxed::<agents::held::Collected>),
    ("twice", false, boxed::<counted::Twice>),
    ("snapped", false, boxed::<ends::Snapped>),
    ("raw-tail", true, boxed::<RawTail>),
    ("clipped", true, boxed::<Clipped>),
    ("shares", false, boxed::<agents::both_ends::Shares>),
    ("exact", true, boxed::<counted::Exact>),
    ("view", true, boxed::<window::View>),
    ("stripped", false, boxed::<agents::escapes::Stripped>),
    ("text-mode", true, boxed::<ends::TextMode>),
    ("wrapped", true, boxed::<counted::Wrapped>),
    ("filtered", true, boxed::<agents::escapes::Filtered>),
    ("shaped", true, boxed::<agents::shaped::Shaped>),
    ("counted", true, boxed::<counted::Counted>),
    ("numbered", false, boxed::<agents::clipped::Numbered>),
    ("weighed", true, boxed::<agents::weighed::Weighed>),
    ("celled", true, boxed::<ends::Celled>),
];

fn boxed<S: Strategy + DeserializeOwned>(keys: &mut Keys) -> Result<Box<dyn Strategy>, Fault> {
    Ok(Box::new(keys.read::<S>()?))
}

/// `[keep]`: a strategy, and the keys that any strategy may have.
#[derive(Debug)]
pub(crate) struct Keep {
    strategy: Box<dyn Strategy>,
    /// Whether the strategy decides itself whether to cut.
    pub decides_itself: bool,
    first: Option<First>,
    /// Matches a tag of the agent's envelope, which is escaped in what is kept.
    escape_tag: Option<Expression>,
    /// What is done to the kept text last.
    pub rewrite: Rewrite,
}

impl Keep {
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, Fault> {
        let names: Vec<_> = STRATEGIES.iter().map(|(name, ..)| *name).collect();
        let (_, decides_itself, read) = STRATEGIES[keys.tag("strategy", &names)?];
        let (strategy, first) = (read(keys)?, keys.field("first")?);
        let tag: Option<String> = keys.field("escape_tag")?;
        let escape_tag = tag.map(|tag| rewrite::tag_finder(&tag)).transpose();
        let escape_tag = escape_tag.map_err(|error| keys.fault("escape_tag", error))?;
        Ok(Self { strategy, decides_itself, first, escape_tag, rewrite: keys.read()? })
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
    #[serde(rename = "first_trim")]
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
        let themselves = STRATEGIES.iter().filter(|(_, decides_itself, _)| *decides_itself);
        let listed = quoted(between("The strategies ", "decide\nthemselves"));
        assert_eq!(listed, themselves.map(|(name, ..)| *name).collect());
    }

    #[test]
    fn the_documentation_has_an_entry_for_every_strategy() {
        let entries = between("## `[keep]`", "Keys that several").split("\n* `").skip(1);
        let mut found: BTreeSet<_> = entries.filter_map(|entry| entry.split('`').next()).collect();
        found.extend(quoted(between("Strategies of one or two agents;", "\n\n")));
        assert_eq!(found, STRATEGIES.iter().map(|(name, ..)| *name).collect());
    }
}
