//! Claude Code's records: calls, results, and what became of them.

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;

use crate::session::branch::{Branches, LivingBranch};
use crate::session::clock;
use crate::session::content::LONGEST_NAME;
use crate::session::id::{IdMap, RecordId, id_of_bytes, record_id};
use crate::session::json::{Json, Tape};
use crate::session::model::{Call, ResultFate};
use crate::session::reader::{LogReader, RecordPlace};
use crate::session::record::FileRecords;
use crate::session::transcript::Transcript;

use super::facts::note_facts;
use super::replaced::replace;
use super::requests;
use super::result::result;

/// Kinds of records that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "attachment",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "ai-title",
    "custom-title",
    "summary",
    "file-history-snapshot",
    "tools-used",
    "atis-latch",
    "cost-state",
    "derived-from",
    "fork-context-ref",
];

/// Reads the records of one session: of the main conversation and of its sub-agents.
#[derive(Default)]
pub(super) struct ClaudeReader {
    /// The sub-agent whose file is being read; empty in the main one.
    file_agent: String,
    /// By the numbers of their threads.
    conversations: Vec<Conversation>,
    /// Conversations in the main file, by their records, where no key names the sub-agent.
    inline: IdMap<u32>,
    results: Vec<ResultRecord>,
    boundaries: Vec<Boundary>,
    count: u64,
}

/// One conversation.
#[derive(Default)]
struct Conversation {
    branches: Branches,
    /// The model's messages, by the numbers of their records, in order.
    messages: Vec<(u32, RecordId)>,
}

impl Conversation {
    /// Returns the message of a record, by its number.
    fn message(&self, number: u32) -> Option<RecordId> {
        let at = self.messages.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.messages.get(at).map(|(_, message)| *message)
    }
}

/// A record of the conversation: where it is, when it was written, its id with its number among those of its conversation,
/// and its message.
#[derive(Clone, Copy)]
struct Recorded {
    place: RecordPlace,
    at: Option<Timestamp>,
    linked: Option<(RecordId, u32)>,
    message: Option<RecordId>,
}

/// Where a result was recorded.
struct ResultRecord {
    thread: u32,
    /// The number of the call.
    call: u32,
    /// How many records came before it.
    count: u32,
    /// The number of its record in the conversation; [`NO_RECORD`] if that has no id.
    record: u32,
    /// The record of the call; 0 if it is not named.
    source: RecordId,
}

const NO_RECORD: u32 = u32::MAX;

impl ResultRecord {
    fn source(&self) -> Option<RecordId> {
        (self.source != 0).then_some(self.source)
    }
}

/// A compaction: what was recorded before it is no longer seen.
struct Boundary {
    thread: u32,
    /// How many records came before it.
    count: u64,
    at: Option<Timestamp>,
    preserved: HashSet<RecordId>,
}

impl LogReader for ClaudeReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        self.file_agent = stem.strip_prefix("agent-").unwrap_or_default().to_owned();
        if !self.file_agent.is_empty() {
            let thread = out.thread_id(&self.file_agent);
            describe_thread(&path.with_extension("meta.json"), thread, out);
        }
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        self.count += 1;
        let at = note_facts(record, &mut out.facts);
        let kind = record.get("type").and_then(|kind| kind.short_text(LONGEST_NAME)).unwrap_or_default();
        let thread = self.thread(record, out);
        let linked = self.link(record, thread);
        let id_of_message = || record.get("message").and_then(|message| id_of(message, "id"));
        let message = (kind == "assistant").then(|| id_of_message().unwrap_or_default());
        if matches!(&*kind, "assistant" | "user") && self.is_of_file(thread) {
            requests::spoken(record, message, place, &mut out.requests);
        }
        let recorded = Recorded { place, at, linked, message };
        match &*kind {
            "assistant" => self.calls(record, thread, recorded, out),
            "user" => self.user(record, thread, recorded, out),
            "api-request" => requests::request(record, place, &mut out.requests),
            "api-request-blob" => requests::blob(record, thread, place, &mut out.requests),
            "api-request-shape" => requests::shape(record, place, &mut out.requests),
            "system" => self.system(record, thread),
            "content-replacement" => {
                replace(record, thread, place, &|call| self.is_seen(thread, call), out);
            }
            "last-prompt" => {
                let leaf = record.get("leafUuid").and_then(|leaf| leaf.short(LONGEST_NAME));
                leaf.into_iter().for_each(|leaf| {
                    self.conversation(thread).branches.set_leaf(record_id(&leaf));
                });
            }
            known if OTHER_KINDS.contains(&known) => {}
            other => {
                out.unread.unknown(other);
                return false;
            }
        }
        true
    }

    fn settle(&mut self, out: &mut Transcript) {
        self.results.shrink_to_fit();
        for conversation in &mut self.conversations {
            conversation.branches.shrink();
            conversation.messages.shrink_to_fit();
        }
        let living: Vec<LivingBranch> =
            self.conversations.iter().map(|conversation| conversation.branches.living()).collect();
        let messages = self.living_messages(&living);
        for result in &self.results {
            let fate = self.fate(result, &living, &messages);
            if let Some(call) = out.calls.get_mut(result.call as usize)
                && let [first] = &mut call.results[..]
            {
                first.fate = fate;
            }
        }
    }
}

