//! A result of Claude Code: its text, how it ended, whether it was cut, and the copies for the screen.

use std::path::PathBuf;

use jiff::Timestamp;
use smallvec::SmallVec;

use crate::session::content::{LONGEST_TEXT, first_text, first_words, pieces};
use crate::session::json::{Json, Kind};
use crate::session::model::{Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, TextPiece};
use crate::session::reader::RecordPlace;

use super::replaced::cited;

/// Reads a result into its call.
pub(super) fn result(
    record: Json,
    block: Json,
    (place, at): (RecordPlace, Option<Timestamp>),
    call: &mut Call,
) {
    let content = block.get("content");
    let is_error = block.get("is_error").and_then(|value| value.bool()) == Some(true);
    let start = content.map(|content| frame(content, is_error)).unwrap_or_default();
    call.status = if is_error { CallStatus::Failed } else { CallStatus::Ok };
    call.exit = start
        .strip_prefix("Exit code ")
        .filter(|_| is_error)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    let ui = record.get("toolUseResult");
    (call.cut, call.cites) = cut_of(&start, ui);
    call.display = ui.map(|ui| display(ui, place)).unwrap_or_default();
    call.results.push(CallResult::recorded(
        content.map(|content| pieces(content, place)).unwrap_or_default(),
        at,
        place.span(record),
    ));
}

/// Returns the start of a result: all of a notice, which begins with `<`; else the first words of a failure, in which it has
/// its status.
fn frame(content: Json, is_error: bool) -> String {
    let first = content.text().map(|text| text.first_char());
    if !is_error && first.is_some_and(|first| first != Some('<')) {
        return String::new();
    }
    let words = first_words(content, 64);
    if words.starts_with('<') { first_text(content) } else { words }
}

/// Finds out whether an output was cut, from the agent's own field and from the frame of its notice.
fn cut_of(start: &str, ui: Option<Json>) -> (CutState, Vec<Citation>) {
    let field = |key: &str| ui.and_then(|ui| ui.get(key));
    let saved =
        field("persistedOutputPath").and_then(|path| path.short(LONGEST_TEXT)).or_else(|| cited(start));
    if let Some(path) = saved {
        let bytes =
            field("persistedOutputSize").and_then(|size| size.int()).and_then(|size| size.try_into().ok());
        return (CutState::Spill, vec![Citation { path: PathBuf::from(path), bytes }]);
    }
    if start.starts_with("<truncated-output>\n") {
        (CutState::Lost, Vec::new())
    } else {
        (CutState::No, Vec::new())
    }
}

/// Returns the copies that only the agent's own screen shows.
fn display(ui: Json, place: RecordPlace) -> SmallVec<[DisplayCopy; 1]> {
    let copy = |name: &'static str, path: &[&str], most: u32| {
        let text = ui.path(path).filter(|text| text.kind() == Kind::String && !text.is(""))?;
        Some(DisplayCopy { name, text: TextPiece::Json(place.span(text)), most: Some(most) })
    };
    let whole = (ui.kind() == Kind::String).then(|| DisplayCopy {
        name: "toolUseResult",
        text: TextPiece::Json(place.span(ui)),
        most: Some(0),
    });
    whole
        .into_iter()
        .chain(copy("toolUseResult.stdout", &["stdout"], 30_000))
        .chain(copy("toolUseResult.stderr", &["stderr"], 0))
        .chain(copy("toolUseResult.file.content", &["file", "content"], 0))
        .collect()
}
