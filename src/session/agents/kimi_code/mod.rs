//! Kimi Code: a log for each agent of a session; what is sent has lines around what is recorded.

mod history;
mod notice;
mod rendered;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memchr::memmem;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{first_text, last_line, name, text};
use crate::session::context::ContextEvent;
use crate::session::fate::{ContextChange, ContextState};
use crate::session::find::{self, FoundFile};
use crate::session::json::Json;
use crate::session::model::{Call, CallResult, CallStatus, Evidence, SessionFacts};
use crate::session::reader::{
    LogReader, LogSession, OpenResult, ReadProgress, RecordPlace, SessionFile, SessionFormat, TakeFault,
    TakeSession,
};
use crate::session::transcript::Transcript;

use history::WireHistory;

const AGENT: &str = "kimi-code";

/// The log of each agent.
const LOG: &str = "wire.jsonl";

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
#[derive(Debug)]
pub(crate) struct KimiCode;

impl SessionFormat for KimiCode {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "2.1.0"
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let Some(root) = find::home_or(env, "KIMI_CODE_HOME", ".kimi-code") else { return };
        for project in find::directories(&root.join("sessions"), fault) {
            for session in find::directories(&project, fault) {
                let log = find::found_file(&session.join("agents/main").join(LOG));
                log.iter().for_each(|file| found(session_file(file)));
            }
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let first = find::first_line(head);
        let is_wire = memmem::find(first, b"\"protocol_version\"").is_some()
            && memmem::find(head, b"\"runtime.set_binding\"").is_some();
        is_wire.then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, _: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        find::glance(head, tail, &mut note_facts)
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        let main = file.path.clone();
        let find = Box::new(move || logs(&main));
        LogSession::follow(AGENT, find, || Box::new(KimiReader::default()), progress)
    }
}

/// Returns the logs of all agents of a session, the main one's first; for the log of a sub-agent, that alone.
fn logs(main: &Path) -> Vec<PathBuf> {
    let agents = main.parent().and_then(Path::parent).filter(|_| is_main(main));
    let dirs = agents.map(|dir| find::directories(dir, &mut |_| {})).unwrap_or_default();
    let others = dirs.into_iter().map(|dir| dir.join(LOG)).filter(|log| *log != main && log.is_file());
    std::iter::once(main.to_owned()).chain(others).collect()
}

fn is_main(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|name| name == "main")
}

/// The session's id is the name of the directory three up from the log.
fn session_file(file: &FoundFile) -> SessionFile {
    let dir = file.path.ancestors().nth(3).and_then(Path::file_name).and_then(|name| name.to_str());
    file.session(AGENT, dir.unwrap_or_default())
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
        let agent =
            path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        self.thread = if agent == "main" { 0 } else { out.thread_id(agent) };
        let threads = self.histories.len().max(self.thread as usize + 1);
        self.histories.resize_with(threads, WireHistory::default);
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let at = record.get("time").and_then(clock::time);
        match name(record, "type").unwrap_or_default().as_str() {
            "context.append_loop_event" => self.event(record, place, at, out),
            "context.append_message" => self.history().add_message(record.get("message")),
            "subagent.spawned" => spawned(record, out),
            known if OTHER_KINDS.iter().any(|kind| known.starts_with(kind)) => {}
            other => {
                let event = ContextEvent {
                    request: out.next_request(self.thread),
                    ..ContextEvent::recorded(ContextChange::Compact, at)
                };
                if !self.history().change(record, place, event, out) {
                    out.unread.unknown(other);
                    return false;
                }
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

    fn event(&mut self, record: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) {
        let Some(event) = record.get("event") else { return };
        let kind = name(event, "type").unwrap_or_default();
        match kind.as_str() {
            "step.begin" => return self.history().ask(),
            "tool.result" => {}
            _ if self.history().is_answered() => out.count_answer(self.thread),
            _ => {}
        }
        let Some(id) = name(event, "toolCallId") else { return };
        match kind.as_str() {
            "tool.call" => {
                let tool = out.tool_id(&name(event, "name").unwrap_or_default());
                let mut call = Call::new(id, self.thread, tool);
                call.input = event.get("args").map(|input| place.span(input));
                call.at = at;
                call.record = Some(place.span(record));
                out.add_call(call);
            }
            "tool.result" => {
                let Some(number) = out.number_or_new(self.thread, &id) else { return };
                let found = event.get("result").and_then(|found| Some((found, found.get("output")?)));
                let is_small =
                    found.is_some_and(|(found, output)| rendered::is_small(output, is_error(found)));
                self.history().add_result(number, is_small);
                let tool = out.calls.get(number as usize).map(|call| out.tool(call).to_owned());
                let Some(call) = out.calls.get_mut(number as usize) else { return };
                if let (Some((found, output)), true) = (found, call.results.is_empty()) {
                    result(record, found, output, tool.as_deref().unwrap_or_default(), place, at, call);
                }
            }
            _ => {}
        }
    }
}

fn spawned(record: Json, out: &mut Transcript) {
    let Some(agent) = name(record, "subagentId") else { return };
    let thread = out.thread_id(&agent);
    if let Some(thread) = out.threads.get_mut(thread as usize) {
        name(record, "subagentName").into_iter().for_each(|name| thread.name = name.into());
        thread.parent_call = name(record, "parentToolCallId").map(Into::into);
    }
}

fn is_error(found: Json) -> bool {
    found.get("isError").and_then(|value| value.bool()) == Some(true)
}

fn result(
    record: Json,
    found: Json,
    output: Json,
    tool: &str,
    place: RecordPlace,
    at: Option<Timestamp>,
    call: &mut Call,
) {
    call.status = if is_error(found) { CallStatus::Failed } else { CallStatus::Ok };
    let failed = last_line(output);
    call.exit = failed
        .strip_prefix("Command failed with exit code: ")
        .and_then(|rest| rest.trim_end_matches('.').parse().ok());
    (call.cut, call.cites) = notice::cut(found, output, tool);
    call.results.push(CallResult {
        evidence: Evidence::Rendered,
        pieces: rendered::rendered(found, output, tool, is_error(found), place),
        at,
        context: ContextState::default(),
        record: Some(place.span(record)),
    });
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = ["time", "created_at"].iter().find_map(|key| record.get(key).and_then(clock::time));
    facts.note_time(at);
    match name(record, "type").unwrap_or_default().as_str() {
        "profile.bind" => {
            let disclosed = record.get("environmentDisclosure").and_then(|found| text(found, "cwd"));
            facts.cwd = facts.cwd.take().or(disclosed);
        }
        "llm.request" => facts.model = name(record, "model").or(facts.model.take()),
        "turn.prompt" if facts.title.is_none() => {
            facts.title = record.get("input").map(first_text).filter(|words| !words.is_empty());
        }
        _ => {}
    }
}
