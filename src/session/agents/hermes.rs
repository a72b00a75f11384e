//! Hermes: a database with a row for each message. What most tools give is itself JSON, in a string.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{name, pieces};
use crate::session::database::{DatabaseError, RowRecords, RowsOf, TableRow, TableRows};
use crate::session::find;
use crate::session::json::{Json, JsonText, Tape};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, Evidence, RecordSpan, ResultFate, SessionFacts,
    TextPiece, TextPieces,
};
use crate::session::reader::{ReadProgress, RecordPlace, SessionFile};
use crate::session::table::TableFormat;
use crate::session::transcript::Transcript;

const AGENT: &str = "hermes";

const CONTENTS: RowsOf = RowsOf { table: "messages", column: "content" };
const CALLS: RowsOf = RowsOf { table: "messages", column: "tool_calls" };

/// What begins a content that is a list of parts.
const PARTS: &[u8] = b"\0json:";

/// How the notice in a cut output begins, as it is written in JSON.
const NOTICE: &[u8] = b"\\n\\n... [OUTPUT TRUNCATED - ";

/// The sessions of Hermes in a database.
pub(crate) const HERMES: TableFormat =
    TableFormat { agent: AGENT, seen: "0.19.0", databases, list: listed, read };

fn databases(env: &Env) -> Vec<PathBuf> {
    find::home_or(env, "HERMES_HOME", ".hermes").map(|root| root.join("state.db")).into_iter().collect()
}

/// Lists the sessions; those of sub-agents are part of their parents.
fn listed(path: &Path, rows: &TableRows) -> Result<Vec<SessionFile>, DatabaseError> {
    let (of_session, of_message) = (rows.columns("sessions")?, rows.columns("messages")?);
    if !of_session.contains("source") || !of_message.contains("tool_call_id") {
        return Ok(Vec::new());
    }
    let column = |name: &'static str| if of_session.contains(name) { name } else { "NULL" };
    let sql = format!(
        "SELECT id, {}, {}, {}, {}, started_at, (SELECT MAX(timestamp) FROM messages WHERE session_id = sessions.id) \
         FROM sessions WHERE source IS NOT 'subagent'",
        column("title"),
        column("cwd"),
        column("model"),
        column("parent_session_id"),
    );
    let mut sessions = Vec::new();
    rows.each(&sql, &[], &mut |row| {
        let facts = SessionFacts {
            id: row.text(0).unwrap_or_default(),
            title: row.text(1),
            cwd: row.text(2),
            model: row.text(3),
            parent: row.text(4),
            started: row.number(5).and_then(clock::number),
            ended: row.number(6).and_then(clock::number),
            ..SessionFacts::default()
        };
        sessions.push(SessionFile::in_database(AGENT, path, facts));
        true
    })?;
    Ok(sessions)
}

fn read(
    file: &SessionFile,
    rows: &TableRows,
    progress: &dyn ReadProgress,
    out: &mut Transcript,
) -> Result<(), DatabaseError> {
    let contents = out.add_source(Arc::new(RowRecords::new(file.path.clone(), CONTENTS)));
    let calls = out.add_source(Arc::new(RowRecords::new(file.path.clone(), CALLS)));
    let mut threads = vec![(file.id.clone(), 0)];
    let sub_agents = "SELECT id FROM sessions WHERE source = 'subagent' AND parent_session_id = ?";
    rows.each(sub_agents, &[&file.id], &mut |row| {
        let id = row.text(0).unwrap_or_default();
        let thread = out.thread_id(&id);
        threads.push((id, thread));
        true
    })?;
    let columns = rows.columns("messages")?;
    let column = |name: &'static str| if columns.contains(name) { name } else { "NULL" };
    let sql = format!(
        "SELECT rowid, role, content, tool_call_id, tool_calls, tool_name, timestamp, {}, {} FROM messages \
         WHERE session_id = ? ORDER BY id",
        column("active"),
        column("compacted"),
    );
    for (session, thread) in threads {
        let mut is_wanted = true;
        rows.each(&sql, &[&session], &mut |row| {
            out.unread.records += 1;
            is_wanted = progress.step(out.unread.records, out.unread.records);
            message(&row, thread, contents, calls, out);
            is_wanted
        })?;
        if !is_wanted {
            return Err(DatabaseError::GivenUp);
        }
    }
    Ok(())
}

fn message(row: &TableRow, thread: u32, contents: u32, calls: u32, out: &mut Transcript) {
    let number = row.integer(0).unwrap_or(0);
    match row.text(1).unwrap_or_default().as_str() {
        "assistant" => {
            let mut tape = Tape::default();
            match row.bytes(4).map(|calls| tape.read(calls)) {
                Some(Ok(called)) => {
                    let place = RecordPlace { source: calls, row: number, start: 0 };
                    called.items().for_each(|called| call(called, row, thread, place, out));
                }
                Some(Err(_)) => {
                    out.unread.broken += 1;
                    return;
                }
                None => {}
            }
        }
        "tool" => result(row, thread, RecordPlace { source: contents, row: number, start: 0 }, out),
        "user" | "system" | "session_meta" => {}
        role => return out.unread.unknown(role),
    }
    out.unread.known += 1;
}

