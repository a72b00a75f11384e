//! A read tool's window of plain lines: from an offset, then whole pieces under the limits.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::LimitHit;
use crate::preview::plan::{self, Over, PlanError};
use crate::preview::strategy::{Chosen, Inner, Rule, pieces};
use crate::preview::template::{self, Fact, Facts};

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let skip = rule.needed(&rule.form.offset, "offset")?;
    let asked = rule.figure(&rule.form.take)?;
    let take = asked.filter(|_| !rule.form.take_counts);
    let end = text.body.end;
    let start = match skip {
        0 => text.body.start,
        _ => text.end_of_pieces(text.body.start, end, skip).ok_or_else(|| past_end(text, rule))? + 1,
    };
    let stop = match take {
        Some(0) => start,
        Some(take) => text.end_of_pieces(start, end, take).unwrap_or(end),
        None => end,
    };
    let feeds = match take {
        Some(take) if stop < end => Some(take.saturating_sub(1)),
        _ => text.line_feeds().ok().map(|feeds| feeds.saturating_sub(skip)),
    };
    let window = text.part(start..stop, feeds);
    let chosen = within(text, &window, rule, (skip, asked), take.filter(|take| *take == 0 || stop < end));
    text.absorb(&window);
    chosen
}

/// Cuts the selected lines by the policy's limits and says how the window ends.
fn within(
    text: &Text,
    window: &Text,
    rule: &Rule,
    (skip, asked): (u64, Option<u64>),
    caller: Option<u64>,
) -> Result<Chosen, PlanError> {
    let over = plan::test(window, rule.policy)?;
    let is_cut = matches!(over, Ok(Over::Size | Over::Lines));
    text.wait_for(over.err().unwrap_or_default());
    let size = rule.figure(&rule.form.size)?.unwrap_or(u64::MAX);
    let first_line = window.body.start..window.body.start + first_reach(window, size);
    let is_first = is_cut && asked != Some(0) && window.size_of(first_line, rule.unit) > size;
    let mut chosen = if is_cut { pieces::choose(window, rule)? } else { plan::everything(window) };
    let taken = match caller.filter(|_| !is_cut) {
        Some(take) => Ok(take),
        None => chosen.lines.unwrap_or(Ok(0)),
    };
    let stop = match (is_first, is_cut, chosen.hit, caller) {
        (true, ..) => "first",
        (_, true, Some(LimitHit::Size(_)), _) => "size",
        (_, true, ..) => "lines",
        (.., Some(_)) => "caller",
        _ => "end",
    };
    let first = skip + 1;
    let last = taken.map(|taken| skip + taken);
    let pieces = text.line_feeds().map(|feeds| feeds + 1);
    chosen.span = Some((Ok(first), last));
    chosen.hit = chosen.hit.filter(|_| is_cut).or((stop == "caller").then_some(LimitHit::Lines));
    chosen.hit = if stop == "first" { Some(LimitHit::Size(rule.policy.unit())) } else { chosen.hit };
    chosen.cut = Some(stop != "end");
    chosen.total_lines = Some(pieces);
    chosen.facts.insert("lines", Fact::from(pieces));
    chosen.facts.insert("next", Fact::from(last.map(|last| last + 1)));
    let more = pieces.and_then(|pieces| last.map(|last| pieces.saturating_sub(last)));
    chosen.facts.insert("more", Fact::from(more));
    chosen.facts.insert("stop", Fact::Text(stop.to_owned()));
    if is_first {
        chosen.facts.insert("line_bytes", Fact::from(window.line_size_from(window.body.start)));
    }
    chosen.inner = Some(Inner::of(window, is_cut, is_first));
    Ok(chosen)
}

/// How far the first line is read to see whether it is over the limit.
fn first_reach(window: &Text, size: u64) -> usize {
    let (start, end) = (window.body.start, window.body.end);
    let bound = end.min(start.saturating_add(as_usize(size.saturating_add(1))));
    window.feed_after(start, bound).unwrap_or(bound) - start
}

fn past_end(text: &Text, rule: &Rule) -> PlanError {
    let feeds = text.line_feeds().unwrap_or_else(|_| text.line_feeds_of(Range::clone(&text.body)));
    let facts = Facts::from([("count", Fact::Number(feeds + 1))]);
    let template =
        rule.form.past_end.as_ref().map_or("offset is past the end", |words| words.get_ref().as_str());
    match template::render_plain(rule.policy, template, &facts) {
        Ok((message, _)) => PlanError::Agent { message },
        Err(message) => PlanError::policy(rule.policy, message),
    }
}
