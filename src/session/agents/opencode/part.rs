//! A part of a message, as opencode and Kilo write it: the same in a file, and in a row of the database.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::session::clock;
use crate::session::content::{is_type, name};
use crate::session::json::{Json, Kind};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, Evidence, ResultFate, TextPiece,
    TextPieces,
};
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

/// Reads a part. Returns whether it is of a kind that is known. `compacted` is the time after which the history was
/// begun anew, if it was.
pub(super) fn read(
    part: Json,
    thread: u32,
    place: RecordPlace,
    compacted: Option<Option<Timestamp>>,
    out: &mut Transcript,
) -> bool {
    if !is_type(part, "tool") {
        let kind = name(part, "type").unwrap_or_default();
        let is_known = OTHER_KINDS.contains(&kind.as_str());
        if !is_known {
            out.unread.unknown(&kind);
        }
        return is_known;
    }
    let (Some(id), Some(state)) = (name(part, "callID"), part.get("state")) else { return true };
    let tool = out.tool_id(&name(part, "tool").unwrap_or_default());
    let mut call = Call::new(id, thread, tool);
    call.input = state.get("input").map(|input| place.span(input));
    call.at = state.path(&["time", "start"]).and_then(clock::time);
    call.record = Some(place.span(part));
    result(part, state, place, compacted, &mut call);
    out.add_call(call);
    true
}

fn result(
    part: Json,
    state: Json,
    place: RecordPlace,
    compacted: Option<Option<Timestamp>>,
    call: &mut Call,
) {
    let status = name(state, "status").unwrap_or_default();
    let metadata = |key: &str| state.path(&["metadata", key]);
    call.exit = metadata("exit").and_then(|code| code.int()).and_then(|code| code.try_into().ok());
    call.status = match (status.as_str(), call.exit) {
        ("error", _) => CallStatus::Failed,
        ("completed", Some(0) | None) => CallStatus::Ok,
        ("completed", Some(_)) => CallStatus::Failed,
        ("running" | "pending", _) => CallStatus::Running,
        _ => CallStatus::NoResult,
    };
    let text = if status == "error" { state.get("error") } else { state.get("output") };
    let Some(text) = text.filter(|text| text.kind() == Kind::String) else { return };
    let path = metadata("outputPath").and_then(|path| path.short(4096));
    let is_cut = metadata("truncated").and_then(|cut| cut.bool());
    call.cites = path.map(|path| Citation { path: PathBuf::from(path), bytes: None }).into_iter().collect();
    // A window of a file is no cut: the file holds the rest.
    call.is_window = is_read(part) && is_cut == Some(true);
    let is_cut = is_cut.filter(|_| !is_read(part));
    call.cut = match (is_cut, call.cites.is_empty()) {
        (_, false) => CutState::Spill,
        (Some(true), true) => CutState::Lost,
        _ => CutState::No,
    };
    let copy = metadata("output").filter(|copy| copy.kind() == Kind::String);
    call.display = copy
        .map(|copy| DisplayCopy {
            name: "metadata.output",
            text: TextPiece::Json(place.span(copy)),
            most: Some(DISPLAY),
        })
        .into_iter()
        .collect();
    let cleared = state.path(&["time", "compacted"]).and_then(clock::time);
    call.results.push(CallResult {
        evidence: Evidence::Recorded,
        pieces: TextPieces::from_iter([TextPiece::Json(place.span(text))]),
        at: state.path(&["time", "end"]).and_then(clock::time),
        fate: match (cleared, compacted) {
            (Some(at), _) => ResultFate::Cleared(Some(at)),
            (None, Some(at)) => ResultFate::Compacted(at),
            (None, None) => ResultFate::InContext,
        },
        record: Some(place.span(part)),
    });
}

fn is_read(part: Json) -> bool {
    part.get("tool").is_some_and(|tool| tool.is("read"))
}
