//! The strategies by which agents cut: each selects ranges of a text and says which limit was hit.

pub(crate) mod agents;
mod breaks;
mod composed;
pub(crate) mod context;
pub(crate) mod counted;
pub(crate) mod ends;
pub(crate) mod errors;
mod escaped;
pub(crate) mod exact;
pub(crate) mod middle;
pub(crate) mod pieces;
pub(crate) mod read;
mod segments;
pub(crate) mod selection;
pub(crate) mod size;
pub(crate) mod twice;

use serde::Deserialize;

use super::error::PlanError;
use super::expression::Expression;
use super::measure::rules::TrimRule;
use super::measure::{Text, as_usize};
use super::model::{LimitHit, Unit};
use super::rewrite::Rewrite;
use super::section::{Fault, Keys};
use super::template::Figure;
#[cfg(feature = "records")]
use super::template::scope::Scope;
use agents::balanced::Balanced;
use agents::celled::Celled;
use agents::clipped::Clipped;
use agents::collected::Collected;
use agents::filtered::Filtered;
use agents::held::{Held, Rolling};
use agents::numbered::Numbered;
use agents::raw_tail::RawTail;
use agents::sampled::Sampled;
use agents::shaped::Shaped;
use agents::shares::Shares;
use agents::snapped::Snapped;
use agents::stripped::Stripped;
use agents::text_mode::TextMode;
use agents::weighed::Weighed;
use agents::wrapped::Wrapped;
use context::Context;
use counted::Counted;
use ends::Ends;
use errors::Errors;
use exact::Exact;
use middle::Middle;
use pieces::Pieces;
use read::matches::Matches;
use read::plain_window::PlainWindow;
use read::view::View;
use read::window::Window;
use selection::Selection;
use size::Size;
use twice::Twice;

/// `[keep]`: a strategy, and the keys that any strategy may have.
#[derive(Debug)]
pub(crate) struct Keep {
    strategy: Strategy,
    first: Option<First>,
    /// Matches a tag of the agent's envelope, which is escaped in what is kept.
    escape_tag: Option<Expression>,
    /// What is done to the kept text last.
    pub rewrite: Rewrite,
}

impl Keep {
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, Fault> {
        Ok(Self {
            strategy: Strategy::read(keys)?,
            first: First::read(keys)?,
            escape_tag: keys.optional_pattern("escape_tag", escaped::finder)?,
            rewrite: Rewrite::read(keys)?,
        })
    }

    /// Whether it handles every output, even within the limits.
    pub(crate) fn is_always(&self) -> bool {
        self.strategy.is_always()
    }

    /// Returns the strategy if it keeps whole lines of one end, and nothing else happens to them.
    #[cfg(feature = "app")]
    pub(crate) fn of_whole_lines(&self) -> Option<LinesKept<'_>> {
        if self.first.is_some() || self.escape_tag.is_some() || !self.rewrite.is_nothing() {
            return None;
        }
        match &self.strategy {
            Strategy::Pieces(pieces) => Some(LinesKept::Whole(pieces)),
            Strategy::Held(held) => Some(LinesKept::Held(held)),
            Strategy::Rolling(rolling) => Some(LinesKept::Rolling(rolling)),
            _ => None,
        }
    }

    /// Makes the lines of a preview longer again that were cut to a length, if the strategy does that and says nothing else.
    #[cfg(feature = "records")]
    pub(crate) fn unclipped(&self, text: &str, scope: &Scope) -> Option<String> {
        match &self.strategy {
            Strategy::Clipped(clipped) => clipped.unclipped(text, scope),
            _ => None,
        }
    }

    /// Selects what is kept of a text.
    pub(crate) fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let first = self.first.as_ref().map(|first| first.of(text, context)).transpose()?;
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
            escaped::apply(text, finder, &mut selection.slots);
        }
        Ok(selection)
    }
}

/// A strategy that keeps whole lines of one end.
#[cfg(feature = "app")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum LinesKept<'a> {
    /// Of the whole output.
    Whole(&'a Pieces),
    /// Of what a reader holds.
    Held(&'a Held),
    /// Of a rolling window.
    Rolling(&'a Rolling),
}

/// Of a longer output, only this many raw bytes at the start are used.
#[derive(Debug)]
struct First {
    size: Figure,
    /// What is removed from their ends.
    trim: TrimRule,
}

impl First {
    fn read(keys: &mut Keys) -> Result<Option<Self>, Fault> {
        let Some(size) = keys.optional_figure("first")? else { return Ok(None) };
        Ok(Some(Self { size, trim: keys.word("first_trim")? }))
    }

    fn of<'a>(&self, text: &Text<'a>, context: &Context) -> Result<Text<'a>, PlanError> {
        Ok(text.first(as_usize(context.scope.figure(&self.size)?), self.trim))
    }
}

/// The strategies, each with its own keys.
#[derive(Debug)]
pub(crate) enum Strategy {
    Pieces(Pieces),
    Size(Size),
    Middle(Middle),
    Ends(Ends),
    Window(Window),
    PlainWindow(PlainWindow),
    Matches(Matches),
    Errors(Errors),
    Balanced(Balanced),
    Sampled(Sampled),
    Held(Held),
    Rolling(Rolling),
    Collected(Collected),
    Twice(Twice),
    Snapped(Snapped),
    RawTail(RawTail),
    Clipped(Clipped),
    Shares(Shares),
    Exact(Exact),
    View(View),
    Stripped(Stripped),
    TextMode(TextMode),
    Wrapped(Wrapped),
    Filtered(Filtered),
    Shaped(Shaped),
    Counted(Counted),
    Numbered(Numbered),
    Weighed(Weighed),
    Celled(Celled),
}

