//! A result of Claude Code: its text, how it ended, whether it was cut, and the copies for the screen.

use smallvec::SmallVec;

use crate::session::content::{first_text, is_number, text_start};
use crate::session::entry::RecordEntry;
use crate::session::json::{Json, Kind};
use crate::session::model::{Call, Citation, CutState, DisplayCopy};
use crate::session::reader::RecordPlace;

use super::replaced::framed_path;

/// How many UTF-16 units of a failed command's output come before the notice, with the line about its exit status.
const FAILURE_HEAD: usize = 5000;

/// How many bytes are enough for the notice.
const MAX_NOTICE: usize = 64;

pub(super) fn result(entry: RecordEntry, block: Json, call: &mut Call) {
    let (content, is_error) = (block.get("content"), block.flag("is_error"));
    let start = content.map(|content| frame(content, is_error)).unwrap_or_default();
    call.exit = start
        .strip_prefix("Exit code ")
        .filter(|_| is_error)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    call.end(is_error);
    let ui = entry.record.get("toolUseResult");
    let saved = ui.and_then(|ui| ui.string("persistedOutputPath")).or_else(|| framed_path(&start));
    let bytes = ui.and_then(|ui| ui.number("persistedOutputSize"));
    let cite = saved.map(|path| Citation { path: path.into(), bytes });
    call.note_cut(cite, start.starts_with("<truncated-output>\n"));
    if call.cut == CutState::No && call.exit.is_some() && content.is_some_and(is_failure_cut) {
        call.cut = CutState::Lost;
    }
    call.display = ui.map(|ui| display(ui, entry.place)).unwrap_or_default();
    entry.add_result(content, call);
}

/// Returns the start of a result: all of a notice, which begins with `<`; else the first words of a failure, in which it has
/// its status.
fn frame(content: Json, is_error: bool) -> String {
    let first = content.text().map(|text| text.first_char());
    if !is_error && first.is_some_and(|first| first != Some('<')) {
        return String::new();
    }
    let words = text_start(content, 64);
    if words.starts_with('<') { first_text(content) } else { words }
}

/// Whether the middle of a failed command's output was cut out: what is left of it has the agent's notice in its middle.
fn is_failure_cut(content: Json) -> bool {
    let text = text_start(content, 3 * FAILURE_HEAD + MAX_NOTICE);
    let mut units = 0;
    let head = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > FAILURE_HEAD
    });
    let after = head.and_then(|(at, _)| text.get(at..)?.strip_prefix("\n\n... ["));
    after
        .and_then(|rest| rest.split_once(" characters truncated] ...\n\n"))
        .is_some_and(|(figure, _)| is_number(figure))
}

/// Returns the copies that only the agent's own screen shows.
fn display(ui: Json, place: RecordPlace) -> SmallVec<[DisplayCopy; 1]> {
    let copy = |name: &'static str, path: &[&str], most: u32| {
        let text = ui.path(path).filter(|text| text.kind() == Kind::String && !text.is(""))?;
        Some(DisplayCopy::new(name, place.span(text), Some(most)))
    };
    let whole =
        (ui.kind() == Kind::String).then(|| DisplayCopy::new("toolUseResult", place.span(ui), Some(0)));
    whole
        .into_iter()
        .chain(copy("toolUseResult.stdout", &["stdout"], 30_000))
        .chain(copy("toolUseResult.stderr", &["stderr"], 0))
        .chain(copy("toolUseResult.file.content", &["file", "content"], 0))
        .collect()
}
