//! Gemini CLI: an upsert log, in which a message with a known id replaces the earlier one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memchr::memmem;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{LONGEST_NAME, first_text, is_type, name, start_of};
use crate::session::find::{self, FoundFile};
use crate::session::json::{Json, Kind};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, ResultFate, SessionFacts, TextPiece,
};
use crate::session::reader::{
    LogReader, LogSession, OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
};
use crate::session::transcript::Transcript;

const AGENT: &str = "gemini-cli";

/// The sessions of Gemini CLI, a JSON value a line.
#[derive(Debug)]
pub(crate) struct GeminiCli;

impl SessionFormat for GeminiCli {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn name(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "0.61.0"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
        let Some(root) = find::home_or(env, "GEMINI_CLI_HOME", "") else { return };
        for project in find::directories(&root.join(".gemini/tmp"), fault) {
            let chats = project.join("chats");
            let nested = find::directories(&chats, fault);
            for dir in [chats].into_iter().chain(nested) {
                let files = find::files(&dir, is_session, fault);
                files.iter().for_each(|file| found(session_file(file)));
            }
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let first = find::first_line(head);
        let has = |key: &[u8]| memmem::find(first, key).is_some();
        let looks_alike = has(b"\"sessionId\"") && has(b"\"projectHash\"");
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
        LogSession::open(AGENT, vec![file.path.clone()], || Box::new(GeminiReader::default()), progress)
    }
}

fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl")
}

fn session_file(file: &FoundFile) -> SessionFile {
    file.session(AGENT, file.stem())
}

/// Reads the messages of one session.
#[derive(Default)]
struct GeminiReader {
    /// The messages by id, in the order in which they first came.
    order: HashMap<Box<str>, u64>,
    /// The call of each result, with the message that carries it.
    results: Vec<(Box<str>, u64)>,
    rewound: Vec<(u64, usize, Option<Timestamp>)>,
    last_at: Option<Timestamp>,
}

impl LogReader for GeminiReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        self.last_at = record.get("timestamp").and_then(clock::time).or(self.last_at);
        if let Some(set) = record.get("$set") {
            for message in set.get("messages").into_iter().flat_map(|list| list.items()) {
                self.message(record, message, place, out);
            }
            return true;
        }
        if let Some(to) = record.get("$rewindTo").and_then(|to| to.short(LONGEST_NAME)) {
            let number = self.order.get(to.as_str()).copied().unwrap_or(u64::MAX);
            self.rewound.push((number, self.results.len(), self.last_at));
            return true;
        }
        // The old form is a single document.
        if let Some(messages) = record.get("messages") {
            messages.items().for_each(|message| self.message(record, message, place, out));
            return true;
        }
        if record.get("id").is_some() && record.get("type").is_some() {
            self.message(record, record, place, out);
            return true;
        }
        if record.get("sessionId").is_some() {
            return true;
        }
        out.unread.unknown(&record.members().next().map(|(key, _)| key.to_text(40).text).unwrap_or_default());
        false
    }

    fn settle(&mut self, out: &mut Transcript) {
        for (number, (id, message)) in self.results.iter().enumerate() {
            let rewound = self.rewound.iter().find(|(from, before, _)| number < *before && message >= from);
            let call = out.call_mut(0, id);
            if let (Some((_, _, at)), Some(last)) = (rewound, call.and_then(|call| call.results.last_mut())) {
                last.fate = ResultFate::Rewound(*at);
            }
        }
    }
}

