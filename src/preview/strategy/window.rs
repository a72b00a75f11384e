//! A read tool's window from an offset: numbered lines, long ones cut; or plain lines, as whole pieces.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::measure::{Text, as_usize, most_bytes};
use crate::preview::model::{Direction, Fragment, LimitHit, PlanError, Unit};
use crate::preview::strategy::one_end::Pieces;
use crate::preview::strategy::{Boundary, Context, CutDetails, Selection, Strategy, or_utf16};
use crate::preview::template::{Fact, Facts, Figure, Template};
use crate::text::filter::gaps;
use crate::text::units::TotalsMask;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineEnds {
    Lf,
    /// LF, CRLF and a lone CR.
    Any,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Window {
    /// Number of lines before the window.
    skip: Figure,
    lines: Figure,
    /// Maximum size of all lines in bytes.
    size: Option<Figure>,
    line_size: Option<Figure>,
    #[serde(deserialize_with = "or_utf16")]
    line_unit: Unit,
    boundary: Boundary,
    line_suffix: Option<String>,
    line_ends: LineEnds,
    /// A line's number and what follows it.
    number: Option<Template>,
    /// The agent's reply to an offset beyond the end; `count` is the number of lines.
    past_end: Template,
}

impl Strategy for Window {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let scope = context.scope;
        let (skip, lines) = (scope.figure(&self.skip)?, scope.figure(&self.lines)?);
        let most = scope.optional(&self.size)?.unwrap_or(u64::MAX);
        let line_size = scope.optional(&self.line_size)?;
        let start = self.start(text, context, skip)?;
        let (mut parts, mut cut_ends) = (Vec::new(), Vec::new());
        let (mut taken, mut size, mut halves) = (0, 0, 0);
        let (mut at, mut end, mut stop) = (start, start, "end");
        while at < text.body.end {
            if taken >= lines {
                stop = "lines";
                break;
            }
            let number = scope.render_number(self.number.as_ref(), skip + taken + 1)?;
            let mut row = self.row(text, line_size, at, number);
            let cost = row.size + u64::from(taken > 0);
            if size + cost > most {
                stop = "size";
                break;
            }
            size += cost;
            taken += 1;
            halves += u64::from(row.half);
            let next;
            (end, next) = line_ends(text, self.line_ends, at);
            if taken > 1 {
                row.fragments.insert(0, Fragment::Text("\n".to_owned()));
            }
            parts.push(text.changed(at..end, row.fragments));
            if row.stop < end {
                cut_ends.push(row.stop..end);
            }
            at = next;
        }
        let last = skip + taken;
        let count = if stop == "end" { Ok(last) } else { count_lines(text, self.line_ends) };
        let hit = match stop {
            "size" => Some(context.by_size()),
            "lines" => Some(LimitHit::Lines),
            _ => None,
        };
        Ok(Selection {
            slots: vec![("kept", parts)],
            ranges: vec![Range { start, end }],
            halves,
            lines: Some(Ok(taken)),
            hit,
            uncut: stop == "end",
            span: Some((Ok(skip + 1), Ok(last))),
            silent_limit: Some(LimitHit::Size(self.line_unit)),
            shown: Some(gaps(start..end, cut_ends)),
            total_lines: Some(count),
            facts: Facts::from([
                ("count", Fact::from(count)),
                ("lines", Fact::from(count)),
                ("next", Fact::Number(last + 1)),
                ("stop", Fact::Text(stop.to_owned())),
            ]),
            ..Selection::default()
        })
    }
}

impl Window {
    /// Returns where line `skip` (0-based) begins, or the agent's reply if it is beyond the end.
    fn start(&self, text: &Text, context: &Context, skip: u64) -> Result<usize, PlanError> {
        let is_plain = self.line_ends == LineEnds::Lf || text.totals.lone_returns == Some(0);
        if is_plain
            && let Some(start) = text.seek_line(text.body.start, skip).filter(|start| *start < text.body.end)
        {
            return Ok(start);
        }
        let (mut at, mut count) = (text.body.start, 0);
        while at < text.body.end {
            if count == skip {
                return Ok(at);
            }
            at = line_ends(text, self.line_ends, at).1;
            count += 1;
        }
        if text.is_empty() && skip == 0 {
            return Ok(at);
        }
        Err(context.scope.refusal(&self.past_end, Facts::from([("count", Fact::Number(count))])))
    }