impl ClaudeReader {
    /// Returns the conversation of a record: its sub-agent's, or the main one. In 1.0 sub-agents are told only by a mark,
    /// and by the records that they follow.
    fn thread(&mut self, record: Json, out: &mut Transcript) -> u32 {
        if let Some(agent) = record.get("agentId").and_then(|agent| agent.short(LONGEST_NAME)) {
            return out.thread_id(&agent);
        }
        if !self.file_agent.is_empty() {
            let agent = self.file_agent.clone();
            return out.thread_id(&agent);
        }
        if record.get("isSidechain").and_then(|mark| mark.bool()) != Some(true) {
            return 0;
        }
        let Some(uuid) = record.get("uuid").and_then(|uuid| uuid.short(LONGEST_NAME)) else { return 0 };
        let parent = id_of(record, "parentUuid");
        let thread = parent.and_then(|parent| self.inline.get(&parent).copied());
        let thread = thread.unwrap_or_else(|| out.thread_id(&uuid));
        self.inline.insert(record_id(&uuid), thread);
        thread
    }

    /// Whether a conversation is that of the file, and not of a sub-agent inside of the main one's.
    fn is_of_file(&self, thread: u32) -> bool {
        thread == 0 || !self.file_agent.is_empty()
    }

    fn conversation(&mut self, thread: u32) -> &mut Conversation {
        let thread = thread as usize;
        if thread >= self.conversations.len() {
            self.conversations.resize_with(thread + 1, Conversation::default);
        }
        &mut self.conversations[thread]
    }

    /// Takes up a record in its conversation. Returns its id, if it has one, and its number there.
    fn link(&mut self, record: Json, thread: u32) -> Option<(RecordId, u32)> {
        let id = id_of(record, "uuid")?;
        let parent = id_of(record, "parentUuid").or_else(|| id_of(record, "logicalParentUuid"));
        Some((id, self.conversation(thread).branches.add(id, parent)))
    }

    fn calls(&mut self, record: Json, thread: u32, recorded: Recorded, out: &mut Transcript) {
        let Some(message) = record.get("message") else { return };
        let name = recorded.message.filter(|name| *name != 0);
        if let (Some((_, number)), Some(name)) = (recorded.linked, name) {
            self.conversation(thread).messages.push((number, name));
        }
        for block in message.get("content").into_iter().flat_map(|content| content.items()) {
            let is_call = block.get("type").is_some_and(|kind| kind.is("tool_use"));
            let Some(id) = block.get("id").filter(|_| is_call).and_then(|id| id.short(LONGEST_NAME)) else {
                continue;
            };
            let name = block.get("name").and_then(|name| name.short_text(LONGEST_NAME)).unwrap_or_default();
            let tool = out.tool_id(&name);
            let mut call = Call::new(id, thread, tool);
            call.input = block.get("input").map(|input| recorded.place.span(input));
            call.at = recorded.at;
            call.record = Some(recorded.place.span(record));
            out.add_call(call);
        }
    }

    fn user(&mut self, record: Json, thread: u32, recorded: Recorded, out: &mut Transcript) {
        let content = record.path(&["message", "content"]);
        for block in content.into_iter().flat_map(|content| content.items()) {
            let is_result = block.get("type").is_some_and(|kind| kind.is("tool_result"));
            let id =
                block.get("tool_use_id").filter(|_| is_result).and_then(|id| id.short_text(LONGEST_NAME));
            let Some(id) = id else { continue };
            let Some(number) = out.number_or_new(thread, &id) else { continue };
            let Some(call) = out.calls.get_mut(number as usize) else { continue };
            if call.results.is_empty() {
                result(record, block, (recorded.place, recorded.at), call);
            }
            let source = id_of(record, "sourceToolAssistantUUID").or_else(|| id_of(record, "parentUuid"));
            self.results.push(ResultRecord {
                thread,
                call: number,
                record: recorded.linked.map_or(NO_RECORD, |(_, number)| number),
                source: source.unwrap_or_default(),
                count: self.count.try_into().unwrap_or(u32::MAX),
            });
        }
    }

