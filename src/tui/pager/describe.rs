//! The words around the two texts: their headings and ends, the current line, and what stands where there is no text.

use crate::base::human::{lines, size, thousands};
use crate::base::provenance::Certainty;
use crate::document::rules::Fate;
use crate::output::OpenOutput;
use crate::preview::{Preview, Status};
use crate::rows::column::bar;
use crate::text::filter::Share;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::widget::layout::Side;

pub(crate) fn cut(output: &OpenOutput, fate: Fate) -> String {
    match fate {
        // The record tells what was cut, not why.
        Fate::Lost if output.shown_record().is_some() => "lost from here".into(),
        Fate::Lost => format!("lost from here: {}", output.reason()),
        Fate::Kept => format!("the model {} what follows", output.certainty().verb()),
    }
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
    let why = if is_told { format!(": {}", output.reason()) } else { String::new() };
    let line = format!("line {number}");
    let full = format!("{line}{total}{fate}");
    vec![format!("{full}{why}{counting}"), format!("{full}{counting}"), format!("{line}{fate}"), line]
}

/// Describes how much the model got, in a long and a short version: `got 21% ▇▇░░░░░░`, `got ~21%` where that also depends on
/// what is not known; where it is no share, what became of the output.
pub(crate) fn share_of_all(output: &OpenOutput) -> [String; 2] {
    let Some(percent) = output.percent_kept() else { return [output.verdict(), output.verdict()] };
    let verb = match output.certainty() {
        Certainty::WouldGet => "",
        certainty => &format!("{} ", certainty.verb()),
    };
    let about = if caveat(output).is_some() { "~" } else { "" };
    let words = format!("{verb}{}", if percent == 0 { "<1%".into() } else { format!("{about}{percent}%") });
    [format!("{words} {}", bar(percent)), words]
}

/// Returns why what the model got of this output may have been another text, in few words.
pub(crate) fn caveat(output: &OpenOutput) -> Option<&str> {
    output.warnings().into_iter().find_map(|warning| warning.short.as_deref())
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
            format!("end: {}", output.all_of_it())
        }
        (Side::Preview, _) => format!("end of what the model {}", output.certainty().verb()),
    }
}

pub(crate) fn blank(output: &OpenOutput, side: Side, keys: &KeyMap) -> Option<Vec<String>> {
    let key = |action| keys.label(KeyContext::Pager, action);
    let (whole, is_empty) = (key(Action::Other), output.view.is_empty());
    Some(match (side, &output.preview) {
        (Side::Spill, _) if is_empty => vec!["The file is empty.".into()],
        (Side::Spill, _) => return None,
        _ if output.is_awaited() && !output.has_preview() => {
            let back = key(Action::Back);
            vec![format!("The preview is being planned. {back} gives up; {whole} shows the whole output.")]
        }
        _ if !output.has_preview() => {
            let (limits, policies) = (key(Action::Limits), keys.label(KeyContext::Drawer, Action::Policy));
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
