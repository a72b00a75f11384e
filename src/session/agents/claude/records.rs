//! Claude Code's records: calls, results, and what became of them.

use std::collections::HashSet;
use std::path::Path;

use crate::session::content::MAX_NAME;
use crate::session::context::ContextEvent;
use crate::session::entry::RecordEntry;
use crate::session::fate::{ContextChange, FateEvidence};
use crate::session::find;
use crate::session::id::{IdMap, RecordId, record_id};
use crate::session::json::Json;
use crate::session::reader::{LogReader, RecordPlace};
use crate::session::record::read_json;
use crate::session::sent::log::Speaker;
use crate::session::transcript::Transcript;

use super::changes;
use super::facts::note_facts;
use super::fates;
use super::history::{ClaudeHistory, ContextRecord, CountedRequest, NO_RECORD, RecordContext, ResultRecord};
use super::lists::RequestLists;
use super::replaced::replace;
use super::requests;
use super::result::result;

/// Kinds of records that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "api-request-resumed",
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
    /// Conversations in the main file, by their records, where no key names the sub-agent.
    inline: IdMap<u32>,
    history: ClaudeHistory,
    lists: RequestLists,
    /// The calls in whose results' place a sentence stands.
    cut: HashSet<u32>,
}

/// A record of the conversation: its id with its number among those of its conversation, and its message.
#[derive(Clone, Copy)]
struct ClaudeRecord<'a> {
    entry: RecordEntry<'a>,
    linked: Option<(RecordId, u32)>,
    message: Option<RecordId>,
}

impl LogReader for ClaudeReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        self.file_agent = find::stem(path).strip_prefix("agent-").unwrap_or_default().to_owned();
        if !self.file_agent.is_empty() {
            let thread = out.thread_id(&self.file_agent);
            describe_thread(&path.with_extension("meta.json"), thread, out);
        }
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        self.history.count += 1;
        let at = note_facts(record, &mut out.facts);
        let kind = record.word("type");
        let thread = self.thread(record, out);
        let linked = self.link(record, thread);
        let id_of_message = || record.get("message").and_then(|message| message.id("id"));
        let message = (kind == "assistant").then(|| id_of_message().unwrap_or_default());
        if matches!(&*kind, "assistant" | "user") && self.is_of_file(thread) {
            // A hash in a request may stand for it.
            out.requests.add_spoken(message.map_or(Speaker::User, Speaker::model), place.span(record));
        }
        let entry = RecordEntry { record, place, at, thread };
        let recorded = ClaudeRecord { entry, linked, message };
        match &*kind {
            "assistant" => self.calls(recorded, out),
            "user" => self.user(recorded, out),
            "api-request" => self.request(recorded, out),
            "api-request-blob" => {
                requests::blob(record, thread, place, &mut out.requests);
                self.lists.blob(record, thread, &|call| self.history.was_sent(call), out);
            }
            "api-request-shape" => requests::shape(record, place, &mut out.requests),
            "system" | "attachment" => self.read_change(recorded, out),
            "content-replacement" => {
                let replaced = replace(entry, &|call| self.is_seen(thread, call), out);
                let context = self.context_of(recorded, out);
                changes::push(ContextChange::Replace, context, replaced, &mut self.history);
            }
            "last-prompt" => {
                let leaf = record.id("leafUuid");
                leaf.into_iter().for_each(|leaf| self.history.conversation(thread).branches.set_leaf(leaf));
            }
            kind => return out.unread.is_known(kind, OTHER_KINDS),
        }
        true
    }

    fn derive_events(&mut self, out: &mut Transcript) {
        self.history.shrink();
        fates::derive_events(&self.history, out);
    }
}

impl ClaudeReader {
    /// Returns the conversation of a record: its sub-agent's, or the main one. In 1.0 sub-agents are identified only by a mark,
    /// and by the records that they follow.
    fn thread(&mut self, record: Json, out: &mut Transcript) -> u32 {
        if let Some(agent) = record.name("agentId") {
            return out.thread_id(&agent);
        }
        if !self.file_agent.is_empty() {
            let agent = self.file_agent.clone();
            return out.thread_id(&agent);
        }
        if !record.flag("isSidechain") {
            return 0;
        }
        let Some(uuid) = record.name("uuid") else { return 0 };
        let parent = record.id("parentUuid");
        let thread = parent.and_then(|parent| self.inline.get(&parent).copied());
        let thread = thread.unwrap_or_else(|| out.thread_id(&uuid));
        self.inline.insert(record_id(&uuid), thread);
        thread
    }

    /// Whether a conversation is that of the file, and not of a sub-agent inside of the main one's.
    fn is_of_file(&self, thread: u32) -> bool {
        thread == 0 || !self.file_agent.is_empty()
    }

    /// Takes up a record in its conversation. Returns its id, if it has one, and its number there.
    fn link(&mut self, record: Json, thread: u32) -> Option<(RecordId, u32)> {
        let id = record.id("uuid")?;
        let parent = record.id("parentUuid").or_else(|| record.id("logicalParentUuid"));
        Some((id, self.history.conversation(thread).branches.add(id, parent)))
    }

