//! mini-SWE-agent: one JSON document a run, its trajectory, which lies wherever the person has it written to.

use std::path::Path;

use memchr::memmem;

use super::{
    CutState, FormatInfo, Json, RecordEntry, RecordFiles, RecordPlace, SessionFacts, SessionFormat,
    Transcript, before_member, count_records, first_text, is_number, only_file, text_end,
};

const ENDING: &str = ".traj.json";

/// How an observation of the default configuration begins, and how one that was cut ends. In between, an output is quoted.
const START: &str = "{\n  \"returncode\": ";
const CUT: &str = "\",\n  \"elided_chars\": ";
const WARNING: &str = ",\n  \"warning\": \"Output too long.\"";
/// What may follow on the same line, before the end: that the command could not be run, or ran too long.
const EXCEPTION: &str = ", \"exception_info\": \"";
const END: &str = "\n}";

/// How much of the end of an observation is looked at, in bytes: an exception names the command.
const MAX_END: usize = 64 << 10;

/// The trajectories of mini-SWE-agent. None is found: only a file that is named is read.
pub(crate) const MINI_SWE_AGENT: SessionFormat = SessionFormat {
    info: FormatInfo::new("mini-swe-agent", "2.4.6"),
    find: |_, _| Vec::new(),
    // In a string a quote has a backslash before it.
    is_session: |path, head| {
        path.to_str().is_some_and(|path| path.ends_with(ENDING))
            && memmem::find(head, b"\"mini_version\":").is_some()
    },
    id: |log| id(log).into(),
    glance: |_, head, _| before_member(head, "messages", facts).unwrap_or_default(),
    records: RecordFiles::Documents(only_file, read),
};

fn id(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()?.strip_suffix(ENDING)).unwrap_or_default()
}

fn facts(document: Json) -> SessionFacts {
    let info = document.object("info");
    let config = info.object("config");
    SessionFacts {
        version: info.name("mini_version"),
        model: config.object("model").string("model_name"),
        cwd: config.object("environment").string("cwd").filter(|cwd| !cwd.is_empty()),
        ..SessionFacts::default()
    }
}

fn read(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript) {
    out.facts = SessionFacts { id: id(path).to_owned(), ..facts(document) };
    let Some(messages) = count_records(document.get("messages"), out) else { return };
    for message in messages.items() {
        let at = message.object("extra").time("timestamp");
        out.facts.note_time(at);
        let entry = RecordEntry { record: message, place, at, thread: 0 };
        match &*message.word("role") {
            "assistant" => {
                out.count_answer(0);
                for called in message.list("tool_calls") {
                    let Some(id) = called.name("id") else { continue };
                    let function = called.object("function");
                    let (tool, arguments) = (function.word("name"), function.get("arguments"));
                    entry.with(called).add_next_call(id, &tool, arguments, out);
                }
            }
            "tool" => result(entry, out),
            "user" if out.facts.title.is_none() => out.facts.title = message.get("content").map(first_text),
            role => out.unread.known -= u64::from(!out.unread.is_known(role, "user system exit")),
        }
    }
}

fn result(entry: RecordEntry, out: &mut Transcript) {
    let message = entry.record;
    let Some(id) = message.name("tool_call_id") else { return };
    let number = out.call_or_new(0, &id, "");
    let Some(call) = out.unanswered(number) else { return };
    let (content, extra) = (message.get("content"), message.object("extra"));
    let is_exception = extra.get("exception_info").is_some_and(|words| !words.is_null() && !words.is(""));
    // With an exception it is the agent's own figure, -1.
    call.exit = extra.number("returncode").filter(|_| !is_exception);
    call.end(is_exception);
    call.cut = content.map(cut_state).unwrap_or_default();
    entry.note_copy("extra.raw_output", extra.get("raw_output"), None, call);
    entry.add_result(content, call);
}

/// Whether an observation was cut; what one of another configuration says is not known.
fn cut_state(content: Json) -> CutState {
    if !first_text(content).starts_with(START) {
        return CutState::Unknown;
    }
    let end = text_end(content, MAX_END);
    // What is quoted holds no line feed as it is.
    let warned = end.strip_suffix(END).and_then(|rest| rest.rsplit_once(WARNING));
    let warned = warned.filter(|(_, rest)| rest.is_empty() || rest.starts_with(EXCEPTION));
    match warned.and_then(|(rest, _)| rest.rsplit_once(CUT)) {
        Some((_, number)) if is_number(number) => CutState::NoSpill,
        _ => CutState::No,
    }
}

#[cfg(test)]
mod tests {
    use crate::session::json::Tape;

    use super::*;

    #[test]
    fn cut_and_uncut_observations_are_distinguished() {
        let cut = |text: &str| {
            let text = serde_json::to_string(text).unwrap();
            cut_state(Tape::default().read(text.as_bytes()).unwrap())
        };
        let observation = |rest: &str| format!("{START}0,\n  {rest}");
        let tail = |tail: &str, end: &str| {
            format!("\"output_head\": \"a\",\n  \"output_tail\": \"{tail}{CUT}12{WARNING}{end}{END}")
        };
        assert_eq!(cut(&observation(&tail("b", ""))), CutState::NoSpill);
        assert_eq!(cut(&observation(&tail(&"é".repeat(200), ""))), CutState::NoSpill);
        let exception = format!("{EXCEPTION}timed out: {}\"", "x".repeat(5000));
        assert_eq!(cut(&observation(&tail("b", &exception))), CutState::NoSpill);
        assert_eq!(cut(&observation(&tail("b", ", \"other\": \"\""))), CutState::No);
        assert_eq!(cut(&observation("\"output\": \"a\"\n}")), CutState::No);
        assert_eq!(cut(&observation("\"output\": \"Output too long.\"\n}")), CutState::No);
        assert_eq!(cut("<returncode>0</returncode>"), CutState::Unknown);
    }
}
