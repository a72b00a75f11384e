//! Qwen Code: a log that is a tree, of messages in the form of Gemini's interface.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memchr::memmem;

use crate::env::Env;
use crate::session::branch::Branches;
use crate::session::clock;
use crate::session::content::{first_text, is_type, name, pieces, start_of, text};
use crate::session::find::{self, FoundFile};
use crate::session::id::{RecordId, record_id};
use crate::session::json::{Json, Kind};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, ResultFate, SessionFacts, TextPiece,
};
use crate::session::reader::{
    LogReader, LogSession, OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
};
use crate::session::transcript::Transcript;

const AGENT: &str = "qwen-code";

/// The sessions of Qwen Code, a JSON value a line.
#[derive(Debug)]
pub(crate) struct QwenCode;

impl SessionFormat for QwenCode {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn name(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "0.24.4"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
        let Some(root) = find::home_or(env, "QWEN_RUNTIME_DIR", ".qwen") else { return };
        for project in find::directories(&root.join("projects"), fault) {
            let files = find::files(&project.join("chats"), |name| name.ends_with(".jsonl"), fault);
            files.iter().for_each(|file| found(session_file(file)));
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let first = find::first_line(head);
        let has = |key: &[u8]| memmem::find(first, key).is_some();
        let looks_alike = has(b"\"parentUuid\"") && has(b"\"sessionId\"") && has(b"\"parts\"");
        looks_alike.then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, _: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        find::glance(head, tail, &mut note_facts)
    }

    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        LogSession::open(AGENT, vec![file.path.clone()], || Box::new(QwenReader::default()), progress)
    }
}

fn session_file(file: &FoundFile) -> SessionFile {
    file.session(AGENT, file.stem())
}

/// Reads the records of one session.
#[derive(Default)]
struct QwenReader {
    branches: Branches,
    results: Vec<(RecordId, Box<str>)>,
    /// After how many results the history was compressed, and when.
    compressions: Vec<(usize, Option<Timestamp>)>,
}

impl LogReader for QwenReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let id = name(record, "uuid").map(|id| record_id(&id)).unwrap_or_default();
        self.branches.add(id, name(record, "parentUuid").map(|parent| record_id(&parent)));
        let at = record.get("timestamp").and_then(clock::time);
        match name(record, "type").unwrap_or_default().as_str() {
            "assistant" => calls(record, place, at, out),
            "tool_result" => self.result(record, id, place, at, out),
            "system" => {
                if record.get("subtype").is_some_and(|kind| kind.is("chat_compression")) {
                    self.compressions.push((self.results.len(), at));
                }
            }
            "user" => {}
            other => {
                out.unread.unknown(other);
                return false;
            }
        }
        true
    }

    fn settle(&mut self, out: &mut Transcript) {
        let living = self.branches.living();
        for (number, (record, id)) in self.results.iter().enumerate() {
            let compressed = self.compressions.iter().find(|(before, _)| number < *before);
            let fate = match compressed {
                _ if !living.contains(record) => ResultFate::OffBranch,
                Some((_, at)) => ResultFate::Compacted(*at),
                None => ResultFate::InContext,
            };
            if let Some(first) = out.call_mut(0, id).and_then(|call| call.results.first_mut()) {
                first.fate = fate;
            }
        }
    }
}

impl QwenReader {
    fn result(
        &mut self,
        record: Json,
        id: RecordId,
        place: RecordPlace,
        at: Option<Timestamp>,
        out: &mut Transcript,
    ) {
        for part in parts(record) {
            let Some(response) = part.get("functionResponse") else { continue };
            let Some(call_id) = name(response, "id") else { continue };
            let call = out.call_or_new(0, &call_id, &name(response, "name").unwrap_or_default());
            if call.results.is_empty() {
                self.results.push((id, call_id.into()));
                result(record, response, place, at, call);
            }
        }
    }
}

fn parts(record: Json) -> impl Iterator<Item = Json> {
    record.path(&["message", "parts"]).into_iter().flat_map(|parts| parts.items())
}

fn calls(record: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) {
    for part in parts(record) {
        let Some(called) = part.get("functionCall") else { continue };
        let Some(id) = name(called, "id") else { continue };
        let tool = out.tool_id(&name(called, "name").unwrap_or_default());
        let mut call = Call::new(id, 0, tool);
        call.input = called.get("args").map(|input| place.span(input));
        call.at = at;
        call.record = Some(place.span(record));
        out.add_call(call);
    }
}

fn result(record: Json, response: Json, place: RecordPlace, at: Option<Timestamp>, call: &mut Call) {
    let failed = response.path(&["response", "error"]);
    let content = failed.or_else(|| response.path(&["response", "output"]));
    let ui = record.get("toolCallResult");
    let display = ui.and_then(|ui| ui.get("resultDisplay"));
    let field = |key: &str| display.and_then(|display| display.get(key));
    call.status = if failed.is_some() { CallStatus::Failed } else { CallStatus::Ok };
    if ui.and_then(|ui| ui.get("status")).is_some_and(|status| status.is("cancelled")) {
        call.status = CallStatus::Denied;
    }
    call.exit = field("exitCode").and_then(|code| code.int()).and_then(|code| code.try_into().ok());
    let files = field("outputFiles").into_iter().flat_map(|files| files.items());
    let paths: Vec<String> = files.filter_map(|path| path.short(4096)).collect();
    let start = content.map(start_of).unwrap_or_default();
    let paths = if paths.is_empty() { cited(&start).into_iter().collect() } else { paths };
    let is_cut = field("truncated").and_then(|cut| cut.bool()) == Some(true);
    call.cut = match (paths.is_empty(), is_cut) {
        (false, _) => CutState::Spill,
        (true, true) => CutState::Lost,
        (true, false) => CutState::No,
    };
    call.cites = paths.into_iter().map(|path| Citation { path: PathBuf::from(path), bytes: None }).collect();
    let copy = field("output").filter(|text| text.kind() == Kind::String);
    call.display = copy
        .map(|text| DisplayCopy {
            name: "resultDisplay.output",
            text: TextPiece::Json(place.span(text)),
            most: Some(32_000),
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
    let rest = start.strip_prefix("Tool output was too large and has been truncated.\n")?;
    let path = rest.lines().next()?.strip_prefix("The full output has been saved to: ")?;
    Some(path.to_owned())
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = record.get("timestamp").and_then(clock::time);
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at);
    if facts.id.is_empty() {
        facts.id = name(record, "sessionId").unwrap_or_default();
    }
    facts.version = name(record, "version").or(facts.version.take());
    facts.cwd = facts.cwd.take().or_else(|| text(record, "cwd"));
    facts.model = name(record, "model").or(facts.model.take());
    if facts.title.is_none() && is_type(record, "user") {
        let words = record.path(&["message", "parts"]).map(first_text);
        facts.title = words.filter(|words| !words.is_empty());
    }
}
