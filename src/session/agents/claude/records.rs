//! Claude Code's records: calls, results, and what became of them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use smallvec::SmallVec;

use crate::session::branch::{Branches, LivingBranch, RecordId, record_id};
use crate::session::clock;
use crate::session::content::{LONGEST_NAME, LONGEST_TEXT, first_text, first_words, pieces};
use crate::session::json::{Json, Kind, Tape};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, Evidence, ResultFate, SessionFacts,
    TextPiece,
};
use crate::session::reader::{LogReader, RecordPlace};
use crate::session::record::FileRecords;
use crate::session::transcript::Transcript;

use super::replaced::{cited, replace};
use super::requests;

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
    conversations: HashMap<u32, Branches>,
    /// Conversations in the main file, by their records, where no key names the sub-agent.
    inline: HashMap<RecordId, u32>,
    messages: HashMap<RecordId, RecordId>,
    /// The model's last message in each conversation.
    last_messages: HashMap<u32, RecordId>,
    results: Vec<ResultRecord>,
    boundaries: Vec<Boundary>,
    count: u64,
}

/// Where a record is, and when it was written.
type Recorded = (RecordPlace, Option<Timestamp>);

/// Where a result was recorded.
struct ResultRecord {
    thread: u32,
    /// The number of the call.
    call: u32,
    /// How many records came before it.
    number: u32,
    record: RecordId,
    /// The record of the call; 0 if it is not named.
    source: RecordId,
}

impl ResultRecord {
    fn source(&self) -> Option<RecordId> {
        (self.source != 0).then_some(self.source)
    }
}

