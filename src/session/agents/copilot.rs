//! Copilot CLI: a log of events, in which the events of sub-agents carry their ids.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::base::fs::plain_file;

use super::{
    ChangeOrigin, Citation, ContextChange, FateEvidence, FormatInfo, Json, Kind, LogReader, RecordEntry,
    RecordFiles, RecordId, RecordPlace, SessionFacts, SessionFormat, Transcript, between, cited, find,
    first_text, has_line, last_line, only_file,
};

/// The beginnings of the names of events that hold nothing about calls.
const OTHER_KINDS: &str = "session. assistant. user. system. subagent. hook. skill. permission. \
    tool.execution_partial tool.execution_progress tool.user_requested abort";

/// How the notice begins that stands for a cut output.
const BEGINNING: &str = "Output too large to read at once (";

pub(crate) const COPILOT_CLI: SessionFormat = SessionFormat {
    info: FormatInfo {
        parameters: &[("shell_id", |recorded| recorded.figure_at_end("<shellId: "))],
        size_beside: |cite| cite.bytes,
        ..FormatInfo::new("copilot-cli", "1.0.102")
    },
    find: |env, watch| {
        let patterns = &["session-state/*/events.jsonl", "session-state/*.jsonl"];
        find::in_agent_dir(env, ("COPILOT_HOME", ".copilot"), patterns, watch)
    },
    is_session: |_, head| find::begins_with_line(head, &["\"session.start\"", "\"copilotVersion\""]),
    id: |log| id(log).into(),
    glance: |file, head, tail| {
        let facts = find::glance(head, tail, note_facts);
        SessionFacts { title: name(&file.path).or(facts.title), ..facts }
    },
    records: RecordFiles::Logs(only_file, || Box::new(CopilotReader::default())),
};

/// The session's id is the name of its directory; of older ones, of the file.
fn id(log: &Path) -> &str {
    match find::stem(log) {
        "events" => find::dir_name(log, 1),
        stem => stem,
    }
}

/// Returns the name that the person gave a session: one of the plain lines of a file beside its log.
fn name(log: &Path) -> Option<String> {
    let file = log.with_file_name("workspace.yaml");
    let text = plain_file::read(&file).ok().filter(|_| find::stem(log) == "events")?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let name = value("name:").filter(|_| value("user_named:") == Some("true"))?;
    let quoted = ['"', '\''].iter().find_map(|quote| name.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(quoted.unwrap_or(name).to_owned()).filter(|name| !name.is_empty())
}

#[derive(Default)]
struct CopilotReader {
    /// The ids of all events; a rewind names them.
    ids: Vec<RecordId>,
    /// The messages in the histories of all threads, in their order.
    history: Vec<Message>,
    /// The number of the event with which the compaction of a thread began that goes on.
    compacting: HashMap<u32, u32>,
    /// The compactions that were done: the number of the event, and what they took.
    compacted: Vec<(u32, Vec<Message>)>,
    /// The request of the last answer, which may span several events.
    answered: Option<RecordId>,
}

#[derive(Clone, Copy)]
struct Message {
    event: u32,
    thread: u32,
    /// The call of the result that it is.
    call: Option<u32>,
}

impl LogReader for CopilotReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        out.facts.title = name(path).or(out.facts.title.take());
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let Some(data) = record.get("data") else { return false };
        let thread = record.name("agentId").map_or(0, |agent| out.thread_id(&agent));
        let at = record.time("timestamp");
        let entry = RecordEntry { record, place, at, thread };
        let event = entry.with(data);
        self.ids.push(record.id("id").unwrap_or_default());
        match &*record.word("type") {
            "tool.execution_start" => {
                entry.add_next_call_of(data, ["toolCallId", "toolName", "arguments"], out);
            }
            "tool.execution_complete" => {
                if let Some(call) = result(entry, data, out) {
                    self.add_message(thread, Some(call));
                }
            }
            "user.message" => self.add_message(thread, None),
            "assistant.message" => self.answer(event, out),
            "session.compaction_start" => {
                self.compacting.insert(thread, self.number());
            }
            "session.compaction_complete" => self.compact(event, out),
            "session.truncation" => self.truncate(event, out),
            "session.snapshot_rewind" => self.rewind(event, out),
            "subagent.started" => out.name_thread(thread, data.name("agentName")),
            known if OTHER_KINDS.split(' ').any(|kind| known.starts_with(kind)) => {}
            other => return out.unread.unknown(other),
        }
        true
    }
}

impl CopilotReader {
    /// Returns the number of the event that is read.
    fn number(&self) -> u32 {
        self.ids.len() as u32 - 1
    }

    fn add_message(&mut self, thread: u32, call: Option<u32>) {
        self.history.push(Message { event: self.number(), thread, call });
    }

    fn answer(&mut self, event: RecordEntry, out: &mut Transcript) {
        let request = event.record.id("apiCallId");
        if request.is_none() || request != self.answered {
            out.count_answer(event.thread);
        }
        self.answered = request;
        self.add_message(event.thread, None);
    }

    /// The agent works on while a summary is made: what came since the start is not in it.
    fn compact(&mut self, event: RecordEntry, out: &mut Transcript) {
        let start = self.compacting.remove(&event.thread).unwrap_or(self.number());
        let is_applied = event.record.get("outcome").is_none_or(|outcome| outcome.is("applied"));
        if !event.record.flag("success") || !is_applied {
            return;
        }
        let taken = self.take(|message| message.thread == event.thread && message.event < start);
        event.add_event(ContextChange::Compact, calls_of(&taken), out);
        self.compacted.push((self.number(), taken));
    }

