//! Kimi Code: a log for each agent of a session; what is sent has lines around what is recorded.

mod result;

use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::session::content::title;
use crate::session::entry::RecordEntry;
use crate::session::fate::ContextChange;
use crate::session::find;
use crate::session::format::{FileFormat, RecordFiles, files_by};
use crate::session::json::Json;
use crate::session::model::{ContextEvent, SessionFacts};
use crate::session::reader::{FormatInfo, LogReader, RecordPlace};
use crate::session::transcript::Transcript;

/// The beginnings of the names of records that hold nothing about results.
const OTHER_KINDS: &[&str] = &[
    "metadata",
    "runtime.",
    "profile.",
    "prompt.",
    "permission.",
    "turn.",
    "full_compaction.",
    "config.",
    "forked",
    "goal.",
    "plan_mode.",
    "swarm_mode.",
    "agent.",
    "plugin.",
    "llm.",
    "usage.",
    "token_counting.",
    "subagent.",
    "task.",
    "tools.",
];

pub(crate) const KIMI_CODE: FileFormat = FileFormat {
    info: FormatInfo::new("kimi-code", "2.1.0"),
    find: |env, fault| {
        let root = find::home_or(env, "KIMI_CODE_HOME", ".kimi-code");
        find::matching(root, "sessions/*/*/agents/main/wire.jsonl", fault)
    },
    is_session: |_, head| {
        find::begins_with_line(head, &["\"protocol_version\""])
            && memmem::find(head, b"\"runtime.set_binding\"").is_some()
    },
    id: |log| find::dir_name(log, 3),
    glance: |_, head, tail| find::glance(head, tail, note_facts),
    records: RecordFiles::Logs(|main| files_by(main, logs), || Box::new(KimiReader::default())),
};

/// Returns the logs of all agents of a session, the main one's first; for the log of a sub-agent, that alone.
fn logs(main: &Path) -> Vec<PathBuf> {
    let agents = main.ancestors().nth(2).filter(|_| find::dir_name(main, 1) == "main");
    let logs = find::matching(agents.map(Path::to_owned), "*/wire.jsonl", &mut |_| {});
    let others = logs.into_iter().map(|log| log.path).filter(|log| log != main);
    std::iter::once(main.to_owned()).chain(others).collect()
}

#[derive(Default)]
struct KimiReader {
    thread: u32,
    /// By the number of the thread.
    histories: Vec<WireHistory>,
}

impl LogReader for KimiReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        let agent = find::dir_name(path, 1);
        self.thread = if agent == "main" { 0 } else { out.thread_id(agent) };
        let threads = self.histories.len().max(self.thread as usize + 1);
        self.histories.resize_with(threads, WireHistory::default);
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let at = record.time("time");
        match &*record.word("type") {
            "context.append_loop_event" => {
                self.event(RecordEntry { record, place, at, thread: self.thread }, out)
            }
            "context.append_message" => self.history().add_message(record.object("message")),
            "subagent.spawned" => {
                if let Some(agent) = record.name("subagentId") {
                    let (thread, name) = (out.thread_id(&agent), record.name("subagentName"));
                    out.describe_thread(thread, name, record.name("parentToolCallId"));
                }
            }
            known if OTHER_KINDS.iter().any(|kind| known.starts_with(kind)) => {}
            other => {
                let event = ContextEvent {
                    request: out.next_request(self.thread),
                    ..ContextEvent::recorded(ContextChange::Compact, at)
                };
                return self.history().change(record, place, event, out) || out.unread.unknown(other);
            }
        }
        true
    }
}

impl KimiReader {
    fn history(&mut self) -> &mut WireHistory {
        let at = self.thread as usize;
        &mut self.histories[at]
    }

    fn event(&mut self, entry: RecordEntry, out: &mut Transcript) {
        let Some(event) = entry.record.get("event") else { return };
        let kind = event.word("type");
        match &*kind {
            "step.begin" => return self.history().ask(),
            "tool.result" => {}
            _ if self.history().is_answered() => out.count_answer(self.thread),
            _ => {}
        }
        match &*kind {
            "tool.call" => {
                entry.add_call_of(event, ["toolCallId", "name", "args"], out);
            }
            "tool.result" => {
                let Some(id) = event.name("toolCallId") else { return };
                let number = out.number_or_new(self.thread, &id, "");
                let found = event.get("result").and_then(|found| Some((found, found.get("output")?)));
                let is_small =
                    found.is_some_and(|(found, output)| result::is_small(output, found.flag("isError")));
                self.history().add_result(number, is_small);
                let tool = out.calls.get(number as usize).map(|call| out.tool(call).to_owned());
                if let Some(((found, output), call)) = found.zip(out.unanswered(number)) {
                    result::read(entry, found, output, tool.as_deref().unwrap_or_default(), call);
                }
            }
            _ => {}
        }
    }
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("time").or_else(|| record.time("created_at")));
    match &*record.word("type") {
        "profile.bind" => {
            let disclosed = || record.object("environmentDisclosure").string("cwd");
            facts.cwd = facts.cwd.take().or_else(disclosed);
        }
        "llm.request" => facts.model = record.name("model").or(facts.model.take()),
        "turn.prompt" if facts.title.is_none() => {
            facts.title = title(record.get("input"));
        }
        _ => {}
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Prompt,
    Injection,
    Summary,
    /// The result of a call, by its number; small ones are never cleared.
    Result {
        call: u32,
        is_small: bool,
    },
    Other,
}

