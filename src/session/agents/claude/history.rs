//! Conversations in Claude Code's records: their results, and what took these out of the model's context.

use std::collections::{HashMap, HashSet};

use crate::session::agents::{
    Branches, ChangeOrigin, ContextChange, FateEvidence, Json, MAX_TEXT, RecordId, RecordSpan, TextPiece,
    Transcript, get_or_grow,
};
use crate::session::sent::look;
use crate::session::text::to_text;

/// The number of a record without an id.
pub(super) const NO_RECORD: u32 = u32::MAX;
/// How many of the last results are looked through for one.
const MAX_RECENT: usize = 4096;
/// The longest sentence that stands for results, in characters; the most of them that are kept.
const MAX_STAND_IN: usize = 200;
const MAX_STAND_INS: usize = 16;

#[derive(Default)]
pub(super) struct ClaudeHistory {
    /// By the numbers of their threads.
    pub conversations: Vec<Conversation>,
    pub results: Vec<ResultRecord>,
    pub steps: Vec<ContextStep>,
    /// The calls in whose results' place a sentence is to stand, and whether it may. On another branch they are named again.
    cut: HashMap<u32, bool>,
    /// The records that were taken back: a result may come after that.
    pub retracted: HashSet<RecordId>,
    /// The sentences that stand for results.
    pub stand_ins: Vec<String>,
    /// By thread the changes, other than drops, that were recorded since its last request: the next one shows them.
    pub named: HashMap<u32, Vec<(u32, ContextChange)>>,
    /// The requests, by their numbers in their threads, and the calls of changes that they do not show.
    pub unshown: HashSet<(u32, u32)>,
}

#[derive(Default)]
pub(super) struct Conversation {
    pub branches: Branches,
    /// The model's messages, by the numbers of their records, in order.
    pub messages: Vec<(u32, RecordId)>,
    pub requests: Vec<CountedRequest>,
    /// The tools whose results the server does not clear in the last request.
    pub excluded: Vec<RecordId>,
    /// How many records could not be read before its last one.
    pub broken: u64,
    /// Whether the server cleared results in any request so far; for the one before, only a branch can tell.
    pub is_edited: bool,
}

#[derive(Clone, Copy)]
pub(super) struct CountedRequest {
    /// How many records of the conversation came before it.
    pub position: u32,
    /// Its number in the log of requests, if it is itself in the records, and not only its answer.
    pub number: Option<u32>,
}

impl Conversation {
    pub(super) fn message(&self, number: u32) -> Option<RecordId> {
        let at = self.messages.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.messages.get(at).map(|(_, message)| *message)
    }

    /// Returns the first record of its message for each record of the model's.
    pub(super) fn first_records(&self) -> HashMap<u32, u32> {
        let of_messages = self.messages.chunk_by(|(_, a), (_, b)| a == b);
        of_messages.flat_map(|records| records.iter().map(|(number, _)| (*number, records[0].0))).collect()
    }

    /// Returns for each request the number, in the records, of the first from it on that is there.
    pub(super) fn logged(&self) -> Vec<Option<u32>> {
        let mut next = None;
        let from_end = self.requests.iter().rev().map(|request| {
            next = request.number.or(next);
            next
        });
        let mut logged: Vec<_> = from_end.collect();
        logged.reverse();
        logged
    }

    /// Returns the number of the first request after a record, 1-based.
    pub(super) fn request_after(&self, record: u32) -> u32 {
        let before = self.requests.partition_point(|request| request.position <= record);
        (before as u32).saturating_add(1)
    }

    pub(super) fn is_logged(&self, request: Option<u32>) -> bool {
        let request = request.and_then(|request| self.requests.get(request.checked_sub(1)? as usize));
        request.is_some_and(|request| request.number.is_some())
    }

    /// Returns where a change comes from that shows in a request: its evidence tells whether that is in the records.
    pub(super) fn origin(&self, request: Option<u32>) -> ChangeOrigin {
        let is_logged = self.is_logged(request);
        let evidence = if is_logged { FateEvidence::Sent } else { FateEvidence::Recorded };
        ChangeOrigin { request, evidence }
    }
}

pub(super) struct ResultRecord {
    pub thread: u32,
    pub call: u32,
    /// The number of its record in the conversation; [`NO_RECORD`] if that has no id.
    pub record: u32,
    /// The record of the call; 0 if it is not named.
    pub source: RecordId,
}

impl ResultRecord {
    pub(super) fn source(&self) -> Option<RecordId> {
        (self.source != 0).then_some(self.source)
    }
}

#[derive(Clone, Copy)]
pub(super) struct RecordContext {
    pub thread: u32,
    /// Its number in the conversation; [`NO_RECORD`] if it has no id.
    pub number: u32,
    /// With the first request after it; of an answer, the request itself.
    pub origin: ChangeOrigin,
}

