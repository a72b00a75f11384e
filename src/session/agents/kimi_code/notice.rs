//! The notices of Kimi Code in a result that it cut.

use std::path::PathBuf;

use crate::session::content::{first_text, start_of, text_end};
use crate::session::json::Json;
use crate::session::model::{Call, Citation};

/// The start of a result of which only the beginning and the end are left.
const EXCEEDED: &str = "Tool output exceeded ";

/// What follows a result with cut lines, on a line of its own.
const LINES_CUT: &str =
    "[Per-line truncation occurred; the complete output was saved to a file.\noutput_path: ";

/// What ends that notice.
const LINES_CUT_END: &str = ".]";

/// What stands between that notice and the closing words about a command.
const CLOSING: &[&str] = &["\n\nCommand executed successfully.\ntask_id: ", "\n\ntask_id: "];

/// How much of the end of a result is looked at, in bytes: a path and the closing words.
const MAX_END: usize = 8192;

/// Notes whether an output was cut, and the spill that its notice names.
pub(super) fn note_cut(found: Json, output: Json, tool: &str, call: &mut Call) {
    let start = first_text(output);
    let is_notice = start.starts_with(EXCEEDED);
    let saved = if is_notice { spill_at_start(&start) } else { spill_at_end(output) };
    call.note_cut(saved, is_notice || is_short(found, output, tool));
}

/// Returns the spill that the notice at the start names.
fn spill_at_start(start: &str) -> Option<Citation> {
    let lines = || start.lines().take(10);
    let path = lines().find_map(|line| line.strip_prefix("output_path: "))?;
    Some(Citation { path: PathBuf::from(path), bytes: bytes(lines()) })
}

/// Returns the spill that the notice after cut lines names.
fn spill_at_end(output: Json) -> Option<Citation> {
    let end = text_end(output, MAX_END);
    let (before, notice) = end.rsplit_once(LINES_CUT)?;
    let (path, rest) = notice.split_once('\n')?;
    let (next, closing) = rest.split_once(LINES_CUT_END)?;
    let is_last = closing.is_empty() || CLOSING.iter().any(|words| closing.starts_with(words));
    let is_notice = before.ends_with('\n') && next.starts_with("next_step: ") && !next.contains('\n');
    (is_last && is_notice).then(|| Citation { path: PathBuf::from(path), bytes: bytes(closing.lines()) })
}

fn bytes<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<u64> {
    lines.find_map(|line| line.strip_prefix("output_size_bytes: ")?.parse().ok())
}

/// Whether a tool left out a part of its own accord, and says so in the note or at the end.
fn is_short(found: Json, output: Json, tool: &str) -> bool {
    let note = found.get("note").map(start_of).unwrap_or_default();
    match tool {
        "Read" => {
            let is_notice = |text: &str| text.contains("Character limit reached. Effective max_chars: ");
            is_notice(&note) || text_end(output, MAX_END).lines().last().is_some_and(is_notice)
        }
        "Glob" => {
            let (start, end) = (first_text(output), text_end(output, MAX_END));
            let ends = start.lines().take(3).chain(end.lines().rev().take(3)).chain(note.lines());
            ends.into_iter().any(is_first_page)
        }
        _ => false,
    }
}

/// Whether a line says that only the first matches are shown: `Showing matches 1–100 of 150.`
fn is_first_page(line: &str) -> bool {
    let told = line.split_once("Showing matches 1–").and_then(|(_, told)| told.split_once(" of "));
    let number = |text: &str| -> Option<u64> {
        text[..text.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(text.len())].parse().ok()
    };
    told.and_then(|(last, all)| Some(number(last)? < number(all)?)).unwrap_or(false)
}
