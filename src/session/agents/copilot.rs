//! Copilot CLI: a log of events, in which the events of sub-agents carry their ids.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memchr::memmem;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{name, pieces, start_of, text};
use crate::session::find::{self, FoundFile};
use crate::session::json::{Json, Kind};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, SessionFacts, TextPiece,
};
use crate::session::reader::{
    LogReader, LogSession, OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
};
use crate::session::transcript::Transcript;

const AGENT: &str = "copilot-cli";

/// The beginnings of the names of events that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "session.",
    "assistant.",
    "user.",
    "system.",
    "subagent.",
    "hook.",
    "skill.",
    "permission.",
    "tool.execution_partial",
    "tool.execution_progress",
    "tool.user_requested",
    "abort",
];

/// The sessions of Copilot CLI, a JSON value a line.
#[derive(Debug)]
pub(crate) struct CopilotCli;

impl SessionFormat for CopilotCli {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn name(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "1.0.102"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
        let Some(root) = find::home_or(env, "COPILOT_HOME", ".copilot") else { return };
        let root = root.join("session-state");
        for dir in find::directories(&root, fault) {
            let log = find::found_file(&dir.join("events.jsonl"));
            log.iter().for_each(|file| found(session_file(file)));
        }
        let older = find::files(&root, |name| name.ends_with(".jsonl"), fault);
        older.iter().for_each(|file| found(session_file(file)));
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let first = find::first_line(head);
        let is_start = memmem::find(first, b"\"session.start\"").is_some()
            && memmem::find(first, b"\"copilotVersion\"").is_some();
        is_start.then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, _: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        find::glance(head, tail, &mut note_facts)
    }

    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        LogSession::open(AGENT, vec![file.path.clone()], || Box::new(CopilotReader), progress)
    }
}

/// The session's id is the name of its directory; of older ones, of the file.
fn session_file(file: &FoundFile) -> SessionFile {
    let dir = file.path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let id = if file.stem() == "events" { dir.unwrap_or_default() } else { file.stem() };
    file.session(AGENT, id)
}

/// Reads the events of one session.
struct CopilotReader;

impl LogReader for CopilotReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let Some(data) = record.get("data") else { return false };
        let thread = name(record, "agentId").map_or(0, |agent| out.thread_id(&agent));
        let at = record.get("timestamp").and_then(clock::time);
        match name(record, "type").unwrap_or_default().as_str() {
            "tool.execution_start" => call(record, data, thread, place, at, out),
            "tool.execution_complete" => result(record, data, thread, place, at, out),
            "subagent.started" => {
                if let Some(thread) = out.threads.get_mut(thread as usize) {
                    name(data, "agentName").into_iter().for_each(|name| thread.name = name.into());
                    thread.parent_call = name(data, "toolCallId").map(Into::into);
                }
            }
            known if OTHER_KINDS.iter().any(|kind| known.starts_with(kind)) => {}
            other => {
                out.unread.unknown(other);
                return false;
            }
        }
        true
    }
}

fn call(
    record: Json,
    data: Json,
    thread: u32,
    place: RecordPlace,
    at: Option<Timestamp>,
    out: &mut Transcript,
) {
    let Some(id) = name(data, "toolCallId") else { return };
    let tool = out.tool_id(&name(data, "toolName").unwrap_or_default());
    let mut call = Call::new(id, thread, tool);
    call.input = data.get("arguments").map(|input| place.span(input));
    call.at = at;
    call.record = Some(place.span(record));
    out.add_call(call);
}

fn result(
    record: Json,
    data: Json,
    thread: u32,
    place: RecordPlace,
    at: Option<Timestamp>,
    out: &mut Transcript,
) {
    let Some(id) = name(data, "toolCallId") else { return };
    let call = out.call_or_new(thread, &id, "");
    if !call.results.is_empty() {
        return;
    }
    let content = data.path(&["result", "content"]).or_else(|| data.path(&["error", "message"]));
    let exit = data.path(&["shellExecution", "exitCode"]).and_then(|code| code.int());
    call.exit = exit.and_then(|code| code.try_into().ok());
    let succeeded = data.get("success").and_then(|value| value.bool()) == Some(true);
    call.status = match call.exit {
        Some(0) | None if succeeded => CallStatus::Ok,
        _ => CallStatus::Failed,
    };
    let telemetry = data.get("toolTelemetry");
    let figure = |part: &str, key: &str| telemetry.and_then(|found| found.path(&[part, key]));
    call.tokens = figure("metrics", "result_token_count").and_then(|count| count.int()?.try_into().ok());
    let is_large = figure("properties", "largeOutputHandled").is_some_and(|value| value.is("true"));
    let bytes = figure("properties", "largeOutputOriginalSizeBytes");
    let bytes = bytes.and_then(|bytes| bytes.short(20)).and_then(|bytes| bytes.parse().ok());
    let saved = content.map(start_of).and_then(|start| cited(&start));
    call.cut = match (&saved, is_large) {
        (Some(_), _) => CutState::Spill,
        (None, true) => CutState::Lost,
        (None, false) => CutState::No,
    };
    call.cites = saved.map(|path| Citation { path: PathBuf::from(path), bytes }).into_iter().collect();
    let copy = data.path(&["result", "detailedContent"]).filter(|text| text.kind() == Kind::String);
    call.display = copy
        .map(|text| DisplayCopy {
            name: "detailedContent",
            text: TextPiece::Json(place.span(text)),
            most: Some(0),
        })
        .into_iter()
        .collect();
    call.results.push(CallResult::recorded(
        content.map(|content| pieces(content, place)).unwrap_or_default(),
        at,
        place.span(record),
    ));
}

/// Returns the path in the notice that begins a cut output.
fn cited(start: &str) -> Option<String> {
    let line = start.strip_prefix("Output too large to read at once (")?.lines().next()?;
    Some(line.split_once("). Saved to: ")?.1.to_owned())
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = record.get("timestamp").and_then(clock::time);
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at);
    let Some(data) = record.get("data") else { return };
    match name(record, "type").unwrap_or_default().as_str() {
        "session.start" => {
            facts.id = name(data, "sessionId").unwrap_or_default();
            facts.version = name(data, "copilotVersion");
            facts.model = name(data, "selectedModel");
            facts.cwd = data.get("context").and_then(|context| text(context, "cwd"));
        }
        "user.message" if facts.title.is_none() => facts.title = text(data, "content"),
        _ => {}
    }
}
