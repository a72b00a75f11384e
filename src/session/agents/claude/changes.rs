//! Claude Code's records of what it took out of the model's context.

use std::collections::HashSet;

use crate::session::content::MAX_NAME;
use crate::session::context::{ContextEvent, ResultId};
use crate::session::fate::{ContextChange, FateEvidence};
use crate::session::id::{RecordId, id_of_bytes};
use crate::session::json::{Json, Kind, Tape};
use crate::session::model::{RecordSpan, TextPiece};
use crate::session::text::to_text;
use crate::session::transcript::Transcript;

use super::history::{ClaudeHistory, CompactBoundary, ContextRecord, RecordContext, ServerEdit, SummarySpan};

/// The longest sentence that stands for results, in characters.
const MAX_STAND_IN: usize = 200;

/// How many of the last results are looked through for those that are taken back.
const MAX_RETRACTED: usize = 4096;

/// The most bytes of a result's record that are looked at.
const MAX_LOOKED: u64 = 32 << 20;

/// Reads a record that is neither a message nor a request. `done` holds the calls that were named before.
pub(super) fn read(
    record: Json,
    context: RecordContext,
    done: &mut HashSet<u32>,
    history: &mut ClaudeHistory,
    out: &Transcript,
) {
    let is = |name: &str| record.has("subtype", name);
    if is("compact_boundary") {
        history.boundaries.push(boundary(record, context));
    } else if is("microcompact_boundary") {
        let ids = record.path(&["microcompactMetadata", "compactedToolIds"]);
        push(ContextChange::Clear, context, named_results(ids, context.thread, out), history);
    } else if let Some(retracted) = record.get("retractedMessageUuids") {
        let ids: HashSet<RecordId> = ids(Some(retracted)).collect();
        let results = retracted_results(&ids, context.thread, history);
        push(ContextChange::Drop, context, results, history);
    } else if let Some(attachment) = record.get("attachment").filter(|what| what.is_type("tool_results_cut"))
    {
        let results = cut_results(attachment, context.thread, done, out);
        push(ContextChange::Clear, context, results, history);
    }
}

/// Reads that a user's record stands for those between it and the one that it follows.
pub(super) fn span(record: Json, context: RecordContext, history: &mut ClaudeHistory) {
    let is_summary = record.flag("replacesSpan");
    let parent = record.id("parentUuid").filter(|_| is_summary);
    history.spans.extend(parent.map(|parent| SummarySpan { context, parent }));
}

/// Reads how many results the server cleared in the request of an answer.
pub(super) fn answer(message: Json, context: RecordContext, history: &mut ClaudeHistory) {
    let management = message.get("context_management");
    let applied = management.and_then(|management| management.get("applied_edits"));
    let edit = clear_tool_uses(applied);
    let cleared = edit.and_then(|edit| edit.number("cleared_tool_uses")).unwrap_or(0);
    let conversation = history.conversation(context.thread);
    let was_edited = std::mem::replace(&mut conversation.is_edited, cleared > 0);
    if cleared == 0 && !was_edited {
        return;
    }
    let excluded = management.and_then(|management| management.get("client_sent_exclude_tools"));
    let excluded = excluded.map_or_else(|| conversation.excluded.clone(), |tools| ids(Some(tools)).collect());
    history.edits.push(ServerEdit { context, cleared, excluded });
}

/// Returns the tools whose results the server shall leave, of a request.
pub(super) fn excluded(request: Json) -> Vec<RecordId> {
    let edits = request.path(&["params", "context_management", "edits"]);
    ids(clear_tool_uses(edits).and_then(|edit| edit.get("exclude_tools"))).collect()
}

fn clear_tool_uses(edits: Option<Json>) -> Option<Json> {
    edits?.items().find(|edit| edit.name("type").is_some_and(|kind| kind.starts_with("clear_tool_uses")))
}

fn boundary(record: Json, context: RecordContext) -> CompactBoundary {
    let preserved = record.path(&["compactMetadata", "preservedMessages"]);
    let list = preserved.and_then(|messages| messages.get("uuids").or_else(|| messages.get("allUuids")));
    let end = |key: &str| record.path(&["compactMetadata", "preservedSegment"])?.id(key);
    let ends = end("headUuid").zip(end("tailUuid")).filter(|_| list.is_none());
    CompactBoundary { context, preserved: ids(list).collect(), segment: ends }
}