    /// The oldest messages are removed: which is known if the count, with or without the system prompt, agrees.
    fn truncate(&mut self, event: RecordEntry, out: &mut Transcript) {
        let mut left = event.record.number("messagesRemovedDuringTruncation").unwrap_or(0_usize);
        let messages = self.history.iter().filter(|message| message.thread == event.thread).count();
        let evidence = match event.record.number::<usize>("preTruncationMessagesLength") {
            Some(before) if before == messages || before == messages + 1 => FateEvidence::ByRule,
            _ => FateEvidence::Unknown,
        };
        let taken = self.take(|message| {
            let is_taken = message.thread == event.thread && left > 0;
            left -= usize::from(is_taken);
            is_taken
        });
        let origin = ChangeOrigin { evidence, ..out.origin(event.thread) };
        out.add_event(ContextChange::Drop, origin, calls_of(&taken));
    }

    /// Events are removed: those named, or all from one on. With a compaction goes its summary; what it took is back.
    fn rewind(&mut self, event: RecordEntry, out: &mut Transcript) {
        let from = event.record.id("upToEventId");
        let first = self.ids.iter().rposition(|id| Some(*id) == from);
        let named = event.record.get("eventIds").filter(|ids| ids.kind() == Kind::Array);
        let named = named.map(|ids| ids.items().filter_map(|id| id.as_id()).collect::<HashSet<RecordId>>());
        let ids = std::mem::take(&mut self.ids);
        let is_removed = |number: u32| match &named {
            Some(named) => ids.get(number as usize).is_some_and(|id| named.contains(id)),
            None => first.is_some_and(|first| number as usize >= first),
        };
        let (undone, compacted) =
            std::mem::take(&mut self.compacted).into_iter().partition(|(number, _)| is_removed(*number));
        self.compacted = compacted;
        let back: Vec<Message> = Vec::into_iter(undone).flat_map(|(_, taken)| taken).collect();
        event.add_event(ContextChange::Restore, calls_of(&back), out);
        self.history.extend(back);
        self.history.sort_by_key(|message| message.event);
        let taken = self.take(|message| is_removed(message.event));
        event.add_event(ContextChange::Rewind, calls_of(&taken), out);
        self.ids = ids;
    }

    fn take(&mut self, mut is_taken: impl FnMut(&Message) -> bool) -> Vec<Message> {
        self.history.extract_if(.., |message| is_taken(message)).collect()
    }
}

fn calls_of(messages: &[Message]) -> impl Iterator<Item = u32> {
    messages.iter().filter_map(|message| message.call)
}

/// Reads the result of a call. Returns the call's number if it is the first.
fn result(entry: RecordEntry, data: Json, out: &mut Transcript) -> Option<u32> {
    let number = out.call_or_new(entry.thread, &data.name("toolCallId")?, "");
    out.note_version(number, &out.facts.version.clone().unwrap_or_default());
    let tool = out.tool_of(number);
    let (is_search, is_view) = (matches!(tool, "grep" | "rg"), tool == "view");
    let call = out.unanswered(number)?;
    let content = data.path(&["result", "content"]).or_else(|| data.path(&["error", "message"]));
    call.exit = data.object("shellExecution").number("exitCode");
    call.end(!data.flag("success"));
    let telemetry = data.object("toolTelemetry");
    call.tokens = telemetry.object("metrics").number("result_token_count");
    let properties = telemetry.object("properties");
    let is_large = properties.has("largeOutputHandled", "true");
    let bytes = properties.get("largeOutputOriginalSizeBytes");
    let bytes = bytes.and_then(|bytes| bytes.short(20)?.parse().ok());
    let saved = content.map(first_text).and_then(|start| cited(&start, BEGINNING, "). Saved to: "));
    let saved = saved.map(|path| Citation { bytes, ..Citation::new(path) });
    // The window of a file that was asked for, cut at the size limit.
    let ends_early = |content| last_line(content).starts_with("[Output truncated. Use view_range=[");
    let gives_less = |content| is_search && has_omitted(content) || is_view && ends_early(content);
    let is_cut = is_large || saved.is_none() && content.is_some_and(gives_less);
    call.note_cut(saved, is_cut);
    entry.note_copy("detailedContent", data.path(&["result", "detailedContent"]), Some(0), call);
    entry.add_result(content, call);
    Some(number)
}

fn has_omitted(content: Json) -> bool {
    has_line(content, " match(es) ", |line| {
        let line = line.trim();
        between(line, "... ", " more match(es) omitted in this file").is_some()
            || between(line, "[omitted ", " file(s)]").is_some_and(|counts| counts.contains(" match(es) in "))
    })
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("timestamp"));
    let Some(data) = record.get("data") else { return };
    match &*record.word("type") {
        "session.start" => {
            facts.id = data.name("sessionId").unwrap_or_default();
            facts.version = data.name("copilotVersion");
            facts.model = data.name("selectedModel");
            facts.cwd = data.object("context").string("cwd");
        }
        // Another version may go on, and is not named.
        "session.resume" => facts.version = data.name("copilotVersion"),
        "user.message" if facts.title.is_none() => facts.title = data.string("content"),
        _ => {}
    }
}
