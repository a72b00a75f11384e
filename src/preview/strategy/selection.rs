//! What a strategy gives back: the ranges that it keeps, and its figures.

use std::ops::Range;

use crate::preview::measure::Text;
use crate::preview::model::{LimitHit, Part, Unit};
use crate::preview::template::facts::{Fact, Facts};
use crate::text::units::Want;

/// What a strategy selected.
#[derive(Debug, Default)]
pub(crate) struct Selection {
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
    /// Figures of this strategy alone.
    pub facts: Facts,
    /// What the agent says as it crashes.
    pub crash: Option<String>,
    /// What the agent's details say.
    pub inner: Option<Inner>,
    /// Whether something was left out, for strategies that are not ruled by the policy's `when`.
    pub cut: Option<bool>,
    /// Lines of the whole, where the strategy counts them otherwise than the policy's pieces.
    pub total_lines: Option<Result<u64, Want>>,
    /// Line numbers (1-based, ends included) that were kept.
    pub span: Option<(Result<u64, Want>, Result<u64, Want>)>,
}

impl Selection {
    /// A text that is kept whole.
    pub(crate) fn everything(text: &Text) -> Self {
        Self {
            slots: vec![("kept", text.kept(text.body.clone()).into_iter().collect())],
            ranges: vec![text.body.clone()],
            lines: Some(text.line_count()),
            ..Self::default()
        }
    }

    /// A text that is kept whole by a strategy that looks at any.
    pub(crate) fn uncut(text: &Text) -> Self {
        Self { cut: Some(false), ..Self::everything(text) }
    }

    /// With one figure more.
    pub(crate) fn with_fact(mut self, name: &'static str, fact: Fact) -> Self {
        self.facts.insert(name, fact);
        self
    }
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
    pub(crate) fn of(text: &Text, cut: bool, first_line: bool) -> Self {
        let totals = text.line_count().ok().zip(text.size(Unit::Bytes).ok());
        Self { cut, first_line, totals, ..Self::default() }
    }
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