#[derive(Debug, Default)]
struct WireHistory {
    messages: Vec<Message>,
    /// How many messages from the first on had their results cleared.
    cleared: usize,
    /// Whether a request was begun that is not answered yet.
    is_asked: bool,
}

impl WireHistory {
    fn add_message(&mut self, message: Json) {
        let origin = message.object("origin");
        let is_user = message.has("role", "user");
        self.messages.push(match origin.name("kind").as_deref() {
            Some("injection") => Message::Injection,
            Some("compaction_summary") => Message::Summary,
            None | Some("user") if is_user => Message::Prompt,
            Some("skill_activation" | "plugin_command") if is_user && origin.has("trigger", "user-slash") => {
                Message::Prompt
            }
            _ => Message::Other,
        });
    }

    /// Begins a request, whose answer is one message.
    fn ask(&mut self) {
        self.messages.push(Message::Other);
        self.is_asked = true;
    }

    /// Returns whether this is the first sign that the request was answered.
    fn is_answered(&mut self) -> bool {
        std::mem::take(&mut self.is_asked)
    }

    fn add_result(&mut self, call: u32, is_small: bool) {
        self.messages.push(Message::Result { call, is_small });
    }

    /// Reads a record that changes the history. Returns whether it is one.
    fn change(
        &mut self,
        record: Json,
        place: RecordPlace,
        mut event: ContextEvent,
        out: &mut Transcript,
    ) -> bool {
        let (change, calls) = match &*record.word("type") {
            "context.clear" => (ContextChange::Rewind, self.keep_from(usize::MAX)),
            "context.undo" => (ContextChange::Rewind, self.undo(record.number("count").unwrap_or(0))),
            "context.apply_compaction" => (ContextChange::Compact, self.compact(record)),
            "micro_compaction.apply" => {
                (ContextChange::Clear, self.clear_to(record.number("cutoff").unwrap_or(0)))
            }
            _ => return false,
        };
        event.change = change;
        event.record = Some(place.span(record));
        event.results = out.results_of(calls);
        out.add_event(event);
        true
    }

    /// Takes out the messages before one. Returns the calls of the results among them.
    fn keep_from(&mut self, first: usize) -> Vec<u32> {
        self.cleared = 0;
        let end = first.min(self.messages.len());
        calls_of(self.messages.drain(..end))
    }

    /// A summary takes the place of everything, the person's messages apart. Before those were counted, what came after the
    /// first `compactedCount` messages stayed, too.
    fn compact(&mut self, record: Json) -> Vec<u32> {
        let kept = record.number("keptUserMessageCount");
        let has_tail = record.get("legacyTail").and_then(|tail| tail.bool()).unwrap_or(kept.is_none());
        let compacted = record.number("compactedCount").or_else(|| record.number("count"));
        let calls = self.keep_from(compacted.filter(|_| has_tail).unwrap_or(usize::MAX));
        let prompts = if has_tail { 0 } else { kept.unwrap_or(0).min(MAX_PROMPTS) };
        let kept = std::iter::repeat_n(Message::Prompt, prompts).chain([Message::Summary]);
        self.messages.splice(..0, kept);
        calls
    }

    /// Takes back the last `count` of the person's messages, with all that followed but what the agent put in; nothing if
    /// there are not as many after the last summary.
    fn undo(&mut self, count: usize) -> Vec<u32> {
        let after_summary =
            self.messages.iter().enumerate().rev().take_while(|(_, message)| **message != Message::Summary);
        let mut prompts = after_summary.filter(|(_, message)| **message == Message::Prompt);
        let first = count.checked_sub(1).and_then(|before| prompts.nth(before));
        let Some(first) = first.map(|(at, _)| at) else { return Vec::new() };
        let taken = self.messages.split_off(first);
        self.messages.extend(taken.iter().filter(|message| **message == Message::Injection));
        self.cleared = self.cleared.min(self.messages.len());
        calls_of(taken)
    }

    fn clear_to(&mut self, cutoff: usize) -> Vec<u32> {
        let end = cutoff.min(self.messages.len());
        let new = self.messages.get(self.cleared..end).unwrap_or_default().iter().copied();
        self.cleared = self.cleared.max(end);
        calls_of(new.filter(|message| !matches!(message, Message::Result { is_small: true, .. })))
    }
}

/// The most messages of the person that are taken to stay beside a summary: they fill 20,000 tokens.
const MAX_PROMPTS: usize = 20_000;

fn calls_of(messages: impl IntoIterator<Item = Message>) -> Vec<u32> {
    let call = |message| match message {
        Message::Result { call, .. } => Some(call),
        _ => None,
    };
    messages.into_iter().filter_map(call).collect()
}
