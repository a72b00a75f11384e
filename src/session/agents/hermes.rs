//! Hermes: a database with a row for each message. What most tools give is itself JSON, in a string.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use memchr::memmem;

use super::{
    Call, CallResult, ChangeOrigin, Citation, ContextChange, FormatInfo, IdMap, Json, JsonText, RecordEntry,
    RecordFiles, RecordId, RecordPlace, RecordSpan, ResultBody, RowBuffer, RowsOf, SessionFacts,
    SessionFormat, TableRow, TableRows, TableSession, Tape, TextPiece, TextPieces, Transcript,
    asked_lines_in, database, find, first_text, id_of_bytes, line_range, pieces, record_id,
};

const TITLES: RowsOf = RowsOf::plain("sessions", "title");
const CONTENTS: RowsOf = RowsOf::plain("messages", "content");
const CALLS: RowsOf = RowsOf::plain("messages", "tool_calls");

/// What begins a content that is a list of parts.
const PARTS: &[u8] = b"\0json:";
/// How the notice in a cut output begins, as it is written in JSON.
const NOTICE: &[u8] = b"\\n\\n... [OUTPUT TRUNCATED - ";

/// The sentences that stand in the place of results which were cleared.
const CLEARED: &[&str] = &[
    "[Old tool output cleared to save context space]",
    "[Duplicate tool output — same content as a more recent call]",
    "[screenshot removed to save context]",
    "[Attached image — stripped after compression]",
];

/// How many of the last calls with one id are looked at, of which a row may be a copy.
const MAX_ALIKE: usize = 16;

const SUMMARY: &[u8] = "[CONTEXT COMPACTION — REFERENCE ONLY]".as_bytes();

pub(crate) const HERMES: SessionFormat = SessionFormat::in_tables(
    FormatInfo {
        body: |recorded, output| Ok(ResultBody::in_json(recorded, output)),
        // The shell prints two marks of 27 points around the working directory, and two line feeds.
        parameters: &[("shell_points", |recorded| {
            Some((56 + recorded.transcript.facts.cwd.as_deref()?.chars().count()).to_string())
        })],
        ..FormatInfo::new("hermes", "0.19.0")
    },
    |env, watch| find::in_agent_dir(env, ("HERMES_HOME", ".hermes"), &["state.db"], watch),
    RecordFiles::Tables { names: &["sessions", "messages"], list, read },
);

/// Lists the sessions; those of sub-agents are part of their parents.
fn list(_: &Path, rows: &TableRows) -> database::Result<Vec<SessionFacts>> {
    let (of_session, of_message) = (rows.columns("sessions")?, rows.columns("messages")?);
    if !of_session.contains("source") || !of_message.contains("tool_call_id") {
        return Ok(Vec::new());
    }
    let facts = "title AS title, cwd AS cwd, model AS model, parent_session_id AS parent, started_at AS started, \
        (SELECT MAX(timestamp) FROM messages WHERE session_id = sessions.id) AS ended";
    rows.sessions("sessions", facts, "WHERE source IS NOT 'subagent'")
}

fn read(of: &TableSession, out: &mut Transcript) -> database::Result<()> {
    let contents = of.add_source(CONTENTS, out);
    let calls = of.add_source(CALLS, out);
    let sub_agents = "SELECT id, NULL FROM sessions WHERE source = 'subagent' AND parent_session_id = ?";
    let threads = of.threads(sub_agents, TITLES, out)?;
    let columns = of.rows.columns("messages")?;
    let column = |name| database::or_null(&columns, name);
    let sql = format!(
        "SELECT rowid, role, {}, tool_call_id, {}, tool_name, timestamp, {}, {} FROM messages \
         WHERE session_id = ? ORDER BY id",
        database::record("content"),
        database::record("tool_calls"),
        column("active"),
        column("compacted"),
    );
    for (session, thread) in threads {
        let mut history = ThreadHistory { thread, contents, calls, ..ThreadHistory::default() };
        of.each_record(&sql, &session, out, &mut |row, out| history.message(row, out))?;
        history.end(out);
    }
    Ok(())
}

/// The first row of a result is what the model got, and the last that is active is what it has.
#[derive(Default)]
struct ThreadHistory {
    thread: u32,
    /// The sources with the contents and the calls.
    contents: u32,
    calls: u32,
    /// By the number of the call.
    results: BTreeMap<u32, ResultRows>,
    /// The calls by their ids, each with its tool and arguments as a number.
    called: IdMap<Vec<(u32, RecordId)>>,
    /// Those whose last row is in the context no more.
    inactive: HashSet<u32>,
    /// The first request after the first compaction.
    compacted_at: Option<ChangeOrigin>,
}

