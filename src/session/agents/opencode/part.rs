//! A part of a message, as opencode and Kilo write it: the same in a file, and in a row of the database.

use crate::session::content::has_line;
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
    if !part.is_type("tool") {
        return out.unread.is_known(&part.word("type"), OTHER_KINDS);
    }
    let (Some(id), Some(state)) = (part.name("callID"), part.get("state")) else { return true };
    let time = state.object("time");
    let entry = RecordEntry { record: part, place, at: time.time("start"), thread };
    if out.call_number(thread, &id).is_none() {
        let call = entry.add_call(id, &part.word("tool"), state.get("input"), out);
        result(RecordEntry { at: time.time("end"), ..entry }, state, call);
    }
    true
}

fn result(entry: RecordEntry, state: Json, call: &mut Call) {
    let is_read = entry.record.has("tool", "read");
    let (status, metadata) = (state.word("status"), state.object("metadata"));
    call.exit = metadata.number("exit");
    call.status = status_of(&status, call.exit);
    let copy = metadata.get("output").filter(|copy| copy.kind() == Kind::String);
    // The model gets what a command printed until it was interrupted.
    let printed = copy.filter(|_| metadata.flag("interrupted"));
    let text = match (&*status, printed) {
        ("error", Some(printed)) => Some(printed),
        ("error", None) => state.get("error"),
        _ => state.get("output"),
    };
    let Some(text) = text.filter(|text| text.kind() == Kind::String) else { return };
    let (path, is_cut) = (metadata.string("outputPath"), metadata.flag("truncated"));
    // A window of a file that the model asked for is no cut: the file holds the rest.
    let is_short = is_read
        && (has_line(text, "truncated to 2000 chars)", is_cut_line)
            || has_line(text, "(Output capped at ", |line| line.starts_with("(Output capped at ")));
    call.is_window = is_read && (is_short || is_cut);
    call.note_cut(path.map(Citation::new), if is_read { is_short } else { is_cut });
    entry.note_copy("metadata.output", copy, Some(DISPLAY), call);
    entry.add_result(Some(text), call);
}

/// Returns how a call ended, by the word in its state.
pub(super) fn status_of(word: &str, exit: Option<i32>) -> CallStatus {
    match (word, exit) {
        ("error", _) => CallStatus::Failed,
        ("completed", Some(0) | None) => CallStatus::Ok,
        ("completed", Some(_)) => CallStatus::Failed,
        // opencode 1 writes "pending", opencode 2 "streaming".
        ("streaming" | "running" | "pending", _) => CallStatus::Running,
        _ => CallStatus::NoResult,
    }
}

/// Whether the read tool cut a line of a file.
fn is_cut_line(line: &str) -> bool {
    let kept = line.strip_suffix("... (line truncated to 2000 chars)");
    kept.is_some_and(|kept| kept.encode_utf16().count() >= LINE)
}
