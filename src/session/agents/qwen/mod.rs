//! Qwen Code: a log that is a tree, of messages in the form of Gemini's interface.

mod context;

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::base::env::Env;
use crate::base::fs::plain_file;

use super::{
    Branches, Call, CallStatus, ChangeOrigin, Citation, FateEvidence, FormatInfo, Json, Kind, LogReader,
    MAX_TEXT, RecordEntry, RecordFiles, RecordId, RecordPlace, SessionFacts, SessionFormat, Transcript,
    between, cited, find, first_text, has_line, is_number, last_line, shown_lines, title,
};

use context::{Step, StepKind};

/// How the notices of cut outputs begin, and what stands in their next line before the path: of one tool's limit, of that of
/// a batch, and of the last one.
const NOTICES: [(&str, &str); 3] = [
    ("Tool output was too large and has been truncated.\nThe full output has been saved to: ", ""),
    ("<persisted-output>\nOutput too large (", " Full output saved to: "),
    ("Tool output truncated. Persisted tool-output artifact: ", ""),
];

pub(crate) const QWEN_CODE: SessionFormat = SessionFormat {
    info: FormatInfo::new("qwen-code", "0.24.4"),
    find: |env, watch| {
        find::in_agent_dir(env, ("QWEN_RUNTIME_DIR", ".qwen"), &["projects/*/chats/*.jsonl"], watch)
    },
    is_session: |_, head| find::begins_with_line(head, &["\"parentUuid\"", "\"sessionId\"", "\"parts\""]),
    id: |log| find::stem(log).into(),
    glance: |_, head, tail| find::glance(head, tail, note_facts),
    records: RecordFiles::Logs(logs, || Box::new(QwenReader::default())),
};

/// Returns the log of the main conversation, and those of its sub-agents, which lie beside the directory of the logs.
fn logs(main: &Path) -> Vec<PathBuf> {
    let dir = main.ancestors().nth(2).map(|project| project.join("subagents").join(find::stem(main)));
    let others = find::matching(dir, "agent-*.jsonl", &mut |_| true);
    std::iter::once(main.to_owned()).chain(others.into_iter().map(|file| file.path)).collect()
}

#[derive(Default)]
struct QwenReader {
    thread: u32,
    branches: Branches,
    steps: Vec<Step>,
    /// The calls through `tool_call` of a tool whose results are cleared.
    bridged: HashSet<u32>,
}

impl LogReader for QwenReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        let is_sub_agent = find::dir_name(path, 2) == "subagents";
        let id = find::stem(path).strip_prefix("agent-").filter(|_| is_sub_agent).unwrap_or_default();
        self.thread = out.thread_id(id);
        self.branches.shrink();
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        let id = record.id("uuid").unwrap_or_default();
        if self.thread == 0 {
            note_facts(record, &mut out.facts);
            self.branches.add(id, record.id("parentUuid"));
        }
        let entry = RecordEntry { record, place, at: record.time("timestamp"), thread: self.thread };
        match &*record.word("type") {
            "assistant" => {
                self.calls(entry, out);
                let tokens = record.object("usageMetadata").number("promptTokenCount");
                self.step(entry, id, StepKind::Answer { tokens }, out);
                if self.thread == 0 {
                    out.count_answer(0);
                }
            }
            "tool_result" => self.result(entry, id, out),
            "system" => match &*record.word("subtype") {
                "chat_compression" => self.step(entry, id, compression(record, out), out),
                "rewind" => self.step(entry, id, StepKind::Rewind, out),
                _ => {}
            },
            "user" => {
                out.name_thread(self.thread, record.name("agentName").filter(|_| self.thread != 0));
                self.step(entry, id, StepKind::Prompt, out);
            }
            other => return out.unread.unknown(other),
        }
        true
    }

    fn derive_events(&mut self, out: &mut Transcript) {
        out.events.clear();
        out.default_evidence = if has_own_limits(out) { FateEvidence::Unknown } else { FateEvidence::ByRule };
        context::events(&self.steps, &self.branches, out);
        for thread in 1..out.threads.len() {
            // The id is the kind of agent, and the id of the call that started it.
            let id = &out.threads[thread].id;
            let mut parts = id.match_indices('-').map(|(at, _)| (&id[..at], &id[at + 1..]));
            let kind = parts.find(|(_, call)| out.call_number(0, call).is_some());
            let kind = kind.map(|(kind, _)| kind.to_owned());
            out.name_thread(thread as u32, kind);
        }
    }
}

impl QwenReader {
    fn step(&mut self, entry: RecordEntry, record: RecordId, kind: StepKind, out: &Transcript) {
        if self.thread == 0 {
            let origin = out.origin(entry.thread);
            let origin = ChangeOrigin { request: origin.request.or(Some(1)), ..origin };
            self.steps.push(Step { record, at: entry.at, origin, kind });
        }
    }

    fn result(&mut self, entry: RecordEntry, id: RecordId, out: &mut Transcript) {
        for part in parts(entry.record) {
            let Some(response) = part.get("functionResponse") else { continue };
            let Some(call_id) = response.name("id") else { continue };
            let tool = response.word("name");
            let number = out.call_or_new(self.thread, &call_id, &tool);
            out.note_version(number, &entry.record.word("version"));
            let Some(call) = out.unanswered(number) else { continue };
            result(entry, response, &tool, call);
            let is_cleared = context::is_cleared_tool(&tool) || self.bridged.contains(&number);
            let units = if is_cleared { units(response) } else { 0 };
            self.step(entry, id, StepKind::Result { call: number, units }, out);
        }
    }

