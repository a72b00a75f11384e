//! How much of an output was kept and lost, by one definition for every policy; and the details that some agents return of it.

use std::ops::{BitOr, Range};

use serde_json::{Map, json};

use crate::preview::input::Input;
use crate::preview::measure::Text;
use crate::preview::model::{Counts, LimitHit, Preview, Reply, Status, Unit};
use crate::preview::policy::Policy;
use crate::preview::policy::schema::DetailsShape;
use crate::preview::strategy::{CutDetails, Selection};
use crate::preview::template::Value;
use crate::text::filter::gaps;
use crate::text::units::TotalsMask;

/// Sums a measure over what was kept; if everything was kept, this is the total.
fn sum(
    text: &Text,
    selection: &Selection,
    whole: Result<u64, TotalsMask>,
    measure: impl Fn(Range<usize>) -> u64,
) -> Result<u64, TotalsMask> {
    let mut ranges = selection.ranges.iter().filter(|range| !range.is_empty());
    match (ranges.next(), ranges.next()) {
        (Some(one), None) if *one == text.body => whole,
        _ => Ok(selection.ranges.iter().map(|range| measure(range.clone())).sum()),
    }
}

fn kept_size(text: &Text, selection: &Selection, unit: Unit) -> Result<u64, TotalsMask> {
    if unit == Unit::Tokens {
        return kept_size(text, selection, Unit::Bytes).map(|bytes| bytes.div_ceil(4));
    }
    sum(text, selection, text.size(unit), |range| text.size_of(range, unit))
        .map(|size| size + half_size(unit) * selection.halves)
}

/// A figure, or the totals that it still lacks.
pub(in crate::preview) type FigureResult = Result<u64, TotalsMask>;

/// What the figures of notices and of previews follow from.
pub(in crate::preview) struct NoticeFigures<'a> {
    pub text: &'a Text<'a>,
    pub unit: Unit,
    pub lines: FigureResult,
    pub kept_lines: FigureResult,
    pub kept_feeds: FigureResult,
    /// As the agent counts them: raw for Go.
    pub kept_bytes: FigureResult,
    /// In UTF-8 bytes.
    pub kept_decoded: FigureResult,
    pub kept_points: FigureResult,
    pub kept_size: FigureResult,
    pub hit: Option<LimitHit>,
    /// Numbers of the first and the last line that is kept, from 1, if the strategy tells.
    pub span: Option<(FigureResult, FigureResult)>,
    pub is_kept_empty: bool,
}

pub(in crate::preview) type NoticeFigure = fn(&NoticeFigures) -> FigureResult;

/// The figures that notices of every policy may state: what templates call each, and what it is.
pub(in crate::preview) const NOTICE_FIGURES: [(&str, NoticeFigure); 17] = [
    ("pieces", |of| Ok(of.text.line_feeds()? + 1)),
    ("lines", |of| of.lines),
    ("bytes", |of| of.text.size(Unit::Bytes)),
    ("units", |of| of.text.size(Unit::Utf16)),
    ("points", |of| of.text.size(Unit::Chars)),
    ("size", |of| of.text.size(of.unit)),
    ("raw_bytes", |of| Ok(of.text.bytes.len() as u64)),
    ("kept_lines", |of| of.kept_lines),
    ("kept_size", |of| of.kept_size),
    ("kept_bytes", |of| of.kept_bytes),
    ("kept_points", |of| of.kept_points),
    ("removed_points", |of| minus(of.text.size(Unit::Chars), of.kept_points)),
    ("rest_lines", |of| Ok(minus(of.text.line_feeds(), of.kept_feeds)? + 1)),
    ("removed_lines", |of| of.removed_lines()),
    ("removed_size", |of| of.removed_size()),
    ("removed_bytes", |of| minus(of.text.size(Unit::Bytes), of.kept_bytes)),
    ("removed", |of| if of.is_by_lines() { of.removed_lines() } else { of.removed_size() }),
];

/// The same, of the span that is kept, if there is one.
pub(in crate::preview) const SPAN_FIGURES: [(&str, NoticeFigure); 2] = [
    ("first", |of| of.span.map_or(Ok(0), |span| span.0)),
    ("last", |of| of.span.map_or(Ok(0), |span| span.1)),
];

fn minus(total: FigureResult, kept: FigureResult) -> FigureResult {
    Ok(total?.saturating_sub(kept?))
}