impl GeminiReader {
    fn message(&mut self, record: Json, message: Json, place: RecordPlace, out: &mut Transcript) {
        let Some(id) = name(message, "id") else { return };
        let next = self.order.len() as u64;
        let number = *self.order.entry(id.into()).or_insert(next);
        let at = message.get("timestamp").and_then(clock::time).or(self.last_at);
        for called in message.get("toolCalls").into_iter().flat_map(|list| list.items()) {
            call(record, called, place, at, out);
        }
        for part in message.get("content").into_iter().flat_map(|list| list.items()) {
            let Some(response) = part.get("functionResponse") else { continue };
            let Some(call_id) = name(response, "id") else { continue };
            let call = out.call_or_new(0, &call_id, &name(response, "name").unwrap_or_default());
            if call.results.is_empty() {
                self.results.push((call_id.into(), number));
            }
            result(record, response, place, at, call);
        }
    }
}

fn call(record: Json, called: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) {
    let Some(id) = name(called, "id") else { return };
    let tool = out.tool_id(&name(called, "name").unwrap_or_default());
    let mut new = Call::new(id, 0, tool);
    new.input = called.get("args").map(|input| place.span(input));
    new.at = called.get("timestamp").and_then(clock::time).or(at);
    new.record = Some(place.span(record));
    let call = out.add_call(new);
    call.status = match name(called, "status").unwrap_or_default().as_str() {
        "success" => CallStatus::Ok,
        "cancelled" => CallStatus::Denied,
        "error" => CallStatus::Failed,
        _ => call.status,
    };
    let copy = called.get("resultDisplay").filter(|text| text.kind() == Kind::String);
    call.display = copy
        .map(|text| DisplayCopy {
            name: "resultDisplay",
            text: TextPiece::Json(place.span(text)),
            most: None,
        })
        .into_iter()
        .collect();
}

/// Reads a result. A later one of another text replaces the earlier, which stays as first seen.
fn result(record: Json, response: Json, place: RecordPlace, at: Option<Timestamp>, call: &mut Call) {
    let content = response.path(&["response", "output"]).or_else(|| response.path(&["response", "error"]));
    let new = CallResult::recorded(
        content.map(|content| TextPiece::Json(place.span(content))).into_iter().collect(),
        at,
        place.span(record),
    );
    let length = |result: &CallResult| match result.pieces[..] {
        [TextPiece::Json(span)] => span.len(),
        _ => 0,
    };
    match call.results.last_mut() {
        // Whole messages are written again, mostly with the same text.
        Some(last) if length(last) == length(&new) => return,
        Some(last) => last.fate = ResultFate::Replaced(at),
        None => {
            let start = content.map(start_of).unwrap_or_default();
            let saved = cited(&start);
            call.cut = if saved.is_some() { CutState::Spill } else { CutState::No };
            call.cites =
                saved.map(|path| Citation { path: PathBuf::from(path), bytes: None }).into_iter().collect();
            call.exit = content.and_then(exit_of);
            if call.status == CallStatus::NoResult {
                call.status = CallStatus::Ok;
            }
            if call.exit.is_some_and(|code| code != 0) {
                call.status = CallStatus::Failed;
            }
        }
    }
    call.results.push(new);
}

/// Returns the path in the notice that begins a cut output.
fn cited(start: &str) -> Option<String> {
    let line = start.strip_prefix("Output too large. Showing first ")?.lines().next()?;
    Some(line.split_once(" For full output see: ")?.1.to_owned())
}

/// Reads the status from the lines after a command's output.
fn exit_of(content: Json) -> Option<i32> {
    let ending = content.text()?.ending(1024);
    ending.lines().rev().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = ["timestamp", "startTime", "lastUpdated"]
        .iter()
        .find_map(|key| record.get(key).and_then(clock::time));
    let set = record.path(&["$set", "lastUpdated"]).and_then(clock::time);
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at).max(set);
    if facts.id.is_empty() {
        facts.id = name(record, "sessionId").unwrap_or_default();
    }
    facts.model = name(record, "model").or(facts.model.take());
    if facts.title.is_none() && is_type(record, "user") {
        let words = record.get("content").map(first_text).unwrap_or_default();
        facts.title = Some(words).filter(|words| !words.is_empty() && !words.starts_with('<'));
    }
}