fn ids<'a>(list: Option<Json<'a>>) -> impl Iterator<Item = RecordId> + use<'a> {
    let items = list.into_iter().flat_map(|list| list.items());
    items.filter_map(|id| id.short_bytes(MAX_NAME).map(|id| id_of_bytes(&id)))
}

/// Returns the numbers of the calls that a list names.
fn calls<'a>(list: Option<Json<'a>>, thread: u32, out: &'a Transcript) -> impl Iterator<Item = u32> {
    let items = list.into_iter().flat_map(|list| list.items());
    items.filter_map(move |id| out.call_number(thread, &id.short_text(MAX_NAME)?))
}

fn named_results(list: Option<Json>, thread: u32, out: &Transcript) -> Vec<ResultId> {
    out.results_of(calls(list, thread, out))
}

/// Adds a change, if it names results.
pub(super) fn push(
    change: ContextChange,
    context: RecordContext,
    results: Vec<ResultId>,
    history: &mut ClaudeHistory,
) {
    if !results.is_empty() {
        history.changes.push(ContextRecord {
            context,
            event: event(change, context, results),
            is_sent: false,
        });
    }
}

/// Returns the event of a record.
pub(super) fn event(change: ContextChange, context: RecordContext, results: Vec<ResultId>) -> ContextEvent {
    let RecordContext { at, request, record, .. } = context;
    ContextEvent { change, at, request, evidence: FateEvidence::Recorded, record: Some(record), results }
}

/// Returns the results of messages that were taken back, and of the calls in them.
fn retracted_results(ids: &HashSet<RecordId>, thread: u32, history: &ClaudeHistory) -> Vec<ResultId> {
    let Some(conversation) = history.conversations.get(thread as usize) else { return Vec::new() };
    let recent = history.results.iter().rev().filter(|result| result.thread == thread).take(MAX_RETRACTED);
    let is_named = |id: Option<RecordId>| id.is_some_and(|id| ids.contains(&id));
    let retracted = recent
        .filter(|result| is_named(conversation.branches.id(result.record)) || is_named(result.source()));
    retracted.map(|result| ResultId { call: result.call, result: 0 }).collect()
}

/// Returns the results in whose place a sentence stands from the next request on. The first record that names a call counts.
fn cut_results(attachment: Json, thread: u32, done: &mut HashSet<u32>, out: &Transcript) -> Vec<ResultId> {
    let stand_in =
        attachment.get("standIn").and_then(|text| text.short(4 * MAX_STAND_IN)).unwrap_or_default();
    let chars = stand_in.chars().count();
    let cause = attachment.get("cause").filter(|cause| !cause.is_null());
    if !(1..=MAX_STAND_IN).contains(&chars) || cause.is_some_and(|cause| !cause.is("withdrawn_by_tool")) {
        return Vec::new();
    }
    let new = calls(attachment.get("callIds"), thread, out).filter(|call| done.insert(*call));
    out.results_of(new.filter(|call| can_be_cut(*call, &stand_in, out)))
}

/// Whether a sentence may stand in the place of a result: of no failure, in which there is but text and images, and that is
/// longer.
fn can_be_cut(call: u32, stand_in: &str, out: &Transcript) -> bool {
    let Some(call) = out.calls.get(call as usize) else { return false };
    let Some(result) = call.results.last() else { return false };
    let has_image = result.pieces.contains(&TextPiece::Image);
    let units = |text: &str| text.encode_utf16().count();
    let start = to_text(out, &result.pieces, 4 * units(stand_in) + 4);
    let is_longer = has_image || start.is_ok_and(|(text, _)| units(&text) > units(stand_in));
    is_longer && result.record.is_some_and(|record| is_plain(record, &call.id, out))
}

/// Whether a result is not a failure, and has only text and images.
fn is_plain(record: RecordSpan, id: &str, out: &Transcript) -> bool {
    let Ok(bytes) = out.read(record, MAX_LOOKED) else { return false };
    let mut tape = Tape::default();
    let Ok(record) = tape.read(&bytes) else { return false };
    let mut blocks = record.list_at(&["message", "content"]);
    let Some(block) = blocks.find(|block| block.has("tool_use_id", id)) else {
        // The text that stands for several results has a record of its own.
        return true;
    };
    let is_error = block.flag("is_error");
    let is_known = |part: Json| part.is_type("text") || part.is_type("image");
    let content = block.get("content").filter(|content| content.kind() == Kind::Array);
    !is_error && content.into_iter().flat_map(|content| content.items()).all(is_known)
}