impl<'a> NoticeFigures<'a> {
    pub(super) fn new(unit: Unit, text: &'a Text<'a>, selection: &Selection) -> Self {
        let size = |unit| kept_size(text, selection, unit);
        let decoded = sum(text, selection, text.decoded_bytes(), |range| text.decoded_bytes_of(range));
        Self {
            text,
            unit,
            lines: selection.total_lines.unwrap_or_else(|| text.line_count()),
            kept_lines: selection.lines.unwrap_or(Ok(0)),
            kept_feeds: sum(text, selection, text.line_feeds(), |range| text.line_feeds_of(range)),
            kept_bytes: size(Unit::Bytes),
            kept_decoded: decoded.map(|bytes| bytes + half_size(Unit::Bytes) * selection.halves),
            kept_points: size(Unit::Chars),
            kept_size: size(unit),
            hit: selection.hit,
            span: selection.span,
            is_kept_empty: selection.halves == 0 && selection.ranges.iter().all(Range::is_empty),
        }
    }

    pub(super) fn preview(&self, reply: Reply, waiting: TotalsMask) -> Preview {
        let (text, unit) = (self.text, self.unit);
        let total = Counts { lines: self.lines, bytes: text.decoded_bytes(), units: text.size(unit) };
        let kept = Counts { lines: self.kept_lines, bytes: self.kept_decoded, units: self.kept_size };
        let all = [total, kept].into_iter().flat_map(|counts| [counts.lines, counts.bytes, counts.units]);
        let known = |counts: Counts<FigureResult>| counts.zip(counts, |count, _| count.ok());
        Preview {
            parts: Vec::new(),
            status: Status::Ok,
            truncated: false,
            truncated_by: None,
            reply,
            unit,
            total: known(total),
            kept: known(kept),
            missing: waiting,
            text_bytes: None,
            ranges_missing: TotalsMask::NOTHING,
            counts_missing: all.filter_map(Result::err).fold(TotalsMask::NOTHING, BitOr::bitor),
            details: None,
        }
    }

    /// Whether lines are spoken of, rather than the size.
    pub(in crate::preview) fn is_by_lines(&self) -> bool {
        matches!(self.hit, Some(LimitHit::Lines | LimitHit::Matches) | None)
    }

    fn removed_lines(&self) -> FigureResult {
        minus(self.lines, self.kept_lines)
    }

    fn removed_size(&self) -> FigureResult {
        minus(self.text.size(self.unit), self.kept_size)
    }
}

/// Returns the size of the U+FFFD that stands for half a character.
fn half_size(unit: Unit) -> u64 {
    if unit == Unit::Bytes { 3 } else { 1 }
}

/// Completes the plan of a stream of which a strategy selected something. It is cut exactly if the agent left out some of it,
/// whichever answer it gave.
pub(super) fn by_selection(mut planned: Preview, text: &Text, selection: &Selection) -> Preview {
    let ranges = selection.shown.as_ref().unwrap_or(&selection.ranges);
    let is_open = planned.reply == Reply::Cut || selection.shown.is_some();
    planned.truncated = is_open && !covers(text, ranges, planned.reply);
    if selection.shown.is_some() && planned.truncated {
        planned.kept.bytes = Some(ranges.iter().map(|range| text.decoded_bytes_of(range.clone())).sum());
        planned.kept.units = Some(ranges.iter().map(|range| text.size_of(range.clone(), planned.unit)).sum());
    } else {
        // Half a character became U+FFFD, which is not in the output.
        let less = |kept: Option<u64>, half| kept.map(|kept| kept.saturating_sub(half * selection.halves));
        planned.kept.bytes = less(planned.kept.bytes, half_size(Unit::Bytes));
        planned.kept.units = less(planned.kept.units, half_size(planned.unit));
    }
    planned.truncated_by = selection.hit.or(selection.silent_limit);
    reconcile(planned)
}

/// Completes the plan of a response that lacks some of what was kept of these texts: its parts have the ranges that are left.
pub(super) fn by_parts(mut planned: Preview, texts: &[&Text]) -> Preview {
    let (mut kept, mut len) = (Counts { lines: 0, bytes: 0, units: 0 }, 0);
    for part in &planned.parts {
        let Some((source, range)) = part.range() else { continue };
        let Some(text) = texts.iter().find(|text| text.source == source) else { continue };
        len += range.len();
        kept.lines += text.line_feeds_of(range.clone()) + 1;
        kept.bytes += text.decoded_bytes_of(range.clone());
        kept.units += text.size_of(range, planned.unit);
    }
    planned.truncated |= len < texts.iter().map(|text| text.len()).sum();
    planned.kept = kept.zip(kept, |count, _| Some(count));
    planned.reply = Reply::Cut;
    reconcile(planned)
}