struct ResultRows {
    /// The content of the first row.
    first: RecordId,
    /// Whether the first row, or the one that a compaction took last, stands before the first compaction.
    is_early: bool,
    last: Option<ContextChange>,
    /// Whether the last row has another text.
    is_other: bool,
}

impl ThreadHistory {
    fn message(&mut self, row: &TableRow, out: &mut Transcript) {
        let place = row.place(self.contents);
        if self.compacted_at.is_none() && row.bytes(2).is_some_and(|content| content.starts_with(SUMMARY)) {
            self.compacted_at = Some(out.origin(self.thread));
        }
        match row.text(1).unwrap_or_default().as_str() {
            "assistant" => {
                let mut buffer = RowBuffer::default();
                let before = out.calls.len();
                if !row.is_null(4) {
                    let Some(called) = row.record(4, CALLS, &mut buffer, &mut out.unread) else { return };
                    let (place, at) = (row.place(self.calls), row.time(6));
                    let entry = RecordEntry { record: called, place, at, thread: self.thread };
                    for called in called.items() {
                        let Some(id) = called.name("call_id").or_else(|| called.name("id")) else { continue };
                        self.call(entry.with(called), &id, row.integer(7) != Some(0), out);
                    }
                }
                // What a compaction keeps is there again, and no new answer.
                if self.compacted_at.is_none() || out.calls.len() > before {
                    out.count_answer(self.thread);
                }
            }
            "tool" if row.is_null(2) => {}
            "tool" => {
                let mut beginning = Vec::new();
                let content = row.text_record(2, CONTENTS, &mut beginning, &mut out.unread);
                let Some(content) = content else { return };
                self.result(row, content, place, out);
            }
            role if !out.unread.is_known(role, "user system session_meta") => return,
            _ => {}
        }
        out.unread.known += 1;
    }

    /// Reads a call. A compaction inserts again what it keeps, with long arguments cut; else an id that returns is of another
    /// call.
    fn call(&mut self, called: RecordEntry, id: &str, is_active: bool, out: &mut Transcript) {
        let function = called.record.object("function");
        let (tool, arguments) = (function.word("name"), function.get("arguments"));
        let of_function = id_of_bytes(function.raw());
        let is_cut = memmem::find(function.raw(), b"...[truncated]").is_some();
        let known = self.called.entry(record_id(id)).or_default();
        let gone = || known.iter().rev().take(MAX_ALIKE).filter(|(call, _)| self.inactive.contains(call));
        let same = gone().find(|(_, function)| *function == of_function);
        let number = same.or_else(|| gone().next().filter(|_| is_cut)).map(|(call, _)| *call);
        let number = number.unwrap_or_else(|| {
            let number = called.add_next_call(id, &tool, arguments, out);
            known.push((number, of_function));
            number
        });
        if tool == "read_file" {
            out.calls[number as usize].asked_lines = asked_lines_in(arguments);
        }
        out.bind(self.thread, id, number);
        if is_active {
            self.inactive.remove(&number)
        } else {
            self.inactive.insert(number)
        };
    }

    fn result(&mut self, row: &TableRow, content: &[u8], place: RecordPlace, out: &mut Transcript) {
        let Some(id) = row.text(3) else { return };
        let number = out.call_or_new(self.thread, &id, &row.text(5).unwrap_or_default());
        let call = out.calls.get_mut(number as usize).filter(|_| !self.results.contains_key(&number));
        call.into_iter().for_each(|call| result(row, content, place, call));
        let text = id_of_bytes(content);
        let new =
            ResultRows { first: text, is_early: self.compacted_at.is_none(), last: None, is_other: false };
        let history = self.results.entry(number).or_insert(new);
        let is_active = row.integer(7) != Some(0);
        // In which a compaction says what a tool did: ``[terminal] ran `make` -> exit 0, 3 lines output``.
        let tool = out.tool_of(number);
        let is_of_tool = || !tool.is_empty() && content.starts_with(format!("[{tool}] ").as_bytes());
        let is_one_line = || !content.contains(&b'\n') && is_of_tool();
        history.last = match row.integer(8) {
            Some(1) => Some(ContextChange::Compact),
            _ if !is_active => Some(ContextChange::Rewind),
            _ if CLEARED.iter().any(|text| content.trim_ascii() == text.as_bytes()) => {
                Some(ContextChange::Clear)
            }
            _ if text != history.first || is_one_line() => Some(ContextChange::Replace),
            _ => None,
        };
        // The next compaction takes the copy of a kept result.
        history.is_early &= history.last != Some(ContextChange::Compact) || self.compacted_at.is_none();
        history.is_other = history.last == Some(ContextChange::Replace) && text != history.first;
    }

