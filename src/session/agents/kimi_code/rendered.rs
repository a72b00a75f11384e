//! What Kimi Code sends of a result: a line about the time, one about an error, the output, and a note.

use crate::session::content::{pieces, texts};
use crate::session::json::{Json, Kind};
use crate::session::model::{TextPiece, TextPieces};
use crate::session::reader::RecordPlace;

const FAILED: &str = "<system>ERROR: Tool execution failed.</system>";

const FAILED_EMPTY: &str = "<system>ERROR: Tool execution failed. Tool output is empty.</system>";

const EMPTY: &str = "<system>Tool output is empty.</system>";

/// What a tool says that has no output.
const SAYS_EMPTY: &str = "Tool output is empty.";

/// The tools whose time is sent, besides those of MCP servers.
const TIMED: &[&str] = &["Agent", "AgentSwarm", "Bash", "FetchURL", "Glob", "Grep", "WebSearch"];

/// From how many tokens on a result is cleared.
const MIN_TOKENS: usize = 100;

pub(super) fn render(
    found: Json,
    output: Json,
    tool: &str,
    is_error: bool,
    place: RecordPlace,
) -> TextPieces {
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
