//! pi: a log that is a tree, of which the branch to the last entry counts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memchr::memmem;

use crate::env::Env;
use crate::session::branch::Branches;
use crate::session::clock;
use crate::session::content::{LONGEST_NAME, first_text, is_type, last_line, name, pieces, text};
use crate::session::find::{self, FoundFile};
use crate::session::id::{RecordId, record_id};
use crate::session::json::Json;
use crate::session::model::{Call, CallResult, CallStatus, Citation, CutState, ResultFate, SessionFacts};
use crate::session::reader::{
    LogReader, LogSession, OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
};
use crate::session::transcript::Transcript;

const AGENT: &str = "pi";

/// Kinds of entries that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "session",
    "model_change",
    "thinking_level_change",
    "branch_summary",
    "label",
    "session_info",
    "custom",
    "custom_message",
];

/// The sessions of pi, a JSON value a line.
#[derive(Debug)]
pub(crate) struct Pi;

impl SessionFormat for Pi {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn name(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "1.5.2"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
        let Some(root) = find::home_or(env, "PI_CODING_AGENT_DIR", ".pi/agent") else { return };
        for project in find::directories(&root.join("sessions"), fault) {
            let files = find::files(&project, |name| name.ends_with(".jsonl"), fault);
            files.iter().for_each(|file| found(session_file(file)));
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let first = find::first_line(head);
        let is_header = memmem::find(first, b"\"type\":\"session\"").is_some()
            && memmem::find(first, b"\"cwd\"").is_some();
        is_header.then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, _: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        find::glance(head, tail, &mut note_facts)
    }

    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        LogSession::open(AGENT, vec![file.path.clone()], || Box::new(PiReader::default()), progress)
    }
}

/// The name of a session's file is a time and its id.
fn session_file(file: &FoundFile) -> SessionFile {
    let id = file.stem().split_once('_').map_or(file.stem(), |(_, id)| id);
    file.session(AGENT, id)
}

/// Reads the entries of one session.
#[derive(Default)]
struct PiReader {
    branches: Branches,
    order: HashMap<RecordId, u64>,
    results: Vec<(RecordId, Box<str>)>,
    compactions: Vec<Compaction>,
    edits: Vec<Edit>,
}

struct Compaction {
    entry: RecordId,
    first_kept: RecordId,
    at: Option<Timestamp>,
}

/// Another text for an entry, in all later requests.
struct Edit {
    entry: RecordId,
    target: RecordId,
    replacement: Option<CallResult>,
    at: Option<Timestamp>,
}

impl LogReader for PiReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let kind = name(record, "type").unwrap_or_default();
        let id = self.link(record, &kind);
        match kind.as_str() {
            "message" => self.message(record, id, place, out),
            "compaction" => self.compactions.push(Compaction {
                entry: id,
                first_kept: name(record, "firstKeptEntryId").map(|id| record_id(&id)).unwrap_or_default(),
                at: record.get("timestamp").and_then(clock::time),
            }),
            "context_edit" => self.edit(record, id, place),
            known if OTHER_KINDS.contains(&known) => {}
            other => {
                out.unread.unknown(other);
                return false;
            }
        }
        true
    }

    fn settle(&mut self, out: &mut Transcript) {
        let living = self.branches.living();
        for (entry, id) in &self.results {
            let Some(call) = out.call_mut(0, id) else { continue };
            call.results.truncate(1);
            let compacted = self.compactions.iter().find(|compaction| {
                let order = |id: &RecordId| self.order.get(id).copied().unwrap_or(0);
                living.contains(&compaction.entry) && order(entry) < order(&compaction.first_kept)
            });
            let edit =
                self.edits.iter().rev().find(|edit| edit.target == *entry && living.contains(&edit.entry));
            let Some(first) = call.results.first_mut() else { continue };
            first.fate = match (compacted, edit) {
                _ if !living.contains(entry) => ResultFate::OffBranch,
                (Some(compaction), _) => ResultFate::Compacted(compaction.at),
                (None, Some(Edit { replacement: None, at, .. })) => ResultFate::Cleared(*at),
                (None, Some(edit)) => ResultFate::Replaced(edit.at),
                (None, None) => ResultFate::InContext,
            };
            if let Some(Edit { replacement: Some(replacement), .. }) = edit {
                call.results.push(replacement.clone());
            }
        }
    }
}

impl PiReader {
    /// Notes the place of an entry in the tree. The first version had neither ids nor parents: a line.
    fn link(&mut self, record: Json, kind: &str) -> RecordId {
        let number = self.order.len() as u64;
        let id = name(record, "id").map_or_else(|| record_id(&format!("line {number}")), |id| record_id(&id));
        if kind != "session" {
            let parent = match record.get("parentId") {
                Some(parent) => parent.short(LONGEST_NAME).map(|parent| record_id(&parent)),
                None => self.branches.last(),
            };
            self.branches.add(id, parent);
            self.order.insert(id, number);
        }
        id
    }