    fn row(&self, text: &Text, line_size: Option<u64>, at: usize, number: String) -> Row {
        let mut fragments = Vec::new();
        if !number.is_empty() {
            fragments.push(Fragment::Text(number));
        }
        // A longer line is not searched for its end. Any character at the limit has its 4 bytes.
        let reach = line_size.map_or(u64::MAX, |most| most_bytes(self.line_unit, most).saturating_add(4));
        let bound = text.body.end.min(at.saturating_add(as_usize(reach)));
        let line = at..break_in(text, self.line_ends, at, bound).unwrap_or(bound);
        let cut = line_size.map(|most| text.end(line.clone(), Direction::Head, self.line_unit, most));
        let cut = cut.filter(|cut| cut.range.end < line.end);
        let stop = cut.as_ref().map_or(line.end, |cut| cut.range.end);
        if stop > at {
            fragments.push(Fragment::Bytes(at..stop));
        }
        let mut size = text.size_of(at..stop, Unit::Bytes);
        let half = cut.as_ref().is_some_and(|cut| cut.half.is_some()) && self.boundary == Boundary::Unit;
        if half {
            fragments.push(Fragment::Replaced(1));
            size += 3;
        }
        if cut.is_some() {
            let suffix = self.line_suffix.clone().unwrap_or_default();
            size += suffix.len() as u64;
            fragments.push(Fragment::Text(suffix));
        }
        Row { fragments, size, half, stop }
    }
}

/// Returns where the line that begins at `at`, which is before the end, ends without its break and with it.
fn line_ends(text: &Text, ends: LineEnds, at: usize) -> (usize, usize) {
    let end = text.body.end;
    let Some(stop) = break_in(text, ends, at, end) else { return (end, end) };
    let is_pair = text.bytes[stop..end].starts_with(b"\r\n");
    (stop, stop + 1 + usize::from(is_pair))
}

/// Counts the lines of the whole text; a final line break does not start another.
fn count_lines(text: &Text, ends: LineEnds) -> Result<u64, TotalsMask> {
    let feeds = text.line_feeds();
    let returns = match ends {
        LineEnds::Lf => Ok(0),
        LineEnds::Any => text.totals.lone_returns.ok_or(TotalsMask::LONE_RETURNS),
    };
    let (Ok(feeds), Ok(returns)) = (feeds, returns) else {
        return Err(feeds.err().unwrap_or_default() | returns.err().unwrap_or_default());
    };
    let is_open = !text.is_empty() && {
        let last = text.bytes[text.body.end - 1];
        last != b'\n' && !(ends == LineEnds::Any && last == b'\r')
    };
    Ok(feeds + returns + u64::from(is_open))
}

struct Row {
    fragments: Vec<Fragment>,
    /// Size of the line in bytes, including its suffix but not its number.
    size: u64,
    half: bool,
    /// The end of what is shown of it.
    stop: usize,
}

fn break_in(text: &Text, ends: LineEnds, at: usize, bound: usize) -> Option<usize> {
    match ends {
        LineEnds::Lf => text.feed_after(at, bound),
        LineEnds::Any => text.break_after(at, bound),
    }
}

/// A Go read tool's window: numbered lines without carriage returns and long ends, and with an off-by-one total.
#[derive(Debug, Deserialize)]
pub(crate) struct View {
    /// Number of lines before the window.
    skip: Figure,
    lines: Figure,
    /// A file of more bytes is refused.
    file_size: Figure,
    /// The agent's reply to that; `raw_bytes` is the file's size.
    too_large: Template,
    /// A line of this many bytes, anywhere in the file, is an error.
    longest_line: Figure,
    /// The agent's reply to that.
    too_long: Template,
    /// Maximum number of bytes shown of a line.
    line_size: Figure,
    line_suffix: Option<String>,
    /// A line's number and what follows it.
    number: Option<Template>,
}

