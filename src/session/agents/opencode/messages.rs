//! opencode 2: a database with a row for each message, which holds its calls. Written from the agent's source.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{is_type, name, pieces};
use crate::session::database::{Database, DatabaseError, RowRecords, RowsOf, TableRows};
use crate::session::json::{Json, Kind, Tape};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, Evidence, ResultFate, SessionFacts,
};
use crate::session::reader::{
    OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
};
use crate::session::transcript::Transcript;

use super::rows::{OfSessions, RowsSession, databases};

const AGENT: &str = "opencode";

const FORMAT: &str = "opencode-2";

/// The table of sessions. The one of opencode 1 stays in the database, and is not written any more.
const SESSIONS: &str = "session_v2";

/// The messages, with the calls in them.
const MESSAGES: RowsOf = RowsOf { table: "session_message", column: "data" };

/// The longest path, in bytes.
const LONGEST_PATH: usize = 4096;

/// Kinds of messages that hold no calls of the model.
const OTHER_KINDS: &[&str] = &["user", "system", "synthetic", "shell", "idle"];

/// The sessions of opencode 2.
#[derive(Debug)]
pub(crate) struct OpencodeMessages;

impl SessionFormat for OpencodeMessages {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn name(&self) -> &'static str {
        FORMAT
    }

    fn seen(&self) -> &'static str {
        "2.0, in its source"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
        // What cannot be looked at, the reader of opencode 1 says.
        let _ = fault;
        let databases = databases(env, &mut |_| {});
        databases.iter().flat_map(|path| listed(path).unwrap_or_default()).for_each(found);
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let is_kilo = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"kilo"));
        let sessions = (Database::is_one(head) && !is_kilo).then(|| listed(path).ok())??;
        sessions.into_iter().max_by_key(|session| session.modified)
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        file.facts.clone()
    }

    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        RowsSession::open(AGENT, file, read, progress)
    }
}

/// Lists the sessions of a database; those of sub-agents are part of their parents.
fn listed(path: &Path) -> Result<Vec<SessionFile>, DatabaseError> {
    let mut database = Database::open(path)?;
    database.whole(|connection| {
        let columns = connection.columns(SESSIONS)?;
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let wanted =
            ["parent_id", "directory", "title", "version", "time_created", "time_updated", "fork_session_id"];
        let wanted = wanted.map(|column| if columns.contains(column) { column } else { "NULL" });
        let mut sessions = Vec::new();
        connection.each(&format!("SELECT id, {} FROM {SESSIONS}", wanted.join(", ")), &[], &mut |row| {
            let id = row.text(0).unwrap_or_default();
            let facts = SessionFacts {
                parent: row.text(1),
                cwd: row.text(2),
                title: row.text(3),
                version: row.text(4),
                model: None,
                started: row.number(5).and_then(clock::number),
                ended: row.number(6).and_then(clock::number),
                origin: row.text(7).or_else(|| Some(id.clone())),
                id,
            };
            if facts.parent.is_none() {
                sessions.push(SessionFile::in_database(FORMAT, path, facts));
            }
            true
        })?;
        Ok(sessions)
    })
}

fn read(
    connection: &TableRows,
    agent: &'static str,
    file: &SessionFile,
    progress: &dyn ReadProgress,
) -> Result<Transcript, DatabaseError> {
    let mut out = Transcript::new(agent);
    out.facts = file.facts.clone();
    let source = out.add_source(Arc::new(RowRecords::new(file.path.clone(), MESSAGES)));
    let sql = "SELECT rowid, type, time_created, data FROM session_message WHERE session_id = ? ORDER BY seq";
    for (session, thread) in connection.threads(SESSIONS, file, &mut out)? {
        let (mut tape, mut done, mut is_wanted) = (Tape::default(), 0, true);
        connection.each(sql, &[&session], &mut |row| {
            out.unread.records += 1;
            done += 1;
            is_wanted = progress.step(done, done);
            let place = RecordPlace { source, row: row.integer(0).unwrap_or(0), start: 0 };
            let at = row.number(2).and_then(clock::number);
            match row.bytes(3).map(|data| tape.read(data)) {
                Some(Ok(record)) => {
                    let kind = row.text(1).unwrap_or_default();
                    out.unread.known += u64::from(message(record, &kind, at, thread, place, &mut out));
                }
                _ => out.unread.broken += 1,
            }
            is_wanted
        })?;
        if !is_wanted {
            return Err(DatabaseError::GivenUp);
        }
    }
    Ok(out)
}

