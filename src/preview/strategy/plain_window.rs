//! A read tool's window of plain lines: from an offset, then whole pieces within the limits.

use serde::Deserialize;

use crate::preview::limits::Over;
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, PlanError};
use crate::preview::strategy::pieces::Pieces;
use crate::preview::strategy::selection::Inner;
use crate::preview::strategy::{Context, Selection, Strategy};
use crate::preview::template::{Fact, Facts, Figure, Template};

#[derive(Debug, Deserialize)]
pub(crate) struct PlainWindow {
    /// Number of lines before the window.
    skip: Figure,
    /// Number of lines that the caller requests, before the limits apply.
    take: Option<Figure>,
    /// Whether those count as the limit on lines.
    take_counts: bool,
    /// The agent's reply to an offset beyond the end; `count` is the number of lines.
    past_end: Template,
    pieces: Pieces,
}

impl Strategy for PlainWindow {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let skip = context.scope.figure(&self.skip)?;
        let asked = context.scope.optional(&self.take)?;
        let take = asked.filter(|_| !self.take_counts);
        let end = text.body.end;
        let first = |start: usize, lines| text.outer_pieces(start..end, Direction::Head, lines);
        let start = match skip {
            0 => text.body.start,
            _ => first(text.body.start, skip).ok_or_else(|| self.past_end(text, context))?.end + 1,
        };
        let stop = match take {
            Some(0) => start,
            Some(take) => first(start, take).map_or(end, |lines| lines.end),
            None => end,
        };
        let feeds = match take {
            Some(take) if stop < end => Some(take.saturating_sub(1)),
            _ => text.line_feeds().ok().map(|feeds| feeds.saturating_sub(skip)),
        };
        let window = text.part(start..stop, feeds);
        let selection =
            self.within(text, &window, context, (skip, asked), take.filter(|take| *take == 0 || stop < end));
        text.absorb(&window);
        selection
    }
}

impl PlainWindow {
    /// Cuts the selected lines by the policy's limits and says how the window ends.
    fn within(
        &self,
        text: &Text,
        window: &Text,
        context: &Context,
        (skip, asked): (u64, Option<u64>),
        caller: Option<u64>,
    ) -> Result<Selection, PlanError> {
        let over = context.limits.test(window, context.scope, context.unit)?;
        let is_cut = matches!(over, Ok(Over::Size | Over::Lines));
        text.wait_for(over.err().unwrap_or_default());
        let size = context.scope.optional(&self.pieces.size)?.unwrap_or(u64::MAX);
        // The first line is read only as far as it takes to see whether it exceeds the limit.
        let start = window.body.start;
        let bound = window.body.end.min(start.saturating_add(as_usize(size.saturating_add(1))));
        let first_line = start..window.feed_after(start, bound).unwrap_or(bound);
        let is_first =
            is_cut && asked != Some(0) && window.size_of(first_line, self.pieces.unit(context)) > size;
        let mut selection =
            if is_cut { self.pieces.select(window, context)? } else { Selection::everything(window) };
        let taken = match caller.filter(|_| !is_cut) {
            Some(take) => Ok(take),
            None => selection.lines.unwrap_or(Ok(0)),
        };
        let stop = match (is_first, is_cut, selection.hit, caller) {
            (true, ..) => "first",
            (_, true, Some(LimitHit::Size(_)), _) => "size",
            (_, true, ..) => "lines",
            (.., Some(_)) => "caller",
            _ => "end",
        };
        let first = skip + 1;
        let last = taken.map(|taken| skip + taken);
        let pieces = text.line_feeds().map(|feeds| feeds + 1);
        selection.span = Some((Ok(first), last));
        selection.hit = selection.hit.filter(|_| is_cut).or((stop == "caller").then_some(LimitHit::Lines));
        selection.hit = if stop == "first" { Some(context.by_size()) } else { selection.hit };
        selection.cut = Some(stop != "end");
        selection.shown = Some(selection.ranges.clone());
        selection.silent_limit = Some(LimitHit::Lines);
        selection.total_lines = Some(pieces);
        selection.facts.insert("lines", Fact::from(pieces));
        selection.facts.insert("next", Fact::from(last.map(|last| last + 1)));
        let more = pieces.and_then(|pieces| last.map(|last| pieces.saturating_sub(last)));
        selection.facts.insert("more", Fact::from(more));
        selection.facts.insert("stop", Fact::Text(stop.to_owned()));
        if is_first {
            let line = window.line_size(start, Direction::Head);
            selection.facts.insert("line_bytes", Fact::from(line));
        }
        selection.inner = Some(Inner::new(window, is_cut, is_first));
        Ok(selection)
    }

    fn past_end(&self, text: &Text, context: &Context) -> PlanError {
        let feeds = text.line_feeds().unwrap_or_else(|_| text.line_feeds_of(text.body.clone()));
        context.scope.refusal(&self.past_end, Facts::from([("count", Fact::Number(feeds + 1))]))
    }
}
