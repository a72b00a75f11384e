//! OpenClaw: a database for each of its agents, with pi's entries in rows, large ones compressed.

use std::collections::HashMap;
use std::path::Path;

use super::pi::{PiReader, note_facts};
use super::{
    CallStatus, CutState, FateEvidence, FormatInfo, Json, LogReader, ReadReport, RecordFiles, RecordPlace,
    RowBuffer, RowsOf, SessionFacts, SessionFormat, TableRow, TableRows, TableSession, Transcript, database,
    find, is_number, last_line, texts,
};

const PLAIN: RowsOf = RowsOf::plain("transcript_events", "event_json");
const PACKED: RowsOf = RowsOf { table: "transcript_events", column: "event_zstd", is_packed: true };

/// How many rows of a session a list looks at, and how many bytes of each at most.
const GLANCE_ROWS: u32 = 16;
const GLANCE_BYTES: u32 = 64 << 10;

/// What follows the number in the notices at the end of a text that was cut: when the result came, or when the session was
/// made shorter.
const CUT: [&str; 3] = [
    " more characters truncated; rerun with narrower args if needed]",
    " more characters truncated]",
    " chars truncated; narrow args]",
];

/// What stands for a result that did not fit in with the others.
const ELIDED: &str =
    "[tool result elided: aggregate tool-result budget exceeded; rerun the command if the output is needed]";

pub(crate) const OPENCLAW: SessionFormat = SessionFormat::in_tables(
    FormatInfo::new("openclaw", "2026.9.6"),
    |env, watch| find::matching(env.in_home(".openclaw/agents"), "*/agent/openclaw-agent.sqlite", watch),
    RecordFiles::Tables { names: &[PLAIN.table], list, read },
);

fn list(_: &Path, rows: &TableRows) -> database::Result<Vec<SessionFacts>> {
    if !rows.columns(PLAIN.table)?.contains(PLAIN.column) {
        return Ok(Vec::new());
    }
    let known = first_facts(rows)?;
    let sql =
        "SELECT session_id, MIN(created_at), MAX(created_at) FROM transcript_events GROUP BY session_id";
    rows.all(sql, &[], |row| {
        let id = row.text(0).unwrap_or_default();
        let facts = known.get(&id).cloned().unwrap_or_default();
        let (started, ended) = (row.time(1), row.time(2));
        SessionFacts { id, started, ended, ..facts }
    })
}

/// Returns what the first rows of each session say about it, unless they are long.
fn first_facts(rows: &TableRows) -> database::Result<HashMap<String, SessionFacts>> {
    let short =
        |column: &str| format!("CASE WHEN octet_length({column}) <= {GLANCE_BYTES} THEN {column} END");
    let sql = format!(
        "SELECT session_id, {}, {} FROM transcript_events WHERE seq < {GLANCE_ROWS} ORDER BY session_id, seq",
        short(PLAIN.column),
        short(packed_column(rows)?),
    );
    let (mut known, mut buffer) = (HashMap::<_, SessionFacts>::new(), RowBuffer::default());
    rows.each(&sql, &[], &mut |row| {
        if let Some(record) = event(&row, &mut buffer, &mut ReadReport::default()) {
            note_facts(record, known.entry(row.text(0).unwrap_or_default()).or_default());
        }
        true
    })?;
    Ok(known)
}

/// Returns the column with compressed events; older versions have none.
fn packed_column(rows: &TableRows) -> database::Result<&'static str> {
    Ok(database::or_null(&rows.columns(PACKED.table)?, PACKED.column))
}

/// Returns the event of a row, which is plain in its second column or compressed in its third.
fn event<'a>(row: &'a TableRow, buffer: &'a mut RowBuffer, report: &mut ReadReport) -> Option<Json<'a>> {
    let (column, rows) = if row.is_null(1) { (2, PACKED) } else { (1, PLAIN) };
    row.record(column, rows, buffer, report)
}

fn read(of: &TableSession, out: &mut Transcript) -> database::Result<()> {
    let plain = of.add_source(PLAIN, out);
    let packed = of.add_source(PACKED, out);
    // Old results may be left out of a request without an event, and it is not recorded which.
    out.default_evidence = FateEvidence::Unknown;
    let sql = format!(
        "SELECT rowid, {}, {} FROM transcript_events WHERE session_id = ? ORDER BY seq",
        database::record(PLAIN.column),
        database::record(packed_column(of.rows)?),
    );
    let (mut reader, mut buffer) = (PiReader::default(), RowBuffer::default());
    of.each_record(&sql, &of.file.id, out, &mut |row, out| {
        let place = row.place(if row.is_null(1) { packed } else { plain });
        if let Some(record) = event(row, &mut buffer, &mut out.unread) {
            out.unread.known += u64::from(entry(record, place, &mut reader, out));
        }
    })?;
    reader.derive_events(out);
    out.facts.id.clone_from(&of.file.id);
    Ok(())
}

/// Reads an entry as pi's, and of a result what pi does not have. Returns whether it is of a kind that is known.
fn entry(record: Json, place: RecordPlace, reader: &mut PiReader, out: &mut Transcript) -> bool {
    let message = record.get("message").filter(|message| message.has("role", "toolResult"));
    let result = message.and_then(|message| Some((message, message.name("toolCallId")?)));
    let is_new = |(_, id): &(Json, String)| out.call_mut(0, id).is_none_or(|call| call.result.is_none());
    let result = result.filter(is_new);
    let is_known = reader.record(record, place, out);
    let call = result.and_then(|(message, id)| Some((message, out.call_mut(0, &id)?)));
    if let Some((message, call)) = call {
        call.exit = message.object("details").number("exitCode").or(call.exit);
        call.end(call.status == CallStatus::Failed);
        // Each text of a result is cut by itself.
        let is_cut = |text: Json| text.is(ELIDED) || ends_cut(&last_line(text));
        let content = message.get("content").filter(|content| texts(*content).any(is_cut));
        if let Some(content) = content.filter(|_| call.cut == CutState::No) {
            call.cut = CutState::NoSpill;
            call.has_unmodelled_cut = texts(content).any(|text| text.is(ELIDED));
        }
    }
    is_known
}

/// Whether the last line of a text ends with a notice: `[... 12 more characters truncated; …]`.
fn ends_cut(line: &str) -> bool {
    let before = CUT.iter().find_map(|cut| line.strip_suffix(cut)?.rsplit_once("[... "));
    before.is_some_and(|(_, number)| is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_distinguished_from_output() {
        for cut in CUT {
            assert!(ends_cut(&format!("y[... 4072{cut}")));
            assert!(ends_cut(&format!("[... 1{cut}")));
            assert!(!ends_cut(&format!("[... {cut}")) && !ends_cut(&format!("[... 1{cut} ")));
            assert!(!ends_cut(&format!("[... many{cut}")) && !ends_cut("[... 4072 more"));
        }
    }
}
