//! Continue: one JSON document a session, and an index of all.

use std::collections::HashMap;
use std::path::Path;

use super::{
    CallStatus, ContextChange, Evidence, FormatInfo, Json, RecordEntry, RecordFiles, RecordPlace,
    SessionFacts, SessionFormat, TextPiece, Transcript, before_member, between, content, count_records, find,
    first_text, has_before, has_line, is_number, only_file, read_json,
};

const INDEX: &str = "sessions.json";

pub(crate) const CONTINUE: SessionFormat = SessionFormat {
    info: FormatInfo::new("continue", "1.5.47"),
    find: |env, watch| {
        let Some(root) = env.dir_or("CONTINUE_GLOBAL_DIR", ".continue") else { return Vec::new() };
        let dir = root.join("sessions");
        let by_id = |list: Json| list.items().map(facts).map(|facts| (facts.id.clone(), facts)).collect();
        let mut index: HashMap<String, SessionFacts> = read_json(dir.join(INDEX), by_id).unwrap_or_default();
        let mut files = find::files(&dir, |name| name.ends_with(".json") && name != INDEX, watch);
        for file in &mut files {
            file.facts = index.remove(find::stem(&file.path)).unwrap_or_default();
        }
        files
    },
    is_session: |_, head| has_before(head, "history", &["sessionId", "workspaceDirectory"]),
    id: |log| find::stem(log).into(),
    glance: |_, head, _| before_member(head, "history", facts).unwrap_or_default(),
    records: RecordFiles::Documents(only_file, read),
};

fn facts(record: Json) -> SessionFacts {
    SessionFacts {
        id: record.name("sessionId").unwrap_or_default(),
        cwd: record.string("workspaceDirectory"),
        title: record.string("title"),
        // Milliseconds, as text.
        started: record.name("dateCreated").and_then(|at| content::timestamp(at.parse().ok()?)),
        ..SessionFacts::default()
    }
}

fn read(document: Json, place: RecordPlace, _: &Path, out: &mut Transcript) {
    out.facts = facts(document);
    let Some(history) = count_records(document.get("history"), out) else { return };
    // What is sent begins with the last summary.
    let items: Vec<Json> = history.items().collect();
    let summary = items.iter().rposition(|item| is_summary(*item));
    for (number, item) in items.into_iter().enumerate() {
        let (message, entry) =
            (item.object("message"), RecordEntry { record: item, place, at: None, thread: 0 });
        if number > 0 && summary == Some(number) {
            entry.add_event(ContextChange::Compact, 0..out.calls.len() as u32, out);
        }
        if message.has("role", "assistant") && !is_summary(item) {
            out.count_answer(0);
        }
        out.facts.model = message.object("usage").string("model").or(out.facts.model.take());
        for state in item.list("toolCallStates") {
            call(entry.with(state), out);
        }
    }
}

fn is_summary(item: Json) -> bool {
    item.get("conversationSummary").is_some_and(|summary| !summary.is_null() && !summary.is(""))
}

fn call(entry: RecordEntry, out: &mut Transcript) {
    let state = entry.record;
    let Some(id) = state.name("toolCallId") else { return };
    let function = state.object("toolCall").object("function");
    let input = function.get("arguments").or_else(|| state.get("parsedArgs"));
    let tool = function.word("name");
    let number = entry.add_next_call(id, &tool, input, out);
    let call = &mut out.calls[number as usize];
    call.status = match &*state.word("status") {
        "done" => CallStatus::Ok,
        "errored" => CallStatus::Failed,
        "canceled" => CallStatus::Denied,
        _ => CallStatus::NoResult,
    };
    let contents: Vec<Json> = state.list("output").filter_map(|item| item.get("content")).collect();
    let start = contents.first().map(|content| first_text(*content)).unwrap_or_default();
    call.exit = exit_of(&start);
    if let Some((evidence, pieces)) = rendered(&contents, call.status, entry.place) {
        let is_short =
            tool == "Search" && contents.iter().any(|content| has_line(*content, RESULTS, is_results));
        call.note_cut(None, is_cut(&start) || is_short);
        entry.add_text(evidence, pieces, call);
    }
}

/// Returns what is sent for a call: its texts, with a line feed between them; or that the user did not let it run.
fn rendered(contents: &[Json], status: CallStatus, place: RecordPlace) -> Option<(Evidence, Vec<TextPiece>)> {
    let mut pieces = Vec::new();
    for content in contents.iter().filter(|content| content.text().is_some()) {
        if !pieces.is_empty() {
            pieces.push(TextPiece::Added("\n".into()));
        }
        pieces.push(TextPiece::Json(place.span(*content)));
    }
    match (pieces.len(), status) {
        (0, CallStatus::Denied) => {
            Some((Evidence::Rendered, vec![TextPiece::Added("Tool cancelled".into())]))
        }
        (0, _) => None,
        (1, _) => Some((Evidence::Recorded, pieces)),
        _ => Some((Evidence::Rendered, pieces)),
    }
}

/// Reads the status of a command that failed: its output begins with it.
fn exit_of(start: &str) -> Option<i32> {
    let rest = start.strip_prefix("Error executing tool ")?.split_once(": Error (exit code ")?.1;
    rest.split(')').next()?.parse().ok()
}

/// How a search says that it left out matches.
const RESULTS: &str = "[Results truncated: showing ";

fn is_results(line: &str) -> bool {
    let counts = between(line, RESULTS, " matches]").and_then(|counts| counts.split_once(" of "));
    counts.is_some_and(|(some, all)| is_number(some) && is_number(all))
}

/// Whether a text begins with the notice: `(previous 12 lines truncated)`, or as many characters, or both.
fn is_cut(start: &str) -> bool {
    let Some((notice, _)) = start.split_once("\n\n") else { return false };
    let plain =
        ["lines", "characters"].map(|what| between(notice, "(previous ", &format!(" {what} truncated)")));
    let both = between(notice, "(previous output truncated: ", " characters removed)");
    let both = both.and_then(|rest| rest.split_once(" lines and "));
    plain.into_iter().flatten().any(is_number)
        || both.is_some_and(|(lines, characters)| is_number(lines) && is_number(characters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_distinguished_from_output() {
        assert!(is_cut("(previous 11001 lines truncated)\n\n11002"));
        assert!(is_cut("(previous 26412 characters truncated)\n\n313"));
        assert!(is_cut("(previous output truncated: 3 lines and 4 characters removed)\n\nx"));
        assert!(!is_cut("(previous  lines truncated)\n\n"));
        assert!(!is_cut("x\n(previous 11001 lines truncated)\n\n"));
        assert!(is_results("[Results truncated: showing 100 of 4501 matches]"));
        assert!(!is_results("[Results truncated: showing some of 4501 matches]"));
        assert_eq!(exit_of("Error executing tool Bash: Error (exit code 3): err\n"), Some(3));
    }
}
