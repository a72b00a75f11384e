//! opencode 2: a database with a row for each message, which holds its calls. Written from the agent's source.

use crate::session::agents::{
    ChangeOrigin, Citation, ContextChange, FateEvidence, FormatInfo, Json, Kind, MAX_TEXT, RecordEntry,
    RecordFiles, RecordId, RowBuffer, RowsOf, SessionFacts, SessionFormat, TableRows, TableSession,
    Transcript, content, database, first_text, line_range, record_id, text_start,
};

use super::history::status_of;
use super::{OPENCODE_ROWS, databases, is_kilo, list_main, threads};

/// The table of sessions. The one of opencode 1 stays in the database, and is not written any more.
pub(super) const SESSIONS: &str = "session_v2";
const MESSAGES: RowsOf = RowsOf::plain("session_message", "data");

/// How much of a result stands in a checkpoint, in code points.
const COPY: usize = 2000;

/// How much of a checkpoint's text is looked at, in bytes: it holds at most 15,000 tokens.
const MAX_RECENT: usize = 1 << 20;

/// With what a result begins in a checkpoint's text, at the start of a line.
const RESULTS: [&str; 2] = ["[Tool result]: ", "[Tool error]: "];

pub(crate) const OPENCODE_MESSAGES: SessionFormat = SessionFormat::in_tables(
    FormatInfo { name: "opencode-2", made_for: "the source of 2.0", ..OPENCODE_ROWS.info },
    databases,
    RecordFiles::Tables {
        names: &[SESSIONS, MESSAGES.table],
        list: |path, rows| if is_kilo(path) { Ok(Vec::new()) } else { list(rows) },
        read,
    },
);

/// Lists the sessions; those of sub-agents are part of their parents.
fn list(rows: &TableRows) -> database::Result<Vec<SessionFacts>> {
    let mut sessions = list_main(SESSIONS, "", rows)?;
    sessions.iter_mut().for_each(|facts| facts.origin = facts.origin.take().or(Some(facts.id.clone())));
    Ok(sessions)
}

fn read(of: &TableSession, out: &mut Transcript) -> database::Result<()> {
    let source = of.add_source(MESSAGES, out);
    let sql = format!(
        "SELECT rowid, type, time_created, {} FROM session_message WHERE session_id = ? ORDER BY seq",
        database::record("data")
    );
    for (session, thread) in threads(of, SESSIONS, out)? {
        let (mut buffer, mut history) = (RowBuffer::default(), Vec::new());
        of.each_record(&sql, &session, out, &mut |row, out| {
            let at = row.time(2);
            if let Some(record) = row.record(3, MESSAGES, &mut buffer, &mut out.unread) {
                let kind = row.text(1).unwrap_or_default();
                let entry = RecordEntry { record, at, thread, place: row.place(source) };
                out.unread.known += u64::from(read_message(entry, &kind, &mut history, out));
            }
        })?;
    }
    Ok(())
}

struct SentResult {
    call: u32,
    /// The length in bytes and the number of its first text, up to [`COPY`].
    len: usize,
    number: RecordId,
    /// Whether that is all of the result: then the next part follows it.
    is_whole: bool,
}

impl SentResult {
    fn new(call: u32, text: &str, is_alone: bool) -> Self {
        let len = text.char_indices().nth(COPY).map_or(text.len(), |(at, _)| at);
        Self { call, len, number: record_id(&text[..len]), is_whole: is_alone && len == text.len() }
    }

    /// Whether the result stands at the start of a text.
    fn begins(&self, text: &str) -> bool {
        let Some((own, rest)) = text.split_at_checked(self.len) else { return false };
        let is_end = || rest.is_empty() || ["\n[", "\n\n["].iter().any(|next| rest.starts_with(next));
        record_id(own) == self.number && (!self.is_whole || is_end())
    }
}

/// Reads the message. Returns whether it is of a kind that is known.
fn read_message(entry: RecordEntry, kind: &str, history: &mut Vec<SentResult>, out: &mut Transcript) -> bool {
    match kind {
        "assistant" => {
            out.count_answer(entry.thread);
            let content = entry.record.list("content");
            for tool in content.filter(|item| item.is_type("tool")) {
                call(entry.with(tool), history, out);
            }
        }
        "compaction" => compact(entry, history, out),
        kind => return out.unread.is_known(kind, "user system synthetic shell idle"),
    }
    true
}

