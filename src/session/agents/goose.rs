//! Goose: a database with a row for each message.

use std::path::Path;

use crate::session::text::MAX_RESULT;

use super::{
    ChangeOrigin, Citation, ContextChange, FormatInfo, Json, MAX_TEXT, RecordEntry, RecordFiles, ResultBody,
    RowBuffer, RowsOf, SessionFacts, SessionFormat, TableRows, TableSession, Tape, Transcript, cited,
    database, find, first_text, text_end,
};

const MESSAGES: RowsOf = RowsOf::plain("messages", "content_json");

const OTHER_KINDS: &str = "text image thinking redactedThinking reasoning systemNotification \
    toolConfirmationRequest actionRequired frontendToolRequest";

pub(crate) const GOOSE: SessionFormat = SessionFormat::in_tables(
    FormatInfo { body: |recorded, _| ResultBody::in_parts(recorded), ..FormatInfo::new("goose", "1.52.0") },
    |env, watch| {
        let root = env.dir("GOOSE_PATH_ROOT").map(|root| root.join("data"));
        find::matching(root.or_else(|| find::data_dir(env, "goose")), "sessions/sessions.db", watch)
    },
    RecordFiles::Tables { names: &["sessions", "messages"], list, read },
);

fn list(_: &Path, rows: &TableRows) -> database::Result<Vec<SessionFacts>> {
    if !rows.columns("sessions")?.contains("working_dir") {
        return Ok(Vec::new());
    }
    let facts = "working_dir AS cwd, name AS title, parent_session_id AS parent, created_at AS started, \
        updated_at AS ended";
    rows.sessions("sessions", facts, "")
}

fn read(of: &TableSession, out: &mut Transcript) -> database::Result<()> {
    let source = of.add_source(MESSAGES, out);
    let sql = format!(
        "SELECT rowid, {}, created_timestamp, {}, {} FROM messages WHERE session_id = ? ORDER BY id",
        database::record("content_json"),
        database::record("metadata_json"),
        database::or_null(&of.rows.columns("messages")?, "role"),
    );
    let (mut buffer, mut meta, mut hidden) =
        (RowBuffer::default(), Tape::default(), HiddenResults::default());
    of.each_record(&sql, &of.file.id, out, &mut |row, out| {
        let at = row.time(2);
        let meta = row.bytes(3).and_then(|bytes| meta.read(bytes).ok());
        let is_hidden_from = |who: &str| meta.and_then(|meta| meta.get(who)?.bool()) == Some(false);
        if let Some(content) = row.record(1, MESSAGES, &mut buffer, &mut out.unread) {
            let entry = RecordEntry { record: content, place: row.place(source), at, thread: 0 };
            let is_hidden = is_hidden_from("agentVisible");
            let is_answer = row.text(4).as_deref() == Some("assistant") && !is_hidden_from("userVisible");
            hidden.note(entry, is_hidden, is_answer, out);
            hidden.read(entry, is_hidden, out);
        }
    })?;
    hidden.end(out);
    Ok(())
}

/// What the agent adds after the summary of a compaction.
const COMPACTED: &str = "Your context was compacted";

/// A compaction hides all messages before its summary; the summary of one call with its result hides just these.
#[derive(Default)]
struct HiddenResults {
    /// The calls whose results are hidden, since the last compaction.
    hidden: Vec<u32>,
    /// Whether the model sees any message so far.
    is_begun: bool,
    /// Whether the message before was an answer, too: one answer may be several messages.
    is_answered: bool,
}

impl HiddenResults {
    /// Notes a message before it is read. One that is hidden is not sent any more; an answer is what the model wrote.
    fn note(&mut self, entry: RecordEntry, is_hidden: bool, is_answer: bool, out: &mut Transcript) {
        let goes_on = || !is_answer && first_text(entry.record).starts_with(COMPACTED);
        if !self.is_begun && (!is_hidden || goes_on()) {
            entry.add_event(ContextChange::Compact, self.hidden.drain(..), out);
        }
        self.is_begun |= !is_hidden;
        if is_answer && !self.is_answered {
            out.count_answer(0);
        }
        self.is_answered = is_answer;
    }

    fn read(&mut self, message: RecordEntry, is_hidden: bool, out: &mut Transcript) {
        let mut is_known = true;
        for part in message.record.items() {
            let entry = message.with(part);
            match &*part.word("type") {
                "toolRequest" => {
                    let Some(id) = part.name("id") else { continue };
                    let call = part.object("toolCall").object("value");
                    entry.add_next_call(id, &call.word("name"), call.get("arguments"), out);
                }
                "toolResponse" => self.hidden.extend(result(entry, out).filter(|_| is_hidden)),
                kind => is_known &= out.unread.is_known(kind, OTHER_KINDS),
            }
        }
        out.unread.known += u64::from(is_known);
    }

    fn end(self, out: &mut Transcript) {
        let change = if self.is_begun { ContextChange::Checkpoint } else { ContextChange::Compact };
        out.add_event(change, ChangeOrigin::default(), self.hidden);
    }
}

