//! What was kept and lost of an output: one definition, for every policy.

use std::ops::Range;

use super::counts::half_size;
use super::input::Stream;
use super::measure::Text;
use super::model::{LimitHit, Preview, Reply, Status};
use super::strategy::selection::Selection;

/// Settles a stream of which a strategy selected something. It is cut exactly if the agent left out some of it: an
/// answer for a cut output may still contain all of it, and one for a whole output may leave out the ends of lines.
pub(super) fn by_selection(mut planned: Preview, text: &Text, selection: &Selection) -> Preview {
    let ranges = selection.shown.as_ref().unwrap_or(&selection.ranges);
    let is_open = planned.reply == Reply::Cut || selection.shown.is_some();
    planned.truncated = is_open && !covers(text, ranges, planned.reply);
    if selection.shown.is_some() && planned.truncated {
        planned.kept_bytes = Some(ranges.iter().map(|range| text.decoded_bytes_of(range.clone())).sum());
        planned.kept_units = Some(ranges.iter().map(|range| text.size_of(range.clone(), planned.unit)).sum());
    } else {
        // Half a character became U+FFFD, which is not in the output.
        let less = |kept: Option<u64>, half| kept.map(|kept| kept.saturating_sub(half * selection.halves));
        planned.kept_bytes = less(planned.kept_bytes, 3);
        planned.kept_units = less(planned.kept_units, half_size(planned.unit));
    }
    planned.truncated_by = selection.hit.or(selection.silent_limit);
    settled(planned)
}

/// Settles a response that was cut as a whole: what is left are the ranges of its parts.
pub(super) fn by_parts(mut planned: Preview, stdout: &Text, stderr: &Text) -> Preview {
    let (mut lines, mut bytes, mut units, mut len) = (0, 0, 0, 0);
    for part in &planned.parts {
        let Some((source, range)) = part.range() else { continue };
        let text = if source == Stream::Stdout { stdout } else { stderr };
        len += range.len();
        lines += text.line_feeds_of(range.clone()) + 1;
        bytes += text.decoded_bytes_of(range.clone());
        units += text.size_of(range, planned.unit);
    }
    planned.truncated |= len < stdout.len() + stderr.len();
    planned.kept_lines = Some(lines);
    planned.kept_bytes = Some(bytes);
    planned.kept_units = Some(units);
    planned.reply = Reply::Cut;
    settled(planned)
}

pub(super) fn whole(planned: Preview) -> Preview {
    settled(Preview { truncated: false, ..planned })
}

/// Settles a stream on which the agent crashes: the model gets nothing of it.
pub(super) fn crashed(planned: Preview, words: String) -> Preview {
    let nothing = Some(0);
    settled(Preview {
        status: Status::Crashed(words),
        truncated: planned.total_bytes != nothing,
        reply: Reply::Cut,
        kept_lines: nothing,
        kept_bytes: nothing,
        kept_units: nothing,
        ..planned
    })
}

/// Makes the figures agree: nothing is lost of an output that is not cut, whatever the agent takes from every output; a
/// line that is kept on both sides of a cut counts once; and a cut loses at least a byte, also where it splits an
/// invalid sequence, whose halves each become U+FFFD.
fn settled(mut planned: Preview) -> Preview {
    let least = u64::from(planned.truncated);
    let pairs = [
        (&mut planned.kept_lines, planned.total_lines, 0),
        (&mut planned.kept_bytes, planned.total_bytes, least),
        (&mut planned.kept_units, planned.total_units, 0),
    ];
    for (kept, total, lost) in pairs {
        *kept = match (total, *kept) {
            (Some(total), Some(kept)) if planned.truncated => Some(kept.min(total.saturating_sub(lost))),
            (_, kept) if planned.truncated => kept,
            (total, _) => total,
        };
    }
    let left = |total: Option<u64>, kept: Option<u64>| total.zip(kept).map(|(total, kept)| total - kept);
    planned.removed_lines = left(planned.total_lines, planned.kept_lines);
    planned.removed_bytes = left(planned.total_bytes, planned.kept_bytes);
    let by = planned.truncated_by.unwrap_or(LimitHit::Size(planned.unit));
    planned.truncated_by = planned.truncated.then_some(by);
    planned
}

/// Whether ranges contain all of a text; but for a line feed at its end, if the agent leaves that out of every answer.
fn covers(text: &Text, ranges: &[Range<usize>], reply: Reply) -> bool {
    let mut ranges: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).collect();
    ranges.sort_by_key(|range| range.start);
    let mut at = text.body.start;
    for range in ranges {
        if range.start > at {
            return false;
        }
        at = at.max(range.end);
    }
    let rest = text.bytes.get(at..text.body.end).unwrap_or_default();
    rest.is_empty() || reply == Reply::Whole && matches!(rest, b"\n" | b"\r" | b"\r\n")
}