    fn end(self, out: &mut Transcript) {
        use ContextChange::{Clear, Compact, Replace, Rewind};
        for (change, is_early) in
            [Compact, Clear, Replace, Rewind].into_iter().flat_map(|of| [(of, true), (of, false)])
        {
            let is_meant =
                |history: &ResultRows| history.last == Some(change) && history.is_early == is_early;
            let calls = self.results.iter().filter(|(_, history)| is_meant(history)).map(|(call, _)| *call);
            // The rows do not record which of several compactions did it.
            let summary = self.compacted_at.filter(|_| is_early && change != Rewind);
            out.add_event(change, summary.unwrap_or_default(), calls);
        }
        for (call, history) in self.results {
            out.calls[call as usize].later = u32::from(history.is_other);
        }
    }
}

fn result(row: &TableRow, content: &[u8], place: RecordPlace, call: &mut Call) {
    let mut tape = Tape::default();
    let record = tape.read(content).ok();
    let field = |key: &str| record.and_then(|record| record.get(key));
    call.exit = record.and_then(|record| record.number("exit_code"));
    call.end(field("error").is_some_and(|error| !error.is_null()));
    let output = field("output").filter(|output| output.text().is_some());
    let is_short = record.is_some_and(|record| record.flag("truncated"))
        && field("hint").is_some_and(|hint| is_window(&first_text(hint), call));
    call.note_cut(find_spill(content), output.and_then(is_cut) == Some(true) || is_short);
    let whole = RecordSpan::new(place.source, place.row, 0, content.len() as u64);
    let pieces = match content.strip_prefix(PARTS).and_then(|parts| tape.read(parts).ok()) {
        Some(parts) => pieces(parts, RecordPlace { start: PARTS.len() as u64, ..place }),
        None => TextPieces::from_iter([TextPiece::Raw(whole)]),
    };
    call.add(CallResult::recorded(pieces, row.time(6), whole));
}

/// Whether the read tool gave less of a file than it was asked for, by its hint: `Use offset=501 to continue reading (showing
/// 1-500 of 4001 lines)`.
fn is_window(hint: &str, call: &Call) -> bool {
    let shown = hint.split_once(" to continue reading (showing ").and_then(|(_, shown)| line_range(shown));
    shown.is_some() && call.gives_less(shown)
}

/// Returns the spill that a result names which is a preview as a whole.
fn find_spill(content: &[u8]) -> Option<Citation> {
    let start = String::from_utf8_lossy(content.get(..4096).unwrap_or(content)).into_owned();
    let rest = start.strip_prefix("<persisted-output>\nThis tool result was too large (")?;
    let path = rest.lines().nth(1)?.strip_prefix("Full output saved to: ")?;
    Some(Citation::new(path))
}

/// Whether an output with the notice has about as much text as it states (colours go after the cut); `None` without one.
fn is_cut(output: Json) -> Option<bool> {
    let inner = output.raw();
    let (before, notice) = inner.split_at(memmem::find(inner, NOTICE)?);
    let end = memmem::find(notice, b"] ...\\n\\n")?;
    let figures = String::from_utf8_lossy(&notice[NOTICE.len()..end.max(NOTICE.len())]).replace(',', "");
    let (omitted, total) = figures.strip_suffix(" total")?.split_once(" chars omitted out of ")?;
    let (omitted, total): (u64, u64) = (omitted.parse().ok()?, total.parse().ok()?);
    let points = |encoded: &[u8]| JsonText { encoded }.sum(|piece| piece.chars().count()) as u64;
    let (kept, said) = (points(before) + points(&notice[end..]), total.saturating_sub(omitted));
    // The quotes, and the end of the notice, count here.
    Some(kept <= said + 16 && kept >= said / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_notice_does_not_count() {
        let cut = |kept: usize, figures: &str| {
            let half = "x".repeat(kept / 2);
            let text = format!("\"{half}\\n\\n... [OUTPUT TRUNCATED - {figures}] ...\\n\\n{half}\"");
            let mut tape = Tape::default();
            is_cut(tape.read(text.as_bytes()).unwrap()) == Some(true)
        };
        assert!(cut(1000, "10,000 chars omitted out of 11,000 total"));
        assert!(cut(600, "10,000 chars omitted out of 11,000 total"), "without its colours");
        assert!(!cut(20, "10,000 chars omitted out of 11,000 total"));
        assert!(!cut(2000, "10,000 chars omitted out of 11,000 total"));
        assert!(!cut(1000, "many chars"));
    }
}