/// Reads a result. Returns the number of its call, unless that has one already.
fn result(entry: RecordEntry, out: &mut Transcript) -> Option<u32> {
    let part = entry.record;
    let number = out.call_or_new(0, &part.name("id")?, "");
    let call = out.unanswered(number)?;
    let value = part.path(&["toolResult", "value"]);
    let structured = part.object("toolResult").object("value").object("structuredContent");
    call.exit = structured.number("exit_code");
    call.end(value.is_none_or(|value| value.flag("isError")));
    let content = value.and_then(|value| value.get("content"));
    let content = content.or_else(|| part.path(&["toolResult", "error"]));
    let notice = content.into_iter().flat_map(|content| content.items()).find_map(notice);
    let is_cut = notice.is_some();
    // Policies describe no cut with less than two texts, of which the notice is one.
    call.has_unmodelled_cut = is_cut && content.is_some_and(|content| content.items().nth(1).is_none());
    call.note_cut(notice.flatten().map(Citation::new), is_cut);
    entry.note_copy("structuredContent.stdout", structured.get("stdout"), Some(0), call);
    entry.add_result(content, call);
    Some(number)
}

/// How the notice about a command's output begins.
const EXCEEDED: &str = "[Output exceeded ";

/// Reads a text that is nothing but a notice, or, as older versions wrote it, ends with one. Returns the path in it; `None`
/// in its place if the file there lacks a part of the output.
fn notice(part: Json) -> Option<Option<String>> {
    let content = part.get("text").filter(|_| part.is_type("text"))?;
    let start = first_text(content);
    let larger = cited(&start, "The response returned from the tool call was larger (", " search in: ");
    if larger.is_some() {
        return Some(larger);
    }
    let rest = start.strip_prefix(EXCEEDED).map(str::to_owned).or_else(|| notice_at_end(content))?;
    match rest.split_once(" Full output saved to ") {
        Some((_, path)) => Some(Some(path.split(". Read it with").next()?.to_owned())),
        None => rest.contains(" Captured fragment (beginning and end) saved to ").then_some(None),
    }
}

/// Returns what follows the first words of a notice that ends a text, as one does after the last 50 lines of an output, or
/// after all of one that has fewer, in over 50,000 bytes. After any other text it is quoted.
fn notice_at_end(content: Json) -> Option<String> {
    let is_near = text_end(content, MAX_TEXT).contains(EXCEEDED);
    let text = content.text().filter(|_| is_near)?.to_text(MAX_RESULT).text;
    let (before, notice) = text.rsplit_once(EXCEEDED)?;
    let kept = before.strip_suffix("\n\n")?;
    let lines = kept.split('\n').count();
    let is_kept = lines == 50 || lines < 50 && kept.len() > 50_000;
    let (line, end) = notice.split_once("\n\nCommand ").unwrap_or((notice, ""));
    let is_last = line.ends_with(']') && !line.contains('\n') && !end.contains('\n');
    (is_kept && is_last).then(|| notice.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_stands_alone_or_ends_a_text() {
        let of = |text: &str| {
            let part = serde_json::json!({"type": "text", "text": text}).to_string();
            notice(Tape::default().read(part.as_bytes()).unwrap())
        };
        let path = |path: &str| Some(Some(path.to_owned()));
        let cut = "[Output exceeded 2000 line limit (9000 lines total). Full output saved to /t/stdout-0. Read it with shell…]";
        assert_eq!(of(cut), path("/t/stdout-0"));
        assert_eq!(of(&format!("{cut}\n\nCommand exited with code 2")), path("/t/stdout-0"));
        assert_eq!(of(&format!("1\n\n{cut}")), None, "a quoted notice is no notice");
        let kept = "1\n".repeat(50) + "\n";
        assert_eq!(of(&format!("{kept}{cut}")), path("/t/stdout-0"));
        assert_eq!(of(&format!("{kept}{cut}\n\nCommand exited with code 2")), path("/t/stdout-0"));
        let quoted = [format!("{kept}{cut}\n1"), format!("1\n{kept}{cut}"), format!("{kept} {cut}")];
        assert_eq!(quoted.map(|text| of(&text)), [None, None, None]);
        assert_eq!(of(&format!("{}\n\n{cut}", "x".repeat(50_001))), path("/t/stdout-0"));
        assert_eq!(of("[Output exceeded quota]"), None);
        let part = "[Output exceeded 50000 byte limit (20000000 bytes total). Captured fragment (beginning and end) saved to /t/stdout-0; the dropped middle is unrecoverable. Read it with shell…]";
        assert_eq!(of(part), Some(None));
        let any = "The response returned from the tool call was larger (250000 characters) and is stored in the file \
                   which you can use other tools to examine or search in: /t/mcp_response_1.txt";
        assert_eq!(of(any), path("/t/mcp_response_1.txt"));
    }
}