/// A compaction: what was recorded before it is no longer seen.
struct Boundary {
    thread: u32,
    number: u64,
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
        self.link(record, thread);
        if matches!(&*kind, "assistant" | "user") && self.is_of_file(thread) {
            requests::spoken(record, place, &mut out.requests);
        }
        match &*kind {
            "assistant" => self.calls(record, thread, (place, at), out),
            "user" => self.user(record, thread, (place, at), out),
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
                    self.conversations.entry(thread).or_default().set_leaf(record_id(&leaf));
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
        let living: HashMap<u32, LivingBranch> =
            self.conversations.iter_mut().map(|(thread, branches)| (*thread, branches.living())).collect();
        let messages: HashSet<RecordId> = self
            .messages
            .iter()
            .filter(|(id, _)| living.values().any(|branch| branch.contains(id)))
            .map(|(_, message)| *message)
            .collect();
        for result in &self.results {
            let fate = self.fate(result, living.get(&result.thread), &messages);
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

    fn link(&mut self, record: Json, thread: u32) {
        if let Some(id) = id_of(record, "uuid") {
            let parent = id_of(record, "parentUuid").or_else(|| id_of(record, "logicalParentUuid"));
            self.conversations.entry(thread).or_default().add(id, parent);
        }
    }

    fn calls(&mut self, record: Json, thread: u32, (place, at): Recorded, out: &mut Transcript) {
        let Some(message) = record.get("message") else { return };
        if let (Some(id), Some(name)) = (id_of(record, "uuid"), id_of(message, "id")) {
            self.messages.insert(id, name);
            self.last_messages.insert(thread, name);
        }
        for block in message.get("content").into_iter().flat_map(|content| content.items()) {
            let is_call = block.get("type").is_some_and(|kind| kind.is("tool_use"));
            let Some(id) = block.get("id").filter(|_| is_call).and_then(|id| id.short(LONGEST_NAME)) else {
                continue;
            };
            let name = block.get("name").and_then(|name| name.short(LONGEST_NAME)).unwrap_or_default();
            let tool = out.tool_id(&name);
            let mut call = Call::new(id, thread, tool);
            call.input = block.get("input").map(|input| place.span(input));
            call.at = at;
            call.record = Some(place.span(record));
            out.add_call(call);
        }
    }

    fn user(&mut self, record: Json, thread: u32, recorded: Recorded, out: &mut Transcript) {
        let content = record.path(&["message", "content"]);
        for block in content.into_iter().flat_map(|content| content.items()) {
            let is_result = block.get("type").is_some_and(|kind| kind.is("tool_result"));
            let id = block.get("tool_use_id").filter(|_| is_result).and_then(|id| id.short(LONGEST_NAME));
            let Some(id) = id else { continue };
            let call = out.call_or_new(thread, &id, "");
            if call.results.is_empty() {
                result(record, block, recorded, call);
            }
            let Some(call) = out.call_number(thread, &id) else { continue };
            let source = id_of(record, "sourceToolAssistantUUID").or_else(|| id_of(record, "parentUuid"));
            self.results.push(ResultRecord {
                thread,
                call,
                record: id_of(record, "uuid").unwrap_or_default(),
                source: source.unwrap_or_default(),
                number: self.count.try_into().unwrap_or(u32::MAX),
            });
        }
    }

    /// Whether the model has spoken since it could see a result.
    fn is_seen(&self, thread: u32, call: u32) -> bool {
        let result = self.results.iter().rev().find(|result| result.call == call);
        let called = result.and_then(|result| self.messages.get(&result.source()?));
        called.is_none() || called != self.last_messages.get(&thread)
    }

    fn system(&mut self, record: Json, thread: u32) {
        if record.get("subtype").is_some_and(|kind| kind.is("compact_boundary")) {
            let preserved = record.path(&["compactMetadata", "preservedMessages", "uuids"]);
            let ids = preserved.into_iter().flat_map(|list| list.items());
            let preserved = ids.filter_map(|id| id.short(LONGEST_NAME)).map(|id| record_id(&id)).collect();
            let at = record.get("timestamp").and_then(clock::time);
            self.boundaries.push(Boundary { thread, number: self.count, at, preserved });
        }
    }

    /// Parallel calls are in several records of one message, of which only one is followed by the next message: a result
    /// lives if any record of its message does.
    fn fate(
        &self,
        result: &ResultRecord,
        living: Option<&LivingBranch>,
        messages: &HashSet<RecordId>,
    ) -> ResultFate {
        let of_message = result.source().and_then(|source| self.messages.get(&source));
        let lives = living.is_none_or(|branch| branch.contains(&result.record))
            || of_message.is_some_and(|message| messages.contains(message));
        let compacted = self.boundaries.iter().find(|boundary| {
            boundary.thread == result.thread
                && boundary.number > result.number.into()
                && !boundary.preserved.contains(&result.record)
        });
        match compacted {
            _ if !lives => ResultFate::OffBranch,
            Some(boundary) => ResultFate::Compacted(boundary.at),
            None => ResultFate::InContext,
        }
    }
}

fn id_of(record: Json, key: &str) -> Option<RecordId> {
    record.get(key)?.with_short(LONGEST_NAME, record_id)
}

/// Reads a result into its call.
fn result(record: Json, block: Json, (place, at): Recorded, call: &mut Call) {
    let content = block.get("content");
    let is_error = block.get("is_error").and_then(|value| value.bool()) == Some(true);
    let start = content.map(frame).unwrap_or_default();
    call.status = if is_error { CallStatus::Failed } else { CallStatus::Ok };
    call.exit = start
        .strip_prefix("Exit code ")
        .filter(|_| is_error)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    let ui = record.get("toolUseResult");
    (call.cut, call.cites) = cut_of(&start, ui);
    call.display = ui.map(|ui| display(ui, place)).unwrap_or_default();
    call.results.push(CallResult {
        evidence: Evidence::Recorded,
        pieces: content.map(|content| pieces(content, place)).unwrap_or_default(),
        at,
        fate: ResultFate::InContext,
        record: Some(place.span(record)),
    });
}

/// Returns the start of a result: all of a notice, else the first words, in which a failure has its status.
fn frame(content: Json) -> String {
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

/// Takes over a name, unless it is the same as before.
fn keep_last(fact: &mut Option<String>, name: Option<Json>) {
    let is_new = |name: &Json| !fact.as_deref().is_some_and(|known| name.is(known));
    if let Some(name) = name.filter(is_new).and_then(|name| name.short(LONGEST_NAME)) {
        *fact = Some(name);
    }
}

/// Takes over what a record says about the whole session. Returns when the record was written.
pub(super) fn note_facts(record: Json, facts: &mut SessionFacts) -> Option<Timestamp> {
    let kind = record.get("type");
    let text = |key: &str| record.get(key).and_then(|value| value.short(LONGEST_TEXT));
    let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
    if facts.id.is_empty() {
        facts.id = text("sessionId").unwrap_or_default();
    }
    keep_last(&mut facts.version, record.get("version"));
    facts.cwd = facts.cwd.take().or_else(|| text("cwd"));
    keep_last(&mut facts.model, record.path(&["message", "model"]));
    let at = record.get("timestamp").and_then(clock::time);
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at);
    if is("ai-title") || is("custom-title") || is("summary") {
        let title = ["aiTitle", "customTitle", "title", "summary"].into_iter().find_map(text);
        facts.title = title.or(facts.title.take());
    }
    let is_main = || record.get("isSidechain").and_then(|mark| mark.bool()) != Some(true);
    if facts.origin.is_none() && is_main() {
        facts.origin = record.get("uuid").and_then(|uuid| uuid.short(LONGEST_NAME));
    }
    if facts.title.is_none() && is("user") && is_main() {
        let words = record.path(&["message", "content"]).map(first_text);
        facts.title = words.filter(|words| !words.is_empty() && !words.starts_with('<'));
    }
    at
}