    fn calls(&mut self, entry: RecordEntry, out: &mut Transcript) {
        for called in parts(entry.record).filter_map(|part| part.get("functionCall")) {
            let number = entry.add_next_call_of(called, ["id", "name", "args"], out);
            let (Some(number), args) = (number, called.object("args")) else { continue };
            out.note_version(number, &entry.record.word("version"));
            if called.has("name", "tool_call") && context::is_cleared_tool(&args.word("name")) {
                self.bridged.insert(number);
            }
        }
    }
}

/// Whether the settings of the user or of the project change the limits by which results are cleared, or cannot be read.
fn has_own_limits(of: &Transcript) -> bool {
    let project = of.facts.cwd.as_ref().map(|cwd| Path::new(cwd).join(".qwen"));
    let above = of.sources.first().and_then(|log| log.path().ancestors().find(|dir| dir.ends_with(".qwen")));
    let above = above.map(Path::to_owned).filter(|dir| Some(dir) != project.as_ref());
    // QWEN_RUNTIME_DIR moves the logs, not the settings.
    let user = above.or_else(|| Env::from_process().in_home(".qwen"));
    user.into_iter().chain(project).any(|dir| match plain_file::read(&dir.join("settings.json")) {
        Ok(text) => text.contains("\"toolResults"),
        Err(error) => error.kind() != ErrorKind::NotFound,
    })
}

/// Reads a compression: the calls whose results it kept, and whether each was cleared before.
fn compression(record: Json, out: &Transcript) -> StepKind {
    let history = record.path(&["systemPayload", "compressedHistory"]);
    let Some(history) = history.filter(|history| history.kind() == Kind::Array) else {
        return StepKind::Loss;
    };
    let result = |part: Json| {
        let response = part.object("functionResponse");
        let call = out.call_number(0, &response.name("id")?)?;
        Some((call, response.object("response").has("output", context::CLEARED)))
    };
    let kept = history.items().flat_map(|content| content.list("parts")).filter_map(result);
    StepKind::Compression { kept: kept.collect() }
}

/// Returns the length in UTF-16 units of a result that can be cleared; 0 for a failure.
fn units(response: Json) -> u32 {
    let is_failure = response.path(&["response", "error"]).is_some();
    let output = response.path(&["response", "output"]).filter(|_| !is_failure);
    let of_piece = |piece: &str| if piece.is_ascii() { piece.len() } else { piece.encode_utf16().count() };
    let units = output.and_then(|output| output.text()).map_or(0, |text| text.sum(of_piece));
    u32::try_from(units).unwrap_or(u32::MAX)
}

/// Whether a tool left out a part of its own accord, and says so.
fn is_short(response: Json, tool: &str, call: &Call) -> bool {
    let Some(output) = response.path(&["response", "output"]) else { return false };
    match tool {
        "read_file" => {
            let start = first_text(output);
            let is_told = start.lines().next().is_some_and(|line| line.ends_with(" total lines."));
            let shown = shown_lines(&start).filter(|_| is_told && start.starts_with("Showing lines "));
            shown.is_some() && call.gives_less(shown)
        }
        "glob" => between(&last_line(output), "[", " files truncated] ...").is_some_and(is_number),
        "grep_search" if call.gives_less(None) => {
            between(&last_line(output), "[", " lines truncated] ...").is_some_and(is_number)
        }
        _ => false,
    }
}

/// Whether a result was cut, and its last line says that the whole could not be saved.
fn is_unsaved(content: Json) -> bool {
    last_line(content) == "[Note: Could not save full output to file]"
        && has_line(content, "[CONTENT TRUNCATED]", |line| line == "... [CONTENT TRUNCATED] ...")
}

fn parts(record: Json) -> impl Iterator<Item = Json> {
    record.list_at(&["message", "parts"])
}

fn result(entry: RecordEntry, response: Json, tool: &str, call: &mut Call) {
    let failed = response.path(&["response", "error"]);
    let content = failed.or_else(|| response.path(&["response", "output"]));
    let ui = entry.record.object("toolCallResult");
    let display = ui.object("resultDisplay");
    call.end(failed.is_some());
    if ui.has("status", "cancelled") {
        call.status = CallStatus::Denied;
    }
    call.exit = display.number("exitCode");
    let files = display.list("outputFiles");
    let mut paths: Vec<String> = files.filter_map(|path| path.short(MAX_TEXT)).collect();
    if paths.is_empty() {
        let start = content.map(first_text).unwrap_or_default();
        let found = NOTICES.iter().find_map(|(beginning, before)| cited(&start, beginning, before));
        call.has_unmodelled_cut = found.is_some() && !start.starts_with(NOTICES[0].0);
        paths.extend(found);
    }
    let is_cut =
        display.flag("truncated") || content.is_some_and(is_unsaved) || is_short(response, tool, call);
    call.note_cut(paths.into_iter().map(Citation::new), is_cut);
    entry.note_copy("resultDisplay.output", display.get("output"), Some(32_000), call);
    entry.add_result(content, call);
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("timestamp"));
    if facts.id.is_empty() {
        facts.id = record.name("sessionId").unwrap_or_default();
    }
    facts.version = record.name("version").or(facts.version.take());
    facts.cwd = facts.cwd.take().or_else(|| record.string("cwd"));
    facts.model = record.name("model").or(facts.model.take());
    if facts.title.is_none() && record.is_type("user") {
        facts.title = title(record.path(&["message", "parts"]));
    }
}