impl Strategy for View {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (skip, limit) = (context.scope.figure(&self.skip)?, context.scope.figure(&self.lines)?);
        let most = context.scope.figure(&self.file_size)?;
        if text.bytes.len() as u64 > most {
            let facts = Facts::from([("raw_bytes", Fact::Number(text.bytes.len() as u64))]);
            return Err(context.scope.refusal(&self.too_large, facts));
        }
        let token = as_usize(context.scope.figure(&self.longest_line)?);
        let (mut window, mut count, mut at) = (Vec::new(), 0, text.body.start);
        // A line feed at the end does not start another line.
        while at < text.body.end {
            let line = at..text.feed_after(at, text.body.end).unwrap_or(text.body.end);
            at = line.end + 1;
            if line.len() >= token {
                return Err(context.scope.refusal(&self.too_long, Facts::new()));
            }
            if count >= skip && count - skip < limit {
                window.push(line);
            }
            count += 1;
        }
        let skip = skip.min(u64::MAX - count.max(1));
        let line_size = as_usize(context.scope.figure(&self.line_size)?);
        let rows: Vec<_> = window.iter().map(|line| row(text, line.clone(), line_size)).collect();
        let is_blank = rows.len() <= 1 && rows.iter().all(|(shown, is_cut)| shown.is_empty() && !is_cut);
        let (mut parts, mut cut_ends) = (Vec::new(), Vec::new());
        for (at, (line, (shown, is_cut))) in window.iter().zip(&rows).enumerate().filter(|_| !is_blank) {
            let number = context.scope.render_number(self.number.as_ref(), skip + at as u64 + 1)?;
            let before = if at > 0 { "\n" } else { "" }.to_owned() + &number;
            let mut fragments = vec![Fragment::Text(before), Fragment::Bytes(shown.clone())];
            if *is_cut {
                fragments.push(Fragment::Text(self.line_suffix.clone().unwrap_or_default()));
                cut_ends.push(shown.end..line.end);
            }
            parts.push(text.changed(line.clone(), fragments));
        }
        let start = window.first().map_or(text.body.start, |line| line.start);
        let end = window.last().map_or(text.body.start, |line| line.end);
        let is_last = skip + window.len() as u64 == count;
        let clipped = LimitHit::Size(Unit::Bytes);
        let last = skip + window.len() as u64;
        // The agent does not count the line at which it stops.
        let total = if count > limit { count - 1 } else { count };
        let selection = Selection {
            slots: vec![("kept", parts)],
            lines: Some(Ok(rows.len() as u64)),
            ranges: rows.into_iter().map(|(shown, _)| shown).collect(),
            shown: Some(gaps(start..end, cut_ends)),
            silent_limit: Some(if is_last { clipped } else { LimitHit::Lines }),
            uncut: total <= last,
            hit: (total > last).then_some(LimitHit::Lines),
            total_lines: Some(Ok(count)),
            span: Some((Ok(skip + 1), Ok(last))),
            ..Selection::default()
        };
        Ok(selection.with_fact("count", Fact::Number(total)))
    }
}

fn without_return(text: &Text, line: Range<usize>) -> Range<usize> {
    let ends = !line.is_empty() && text.bytes[line.end - 1] == b'\r';
    line.start..line.end - usize::from(ends)
}

/// Returns what is shown of a line, and whether it is cut: without a carriage return, or, if it fits, without two.
fn row(text: &Text, line: Range<usize>, most: usize) -> (Range<usize>, bool) {
    let line = without_return(text, line);
    let is_cut = line.len() > most;
    (if is_cut { line.start..line.start + most } else { without_return(text, line) }, is_cut)
}

/// The window of lines as they are: from an offset, then whole pieces within the limits.
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
        let is_cut = text.known_or_wait(over).flatten().is_some();
        let size = context.scope.optional(&self.pieces.size)?.unwrap_or(u64::MAX);
        // The first line is read only as far as it takes to see whether it exceeds the limit.
        let start = window.body.start;
        let bound = window.body.end.min(start.saturating_add(as_usize(size.saturating_add(1))));
        let first_line = start..window.feed_after(start, bound).unwrap_or(bound);
        let is_first =
            is_cut && asked != Some(0) && window.size_of(first_line, self.pieces.ruler.unit(context)) > size;
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
        selection.uncut = stop == "end";
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
        selection.details = Some(CutDetails::new(window, is_cut, is_first));
        Ok(selection)
    }

    fn past_end(&self, text: &Text, context: &Context) -> PlanError {
        let feeds = text.line_feeds().unwrap_or_else(|_| text.line_feeds_of(text.body.clone()));
        context.scope.refusal(&self.past_end, Facts::from([("count", Fact::Number(feeds + 1))]))
    }
}
