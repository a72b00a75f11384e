//! A result of Kimi Code: what is sent of it, with lines around what is recorded; and the notices by which it says that it was cut.

use std::path::PathBuf;

use crate::session::content::{first_text, last_line, pieces, start_of, text_end, texts};
use crate::session::entry::RecordEntry;
use crate::session::json::{Json, Kind};
use crate::session::model::{Call, Citation, Evidence, TextPiece, TextPieces};
use crate::session::reader::RecordPlace;

const FAILED: &str = "<system>ERROR: Tool execution failed.</system>";

const FAILED_EMPTY: &str = "<system>ERROR: Tool execution failed. Tool output is empty.</system>";

const EMPTY: &str = "<system>Tool output is empty.</system>";
const SAYS_EMPTY: &str = "Tool output is empty.";

/// The tools whose time is sent, besides those of MCP servers.
const TIMED: &[&str] = &["Agent", "AgentSwarm", "Bash", "FetchURL", "Glob", "Grep", "WebSearch"];

/// From how many tokens on a result is cleared.
const MIN_TOKENS: usize = 100;

pub(super) fn read(entry: RecordEntry, found: Json, output: Json, tool: &str, call: &mut Call) {
    let is_error = found.flag("isError");
    call.end(is_error);
    call.exit = last_line(output)
        .strip_prefix("Command failed with exit code: ")
        .and_then(|rest| rest.trim_end_matches('.').parse().ok());
    note_cut(found, output, tool, call);
    entry.add_text(Evidence::Rendered, render(found, output, tool, is_error, entry.place), call);
}

fn render(found: Json, output: Json, tool: &str, is_error: bool, place: RecordPlace) -> TextPieces {
    let mut sent = TextPieces::new();
    let add = |text: String| TextPiece::Added(text.into());
    let took = found.get("durationMs").and_then(|took| took.float());
    if let Some(took) = took.filter(|_| TIMED.contains(&tool) || tool.starts_with("mcp__")) {
        sent.push(add(format!("Wall time: {:.3} seconds\n", took / 1000.0)));
    }
    // The text of an output that is nothing but one.
    let one = texts(output).next().filter(|_| output.items().nth(1).is_none());
    let is_nothing = output.kind() != Kind::String && output.items().next().is_none();
    let is_blank = is_nothing || one.is_some_and(|text| is_blank(text, is_error));
    match (is_error, is_blank) {
        (true, true) => sent.push(add(FAILED_EMPTY.to_owned())),
        (false, true) => sent.push(add(EMPTY.to_owned())),
        (_, false) => {
            // Beside other parts the line about the error is a part of its own.
            let end = if one.is_some() { "\n" } else { "" };
            sent.extend(is_error.then(|| add(format!("{FAILED}{end}"))));
            sent.extend(pieces(output, place));
        }
    }
    if let Some(note) = found.get("note").filter(|note| note.text().is_some()) {
        if is_blank || one.is_some() {
            sent.push(add("\n".to_owned()));
        }
        sent.push(TextPiece::Json(place.span(note)));
    }
    sent
}

/// Whether the agent estimates a result at too few tokens to clear it: four ASCII characters are one, and each other character.
pub(super) fn is_small(output: Json, is_error: bool) -> bool {
    let mut tokens = if is_error { FAILED.len().div_ceil(4) } else { 0 };
    for text in texts(output) {
        let (mut ascii, mut others) = (0, 0);
        text.text().into_iter().for_each(|text| {
            text.decode(&mut |piece| {
                let of_piece = piece.chars().filter(char::is_ascii).count();
                ascii += of_piece;
                others += piece.chars().count() - of_piece;
                ascii / 4 + others < MIN_TOKENS
            });
        });
        tokens += usize::div_ceil(ascii, 4) + others;
    }
    tokens < MIN_TOKENS
}

/// Whether a tool had no output: of one that failed, not even white space.
fn is_blank(text: Json, is_error: bool) -> bool {
    let Some(text) = text.text() else { return false };
    let mut start = String::new();
    text.decode(&mut |piece| {
        let is_start = start.is_empty() && !is_error;
        start.push_str(if is_start { piece.trim_start() } else { piece });
        start.is_empty() || !is_error && start.trim_end().len() <= SAYS_EMPTY.len()
    });
    start.is_empty() || !is_error && start.trim_end() == SAYS_EMPTY
}

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

fn note_cut(found: Json, output: Json, tool: &str, call: &mut Call) {
    let start = first_text(output);
    let is_notice = start.starts_with(EXCEEDED);
    let saved = if is_notice { spill_at_start(&start) } else { spill_at_end(output) };
    call.note_cut(saved, is_notice || is_short(found, output, tool));
}

fn spill_at_start(start: &str) -> Option<Citation> {
    let lines = || start.lines().take(10);
    let path = lines().find_map(|line| line.strip_prefix("output_path: "))?;
    Some(Citation { path: PathBuf::from(path), bytes: bytes(lines()) })
}

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