/// The name of each strategy in a policy file.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StrategyName {
    Pieces,
    Size,
    Middle,
    Ends,
    Window,
    PlainWindow,
    Matches,
    Errors,
    Balanced,
    Sampled,
    Held,
    Rolling,
    Collected,
    Twice,
    Snapped,
    RawTail,
    Clipped,
    Shares,
    Exact,
    View,
    Stripped,
    TextMode,
    Wrapped,
    Filtered,
    Shaped,
    Counted,
    Numbered,
    Weighed,
    Celled,
}

impl Strategy {
    fn read(keys: &mut Keys) -> Result<Self, Fault> {
        Ok(match keys.tag("strategy")? {
            StrategyName::Pieces => Self::Pieces(Pieces::read(keys)?),
            StrategyName::Size => Self::Size(Size::read(keys)?),
            StrategyName::Middle => Self::Middle(Middle::read(keys)?),
            StrategyName::Ends => Self::Ends(Ends::read(keys)?),
            StrategyName::Window => Self::Window(Window::read(keys)?),
            StrategyName::PlainWindow => Self::PlainWindow(PlainWindow::read(keys)?),
            StrategyName::Matches => Self::Matches(Matches::read(keys)?),
            StrategyName::Errors => Self::Errors(Errors::read(keys)?),
            StrategyName::Balanced => Self::Balanced(Balanced::read(keys)?),
            StrategyName::Sampled => Self::Sampled(Sampled::read(keys)?),
            StrategyName::Held => Self::Held(Held::read(keys)?),
            StrategyName::Rolling => Self::Rolling(Rolling::read(keys)?),
            StrategyName::Collected => Self::Collected(Collected::read(keys)?),
            StrategyName::Twice => Self::Twice(Twice::read(keys)?),
            StrategyName::Snapped => Self::Snapped(Snapped::read(keys)?),
            StrategyName::RawTail => Self::RawTail(RawTail::read(keys)?),
            StrategyName::Clipped => Self::Clipped(Clipped::read(keys)?),
            StrategyName::Shares => Self::Shares(Shares::read(keys)?),
            StrategyName::Exact => Self::Exact(Exact::read(keys)?),
            StrategyName::View => Self::View(View::read(keys)?),
            StrategyName::Stripped => Self::Stripped(Stripped::read(keys)?),
            StrategyName::TextMode => Self::TextMode(TextMode::read(keys)?),
            StrategyName::Wrapped => Self::Wrapped(Wrapped::read(keys)?),
            StrategyName::Filtered => Self::Filtered(Filtered::read(keys)?),
            StrategyName::Shaped => Self::Shaped(Shaped::read(keys)?),
            StrategyName::Counted => Self::Counted(Counted::read(keys)?),
            StrategyName::Numbered => Self::Numbered(Numbered::read(keys)?),
            StrategyName::Weighed => Self::Weighed(Weighed::read(keys)?),
            StrategyName::Celled => Self::Celled(Celled::read(keys)?),
        })
    }

    /// Selects what is kept of a text that exceeds its limits (or of any: see [`Strategy::is_always`]).
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        match self {
            Self::Pieces(pieces) => pieces.select(text, context),
            Self::Size(size) => size.select(text, context),
            Self::Middle(middle) => middle.select(text, context),
            Self::Ends(ends) => ends.select(text, context),
            Self::Window(window) => window.select(text, context),
            Self::PlainWindow(window) => window.select(text, context),
            Self::Matches(matches) => matches.select(text, context),
            Self::Errors(errors) => errors.select(text, context),
            Self::Balanced(balanced) => balanced.select(text, context),
            Self::Sampled(sampled) => sampled.select(text, context),
            Self::Held(held) => held.select(text, context),
            Self::Rolling(rolling) => rolling.select(text, context),
            Self::Collected(collected) => collected.select(text, context),
            Self::Twice(twice) => twice.select(text, context),
            Self::Snapped(snapped) => snapped.select(text, context),
            Self::RawTail(tail) => tail.select(text, context),
            Self::Clipped(clipped) => clipped.select(text, context),
            Self::Shares(shares) => shares.select(text, context),
            Self::Exact(exact) => exact.select(text, context),
            Self::View(view) => view.select(text, context),
            Self::Stripped(stripped) => stripped.select(text, context),
            Self::TextMode(mode) => mode.select(text, context),
            Self::Wrapped(wrapped) => wrapped.select(text, context),
            Self::Filtered(filtered) => filtered.select(text, context),
            Self::Shaped(shaped) => shaped.select(text, context),
            Self::Counted(counted) => counted.select(text, context),
            Self::Numbered(numbered) => numbered.select(text, context),
            Self::Weighed(weighed) => weighed.select(text, context),
            Self::Celled(celled) => celled.select(text, context),
        }
    }

    /// Whether it handles every output, even within the limits.
    fn is_always(&self) -> bool {
        match self {
            Self::Window(_)
            | Self::PlainWindow(_)
            | Self::Matches(_)
            | Self::Errors(_)
            | Self::RawTail(_)
            | Self::Clipped(_)
            | Self::Collected(_)
            | Self::View(_)
            | Self::Exact(_)
            | Self::Shaped(_)
            | Self::Counted(_)
            | Self::Celled(_)
            | Self::TextMode(_)
            | Self::Weighed(_)
            | Self::Wrapped(_)
            | Self::Filtered(_) => true,
            Self::Pieces(_)
            | Self::Size(_)
            | Self::Middle(_)
            | Self::Ends(_)
            | Self::Balanced(_)
            | Self::Sampled(_)
            | Self::Held(_)
            | Self::Rolling(_)
            | Self::Twice(_)
            | Self::Snapped(_)
            | Self::Shares(_)
            | Self::Stripped(_)
            | Self::Numbered(_) => false,
        }
    }
}