/// Completes the plan of a stream on which the agent crashes: the model gets nothing of it.
pub(super) fn crashed(planned: Preview, words: String) -> Preview {
    let kept = Counts { lines: Some(0), bytes: Some(0), units: Some(0) };
    let truncated = planned.total.bytes != kept.bytes;
    reconcile(Preview { status: Status::Crashed(words), truncated, reply: Reply::Cut, kept, ..planned })
}

/// Makes the figures agree: nothing is lost of an output that is not cut, whatever the agent takes from every output; a
/// line that is kept on both sides of a cut counts once; and a cut loses at least a byte, also where it splits an
/// invalid sequence, whose halves each become U+FFFD.
pub(super) fn reconcile(mut planned: Preview) -> Preview {
    let most = Counts { bytes: planned.total.bytes.map(|total| total.saturating_sub(1)), ..planned.total };
    planned.kept = if planned.truncated {
        planned.kept.zip(most, |kept, most| kept.map(|kept| most.map_or(kept, |most| kept.min(most))))
    } else {
        planned.total
    };
    let by = planned.truncated_by.unwrap_or(LimitHit::Size(planned.unit));
    planned.truncated_by = planned.truncated.then_some(by);
    planned
}

/// Whether ranges contain all of a text, except a final line feed if the agent leaves that out of every answer.
fn covers(text: &Text, ranges: &[Range<usize>], reply: Reply) -> bool {
    let is_last_feed = |rest: &Range<usize>| {
        rest.end == text.body.end && matches!(&text.bytes[rest.clone()], b"\n" | b"\r" | b"\r\n")
    };
    match &left_out(text, ranges.iter().cloned())[..] {
        [] => true,
        [rest] => reply == Reply::Whole && is_last_feed(rest),
        _ => false,
    }
}

/// Returns what of a text is in none of these ranges, in order.
pub(super) fn left_out(text: &Text, ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    gaps(text.body.clone(), ranges)
}

/// JavaScript's largest safe integer, which stands for no limit on lines.
const NO_LIMIT: u64 = (1 << 53) - 1;

/// Returns the details for the plan of one stream, if the policy has any and they apply.
pub(super) fn describe_details(
    input: &Input,
    policy: &Policy,
    text: &Text,
    selection: &Selection,
    figures: &NoticeFigures,
    is_cut: bool,
) -> Option<serde_json::Value> {
    let schema = policy.file.schema.details.as_ref()?;
    let path = input.saved_path(text.source);
    if schema.shape == DetailsShape::TempFile {
        let is_saved = policy.get("save_failed") != Some(Value::Boolean(true));
        return (is_cut && is_saved).then(|| json!({ "temp_file_path": path }));
    }
    if schema.unless_failed && has_failed(input, policy) {
        return None;
    }
    let cut = selection.details.unwrap_or_else(|| CutDetails::new(text, is_cut, false));
    let mut details = Map::new();
    if cut.is_cut {
        let max_lines = if schema.limit.is_some() { Some(NO_LIMIT) } else { policy.max_lines() };
        let truncation = json!({
            "truncated": true,
            "truncatedBy": if selection.hit == Some(LimitHit::Lines) { "lines" } else { "bytes" },
            "totalLines": cut.totals.map(|(lines, _)| lines),
            "totalBytes": cut.totals.map(|(_, bytes)| bytes),
            "outputLines": figures.kept_lines.ok(),
            "outputBytes": cut.output_bytes.or(figures.kept_bytes.ok()),
            "lastLinePartial": selection.partial,
            "firstLineExceedsLimit": cut.first_line,
            "maxLines": max_lines,
            "maxBytes": policy.max_size(),
        });
        details.insert("truncation".to_owned(), truncation);
        if schema.path {
            details.insert("fullOutputPath".to_owned(), json!(path));
        }
    }
    if let (Some(key), Some(limit)) = (&schema.limit, cut.limited) {
        details.insert(key.clone(), json!(limit));
    }
    if cut.clipped {
        details.insert("linesTruncated".to_owned(), json!(true));
    }
    (!details.is_empty()).then_some(details.into())
}

fn has_failed(input: &Input, policy: &Policy) -> bool {
    let is_set =
        |key: &str| !matches!(policy.get(key), None | Some(Value::Boolean(false) | Value::Integer(0)));
    input.exit_code.is_some_and(|code| code != 0) || is_set("aborted") || is_set("timeout_s")
}