    fn message(&mut self, record: Json, id: RecordId, place: RecordPlace, out: &mut Transcript) {
        let Some(message) = record.get("message") else { return };
        let at = record.get("timestamp").and_then(clock::time);
        match name(message, "role").unwrap_or_default().as_str() {
            "assistant" => calls(record, message, place, at, out),
            "toolResult" => {
                let Some(call_id) = name(message, "toolCallId") else { return };
                let tool = name(message, "toolName").unwrap_or_default();
                let call = out.call_or_new(0, &call_id, &tool);
                if call.results.is_empty() {
                    self.results.push((id, call_id.into()));
                    result(record, message, place, at, call);
                }
            }
            _ => {}
        }
    }

    fn edit(&mut self, record: Json, entry: RecordId, place: RecordPlace) {
        let Some(target) = name(record, "targetId").map(|id| record_id(&id)) else { return };
        let at = record.get("timestamp").and_then(clock::time);
        let content = record.get("replacement").filter(|replacement| !replacement.is_null());
        let replacement =
            content.map(|content| CallResult::recorded(pieces(content, place), at, place.span(record)));
        self.edits.push(Edit { entry, target, replacement, at });
    }
}

fn calls(record: Json, message: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) {
    for block in message.get("content").into_iter().flat_map(|content| content.items()) {
        let Some(id) = name(block, "id").filter(|_| is_type(block, "toolCall")) else { continue };
        let tool = out.tool_id(&name(block, "name").unwrap_or_default());
        let mut call = Call::new(id, 0, tool);
        call.input = block.get("arguments").map(|input| place.span(input));
        call.at = at;
        call.record = Some(place.span(record));
        out.add_call(call);
    }
}

fn result(record: Json, message: Json, place: RecordPlace, at: Option<Timestamp>, call: &mut Call) {
    let is_error = message.get("isError").and_then(|value| value.bool()) == Some(true);
    let content = message.get("content");
    call.status = if is_error { CallStatus::Failed } else { CallStatus::Ok };
    call.exit = content.map(last_line).filter(|_| is_error).and_then(|line| exit_of(&line));
    let truncation = message.path(&["details", "truncation"]);
    // A window of a file is no cut: the file holds the rest.
    let is_read = message.get("toolName").is_some_and(|tool| tool.is("read"));
    let is_truncated =
        truncation.and_then(|cut| cut.get("truncated")).and_then(|cut| cut.bool()) == Some(true);
    let is_cut = is_truncated && !is_read;
    call.is_window = is_read && (is_truncated || content.map(last_line).is_some_and(|line| has_more(&line)));
    let spill = message.get("details").and_then(|details| text(details, "fullOutputPath"));
    let bytes = truncation.and_then(|cut| cut.get("totalBytes")).and_then(|bytes| bytes.int());
    call.cites = spill
        .map(|path| Citation {
            path: PathBuf::from(path),
            bytes: bytes.and_then(|bytes| bytes.try_into().ok()),
        })
        .into_iter()
        .collect();
    call.cut = match (is_cut, call.cites.is_empty()) {
        (_, false) => CutState::Spill,
        (true, true) => CutState::Lost,
        (false, true) => CutState::No,
    };
    call.results.push(CallResult::recorded(
        content.map(|content| pieces(content, place)).unwrap_or_default(),
        at,
        place.span(record),
    ));
}

/// Whether the last line of a window says that the file goes on after what was asked for.
fn has_more(line: &str) -> bool {
    line.starts_with('[') && line.contains(" more lines in file. Use offset=")
}

/// Reads the status from the last line of a failed command.
fn exit_of(line: &str) -> Option<i32> {
    line.strip_prefix("Command exited with code ")?.parse().ok()
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = record.get("timestamp").and_then(clock::time);
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at);
    if is_type(record, "session") {
        facts.id = name(record, "id").unwrap_or_default();
        facts.cwd = text(record, "cwd");
        facts.parent = text(record, "parentSession");
    }
    if facts.origin.is_none() && !is_type(record, "session") {
        facts.origin = name(record, "id");
    }
    if is_type(record, "model_change") {
        facts.model = name(record, "modelId").or(facts.model.take());
    }
    if is_type(record, "session_info") {
        facts.title = text(record, "name").or(facts.title.take());
    }
    let message = record.get("message").filter(|_| facts.title.is_none());
    if let Some(message) = message.filter(|message| message.get("role").is_some_and(|role| role.is("user"))) {
        facts.title = message.get("content").map(first_text).filter(|words| !words.is_empty());
    }
}
