//! Goose: a database with a row for each message.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{first_text, is_type, name, pieces};
use crate::session::database::{DatabaseError, RowRecords, RowsOf, TableRow, TableRows};
use crate::session::find;
use crate::session::json::{Json, Tape};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, Evidence, ResultFate, SessionFacts,
    TextPiece,
};
use crate::session::reader::{ReadProgress, RecordPlace, SessionFile};
use crate::session::table::TableFormat;
use crate::session::transcript::Transcript;

const AGENT: &str = "goose";

const MESSAGES: RowsOf = RowsOf { table: "messages", column: "content_json" };

/// Kinds of content that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "text",
    "image",
    "thinking",
    "redactedThinking",
    "reasoning",
    "systemNotification",
    "toolConfirmationRequest",
    "actionRequired",
    "frontendToolRequest",
];

/// The sessions of Goose in a database.
pub(crate) const GOOSE: TableFormat =
    TableFormat { agent: AGENT, seen: "1.52.0", databases, list: listed, read };

fn databases(env: &Env) -> Vec<PathBuf> {
    let root = env.var("GOOSE_PATH_ROOT").map(|root| Path::new(root).join("data"));
    let root = root.or_else(|| find::data_dir(env, "goose"));
    root.map(|root| root.join("sessions/sessions.db")).into_iter().collect()
}

fn listed(path: &Path, rows: &TableRows) -> Result<Vec<SessionFile>, DatabaseError> {
    let columns = rows.columns("sessions")?;
    if !columns.contains("working_dir") {
        return Ok(Vec::new());
    }
    let title = if columns.contains("name") { "name" } else { "NULL" };
    let parent = if columns.contains("parent_session_id") { "parent_session_id" } else { "NULL" };
    let sql = format!("SELECT id, {title}, working_dir, created_at, updated_at, {parent} FROM sessions");
    let mut sessions = Vec::new();
    rows.each(&sql, &[], &mut |row| {
        sessions.push(session_file(path, &row));
        true
    })?;
    Ok(sessions)
}

fn session_file(path: &Path, row: &TableRow) -> SessionFile {
    let facts = SessionFacts {
        id: row.text(0).unwrap_or_default(),
        title: row.text(1),
        cwd: row.text(2),
        started: row.text(3).and_then(|text| utc(&text)),
        ended: row.text(4).and_then(|text| utc(&text)),
        parent: row.text(5),
        version: None,
        origin: None,
        model: None,
    };
    SessionFile::in_database(AGENT, path, facts)
}

/// Reads `2026-11-22 05:52:17`, which is UTC.
fn utc(text: &str) -> Option<Timestamp> {
    let time: DateTime = text.parse().ok()?;
    time.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|time| time.timestamp())
}

fn read(
    file: &SessionFile,
    rows: &TableRows,
    progress: &dyn ReadProgress,
    out: &mut Transcript,
) -> Result<(), DatabaseError> {
    let source = out.add_source(Arc::new(RowRecords::new(file.path.clone(), MESSAGES)));
    let sql = "SELECT rowid, content_json, created_timestamp, metadata_json FROM messages \
        WHERE session_id = ? ORDER BY id";
    let (mut tape, mut meta, mut is_wanted) = (Tape::default(), Tape::default(), true);
    rows.each(sql, &[&file.id], &mut |row| {
        out.unread.records += 1;
        is_wanted = progress.step(out.unread.records, out.unread.records);
        let place = RecordPlace { source, row: row.integer(0).unwrap_or(0), start: 0 };
        let at = row.number(2).and_then(clock::number);
        let hidden = row.bytes(3).and_then(|bytes| meta.read(bytes).ok());
        let hidden = hidden.and_then(|meta| meta.get("agentVisible")?.bool()) == Some(false);
        let fate = if hidden { ResultFate::Compacted(None) } else { ResultFate::InContext };
        match row.bytes(1).map(|bytes| tape.read(bytes)) {
            Some(Ok(content)) => message(content, place, at, fate, out),
            _ => out.unread.broken += 1,
        }
        is_wanted
    })?;
    if is_wanted { Ok(()) } else { Err(DatabaseError::GivenUp) }
}

fn message(content: Json, place: RecordPlace, at: Option<Timestamp>, fate: ResultFate, out: &mut Transcript) {
    let mut is_known = true;
    for part in content.items() {
        match name(part, "type").unwrap_or_default().as_str() {
            "toolRequest" => call(part, place, at, out),
            "toolResponse" => result(part, place, at, fate, out),
            kind if OTHER_KINDS.contains(&kind) => {}
            kind => {
                out.unread.unknown(kind);
                is_known = false;
            }
        }
    }
    out.unread.known += u64::from(is_known);
}

fn call(part: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) {
    let Some(id) = name(part, "id") else { return };
    let value = part.path(&["toolCall", "value"]);
    let tool = out.tool_id(&value.and_then(|value| name(value, "name")).unwrap_or_default());
    let mut call = Call::new(id, 0, tool);
    call.input = value.and_then(|value| value.get("arguments")).map(|input| place.span(input));
    call.at = at;
    call.record = Some(place.span(part));
    out.add_call(call);
}

fn result(part: Json, place: RecordPlace, at: Option<Timestamp>, fate: ResultFate, out: &mut Transcript) {
    let Some(id) = name(part, "id") else { return };
    let call = out.call_or_new(0, &id, "");
    if !call.results.is_empty() {
        return;
    }
    let value = part.path(&["toolResult", "value"]);
    let structured = value.and_then(|value| value.get("structuredContent"));
    let code = structured.and_then(|found| found.get("exit_code")).and_then(|code| code.int());
    call.exit = code.and_then(|code| code.try_into().ok());
    let says_error = value.and_then(|value| value.get("isError")).and_then(|flag| flag.bool()) == Some(true);
    let is_error = says_error || value.is_none() || call.exit.is_some_and(|code| code != 0);
    call.status = if is_error { CallStatus::Failed } else { CallStatus::Ok };
    let content =
        value.and_then(|value| value.get("content")).or_else(|| part.path(&["toolResult", "error"]));
    let saved = content.into_iter().flat_map(|content| content.items()).find_map(saved);
    call.cut = if saved.is_some() { CutState::Spill } else { CutState::No };
    call.cites = saved.map(|path| Citation { path: PathBuf::from(path), bytes: None }).into_iter().collect();
    let copy = structured.and_then(|found| found.get("stdout")).filter(|copy| copy.text().is_some());
    call.display = copy
        .map(|copy| DisplayCopy {
            name: "structuredContent.stdout",
            text: TextPiece::Json(place.span(copy)),
            most: Some(0),
        })
        .into_iter()
        .collect();
    call.results.push(CallResult {
        evidence: Evidence::Recorded,
        pieces: content.map(|content| pieces(content, place)).unwrap_or_default(),
        at,
        fate,
        record: Some(place.span(part)),
    });
}

/// Returns the path in the notice, which has a part of its own.
fn saved(part: Json) -> Option<String> {
    let text = first_text(part.get("text").filter(|_| is_type(part, "text"))?);
    let rest = text.strip_prefix("[Output exceeded ")?;
    let path = rest.split_once(" Full output saved to ")?.1;
    Some(path.split(". Read it with").next()?.to_owned())
}