/// A record that may have changed the model's context.
pub(super) struct ContextStep {
    pub context: RecordContext,
    /// How many results were recorded before it.
    pub results: usize,
    pub kind: ContextStepKind,
}

pub(super) enum ContextStepKind {
    Boundary(CompactBoundary),
    /// A summary, with the earlier record after which it replaces all others; without one, all.
    Span {
        parent: Option<RecordId>,
    },
    /// What the server cleared in a request that was answered: the oldest results.
    Edit {
        cleared: usize,
        /// The tools whose results are left.
        excluded: Vec<RecordId>,
    },
    /// A change that names calls. Its evidence tells whether it is read from the requests themselves.
    Change(ContextChange, Vec<u32>),
}

/// A compaction: the model no longer sees what was recorded before it, except what it preserves.
pub(super) struct CompactBoundary {
    pub preserved: HashSet<RecordId>,
    /// The first and the last of the records that are preserved, where they are not named one by one.
    pub segment: Option<(RecordId, RecordId)>,
}

impl ClaudeHistory {
    pub(super) fn conversation(&mut self, thread: u32) -> &mut Conversation {
        get_or_grow(&mut self.conversations, thread)
    }

    /// Whether a request before carried the result of a call. One that is not among the last was long sent.
    pub(super) fn was_sent(&self, call: u32) -> bool {
        let result = self.results.iter().rev().take(MAX_RECENT).find(|result| result.call == call);
        let Some(result) = result else { return true };
        let requests = self.conversations.get(result.thread as usize).map(|own| &own.requests);
        requests.and_then(|requests| requests.last()).is_some_and(|last| result.record < last.position)
    }

    pub(super) fn shrink(&mut self) {
        self.results.shrink_to_fit();
        for conversation in &mut self.conversations {
            conversation.branches.shrink();
            conversation.messages.shrink_to_fit();
            conversation.requests.shrink_to_fit();
        }
    }

    /// Reads a record that is neither a message nor a request.
    pub(super) fn read_change(&mut self, record: Json, context: RecordContext, out: &Transcript) {
        let is = |name: &str| record.has("subtype", name);
        let cut = record.get("attachment").filter(|what| what.is_type("tool_results_cut"));
        if is("compact_boundary") {
            self.push(context, ContextStepKind::Boundary(boundary(record)));
        } else if is("microcompact_boundary") {
            let ids = record.path(&["microcompactMetadata", "compactedToolIds"]);
            let named = calls(ids, context.thread, out).filter(|call| out.has_result(*call));
            self.change(ContextChange::Clear, context, named.collect());
        } else if let Some(retracted) = record.get("retractedMessageUuids") {
            let retracted: HashSet<RecordId> = ids(Some(retracted)).collect();
            self.retracted.extend(&retracted);
            let retracted = self.retracted_calls(&retracted, context.thread);
            self.change(ContextChange::Drop, context, retracted);
        } else if let Some(attachment) = cut {
            let cut = self.cut_calls(attachment, context.thread, out);
            self.change(ContextChange::Clear, context, cut);
        }
    }

    /// Reads how many results the server cleared in the request of an answer.
    pub(super) fn read_answer(&mut self, message: Json, context: RecordContext) {
        let management = message.object("context_management");
        let edit = clear_tool_uses(management.get("applied_edits"));
        let cleared = edit.and_then(|edit| edit.number("cleared_tool_uses")).unwrap_or(0);
        let conversation = self.conversation(context.thread);
        conversation.is_edited |= cleared > 0;
        if !conversation.is_edited {
            return;
        }
        let sent = management.get("client_sent_exclude_tools");
        let excluded = sent.map_or(conversation.excluded.clone(), |tools| ids(Some(tools)).collect());
        self.push(context, ContextStepKind::Edit { cleared, excluded });
    }

    pub(super) fn push(&mut self, context: RecordContext, kind: ContextStepKind) {
        self.steps.push(ContextStep { context, results: self.results.len(), kind });
    }

    pub(super) fn change(&mut self, change: ContextChange, context: RecordContext, calls: Vec<u32>) {
        if context.origin.evidence != FateEvidence::Sent && change != ContextChange::Drop {
            self.named.entry(context.thread).or_default().extend(calls.iter().map(|call| (*call, change)));
        }
        if !calls.is_empty() {
            self.push(context, ContextStepKind::Change(change, calls));
        }
    }

