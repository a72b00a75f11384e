//! A part of a message, as opencode and Kilo write it: the same in a file, and in a row of the database.

use crate::session::clock;
use crate::session::content::{exit_code, has_line, is, is_type, name};
use crate::session::entry::RecordEntry;
use crate::session::json::{Json, Kind};
use crate::session::model::{Call, CallStatus, Citation};
use crate::session::reader::RecordPlace;
use crate::session::transcript::Transcript;

/// Kinds of parts that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "text",
    "reasoning",
    "file",
    "step-start",
    "step-finish",
    "snapshot",
    "patch",
    "agent",
    "retry",
    "compaction",
    "subtask",
];

/// The longest display copy, in UTF-16 units; a shorter one is whole.
const DISPLAY: u32 = 30_000;

/// Where the read tool cuts a line, in UTF-16 units.
const LINE: usize = 2000;

/// Reads a part. Returns whether it is of a kind that is known.
pub(super) fn read(part: Json, thread: u32, place: RecordPlace, out: &mut Transcript) -> bool {
    if !is_type(part, "tool") {
        let kind = name(part, "type").unwrap_or_default();
        let is_known = OTHER_KINDS.contains(&kind.as_str());
        if !is_known {
            out.unread.unknown(&kind);
        }
        return is_known;
    }
    let (Some(id), Some(state)) = (name(part, "callID"), part.get("state")) else { return true };
    let time = |key: &str| state.path(&["time", key]).and_then(clock::time);
    let entry = RecordEntry { record: part, place, at: time("start"), thread };
    if out.call_number(thread, &id).is_none() {
        let call = entry.add_call(id, &name(part, "tool").unwrap_or_default(), state.get("input"), out);
        result(RecordEntry { at: time("end"), ..entry }, state, call);
    }
    true
}

fn result(entry: RecordEntry, state: Json, call: &mut Call) {
    let is_read = is(entry.record, "tool", "read");
    let status = name(state, "status").unwrap_or_default();
    let metadata = |key: &str| state.path(&["metadata", key]);
    call.exit = exit_code(metadata("exit"));
    call.status = match (status.as_str(), call.exit) {
        ("error", _) => CallStatus::Failed,
        ("completed", Some(0) | None) => CallStatus::Ok,
        ("completed", Some(_)) => CallStatus::Failed,
        ("running" | "pending", _) => CallStatus::Running,
        _ => CallStatus::NoResult,
    };
    let copy = metadata("output").filter(|copy| copy.kind() == Kind::String);
    // The model gets what a command printed until it was interrupted.
    let printed = copy.filter(|_| metadata("interrupted").and_then(|value| value.bool()) == Some(true));
    let text = match (status.as_str(), printed) {
        ("error", Some(printed)) => Some(printed),
        ("error", None) => state.get("error"),
        _ => state.get("output"),
    };
    let Some(text) = text.filter(|text| text.kind() == Kind::String) else { return };
    let path = metadata("outputPath").and_then(|path| path.short(4096));
    let is_cut = metadata("truncated").and_then(|cut| cut.bool());
    // A window of a file that the model asked for is no cut: the file holds the rest.
    let is_short = is_read
        && (has_line(text, "truncated to 2000 chars)", is_cut_line)
            || has_line(text, "(Output capped at ", |line| line.starts_with("(Output capped at ")));
    call.is_window = is_read && (is_short || is_cut == Some(true));
    call.note_cut(path.map(Citation::new), if is_read { is_short } else { is_cut == Some(true) });
    entry.note_copy("metadata.output", copy, Some(DISPLAY), call);
    entry.add_result(Some(text), call);
}

/// Whether the read tool cut a line of a file.
fn is_cut_line(line: &str) -> bool {
    let kept = line.strip_suffix("... (line truncated to 2000 chars)");
    kept.is_some_and(|kept| kept.encode_utf16().count() >= LINE)
}
