//! What a strategy returns: the ranges to keep, and its figures.

use std::ops::Range;

use crate::preview::measure::Text;
use crate::preview::model::{LimitHit, Part, Unit};
use crate::preview::template::{Fact, Facts};
use crate::text::units::TotalsMask;

#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The parts for each slot of the template.
    pub slots: Vec<(&'static str, Vec<Part>)>,
    /// The whole elements that were kept, in order.
    pub ranges: Vec<Range<usize>>,
    /// The ranges of which the model got the text, if those are not `ranges`, or if the agent may leave something out
    /// without an answer that says so.
    pub shown: Option<Vec<Range<usize>>>,
    /// The limit that cut, where notices do not count it as one.
    pub silent_limit: Option<LimitHit>,
    /// Number of halves of characters that became U+FFFD.
    pub halves: u64,
    /// Number of lines kept at least in part, or the total needed for it.
    pub lines: Option<Result<u64, TotalsMask>>,
    /// The limit that was hit; if none, the one that the output exceeded.
    pub hit: Option<LimitHit>,
    /// Whether a line was kept in part.
    pub partial: bool,
    /// Figures that only this strategy has.
    pub facts: Facts,
    /// The agent's message when it crashes.
    pub crash: Option<String>,
    /// What the agent's details say.
    pub inner: Option<Inner>,
    /// Whether the agent answers as for an output within its limits, although the strategy was asked to cut it.
    pub uncut: bool,
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
pub(crate) struct Inner {
    pub cut: bool,
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

impl Inner {
    pub(crate) fn new(text: &Text, cut: bool, first_line: bool) -> Self {
        let totals = text.line_count().ok().zip(text.size(Unit::Bytes).ok());
        Self { cut, first_line, totals, ..Self::default() }
    }
}

/// Returns the number of pieces in a kept range: its line feeds plus one; none for an empty range.
pub(crate) fn lines_in(text: &Text, range: &Range<usize>) -> u64 {
    if range.is_empty() { 0 } else { text.line_feeds_of(range.clone()) + 1 }
}

/// Returns the line feeds between the two kept ends, or the total needed for them.
pub(crate) fn feeds_between(
    text: &Text,
    head: &Range<usize>,
    tail: &Range<usize>,
) -> Result<u64, TotalsMask> {
    if head.end >= tail.start {
        return Ok(0);
    }
    let total = text.line_feeds()?;
    Ok(total.saturating_sub(text.line_feeds_of(head.clone()) + text.line_feeds_of(tail.clone())))
}