/// Reads a message. Returns whether it is of a kind that is known.
fn message(
    record: Json,
    kind: &str,
    at: Option<Timestamp>,
    thread: u32,
    place: RecordPlace,
    out: &mut Transcript,
) -> bool {
    match kind {
        "assistant" => {
            let content = record.get("content").into_iter().flat_map(|content| content.items());
            for tool in content.filter(|item| is_type(*item, "tool")) {
                call(tool, thread, place, out);
            }
        }
        "compaction" => compact(thread, at, out),
        known if OTHER_KINDS.contains(&known) => {}
        other => {
            out.unread.unknown(other);
            return false;
        }
    }
    true
}

/// A summary stands for what was before it.
fn compact(thread: u32, at: Option<Timestamp>, out: &mut Transcript) {
    let calls = out.calls.iter_mut().filter(|call| call.thread == thread);
    for result in calls.flat_map(|call| &mut call.results) {
        if result.fate == ResultFate::InContext {
            result.fate = ResultFate::Compacted(at);
        }
    }
}

fn call(tool: Json, thread: u32, place: RecordPlace, out: &mut Transcript) {
    let (Some(id), Some(state)) = (name(tool, "id"), tool.get("state")) else { return };
    let number = out.tool_id(&name(tool, "name").unwrap_or_default());
    let time =
        |key: &str| [tool, state].iter().find_map(|holder| holder.path(&["time", key])).and_then(clock::time);
    let mut call = Call::new(id, thread, number);
    call.input = state.get("input").map(|input| place.span(input));
    call.at = time("created");
    call.record = Some(place.span(tool));
    let status = name(state, "status").unwrap_or_default();
    let facts = |key: &str| ["metadata", "structured"].iter().find_map(|holder| state.path(&[holder, key]));
    call.exit = facts("exit").and_then(|code| code.int()).and_then(|code| code.try_into().ok());
    call.status = match (status.as_str(), call.exit) {
        ("error", _) => CallStatus::Failed,
        ("completed", Some(0) | None) => CallStatus::Ok,
        ("completed", Some(_)) => CallStatus::Failed,
        ("streaming" | "running", _) => CallStatus::Running,
        _ => CallStatus::NoResult,
    };
    let paths = state.get("outputPaths").into_iter().flat_map(|paths| paths.items());
    let paths = paths.filter_map(|path| path.short(LONGEST_PATH));
    call.cites = paths.map(|path| Citation { path: PathBuf::from(path), bytes: None }).collect();
    let is_truncated = facts("truncated").and_then(|cut| cut.bool()) == Some(true);
    call.cut = match (is_truncated, call.cites.is_empty()) {
        (_, false) => CutState::Spill,
        // The rest of a file is in the file.
        (true, true) if !tool.get("name").is_some_and(|name| name.is("read")) => CutState::Lost,
        _ => CutState::No,
    };
    if let Some(content) = result_of(state, &status) {
        call.results.push(CallResult {
            evidence: Evidence::Recorded,
            pieces: pieces(content, place),
            at: time("completed"),
            fate: time("pruned").map_or(ResultFate::InContext, |at| ResultFate::Cleared(Some(at))),
            record: Some(place.span(tool)),
        });
    }
    out.add_call(call);
}

/// Returns what the model got: the content, or the words of an error.
fn result_of<'a>(state: Json<'a>, status: &str) -> Option<Json<'a>> {
    let error = state.get("error").map(|error| error.get("message").unwrap_or(error));
    match status {
        "completed" => state.get("content"),
        "error" => error.filter(|error| error.kind() == Kind::String).or_else(|| state.get("content")),
        _ => None,
    }
}
