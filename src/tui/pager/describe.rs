//! Describes the state of an output in words and figures. Pure.

use crate::document::rules::Fate;
use crate::human::{limit_in, lines, size, thousands, tokens};
use crate::known::Certainty;
use crate::preview::{Direction, LimitHit, Part, Preview, Status, Unit};
use crate::rows::column::bar;
use crate::session::examine::RestOfOutput;
use crate::text::filter::Share;
use crate::text::index::BLOCK;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::widget::layout::Side;

use super::output::OpenOutput;
use super::search::count::Tally;

/// Returns the number of matches in the file, with `+` while they are being counted.
pub(crate) fn total(output: &OpenOutput, tally: &Tally) -> String {
    let more = if tally.is_whole(output.view.len()) { "" } else { "+" };
    format!("{}{more}", thousands(tally.counts.total()))
}

pub(crate) fn got(output: &OpenOutput, tally: &Tally) -> Option<u64> {
    tally.got(&output.kept, output.view.len()).filter(|_| output.has_preview())
}

/// Describes why the policy cut: `over 50 KB`.
pub(crate) fn reason(output: &OpenOutput) -> String {
    let policy = output.policy();
    let over = match output.preview.as_ref().ok().and_then(|preview| preview.truncated_by) {
        Some(LimitHit::Lines) => policy.max_lines().map(lines),
        Some(LimitHit::Size(unit)) => policy.max_size().map(|most| limit_in(most, unit.words())),
        Some(LimitHit::Matches) | None => None,
    };
    over.map_or("by the policy".into(), |limit| format!("over {limit}"))
}

pub(crate) fn cut(output: &OpenOutput, fate: Fate) -> String {
    match fate {
        // The record tells what was cut, not why.
        Fate::Lost if output.shown_record().is_some() => "lost from here".into(),
        Fate::Lost => format!("lost from here: {}", reason(output)),
        Fate::Kept => format!("the model {} what follows", output.certainty().verb()),
    }
}

/// Describes in a few words what the model saw: `cut: over 2,000 lines`.
pub(crate) fn verdict(output: &OpenOutput) -> String {
    match &output.preview {
        _ if output.is_awaited() => "planning…".into(),
        _ if !output.has_preview() => "not planned".into(),
        Ok(preview) if output.shown_record().is_some() => recorded_verdict(output, preview),
        Err(refusal) => refusal.clone(),
        Ok(Preview { status: Status::Crashed(words), .. }) => format!("the agent crashes here: {words}"),
        Ok(_) if output.view.is_empty() => "empty".into(),
        Ok(preview) if !preview.truncated => "nothing cut".into(),
        Ok(_) => format!("cut: {}", reason(output)),
    }
}

/// Describes the same in a sentence with figures. Returns versions from the longest to the shortest.
pub(crate) fn share_kept(output: &OpenOutput) -> Vec<String> {
    let preview = match &output.preview {
        _ if !output.has_preview() => return vec!["no preview was made".into()],
        Err(refusal) => return vec![refusal.clone()],
        Ok(Preview { status: Status::Crashed(words), .. }) => {
            return vec![format!("the agent crashes on this output: {words}")];
        }
        Ok(preview) => preview,
    };
    if let Some(found) = output.differences.as_ref().filter(|found| !found.is_empty()) {
        return vec![found.in_words()];
    }
    if let Some(words) = alone(output, preview) {
        return words;
    }
    if output.view.is_empty() {
        let got = if output.seen.is_empty() { "no text" } else { "only what the agent adds" };
        return vec![format!("the output is empty: the model {} {got}", output.certainty().verb())];
    }
    if !preview.truncated {
        let (whole, bytes) = (all_of_it(output), total_bytes(output, preview));
        return vec![format!("{whole} · {} · {} tokens", size(bytes), tokens(bytes)), whole];
    }
    if preview.kept_bytes == Some(0) {
        return vec![nothing_kept(output)];
    }
    share(output, preview)
}

fn recorded_verdict(output: &OpenOutput, preview: &Preview) -> String {
    match output.recorded.as_ref().map(|recorded| &recorded.rest) {
        Some(RestOfOutput::Missing(why)) => format!("cut: {why}"),
        _ if preview.truncated => "cut".into(),
        _ => "nothing cut".into(),
    }
}

/// Describes a recorded text of which the rest is missing: how long it is, and why there is no more.
fn alone(output: &OpenOutput, preview: &Preview) -> Option<Vec<String>> {
    let Some(RestOfOutput::Missing(why)) = output.recorded.as_ref().map(|recorded| &recorded.rest) else {
        return None;
    };
    let bytes = tokens(total_bytes(output, preview));
    let verb = output.certainty().verb();
    let got = match output.lines() {
        Some(n) => format!("the model {verb} {} · {bytes} tokens", lines(n)),
        None => format!("the model {verb} {bytes} tokens"),
    };
    Some(vec![format!("{got} · {why}"), got])
}

