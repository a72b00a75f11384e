//! Goose: a database with a row for each message.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{first_text, is_type, name, pieces};
use crate::session::context::ContextEvent;
use crate::session::database::{self, DatabaseError, RowBuffer, RowRecords, RowsOf, TableRows};
use crate::session::fate::{ContextChange, ContextState};
use crate::session::find;
use crate::session::json::{Json, Tape};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, DisplayCopy, Evidence, SessionFacts,
};
use crate::session::reader::{ReadProgress, RecordPlace, SessionFile};
use crate::session::table::TableFormat;
use crate::session::transcript::Transcript;

const MESSAGES: RowsOf = RowsOf::plain("messages", "content_json");

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
    TableFormat { agent: "goose", name: "goose", seen: "1.52.0", databases, list, read };

fn databases(env: &Env, _: &mut dyn FnMut(String)) -> Vec<PathBuf> {
    let root = env.var("GOOSE_PATH_ROOT").map(|root| Path::new(root).join("data"));
    let root = root.or_else(|| find::data_dir(env, "goose"));
    root.map(|root| root.join("sessions/sessions.db")).into_iter().collect()
}

fn list(_: &Path, rows: &TableRows) -> Result<Vec<SessionFacts>, DatabaseError> {
    let columns = rows.columns("sessions")?;
    if !columns.contains("working_dir") {
        return Ok(Vec::new());
    }
    let title = database::title(if columns.contains("name") { "name" } else { "NULL" });
    let parent = if columns.contains("parent_session_id") { "parent_session_id" } else { "NULL" };
    let sql = format!("SELECT id, {title}, working_dir, created_at, updated_at, {parent} FROM sessions");
    rows.all(&sql, |row| SessionFacts {
        id: row.text(0).unwrap_or_default(),
        title: row.title(1, RowsOf::plain("sessions", "name")),
        cwd: row.text(2),
        started: row.text(3).and_then(|text| utc(&text)),
        ended: row.text(4).and_then(|text| utc(&text)),
        parent: row.text(5),
        ..SessionFacts::default()
    })
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
    let sql = format!(
        "SELECT rowid, {}, created_timestamp, {}, {} FROM messages WHERE session_id = ? ORDER BY id",
        database::record("content_json"),
        database::record("metadata_json"),
        if rows.columns("messages")?.contains("role") { "role" } else { "NULL" },
    );
    let (mut buffer, mut meta, mut past) = (RowBuffer::default(), Tape::default(), Past::default());
    rows.each_record(&sql, &file.id, progress, out, &mut |row, out| {
        let place = row.place(source);
        let at = row.number(2).and_then(clock::number);
        let meta = row.bytes(3).and_then(|bytes| meta.read(bytes).ok());
        let is_hidden_from = |who: &str| meta.and_then(|meta| meta.get(who)?.bool()) == Some(false);
        if let Some(content) = row.record(1, MESSAGES, &mut buffer, &mut out.unread) {
            let message = GooseMessage {
                content,
                place,
                at,
                is_hidden: is_hidden_from("agentVisible"),
                is_answer: row.text(4).as_deref() == Some("assistant") && !is_hidden_from("userVisible"),
            };
            past.note(&message, out);
            message.read(&mut past, out);
        }
    })?;
    past.end(out);
    Ok(())
}

/// What the agent adds after the summary of a compaction.
const COMPACTED: &str = "Your context was compacted";

/// A row with a message.
struct GooseMessage<'a> {
    content: Json<'a>,
    place: RecordPlace,
    at: Option<Timestamp>,
    /// Whether it is not sent any more.
    is_hidden: bool,
    /// Whether the model wrote it as an answer.
    is_answer: bool,
}

impl GooseMessage<'_> {
    fn read(&self, past: &mut Past, out: &mut Transcript) {
        let mut is_known = true;
        for part in self.content.items() {
            match name(part, "type").unwrap_or_default().as_str() {
                "toolRequest" => call(part, self.place, self.at, out),
                "toolResponse" => {
                    let call = result(part, self.place, self.at, out);
                    past.hidden.extend(call.filter(|_| self.is_hidden));
                }
                kind if OTHER_KINDS.contains(&kind) => {}
                kind => {
                    out.unread.unknown(kind);
                    is_known = false;
                }
            }
        }
        out.unread.known += u64::from(is_known);
    }
}

/// What is hidden of a conversation. A compaction hides all messages before its summary; the summary of one call with its
/// result hides just these two.
#[derive(Default)]
struct Past {
    /// The calls whose results are hidden, since the last compaction.
    hidden: Vec<u32>,
    /// Whether the model sees any message so far.
    is_begun: bool,
    /// Whether the message before was an answer, too: one answer may be several messages.
    is_answered: bool,
}

impl Past {
    /// Notes a message before it is read.
    fn note(&mut self, message: &GooseMessage, out: &mut Transcript) {
        let is_summary = !self.is_begun && !message.is_hidden;
        let goes_on = || first_text(message.content).starts_with(COMPACTED);
        if is_summary || (!self.is_begun && !message.is_answer && goes_on()) {
            self.push(ContextChange::Compact, Some(message), out);
        }
        self.is_begun |= !message.is_hidden;
        if message.is_answer && !self.is_answered {
            out.count_answer(0);
        }
        self.is_answered = message.is_answer;
    }

    fn push(&mut self, change: ContextChange, told_by: Option<&GooseMessage>, out: &mut Transcript) {
        let results: Vec<_> = self.hidden.drain(..).flat_map(|call| out.result_ids(call)).collect();
        if !results.is_empty() {
            let request = told_by.and_then(|_| out.next_request(0));
            let record = told_by.map(|message| message.place.span(message.content));
            let event = ContextEvent::recorded(change, told_by.and_then(|message| message.at));
            out.events.push(ContextEvent { request, record, results, ..event });
        }
    }

    /// Notes what was hidden since the last compaction.
    fn end(mut self, out: &mut Transcript) {
        let change = if self.is_begun { ContextChange::Checkpoint } else { ContextChange::Compact };
        self.push(change, None, out);
    }
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

/// Reads a result. Returns the number of its call, unless that has one already.
fn result(part: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) -> Option<u32> {
    let id = name(part, "id")?;
    let call = out.call_or_new(0, &id, "");
    if !call.results.is_empty() {
        return None;
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
        .map(|copy| DisplayCopy::new("structuredContent.stdout", place.span(copy), Some(0)))
        .into_iter()
        .collect();
    call.results.push(CallResult {
        evidence: Evidence::Recorded,
        pieces: content.map(|content| pieces(content, place)).unwrap_or_default(),
        at,
        context: ContextState::default(),
        record: Some(place.span(part)),
    });
    out.call_number(0, &id)
}

/// Returns the path in the notice, which has a part of its own.
fn saved(part: Json) -> Option<String> {
    let text = first_text(part.get("text").filter(|_| is_type(part, "text"))?);
    let rest = text.strip_prefix("[Output exceeded ")?;
    let path = rest.split_once(" Full output saved to ")?.1;
    Some(path.split(". Read it with").next()?.to_owned())
}
