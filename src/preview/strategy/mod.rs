//! The ways of keeping: each chooses ranges of a text and says by which limit.

pub(crate) mod agents;
mod composed;
mod counted;
mod ends;
mod errors;
mod escaped;
mod exact;
mod middle;
mod pieces;
pub(crate) mod read;
mod segments;
mod size;
mod twice;

use std::ops::Range;

use toml::Spanned;

use crate::text::units::Want;

use super::input::Input;
use super::measure::{Text, as_usize};
use super::model::{Direction, LimitHit, Part, Unit};
use super::plan::{self, PlanError};
use super::policy::Policy;
use super::policy::schema::{Figure, KeepForm, Way};
use super::template::{self, Fact, Facts};

/// What a way of keeping chose.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// Parts for each slot of the template.
    pub slots: Vec<(&'static str, Vec<Part>)>,
    /// The whole elements that were kept, in order.
    pub ranges: Vec<Range<usize>>,
    /// Halves of characters that became U+FFFD.
    pub halves: u64,
    /// Lines of which something was kept, or the total that they wait for.
    pub lines: Option<Result<u64, Want>>,
    /// The limit that ended the keeping; without it, the one that the output was over.
    pub hit: Option<LimitHit>,
    /// Whether a line was kept in part.
    pub partial: bool,
    /// Figures of this way alone.
    pub facts: Facts,
    /// What the agent says as it crashes.
    pub crash: Option<String>,
    /// What the agent's details say.
    pub inner: Option<Inner>,
    /// Whether something was left out, for ways that are not ruled by the policy's `when`.
    pub cut: Option<bool>,
    /// Lines of the whole, where the way counts them otherwise than the policy's pieces.
    pub total_lines: Option<Result<u64, Want>>,
    /// Line numbers (1-based, ends included) that were kept.
    pub span: Option<(Result<u64, Want>, Result<u64, Want>)>,
}

/// What an agent's own cutting function was given and said, for its details.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inner {
    /// Whether it cut.
    pub cut: bool,
    /// Whether the first line alone was over the size limit.
    pub first_line: bool,
    /// Lines and bytes of what it was given, where they differ from the whole's.
    pub totals: Option<(u64, u64)>,
    /// Bytes of what it gave back, where words of its own are among them.
    pub output_bytes: Option<u64>,
    /// The limit on matches that was reached.
    pub limited: Option<u64>,
    /// Whether a line was cut.
    pub clipped: bool,
}

impl Inner {
    pub fn of(text: &Text, cut: bool, first_line: bool) -> Self {
        let totals = text.line_count().ok().zip(text.size(Unit::Bytes).ok());
        Self { cut, first_line, totals, ..Self::default() }
    }
}

/// The figures of a policy's `keep`, worked out.
pub(crate) struct Rule<'a> {
    pub policy: &'a Policy,
    pub form: &'a KeepForm,
    pub unit: Unit,
    pub direction: Direction,
    /// What templates may name besides the parameters: the path, the exit code, the stream.
    outside: Facts,
}

impl<'a> Rule<'a> {
    pub fn of(policy: &'a Policy, outside: Facts) -> Self {
        let form = policy.keep();
        let unit = form.unit.unwrap_or_else(|| policy.unit());
        let from = form.from.as_ref().map(|from| from.get_ref().resolve(policy.direction()));
        Self { policy, form, unit, direction: from.unwrap_or(Direction::Head), outside }
    }

    /// An optional figure.
    pub fn figure(&self, figure: &Option<Figure>) -> Result<Option<u64>, PlanError> {
        let worked = figure.as_ref().map(|figure| template::figure(self.policy, figure));
        worked.transpose().map_err(|message| PlanError::policy(self.policy, message))
    }

    /// Words of the agent's own from a template without slots; none where there is no template.
    pub fn words(&self, template: &Option<Spanned<String>>, facts: &Facts) -> Result<String, PlanError> {
        self.words_waiting(template, facts).map(|(words, _)| words)
    }

    /// The same, with the totals that they lack.
    pub fn words_waiting(
        &self,
        template: &Option<Spanned<String>>,
        facts: &Facts,
    ) -> Result<(String, Want), PlanError> {
        let Some(template) = template else { return Ok((String::new(), Want::NOTHING)) };
        let mut all = self.outside.clone();
        all.extend(facts.iter().map(|(name, fact)| (*name, fact.clone())));
        let rendered = template::render_plain(self.policy, template.get_ref(), &all);
        rendered.map_err(|message| PlanError::policy(self.policy, message))
    }