fn call(called: Json, row: &TableRow, thread: u32, place: RecordPlace, out: &mut Transcript) {
    let Some(id) = name(called, "call_id").or_else(|| name(called, "id")) else { return };
    let function = called.get("function");
    let tool = out.tool_id(&function.and_then(|function| name(function, "name")).unwrap_or_default());
    let mut call = Call::new(id, thread, tool);
    call.input = function.and_then(|function| function.get("arguments")).map(|input| place.span(input));
    call.at = row.number(6).and_then(clock::number);
    call.record = Some(place.span(called));
    out.add_call(call);
}

fn result(row: &TableRow, thread: u32, place: RecordPlace, out: &mut Transcript) {
    let (Some(id), Some(content)) = (row.text(3), row.bytes(2)) else { return };
    let call = out.call_or_new(thread, &id, &row.text(5).unwrap_or_default());
    if !call.results.is_empty() {
        return;
    }
    let whole = RecordSpan::new(place.source, place.row, 0, content.len() as u64);
    let mut tape = Tape::default();
    let parts = content.strip_prefix(PARTS).and_then(|parts| tape.read(parts).ok());
    let in_parts = RecordPlace { start: PARTS.len() as u64, ..place };
    let text = match parts {
        Some(parts) => pieces(parts, in_parts),
        None => TextPieces::from_iter([TextPiece::Raw(whole)]),
    };
    let saved = saved(content);
    let mut tape = Tape::default();
    let record = tape.read(content).ok();
    let field = |key: &str| record.and_then(|record| record.get(key));
    call.exit = field("exit_code").and_then(|code| code.int()).and_then(|code| code.try_into().ok());
    let is_error =
        field("error").is_some_and(|error| !error.is_null()) || call.exit.is_some_and(|code| code != 0);
    call.status = if is_error { CallStatus::Failed } else { CallStatus::Ok };
    let is_cut =
        field("output").and_then(|output| output.text()).is_some() && field("output").is_some_and(is_cut);
    call.cut = match (&saved, is_cut) {
        (Some(_), _) => CutState::Spill,
        (None, true) => CutState::Lost,
        (None, false) => CutState::No,
    };
    call.cites = saved.into_iter().collect();
    let is_active = row.integer(7) != Some(0);
    let fate = match (row.integer(8), is_active) {
        (Some(1), _) => ResultFate::Compacted(None),
        (_, false) => ResultFate::Rewound(None),
        (_, true) => ResultFate::InContext,
    };
    let at = row.number(6).and_then(clock::number);
    call.results.push(CallResult {
        evidence: Evidence::Recorded,
        pieces: text,
        at,
        fate,
        record: Some(whole),
    });
}

/// Returns the spill that a result names which is a preview as a whole.
fn saved(content: &[u8]) -> Option<Citation> {
    let start = String::from_utf8_lossy(content.get(..4096).unwrap_or(content)).into_owned();
    let rest = start.strip_prefix("<persisted-output>\nThis tool result was too large (")?;
    let path = rest.lines().nth(1)?.strip_prefix("Full output saved to: ")?;
    Some(Citation { path: PathBuf::from(path), bytes: None })
}

/// Whether an output holds the notice, and about as much text around it as the notice says was kept. More may be missing,
/// since colours are taken out after the cut.
fn is_cut(output: Json) -> bool {
    let inner = output.raw();
    let Some(at) = memmem::find(inner, NOTICE) else { return false };
    let (before, notice) = inner.split_at(at);
    let Some(end) = memmem::find(notice, b"] ...\\n\\n") else { return false };
    let figures = String::from_utf8_lossy(&notice[NOTICE.len()..end.max(NOTICE.len())]).replace(',', "");
    let Some((omitted, total)) =
        figures.strip_suffix(" total").and_then(|words| words.split_once(" chars omitted out of "))
    else {
        return false;
    };
    let (Ok(omitted), Ok(total)) = (omitted.parse::<u64>(), total.parse::<u64>()) else { return false };
    let points = |encoded: &[u8]| {
        let mut count = 0;
        JsonText::new(encoded).decode(&mut |piece| {
            count += piece.chars().count() as u64;
            true
        });
        count
    };
    let (kept, said) = (points(before) + points(&notice[end..]), total.saturating_sub(omitted));
    // The quotes, and the end of the notice, count here.
    kept <= said + 16 && kept >= said / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_notice_is_no_notice() {
        let cut = |kept: usize, figures: &str| {
            let half = "x".repeat(kept / 2);
            let text = format!("\"{half}\\n\\n... [OUTPUT TRUNCATED - {figures}] ...\\n\\n{half}\"");
            let mut tape = Tape::default();
            is_cut(tape.read(text.as_bytes()).unwrap())
        };
        assert!(cut(1000, "10,000 chars omitted out of 11,000 total"));
        assert!(cut(600, "10,000 chars omitted out of 11,000 total"), "without its colours");
        assert!(!cut(20, "10,000 chars omitted out of 11,000 total"));
        assert!(!cut(2000, "10,000 chars omitted out of 11,000 total"));
        assert!(!cut(1000, "many chars"));
    }
}