/// A summary stands for what was before it, if it was made to its end. The newest results stand in its text, cut.
fn compact(entry: RecordEntry, history: &mut Vec<SentResult>, out: &mut Transcript) {
    if !entry.record.has("status", "completed") {
        return;
    }
    let recent = entry.record.get("recent").and_then(|recent| recent.text());
    let recent = recent.map(|recent| recent.to_text(MAX_RECENT).text).unwrap_or_default();
    let copied = copies_in(&recent, history);
    let newest = history.split_off(history.len() - copied);
    // Another provider's model is sent the history instead of a checkpoint of this one.
    let is_native = entry.record.get("providerContext").is_some_and(|context| !context.is_null());
    let evidence = if is_native { FateEvidence::Unknown } else { FateEvidence::Recorded };
    let of = [(ContextChange::Compact, std::mem::take(history)), (ContextChange::Checkpoint, newest)];
    for (change, of) in of {
        let origin = ChangeOrigin { evidence, ..out.origin(entry.thread) };
        out.add_event(change, origin, of.iter().map(|sent| sent.call));
    }
}

/// Returns how many of the newest results stand in a checkpoint's text.
fn copies_in(recent: &str, history: &[SentResult]) -> usize {
    let starts = |marker: &'static str| {
        let begins_line = |at: usize| at == 0 || recent.as_bytes().get(at - 1) == Some(&b'\n');
        let found = recent.match_indices(marker).filter(move |(at, _)| begins_line(*at));
        found.map(|(at, marker)| at + marker.len())
    };
    let mut starts: Vec<usize> = RESULTS.into_iter().flat_map(starts).collect();
    starts.sort_unstable();
    let mut starts = starts.into_iter().rev();
    let is_at = |start: usize, sent: &SentResult| recent.get(start..).is_some_and(|text| sent.begins(text));
    history.iter().rev().take_while(|sent| starts.any(|start| is_at(start, sent))).count()
}

fn call(entry: RecordEntry, history: &mut Vec<SentResult>, out: &mut Transcript) {
    let tool = entry.record;
    let (Some(id), Some(state)) = (tool.name("id"), tool.get("state")) else { return };
    let time = |key: &str| {
        [tool, state].iter().find_map(|holder| holder.path(&["time", key])).and_then(content::time)
    };
    let called = RecordEntry { at: time("created"), ..entry };
    let number = called.add_next_call(id, &tool.word("name"), state.get("input"), out);
    let call = &mut out.calls[number as usize];
    let status = state.word("status");
    let facts = |key: &str| ["metadata", "structured"].iter().find_map(|holder| state.path(&[holder, key]));
    call.exit = facts("exit").and_then(|exit| exit.int()?.try_into().ok());
    call.status = status_of(&status, call.exit);
    let paths = state.list("outputPaths").filter_map(|path| path.short(MAX_TEXT));
    let is_truncated = facts("truncated").and_then(|cut| cut.bool()) == Some(true);
    let Some(content) = result_of(state, &status) else { return };
    let first = first_text(content);
    let shown = first.lines().next().and_then(|line| line_range(line.rsplit_once(", lines ")?.1));
    let is_cut = is_truncated && (!tool.has("name", "read") || call.gives_less(shown));
    call.note_cut(paths.map(Citation::new), is_cut);
    RecordEntry { at: time("completed"), ..entry }.add_result(Some(content), call);
    let mut items = content.items();
    let is_alone = items.next().is_none_or(|item| item.get("text").is_some()) && items.next().is_none();
    history.push(SentResult::new(number, &text_start(content, (COPY + 1) * 4), is_alone));
    // The next request is unknown: it belongs to a later message.
    if [tool, state].iter().any(|holder| holder.object("time").time("pruned").is_some()) {
        out.add_event(ContextChange::Clear, ChangeOrigin::default(), [number]);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_stands_in_a_checkpoint_up_to_its_end() {
        let copies = |recent: &str, text: &str, is_alone: bool| {
            copies_in(recent, &[SentResult::new(0, text, is_alone)])
        };
        assert_eq!(copies("[Tool result]: something else", "", true), 0);
        assert_eq!(copies("[Tool result]: \n\n[User]: go", "", true), 1);
        assert_eq!(copies("[Tool result]: out", "out", true), 1);
        assert_eq!(copies("[User]: the log says\n[Tool result]: out\nok?", "out", true), 0);
        assert_eq!(copies("[Tool result]: out\n[Attached image/png]", "out", false), 1);
        let long = "x".repeat(COPY + 1);
        let cut = format!("[Tool result]: {}\n[truncated]", &long[..COPY]);
        assert_eq!(copies(&cut, &long, true), 1);
        assert_eq!(copies(&format!("[Tool error]: {long}"), &long, true), 1, "which is not cut");
    }
}