    /// Whether the model has spoken since it could see a result.
    fn is_seen(&self, thread: u32, call: u32) -> bool {
        let result = self.results.iter().rev().find(|result| result.call == call);
        let Some(conversation) = self.conversations.get(thread as usize) else { return true };
        let source = result.and_then(|result| conversation.branches.recent(result.source()?));
        let called = source.and_then(|source| conversation.message(source));
        called.is_none() || called != conversation.messages.last().map(|(_, message)| *message)
    }

    fn system(&mut self, record: Json, thread: u32) {
        if record.get("subtype").is_some_and(|kind| kind.is("compact_boundary")) {
            let preserved = record.path(&["compactMetadata", "preservedMessages", "uuids"]);
            let ids = preserved.into_iter().flat_map(|list| list.items());
            let preserved = ids.filter_map(|id| id.short(LONGEST_NAME)).map(|id| record_id(&id)).collect();
            let at = record.get("timestamp").and_then(clock::time);
            self.boundaries.push(Boundary { thread, count: self.count, at, preserved });
        }
    }

    /// Whether the record of a result is on the branch that lives.
    fn is_on_branch(&self, result: &ResultRecord, living: &[LivingBranch]) -> bool {
        let thread = result.thread as usize;
        match (self.conversations.get(thread), living.get(thread)) {
            (Some(conversation), Some(branch)) if conversation.branches.last().is_some() => {
                branch.contains_number(result.record, &conversation.branches)
            }
            // No record of the conversation has an id.
            _ => true,
        }
    }

    /// Returns the message of the call of a result: in its own conversation, or in the main one.
    fn message_of(&self, result: &ResultRecord, living: &[LivingBranch]) -> Option<RecordId> {
        let source = result.source()?;
        let within = |thread: usize| {
            let number = living.get(thread)?.number(source)?;
            self.conversations.get(thread)?.message(number)
        };
        within(result.thread as usize).or_else(|| within(0))
    }

    /// Returns the messages of which a record is on a branch that lives, as far as results that are on none depend on it.
    fn living_messages(&self, living: &[LivingBranch]) -> IdMap<MessageState> {
        let off = self.results.iter().filter(|result| !self.is_on_branch(result, living));
        let mut messages: IdMap<MessageState> =
            off.filter_map(|result| Some((self.message_of(result, living)?, MessageState::Left))).collect();
        if messages.is_empty() {
            return messages;
        }
        for (conversation, branch) in self.conversations.iter().zip(living) {
            for (number, message) in &conversation.messages {
                if let Some(state) = messages.get_mut(message)
                    && branch.contains_number(*number, &conversation.branches)
                {
                    *state = MessageState::Lives;
                }
            }
        }
        messages
    }

    /// Parallel calls are in several records of one message, of which only one is followed by the next message: a result
    /// lives if any record of its message does.
    fn fate(
        &self,
        result: &ResultRecord,
        living: &[LivingBranch],
        messages: &IdMap<MessageState>,
    ) -> ResultFate {
        let is_of_living = || {
            let state = self.message_of(result, living).and_then(|message| messages.get(&message));
            state == Some(&MessageState::Lives)
        };
        if !self.is_on_branch(result, living) && !is_of_living() {
            return ResultFate::OffBranch;
        }
        let preserved = |boundary: &Boundary| {
            let conversation = self.conversations.get(result.thread as usize);
            let record = conversation.and_then(|conversation| conversation.branches.id(result.record));
            boundary.preserved.contains(&record.unwrap_or_default())
        };
        let compacted = self.boundaries.iter().find(|boundary| {
            boundary.thread == result.thread && boundary.count > result.count.into() && !preserved(boundary)
        });
        compacted.map_or(ResultFate::InContext, |boundary| ResultFate::Compacted(boundary.at))
    }
}

/// Whether the model's message is still part of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageState {
    Lives,
    Left,
}

fn id_of(record: Json, key: &str) -> Option<RecordId> {
    record.get(key)?.short_bytes(LONGEST_NAME).map(|id| id_of_bytes(&id))
}

/// Reads what the file beside a sub-agent's says about it.
fn describe_thread(path: &Path, thread: u32, out: &mut Transcript) {
    let bytes = FileRecords::new(path).whole().unwrap_or_default();
    let mut tape = Tape::default();
    let Ok(meta) = tape.read(&bytes) else { return };
    let text = |key: &str| meta.get(key).and_then(|value| value.short(LONGEST_NAME));
    if let Some(thread) = out.threads.get_mut(thread as usize) {
        text("agentType").into_iter().for_each(|name| thread.name = name.into());
        thread.parent_call = text("toolUseId").map(Into::into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of 2 GB holds over 100,000 results.
    #[test]
    fn what_is_kept_of_a_result_takes_few_bytes() {
        assert_eq!(size_of::<ResultRecord>(), 24);
    }
}