    /// A template that is rendered for line after line: compiled once.
    pub fn template<'t>(
        &self,
        template: &'t Option<Spanned<String>>,
    ) -> Result<Option<template::Template<'t>>, PlanError> {
        let compile = |words: &'t Spanned<String>| template::Template::new(self.policy, words.get_ref());
        let compiled = template.as_ref().map(compile).transpose();
        compiled.map_err(|message| PlanError::policy(self.policy, message))
    }

    /// What a template makes of a line's number; nothing where there is none.
    pub fn numbered(&self, template: &Option<template::Template>, number: u64) -> Result<String, PlanError> {
        let Some(template) = template else { return Ok(String::new()) };
        let rendered = template.render_plain(Facts::from([("number", Fact::Number(number))]));
        rendered.map(|(text, _)| text).map_err(|message| PlanError::policy(self.policy, message))
    }

    /// A figure that the way cannot do without.
    pub fn needed(&self, figure: &Option<Figure>, key: &str) -> Result<u64, PlanError> {
        self.figure(figure)?.ok_or_else(|| {
            PlanError::policy(self.policy, format!("`keep` has no `{key}`, which this way needs"))
        })
    }
}

/// Chooses what is kept of a text that is over its limits (or, for windows, of any).
pub(crate) fn choose(text: &Text, policy: &Policy, input: &Input) -> Result<Chosen, PlanError> {
    let rule = Rule::of(policy, plan::outside(input, policy, text.source));
    let first = rule.figure(&rule.form.first)?.map(|first| text.first(as_usize(first), rule.form.first_trim));
    let chosen = choose_of(first.as_ref().unwrap_or(text), &rule);
    if let Some(first) = &first {
        text.absorb(first);
    }
    let mut chosen = chosen?;
    if let Some(tag) = &rule.form.escape_tag {
        let finder = escaped::finder(tag).map_err(|error| PlanError::policy(policy, error.to_string()))?;
        escaped::apply(text, &finder, &mut chosen.slots);
    }
    Ok(chosen)
}

fn choose_of(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    match rule.form.way {
        Way::Pieces => pieces::choose(text, rule),
        Way::Size => size::choose(text, rule),
        Way::Middle => middle::choose(text, rule),
        Way::Ends => ends::choose(text, rule),
        Way::Window => read::window::choose(text, rule),
        Way::Selection => read::selection::choose(text, rule),
        Way::Matches => read::matches::choose(text, rule),
        Way::Errors => errors::choose(text, rule),
        Way::Balanced => agents::balanced::choose(text, rule),
        Way::Sampled => agents::sampled::choose(text, rule),
        Way::Held => agents::held::chunks(text, rule),
        Way::Rolling => agents::held::rolling(text, rule),
        Way::Collected => agents::collected::choose(text, rule),
        Way::Twice => twice::choose(text, rule),
        Way::Snapped => agents::snapped::choose(text, rule),
        Way::RawTail => agents::raw_tail::choose(text, rule),
        Way::Clipped => agents::clipped::choose(text, rule),
        Way::Shares => agents::shares::choose(text, rule),
        Way::Exact => exact::choose(text, rule),
        Way::View => read::view::choose(text, rule),
        Way::Stripped => agents::stripped::choose(text, rule),
        Way::Wrapped => agents::wrapped::choose(text, rule),
        Way::Filtered => agents::filtered::choose(text, rule),
        Way::Shaped => agents::shaped::choose(text, rule),
        Way::Counted => counted::choose(text, rule),
        Way::Numbered => agents::numbered::choose(text, rule),
        Way::Weighed => agents::weighed::choose(text, rule),
        Way::Celled => agents::celled::choose(text, rule),
    }
}

/// Whether a way looks at any output, within its limits or not.
pub(crate) fn is_always(policy: &Policy) -> bool {
    use Way::{
        Celled, Clipped, Collected, Counted, Errors, Exact, Filtered, Matches, RawTail, Selection, Shaped,
        View, Weighed, Window, Wrapped,
    };
    matches!(
        policy.keep().way,
        Window
            | Selection
            | Matches
            | Errors
            | RawTail
            | Clipped
            | Collected
            | View
            | Exact
            | Shaped
            | Counted
            | Celled
            | Weighed
            | Wrapped
            | Filtered
    )
}

/// With one figure more.
pub(crate) fn with_fact(mut chosen: Chosen, name: &'static str, fact: Fact) -> Chosen {
    chosen.facts.insert(name, fact);
    chosen
}

/// Pieces in a kept stretch: its line feeds and one, none for nothing.
pub(crate) fn lines_in(text: &Text, range: &Range<usize>) -> u64 {
    if range.is_empty() { 0 } else { text.line_feeds_of(range.clone()) + 1 }
}

/// Line feeds between the two kept ends, or the total that they wait for.
pub(crate) fn feeds_between(text: &Text, head: &Range<usize>, tail: &Range<usize>) -> Result<u64, Want> {
    if head.end >= tail.start {
        return Ok(0);
    }
    let total = text.line_feeds()?;
    Ok(total.saturating_sub(text.line_feeds_of(head.clone()) + text.line_feeds_of(tail.clone())))
}
