//! Kimi Code: a log for each agent of a session; what is sent has lines around what is recorded.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memchr::memmem;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{first_text, last_line, name, pieces, text};
use crate::session::find::{self, FoundFile};
use crate::session::json::Json;
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, Evidence, ResultFate, SessionFacts, TextPiece,
};
use crate::session::reader::{
    LogReader, LogSession, OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
};
use crate::session::transcript::Transcript;

const AGENT: &str = "kimi-code";

/// The log of each agent.
const LOG: &str = "wire.jsonl";

/// The beginnings of the names of records that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "metadata",
    "runtime.",
    "profile.",
    "prompt.",
    "permission.",
    "turn.",
    "context.append_message",
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

    fn name(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "2.1.0"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
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

    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
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
}

impl LogReader for KimiReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        let agent =
            path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        self.thread = if agent == "main" { 0 } else { out.thread_id(agent) };
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let at = record.get("time").and_then(clock::time);
        match name(record, "type").unwrap_or_default().as_str() {
            "context.append_loop_event" => self.event(record, place, at, out),
            "subagent.spawned" => spawned(record, out),
            known if OTHER_KINDS.iter().any(|kind| known.starts_with(kind)) => {}
            other => {
                out.unread.unknown(other);
                return false;
            }
        }
        true
    }
}

impl KimiReader {
    fn event(&self, record: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) {
        let Some(event) = record.get("event") else { return };
        let Some(id) = name(event, "toolCallId") else { return };
        match name(event, "type").unwrap_or_default().as_str() {
            "tool.call" => {
                let tool = out.tool_id(&name(event, "name").unwrap_or_default());
                let mut call = Call::new(id, self.thread, tool);
                call.input = event.get("args").map(|input| place.span(input));
                call.at = at;
                call.record = Some(place.span(record));
                out.add_call(call);
            }
            "tool.result" => {
                let tool = out.call_mut(self.thread, &id).map(|call| call.tool).unwrap_or_default();
                let tool = out.tools.get(tool as usize).map(|name| name.to_string()).unwrap_or_default();
                let call = out.call_or_new(self.thread, &id, "");
                if let (Some(found), true) = (event.get("result"), call.results.is_empty()) {
                    result(record, found, &tool, place, at, call);
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

fn result(record: Json, found: Json, tool: &str, place: RecordPlace, at: Option<Timestamp>, call: &mut Call) {
    let Some(output) = found.get("output") else { return };
    let is_error = found.get("isError").and_then(|value| value.bool()) == Some(true);
    call.status = if is_error { CallStatus::Failed } else { CallStatus::Ok };
    let failed = last_line(output);
    call.exit = failed
        .strip_prefix("Command failed with exit code: ")
        .and_then(|rest| rest.trim_end_matches('.').parse().ok());
    let start = first_text(output);
    let saved = saved(&start);
    call.cut = match (&saved, start.starts_with("Tool output exceeded ")) {
        (Some(_), _) => CutState::Spill,
        (None, true) => CutState::Lost,
        (None, false) => CutState::No,
    };
    call.cites = saved.into_iter().collect();
    call.results.push(CallResult {
        evidence: Evidence::Rendered,
        pieces: rendered(found, output, tool, is_error, place).into(),
        at,
        fate: ResultFate::InContext,
        record: Some(place.span(record)),
    });
}

/// Returns the text as it is sent: the agent adds the time that a command took, a line for an error, and a note.
fn rendered(found: Json, output: Json, tool: &str, is_error: bool, place: RecordPlace) -> Vec<TextPiece> {
    let mut text = Vec::new();
    let took = found.get("durationMs").and_then(|took| took.float());
    if let Some(took) = took.filter(|_| matches!(tool, "Bash" | "Agent")) {
        text.push(TextPiece::Added(format!("Wall time: {:.3} seconds\n", took / 1000.0).into()));
    }
    if is_error {
        text.push(TextPiece::Added("<system>ERROR: Tool execution failed.</system>\n".into()));
    }
    text.extend(pieces(output, place));
    if let Some(note) = found.get("note").filter(|note| note.text().is_some()) {
        text.push(TextPiece::Added("\n".into()));
        text.push(TextPiece::Json(place.span(note)));
    }
    text
}

/// Returns the spill that the notice at the start names.
fn saved(start: &str) -> Option<Citation> {
    let is_notice = start.starts_with("Tool output exceeded ");
    let lines = || start.lines().take(10).filter(|_| is_notice);
    let path = lines().find_map(|line| line.strip_prefix("output_path: "))?;
    let bytes = lines().find_map(|line| line.strip_prefix("output_size_bytes: ")?.parse().ok());
    Some(Citation { path: PathBuf::from(path), bytes })
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = ["time", "created_at"].iter().find_map(|key| record.get(key).and_then(clock::time));
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at);
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