    fn calls(&mut self, recorded: ClaudeRecord, out: &mut Transcript) {
        let entry = recorded.entry;
        let Some(message) = entry.record.get("message") else { return };
        let name = recorded.message.filter(|name| *name != 0);
        self.answer(recorded, out);
        if let (Some((_, number)), Some(name)) = (recorded.linked, name) {
            self.history.conversation(entry.thread).messages.push((number, name));
        }
        for block in message.list("content") {
            let Some(id) = block.name("id").filter(|_| block.is_type("tool_use")) else { continue };
            entry.add_call(id, &block.word("name"), block.get("input"), out);
        }
    }

    fn user(&mut self, recorded: ClaudeRecord, out: &mut Transcript) {
        let RecordEntry { record, thread, .. } = recorded.entry;
        let context = self.context_of(recorded, out);
        changes::span(record, context, &mut self.history);
        for block in record.list_at(&["message", "content"]) {
            let id = block.get("tool_use_id").filter(|_| block.is_type("tool_result"));
            let Some(id) = id.and_then(|id| id.short_text(MAX_NAME)) else { continue };
            let number = out.number_or_new(thread, &id, "");
            out.unanswered(number).into_iter().for_each(|call| result(recorded.entry, block, call));
            let source = record.id("sourceToolAssistantUUID").or_else(|| record.id("parentUuid"));
            self.history.results.push(ResultRecord {
                thread,
                call: number,
                record: recorded.linked.map_or(NO_RECORD, |(_, number)| number),
                source: source.unwrap_or_default(),
                count: self.history.count.try_into().unwrap_or(u32::MAX),
            });
        }
    }

    /// Counts a request that is in the records, and takes what it carries.
    fn request(&mut self, recorded: ClaudeRecord, out: &mut Transcript) {
        let RecordEntry { record, thread, place, .. } = recorded.entry;
        let context = self.context_of(recorded, out);
        self.count_request(context, true, out);
        self.history.conversation(thread).excluded = changes::excluded(record);
        let Some(number) = requests::request(record, place, &mut out.requests) else { return };
        for (change, results) in self.lists.request(thread, number, &out.requests) {
            let event =
                ContextEvent { evidence: FateEvidence::Sent, ..changes::event(change, context, results) };
            self.history.changes.push(ContextRecord { context, event, is_sent: true });
        }
    }

    /// Counts the request of an answer, unless that is in the records. One answer may be several records.
    fn answer(&mut self, recorded: ClaudeRecord, out: &mut Transcript) {
        let RecordEntry { record, thread, .. } = recorded.entry;
        let Some(message) = record.get("message") else { return };
        let is_error = record.flag("isApiErrorMessage") || message.has("model", "<synthetic>");
        let name = recorded.message.filter(|name| *name != 0 && !is_error);
        let last = self.history.conversation(thread).messages.last().map(|(_, name)| *name);
        if name.is_none() || name == last {
            return;
        }
        let context = self.context_of(recorded, out);
        if !record.id("requestRef").is_some_and(|request| out.requests.has_request(request)) {
            self.count_request(context, false, out);
        }
        let request = out.next_request(thread).and_then(|next| next.checked_sub(1));
        changes::answer(message, RecordContext { request, ..context }, &mut self.history);
    }

    fn count_request(&mut self, context: RecordContext, is_logged: bool, out: &mut Transcript) {
        let conversation = self.history.conversation(context.thread);
        let position = Some(context.number).filter(|number| *number != NO_RECORD);
        let position = position.unwrap_or_else(|| conversation.branches.next());
        conversation.requests.push(CountedRequest { position, is_logged });
        out.count_answer(context.thread);
    }

    fn read_change(&mut self, recorded: ClaudeRecord, out: &Transcript) {
        let context = self.context_of(recorded, out);
        let before = self.history.boundaries.len();
        changes::read(recorded.entry.record, context, &mut self.cut, &mut self.history, out);
        if self.history.boundaries.len() > before {
            self.lists.compact(context.thread);
        }
    }

    fn context_of(&self, recorded: ClaudeRecord, out: &Transcript) -> RecordContext {
        let entry = recorded.entry;
        RecordContext {
            thread: entry.thread,
            count: self.history.count,
            number: recorded.linked.map_or(NO_RECORD, |(_, number)| number),
            at: entry.at,
            request: Some(out.next_request(entry.thread).unwrap_or(1)),
            record: entry.span(),
        }
    }

    /// Whether the model has spoken since it could see a result.
    fn is_seen(&self, thread: u32, call: u32) -> bool {
        let result = self.history.results.iter().rev().find(|result| result.call == call);
        let Some(conversation) = self.history.conversations.get(thread as usize) else { return true };
        let source = result.and_then(|result| conversation.branches.recent(result.source()?));
        let called = source.and_then(|source| conversation.message(source));
        called.is_none() || called != conversation.messages.last().map(|(_, message)| *message)
    }
}

/// Reads what the file beside a sub-agent's says about it.
fn describe_thread(path: &Path, thread: u32, out: &mut Transcript) {
    let facts = read_json(path, |meta| (meta.name("agentType"), meta.name("toolUseId")));
    facts.into_iter().for_each(|(kind, parent_call)| out.describe_thread(thread, kind, parent_call));
}
