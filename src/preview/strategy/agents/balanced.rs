//! Half the lines from either end; while they are too much, the innermost of the larger side goes.

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{LimitHit, Unit};
use crate::preview::plan::PlanError;
use crate::preview::strategy::{Chosen, Rule};
use crate::preview::template::Fact;

/// One side: where each of its pieces ends (from the end: begins), innermost last, with the size up to there.
struct Side {
    edges: Vec<(usize, u64)>,
}

impl Side {
    fn size(&self) -> u64 {
        self.edges.last().map_or(0, |(_, size)| *size)
    }
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let lines = rule.needed(&rule.form.lines, "lines")?;
    let size = rule.needed(&rule.form.size, "size")?;
    let (first, last) = halves(text, lines);
    let mut head = head_side(text, first, size);
    let mut tail = tail_side(text, last, size);
    while head.size() + tail.size() > size {
        if head.size() >= tail.size() {
            head.edges.pop()
        } else {
            tail.edges.pop()
        };
    }
    let head_range = text.body.start..head.edges.last().map_or(text.body.start, |(end, _)| *end);
    let tail_range = tail.edges.last().map_or(text.body.end, |(start, _)| *start)..text.body.end;
    let kept = (head.edges.len() + tail.edges.len()) as u64;
    let by_size = kept < first + last;
    let parts = |range| text.kept(range).into_iter().collect::<Vec<_>>();
    let mut chosen = Chosen {
        slots: vec![("head", parts(head_range.clone())), ("tail", parts(tail_range.clone()))],
        ranges: vec![head_range, tail_range],
        lines: Some(Ok(kept)),
        hit: Some(if by_size { LimitHit::Size(rule.policy.unit()) } else { LimitHit::Lines }),
        ..Chosen::default()
    };
    let left_out = text.line_count().map(|lines| lines.saturating_sub(kept));
    chosen.facts.insert("middle_lines", Fact::from(left_out));
    Ok(chosen)
}

/// How many pieces either side begins with: half the limit each, or half of what there is.
fn halves(text: &Text, lines: u64) -> (u64, u64) {
    match text.line_count() {
        Ok(count) if count <= lines => (count.div_ceil(2), count / 2),
        Ok(_) => (lines / 2, lines / 2),
        Err(_) => {
            text.give_up();
            (lines / 2, lines / 2)
        }
    }
}

fn head_side(text: &Text, most: u64, size: u64) -> Side {
    let (start, end) = (text.body.start, text.body.end);
    let bound = end.min(start.saturating_add(as_usize(size.saturating_add(1))));
    let mut side = Side { edges: Vec::new() };
    let mut next = Some(start);
    while let Some(at) = next.filter(|_| (side.edges.len() as u64) < most) {
        let feed = if at <= bound { text.feed_after(at, bound) } else { None };
        let Some(stop) = feed.or((bound == end).then_some(end)) else { break };
        let total = text.size_of(start..stop, Unit::Bytes);
        if total > size {
            break;
        }
        side.edges.push((stop, total));
        next = feed.map(|feed| feed + 1);
    }
    side
}

fn tail_side(text: &Text, most: u64, size: u64) -> Side {
    let (start, end) = (text.body.start, text.body.end);
    let bound = start.max(end.saturating_sub(as_usize(size.saturating_add(1))));
    let mut side = Side { edges: Vec::new() };
    let mut next = Some(end);
    while let Some(at) = next.filter(|_| (side.edges.len() as u64) < most) {
        let feed = if at >= bound { text.feed_before(bound, at) } else { None };
        let Some(begin) = feed.map(|feed| feed + 1).or((bound == start).then_some(start)) else { break };
        let total = text.size_of(begin..end, Unit::Bytes);
        if total > size {
            break;
        }
        side.edges.push((begin, total));
        next = feed;
    }
    side
}