fn share(output: &OpenOutput, preview: &Preview) -> Vec<String> {
    let figure = |value: Option<u64>| value.map_or("…".into(), thousands);
    let [kept, total] = lines_as_numbered(output, preview).map(figure);
    let lines = format!("{} {kept} of {total} lines", output.certainty().verb());
    let kept = preview.kept_bytes.map_or("…".into(), tokens);
    let total = tokens(total_bytes(output, preview));
    vec![format!("{lines} · {kept} of {total} tokens"), lines]
}

/// Returns how many lines were kept, and of how many, as the lines on the screen are numbered: an empty one after the last
/// line feed, which most agents count, is none.
pub(crate) fn lines_as_numbered(output: &OpenOutput, preview: &Preview) -> [Option<u64>; 2] {
    let ends_line = output.view.last().is_none_or(|last| *last == b'\n');
    let last = preview.parts.iter().rev().find_map(Part::range);
    let keeps_end = output.view.is_empty() || last.is_some_and(|(_, range)| range.end == output.view.len());
    let Some(lines) = output.lines() else {
        // Whether the policy counts an empty line at the end is not known yet.
        return [preview.kept_lines.filter(|_| !keeps_end), None];
    };
    let counts_empty = ends_line && preview.total_lines == Some(lines + 1);
    let less = |count: Option<u64>, by: bool| count.map(|count| count.saturating_sub(u64::from(by)));
    [less(preview.kept_lines, counts_empty && keeps_end), less(preview.total_lines, counts_empty)]
}

/// Describes a line of the output, its fate, and why, in versions from the longest to the shortest: `line 6,330 of 6,344 · lost:
/// over 50 KB`.
pub(crate) fn line(output: &OpenOutput, offset: usize, got: Share) -> Vec<String> {
    let number = match output.line_number(offset) {
        Some(line) => thousands(line),
        None => format!("~{}", thousands(output.about_line_at(offset as u64) + 1)),
    };
    let (total, counting) = match output.lines() {
        Some(total) => (format!(" of {}", thousands(total)), String::new()),
        None => (String::new(), format!(" · counting lines, {}%", output.counted_percent())),
    };
    let verb = output.certainty().verb();
    let fate = match got {
        _ if !output.has_preview() => String::new(),
        Share::Whole => format!(" · model {verb} it"),
        Share::Some => format!(" · model {verb} a part"),
        Share::None => " · lost".to_owned(),
    };
    // A record does not say why.
    let is_told = output.has_preview() && got != Share::Whole && output.shown_record().is_none();
    let why = if is_told { format!(": {}", reason(output)) } else { String::new() };
    let line = format!("line {number}");
    let full = format!("{line}{total}{fate}");
    vec![format!("{full}{why}{counting}"), format!("{full}{counting}"), format!("{line}{fate}"), line]
}

/// Describes how much the model got, in a long and a short version: `got 21% ▇▇░░░░░░`; where it is no share, what became of the
/// output.
pub(crate) fn share_of_all(output: &OpenOutput) -> [String; 2] {
    let Some(percent) = percent_kept(output) else { return [verdict(output), verdict(output)] };
    let verb = match output.certainty() {
        Certainty::WouldGet => "",
        certainty => &format!("{} ", certainty.verb()),
    };
    let words = format!("{verb}{}", if percent == 0 { "<1%".into() } else { format!("{percent}%") });
    [format!("{words} {}", bar(percent)), words]
}

/// Returns how much the model got of an output that was cut, in percent; `None` if that is not known, or it got nothing.
fn percent_kept(output: &OpenOutput) -> Option<u64> {
    let preview = output.preview.as_ref().ok().filter(|preview| preview.truncated && !output.is_awaited())?;
    let kept = preview.kept_bytes.filter(|kept| *kept > 0 && !output.is_rest_missing())?;
    let total = total_bytes(output, preview);
    (total > 0).then(|| (kept * 100 / total).min(99))
}

/// Returns the length of the output as the policy counts it; while that is not known, of the file.
fn total_bytes(output: &OpenOutput, preview: &Preview) -> u64 {
    preview.total_bytes.unwrap_or(output.view.len() as u64)
}

fn all_of_it(output: &OpenOutput) -> String {
    let verb = output.certainty().verb();
    match output.lines() {
        Some(1) => format!("the model {verb} the one line"),
        Some(n) => format!("the model {verb} all {}", lines(n)),
        None => format!("the model {verb} all of it"),
    }
}