    /// Returns the calls whose results or own messages were taken back.
    fn retracted_calls(&self, ids: &HashSet<RecordId>, thread: u32) -> Vec<u32> {
        let Some(conversation) = self.conversations.get(thread as usize) else { return Vec::new() };
        let recent = self.results.iter().rev().filter(|result| result.thread == thread).take(MAX_RECENT);
        let is_named = |id: Option<RecordId>| id.is_some_and(|id| ids.contains(&id));
        let retracted = recent
            .filter(|result| is_named(conversation.branches.id(result.record)) || is_named(result.source()));
        retracted.map(|result| result.call).collect()
    }

    /// Returns the calls for whose results a sentence stands from now on. The first sentence for a call counts.
    fn cut_calls(&mut self, attachment: Json, thread: u32, out: &Transcript) -> Vec<u32> {
        let stand_in =
            attachment.get("standIn").and_then(|text| text.short(4 * MAX_STAND_IN)).unwrap_or_default();
        let chars = stand_in.chars().count();
        let cause = attachment.get("cause").filter(|cause| !cause.is_null());
        if !(1..=MAX_STAND_IN).contains(&chars) || cause.is_some_and(|cause| !cause.is("withdrawn_by_tool")) {
            return Vec::new();
        }
        if self.stand_ins.len() < MAX_STAND_INS && !self.stand_ins.contains(&stand_in) {
            self.stand_ins.push(stand_in.clone());
        }
        let withdraws =
            |tool: &str| ["mcp__claude_ai__", "mcp__hearthbot__"].iter().any(|of| tool.starts_with(of));
        let named = calls(attachment.get("callIds"), thread, out);
        let meant = named.filter(|call| cause.is_none() || withdraws(out.tool_of(*call)));
        let can_be = |call: &u32| can_be_cut(*call, &stand_in, out);
        meant.filter(|call| *self.cut.entry(*call).or_insert_with(|| can_be(call))).collect()
    }
}

pub(super) fn excluded_tools(request: Json) -> Vec<RecordId> {
    let edits = request.path(&["params", "context_management", "edits"]);
    ids(clear_tool_uses(edits).and_then(|edit| edit.get("exclude_tools"))).collect()
}

fn clear_tool_uses(edits: Option<Json>) -> Option<Json> {
    edits?.items().find(|edit| edit.name("type").is_some_and(|kind| kind.starts_with("clear_tool_uses")))
}

fn boundary(record: Json) -> CompactBoundary {
    let compaction = record.object("compactMetadata");
    let preserved = compaction.object("preservedMessages");
    let list = preserved.get("uuids").or_else(|| preserved.get("allUuids"));
    let segment = compaction.object("preservedSegment");
    let ends = segment.id("headUuid").zip(segment.id("tailUuid")).filter(|_| list.is_none());
    CompactBoundary { preserved: ids(list).collect(), segment: ends }
}

fn ids<'a>(list: Option<Json<'a>>) -> impl Iterator<Item = RecordId> + use<'a> {
    let items = list.into_iter().flat_map(|list| list.items());
    items.filter_map(|id| id.as_id())
}

/// Returns the numbers of the calls that a list names.
fn calls<'a>(list: Option<Json<'a>>, thread: u32, out: &'a Transcript) -> impl Iterator<Item = u32> {
    let items = list.into_iter().flat_map(|list| list.items());
    items.filter_map(move |id| out.call_number(thread, &id.short_text(MAX_TEXT)?))
}

/// Whether a sentence may stand for a result: of no failure, of text and images alone, and longer.
fn can_be_cut(call: u32, stand_in: &str, out: &Transcript) -> bool {
    let Some(call) = out.calls.get(call as usize) else { return false };
    let Some(result) = call.first() else { return false };
    // A text that replaces several results is plain, and longer than a sentence.
    if call.later > 0 {
        return true;
    }
    let has_image = result.pieces.contains(&TextPiece::Image);
    let units = |text: &str| text.encode_utf16().count();
    let start = to_text(out, &result.pieces, 4 * units(stand_in) + 4);
    let is_longer = has_image || start.is_ok_and(|(text, _)| units(&text) > units(stand_in));
    is_longer && result.record.is_some_and(|record| is_plain(record, &call.id, out))
}

/// Whether a result is not a failure, and has only text and images.
fn is_plain(record: RecordSpan, id: &str, out: &Transcript) -> bool {
    let is_known = |part: Json| part.is_type("text") || part.is_type("image");
    let is_plain = |block: Json| !block.flag("is_error") && block.list("content").all(is_known);
    let found = look(out, record, |record, _| {
        let mut blocks = record.list_at(&["message", "content"]);
        // The text that stands for several results has a record of its own.
        Some(blocks.find(|block| block.has("tool_use_id", id)).is_none_or(is_plain))
    });
    found == Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of 2 GB holds over 100,000 results.
    #[test]
    fn a_result_record_takes_few_bytes() {
        assert_eq!(size_of::<ResultRecord>(), 24);
    }
}
