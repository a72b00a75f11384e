//! Kimi Code: a log for each agent of a session; what is sent has lines around what is recorded.

mod history;
mod notice;
mod rendered;

use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::session::content::{last_line, title};
use crate::session::context::ContextEvent;
use crate::session::entry::RecordEntry;
use crate::session::fate::ContextChange;
use crate::session::find;
use crate::session::format::{FileFormat, RecordFiles, files_by};
use crate::session::json::Json;
use crate::session::model::{Call, Evidence, SessionFacts};
use crate::session::reader::{FormatInfo, LogReader, RecordPlace};
use crate::session::transcript::Transcript;

use history::WireHistory;

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

/// The sessions of Kimi Code, a JSON value a line.
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

/// Reads the logs of one session.
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
            "subagent.spawned" => note_sub_agent(record, out),
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
                    found.is_some_and(|(found, output)| rendered::is_small(output, found.flag("isError")));
                self.history().add_result(number, is_small);
                let tool = out.calls.get(number as usize).map(|call| out.tool(call).to_owned());
                if let Some(((found, output), call)) = found.zip(out.unanswered(number)) {
                    result(entry, found, output, tool.as_deref().unwrap_or_default(), call);
                }
            }
            _ => {}
        }
    }
}

fn note_sub_agent(record: Json, out: &mut Transcript) {
    let Some(agent) = record.name("subagentId") else { return };
    let thread = out.thread_id(&agent);
    out.describe_thread(thread, record.name("subagentName"), record.name("parentToolCallId"));
}

fn result(entry: RecordEntry, found: Json, output: Json, tool: &str, call: &mut Call) {
    call.end(found.flag("isError"));
    let failed = last_line(output);
    call.exit = failed
        .strip_prefix("Command failed with exit code: ")
        .and_then(|rest| rest.trim_end_matches('.').parse().ok());
    notice::note_cut(found, output, tool, call);
    let sent = rendered::render(found, output, tool, found.flag("isError"), entry.place);
    entry.add_text(Evidence::Rendered, sent, call);
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