/// Explains why nothing was kept: if the first line taken did not fit, says how long it is.
fn nothing_kept(output: &OpenOutput) -> String {
    let hit = output.preview.as_ref().ok().and_then(|preview| preview.truncated_by);
    let (Some(LimitHit::Size(_)), Some(most)) = (hit, output.policy().max_size()) else {
        return format!("nothing kept: {}", reason(output));
    };
    let (which, length) = first_taken(output);
    let is_whole = most.is_multiple_of(1024) || output.policy().unit() != Unit::Bytes;
    let in_words = |length: u64| if is_whole { size(length) } else { format!("{} B", thousands(length)) };
    let length = length.map_or(String::new(), |length| format!("{}, ", in_words(length as u64)));
    format!(
        "nothing kept: the {which} line alone is {length}over {}",
        limit_in(most, output.policy().unit().words())
    )
}

/// Returns which line the policy takes first, and its length in bytes if that can be found without reading far: from
/// the near end of the file, or from the counted line feeds.
fn first_taken(output: &OpenOutput) -> (&'static str, Option<usize>) {
    let (bytes, index) = (&output.view[..], &output.index);
    if output.policy().direction() == Some(Direction::Tail) {
        let end = bytes.len() - usize::from(bytes.last() == Some(&b'\n'));
        let near = end.saturating_sub(BLOCK);
        let start = memchr::memrchr(b'\n', &bytes[near..end]).map(|at| near + at + 1);
        let far = || index.is_complete().then(|| index.last_line_feed(bytes, near).map_or(0, |at| at + 1));
        return ("last", start.or((near == 0).then_some(0)).or_else(far).map(|start| end - start));
    }
    let near = bytes.len().min(BLOCK);
    let end = memchr::memchr(b'\n', &bytes[..near]).or((near == bytes.len()).then_some(near));
    let far = || index.is_complete().then(|| index.next_line_feed(bytes, near).unwrap_or(bytes.len()));
    ("first", end.or_else(far))
}

pub(crate) const WHOLE: &str = "Whole output";

pub(crate) fn heading(output: &OpenOutput) -> &'static str {
    match output.is_read_view() {
        true => "Read tool gives",
        false => output.certainty().heading(),
    }
}

/// Returns what stands beside the heading of the preview on a wide screen; empty if nothing.
pub(crate) fn preview_heading(output: &OpenOutput) -> &'static str {
    match &output.preview {
        Ok(_) if output.is_rest_missing() => "as recorded",
        Ok(preview) if preview.truncated => "",
        Err(_) if !output.has_preview() => "unknown",
        Ok(_) => "all of it",
        Err(_) => "the agent refuses",
    }
}

/// Returns the heading of Spill: its lines, as `less` counts them, and its size.
pub(crate) fn spill_heading(output: &OpenOutput) -> String {
    let bytes = size(output.view.len() as u64);
    let bytes = if output.is_alone() { format!("{bytes}: the recorded text again") } else { bytes };
    match output.lines() {
        Some(n) => format!("{}, {bytes}", lines(n)),
        None => format!("{bytes}, counting lines {}%", output.counted_percent()),
    }
}

pub(crate) fn end(output: &OpenOutput, side: Side) -> String {
    match (side, &output.preview) {
        (Side::Spill, _) => "end of the file".into(),
        (Side::Preview, _) if !output.has_preview() => "no preview yet".into(),
        (Side::Preview, Ok(preview)) if !preview.truncated && !output.is_rest_missing() => {
            format!("end: {}", all_of_it(output))
        }
        (Side::Preview, _) => format!("end of what the model {}", output.certainty().verb()),
    }
}

pub(crate) fn blank(output: &OpenOutput, side: Side, keys: &KeyMap) -> Option<Vec<String>> {
    let key = |action| keys.of(KeyContext::Pager, action);
    let (whole, is_empty) = (key(Action::Other), output.view.is_empty());
    Some(match (side, &output.preview) {
        (Side::Spill, _) if is_empty => vec!["The file is empty.".into()],
        (Side::Spill, _) => return None,
        _ if output.is_awaited() && !output.has_preview() => {
            let back = key(Action::Back);
            vec![format!("The preview is being planned. {back} gives up; {whole} shows the whole output.")]
        }
        _ if !output.has_preview() => {
            let (limits, policies) = (key(Action::Limits), keys.of(KeyContext::Drawer, Action::Policy));
            let picks = format!("{limits} {policies} picks another policy");
            vec![format!("No preview was made. {picks}; {whole} shows the whole output.")]
        }
        (_, Err(refusal)) => vec!["The agent gives its model an error:".into(), refusal.clone()],
        (_, Ok(Preview { status: Status::Crashed(words), .. })) => {
            vec!["On this output the agent itself crashes; the model gets nothing.".into(), words.clone()]
        }
        _ if is_empty && output.seen.is_empty() => {
            vec![format!("The output is empty: the model {} no text.", output.certainty().verb())]
        }
        _ => return None,
    })
}
