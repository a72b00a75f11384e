//! Kimi Code: a log for each agent of a session; what is sent has lines around what is recorded.

use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::preview::measure::is_js_space;
use crate::preview::template::filters::fixed;

use super::{
    Call, Citation, ContextChange, Evidence, FormatInfo, Json, Kind, LogReader, RecordEntry, RecordFiles,
    RecordPlace, RecordedResult, SessionFacts, SessionFormat, ShownLines, TextPiece, TextPieces, Transcript,
    find, first_text, get_or_grow, line_range, pieces, read_json, text_end, text_start, texts, title,
};

/// The beginnings of the names of records that hold nothing about results.
const OTHER_KINDS: &str = "metadata runtime. profile. prompt. permission. turn. full_compaction. config. \
    forked goal. plan_mode. swarm_mode. agent. plugin. llm. usage. token_counting. subagent. task. tools.";

pub(crate) const KIMI_CODE: SessionFormat = SessionFormat {
    info: FormatInfo {
        parameters: &[("wall_seconds", wall_seconds), ("task_id", task_id)],
        ..FormatInfo::new("kimi-code", "2.1.0")
    },
    find: |env, watch| {
        let main = &["sessions/*/*/agents/main/wire.jsonl"];
        find::in_agent_dir(env, ("KIMI_CODE_HOME", ".kimi-code"), main, watch)
    },
    is_session: |_, head| {
        find::begins_with_line(head, &["\"protocol_version\""])
            && memmem::find(head, b"\"runtime.set_binding\"").is_some()
    },
    id: |log| find::dir_name(log, 3).into(),
    glance: |file, head, tail| {
        let (own, facts) = (state(&file.path), find::glance(head, tail, note_facts));
        SessionFacts { cwd: facts.cwd.or(own.cwd), title: own.title.or(facts.title), ..facts }
    },
    records: RecordFiles::Logs(logs, || Box::new(KimiReader::default())),
};

fn wall_seconds(recorded: &RecordedResult) -> Option<String> {
    let TextPiece::Added(text) = recorded.result.pieces.first()? else { return None };
    Some(text.strip_prefix("Wall time: ")?.split(' ').next()?.to_owned())
}

fn task_id(recorded: &RecordedResult) -> Option<String> {
    Some(recorded.call.cites.first()?.path.parent()?.file_name()?.to_str()?.to_owned())
}

/// Returns what the agent keeps beside the logs of a session: the directory, and the title that the person gave it.
fn state(main: &Path) -> SessionFacts {
    let facts = |state: Json| SessionFacts {
        cwd: state.string("cwd"),
        title: state.string("title").filter(|title| state.flag("isCustomTitle") && !title.is_empty()),
        ..SessionFacts::default()
    };
    let dir = main.ancestors().nth(3).unwrap_or(main);
    read_json(dir.join("state.json"), facts).unwrap_or_default()
}

/// Returns the logs of all agents of a session, the main one's first; for the log of a sub-agent, that alone.
fn logs(main: &Path) -> Vec<PathBuf> {
    let agents = main.ancestors().nth(2).filter(|_| find::dir_name(main, 1) == "main");
    let logs = find::matching(agents.map(Path::to_owned), "*/wire.jsonl", &mut |_| true);
    let others = logs.into_iter().map(|log| log.path).filter(|log| log != main);
    std::iter::once(main.to_owned()).chain(others).collect()
}

#[derive(Default)]
struct KimiReader {
    thread: u32,
    /// By the number of the thread.
    histories: Vec<WireHistory>,
}

impl LogReader for KimiReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        let agent = find::dir_name(path, 1);
        self.thread = if agent == "main" { 0 } else { out.thread_id(agent) };
        if self.thread == 0 {
            out.facts.title = state(path).title.or(out.facts.title.take());
        }
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let entry = RecordEntry { record, place, at: record.time("time"), thread: self.thread };
        match &*record.word("type") {
            "context.append_loop_event" => self.event(entry, out),
            "context.append_message" => self.history().add_message(record.object("message")),
            "subagent.spawned" => {
                if let Some(agent) = record.name("subagentId") {
                    let thread = out.thread_id(&agent);
                    out.name_thread(thread, record.name("subagentName"));
                }
            }
            known if OTHER_KINDS.split(' ').any(|kind| known.starts_with(kind)) => {}
            other => return self.history().change(entry, out) || out.unread.unknown(other),
        }
        true
    }
}

impl KimiReader {
    fn history(&mut self) -> &mut WireHistory {
        get_or_grow(&mut self.histories, self.thread)
    }

    fn event(&mut self, entry: RecordEntry, out: &mut Transcript) {
        let Some(event) = entry.record.get("event") else { return };
        let kind = event.word("type");
        // The first sign that it was answered.
        let is_answer = !matches!(&*kind, "step.begin" | "tool.result");
        if is_answer && std::mem::take(&mut self.history().is_asked) {
            out.count_answer(self.thread);
        }
        match &*kind {
            "step.begin" => {
                let history = self.history();
                history.messages.push(Message::Other);
                history.is_asked = true;
            }
            "tool.call" => {
                entry.add_next_call_of(event, ["toolCallId", "name", "args"], out);
            }
            "tool.result" => {
                let Some(id) = event.name("toolCallId") else { return };
                let number = out.call_or_new(self.thread, &id, "");
                let found = event.get("result").and_then(|found| Some((found, found.get("output")?)));
                let is_small = found.is_some_and(|(found, output)| is_small(output, found.flag("isError")));
                self.history().messages.push(Message::Result { call: number, is_small });
                let tool = out.tool_of(number).to_owned();
                if let Some(((found, output), call)) = found.zip(out.unanswered(number)) {
                    read_result(entry, found, output, &tool, call);
                }
            }
            _ => {}
        }
    }
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("time").or_else(|| record.time("created_at")));
    match &*record.word("type") {
        "profile.bind" => {
            facts.cwd = facts.cwd.take().or_else(|| record.object("environmentDisclosure").string("cwd"));
        }
        "llm.request" => facts.model = record.name("model").or(facts.model.take()),
        "turn.prompt" if facts.title.is_none() => facts.title = title(record.get("input")),
        _ => {}
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Prompt,
    Injection,
    /// What stands for the messages before it.
    Summary,
    /// The result of a call, by its number; small ones are never cleared.
    Result {
        call: u32,
        is_small: bool,
    },
    Other,
}

#[derive(Debug, Default)]
struct WireHistory {
    messages: Vec<Message>,
    /// How many messages from the first on had their results cleared.
    cleared: usize,
    /// Whether a request was begun that is not answered yet.
    is_asked: bool,
}

impl WireHistory {
    fn add_message(&mut self, message: Json) {
        let origin = message.object("origin");
        let is_user = message.has("role", "user");
        self.messages.push(match origin.name("kind").as_deref() {
            Some("injection") => Message::Injection,
            Some("compaction_summary") => Message::Summary,
            None | Some("user") if is_user => Message::Prompt,
            Some("skill_activation" | "plugin_command") if is_user && origin.has("trigger", "user-slash") => {
                Message::Prompt
            }
            _ => Message::Other,
        });
    }

    /// Reads a record that changes the history. Returns whether it is one.
    fn change(&mut self, entry: RecordEntry, out: &mut Transcript) -> bool {
        let record = entry.record;
        let (change, calls) = match &*record.word("type") {
            "context.clear" => (ContextChange::Rewind, self.keep_from(usize::MAX)),
            "context.undo" => (ContextChange::Rewind, self.undo(record.number("count").unwrap_or(0))),
            "context.apply_compaction" => {
                let (taken, back) = self.compact(record);
                entry.add_event(ContextChange::Restore, back, out);
                (ContextChange::Compact, taken)
            }
            "micro_compaction.apply" => {
                (ContextChange::Clear, self.clear_to(record.number("cutoff").unwrap_or(0)))
            }
            _ => return false,
        };
        entry.add_event(change, calls, out);
        true
    }

    /// Takes out the messages before one. Returns the calls of the results among them.
    fn keep_from(&mut self, first: usize) -> Vec<u32> {
        self.cleared = 0;
        let end = first.min(self.messages.len());
        calls_of(self.messages.drain(..end))
    }

    /// A summary replaces all but the user's messages; in older records, without `keptUserMessageCount`, only the
    /// first `compactedCount` messages. Returns the calls of the results that it takes, and of those that were cleared and
    /// are whole again.
    fn compact(&mut self, record: Json) -> (Vec<u32>, Vec<u32>) {
        let kept = record.number("keptUserMessageCount");
        let has_tail = record.get("legacyTail").and_then(|tail| tail.bool()).unwrap_or(kept.is_none());
        let compacted = record.number("compactedCount").or_else(|| record.number("count"));
        let first = compacted.filter(|_| has_tail).unwrap_or(usize::MAX);
        let was_cleared = |message: &&Message| !matches!(message, Message::Result { is_small: true, .. });
        let cleared = self.messages.iter().take(self.cleared).skip(first).filter(was_cleared);
        let back = calls_of(cleared.copied());
        let calls = self.keep_from(first);
        let prompts = if has_tail { 0 } else { kept.unwrap_or(0).min(MAX_PROMPTS) };
        let kept = std::iter::repeat_n(Message::Prompt, prompts).chain([Message::Summary]);
        self.messages.splice(..0, kept);
        (calls, back)
    }

    /// Removes the last `count` user messages and all after them except injections; nothing if fewer follow the last
    /// summary.
    fn undo(&mut self, count: usize) -> Vec<u32> {
        let after_summary =
            self.messages.iter().enumerate().rev().take_while(|(_, message)| **message != Message::Summary);
        let mut prompts = after_summary.filter(|(_, message)| **message == Message::Prompt);
        let first = count.checked_sub(1).and_then(|before| prompts.nth(before));
        let Some(first) = first.map(|(at, _)| at) else { return Vec::new() };
        let taken = self.messages.split_off(first);
        self.messages.extend(taken.iter().filter(|message| **message == Message::Injection));
        self.cleared = self.cleared.min(self.messages.len());
        calls_of(taken)
    }

    fn clear_to(&mut self, cutoff: usize) -> Vec<u32> {
        let end = cutoff.min(self.messages.len());
        let new = self.messages.get(self.cleared..end).unwrap_or_default().iter().copied();
        self.cleared = self.cleared.max(end);
        calls_of(new.filter(|message| !matches!(message, Message::Result { is_small: true, .. })))
    }
}

/// The most messages of the person that are taken to stay beside a summary: they fill 20,000 tokens.
const MAX_PROMPTS: usize = 20_000;

fn calls_of(messages: impl IntoIterator<Item = Message>) -> Vec<u32> {
    let call = |message| match message {
        Message::Result { call, .. } => Some(call),
        _ => None,
    };
    messages.into_iter().filter_map(call).collect()
}

const FAILED: &str = "<system>ERROR: Tool execution failed.</system>";
const FAILED_EMPTY: &str = "<system>ERROR: Tool execution failed. Tool output is empty.</system>";
const EMPTY: &str = "<system>Tool output is empty.</system>";
const SAYS_EMPTY: &str = "Tool output is empty.";

/// The tools whose time is sent, besides those of MCP servers.
const TIMED: &[&str] = &["Agent", "AgentSwarm", "Bash", "FetchURL", "Glob", "Grep", "WebSearch"];

/// From how many tokens on a result is cleared.
const MIN_TOKENS: usize = 100;

fn read_result(entry: RecordEntry, found: Json, output: Json, tool: &str, call: &mut Call) {
    let is_error = found.flag("isError");
    call.end(is_error);
    call.exit = exit_of(output).filter(|_| is_error);
    let start = first_text(output);
    let is_notice = start.starts_with(EXCEEDED);
    let saved = if is_notice { spill_at_start(&start) } else { spill_at_end(output) };
    call.note_cut(saved, is_notice || is_short(found, output, tool, call));
    entry.add_text(Evidence::Rendered, render(found, output, tool, is_error, entry.place), call);
}

fn render(found: Json, output: Json, tool: &str, is_error: bool, place: RecordPlace) -> TextPieces {
    let mut sent = TextPieces::new();
    let add = |text: String| TextPiece::Added(text.into());
    let took = found.get("durationMs").and_then(|took| took.float());
    let took = took.and_then(|took| fixed(&(took / 1000.0).to_string(), 3).ok());
    if let Some(took) = took.filter(|_| TIMED.contains(&tool) || tool.starts_with("mcp__")) {
        sent.push(add(format!("Wall time: {took} seconds\n")));
    }
    // The text of an output that is nothing but one.
    let one = texts(output).next().filter(|_| output.items().nth(1).is_none());
    let is_nothing = output.kind() != Kind::String && output.items().next().is_none();
    let is_blank = is_nothing || one.is_some_and(|text| is_blank(text, is_error));
    match (is_error, is_blank) {
        (true, true) => sent.push(add(FAILED_EMPTY.to_owned())),
        (false, true) => sent.push(add(EMPTY.to_owned())),
        (_, false) => {
            // Beside other parts the line about the error is a part of its own.
            let end = if one.is_some() { "\n" } else { "" };
            sent.extend(is_error.then(|| add(format!("{FAILED}{end}"))));
            sent.extend(pieces(output, place));
        }
    }
    if let Some(note) = found.get("note").filter(|note| note.text().is_some()) {
        if is_blank || one.is_some() {
            sent.push(add("\n".to_owned()));
        }
        sent.push(TextPiece::Json(place.span(note)));
    }
    sent
}

/// Whether the agent estimates a result at too few tokens to clear it: four ASCII characters are one, and each other character.
fn is_small(output: Json, is_error: bool) -> bool {
    let mut tokens = if is_error { FAILED.len().div_ceil(4) } else { 0 };
    for text in texts(output) {
        // Any four bytes are a token at least, so that more of a text need not be read.
        let start = text_start(text, 4 * MIN_TOKENS);
        let ascii = start.bytes().filter(u8::is_ascii).count();
        tokens += ascii.div_ceil(4) + start.chars().count() - ascii;
    }
    tokens < MIN_TOKENS
}

/// Whether a tool had no output: of one that failed, not even white space.
fn is_blank(text: Json, is_error: bool) -> bool {
    let Some(text) = text.text() else { return false };
    let mut start = String::new();
    text.decode(&mut |piece| {
        let is_start = start.is_empty() && !is_error;
        start.push_str(if is_start { piece.trim_start_matches(is_js_space) } else { piece });
        start.is_empty() || !is_error && start.trim_end_matches(is_js_space).len() <= SAYS_EMPTY.len()
    });
    start.is_empty() || !is_error && start.trim_end_matches(is_js_space) == SAYS_EMPTY
}

/// The start of a result of which only the beginning and the end are left.
const EXCEEDED: &str = "Tool output exceeded ";

/// What follows a result with cut lines, on a line of its own.
const LINES_CUT: &str =
    "[Per-line truncation occurred; the complete output was saved to a file.\noutput_path: ";

/// What ends that notice.
const LINES_CUT_END: &str = ".]";

/// What stands between that notice and the closing words about a command.
const CLOSING: &[&str] = &["\n\nCommand executed successfully.\ntask_id: ", "\n\ntask_id: "];

/// How much of the end of a result is looked at, in bytes: a path and the closing words.
const MAX_END: usize = 8192;

/// Reads the status from the words that end what a command printed, before those about a cut.
fn exit_of(output: Json) -> Option<i32> {
    let end = text_end(output, MAX_END);
    let (status, after) = end.rsplit_once("Command failed with exit code: ")?.1.split_once('.')?;
    let is_last = matches!(after.split_whitespace().next(), None | Some("[Per-line" | "task_id:"));
    status.parse().ok().filter(|_| is_last)
}

fn spill_at_start(start: &str) -> Option<Citation> {
    let lines = || start.lines().take(10);
    let path = lines().find_map(|line| line.strip_prefix("output_path: "))?;
    Some(spill(path, lines()))
}

fn spill_at_end(output: Json) -> Option<Citation> {
    let end = text_end(output, MAX_END);
    let (before, notice) = end.rsplit_once(LINES_CUT)?;
    let (path, rest) = notice.split_once('\n')?;
    let (next, closing) = rest.split_once(LINES_CUT_END)?;
    let is_last = closing.is_empty() || CLOSING.iter().any(|words| closing.starts_with(words));
    let is_notice = before.ends_with('\n') && next.starts_with("next_step: ") && !next.contains('\n');
    (is_last && is_notice).then(|| spill(path, closing.lines()))
}

fn spill<'a>(path: &str, mut lines: impl Iterator<Item = &'a str>) -> Citation {
    let bytes = lines.find_map(|line| line.strip_prefix("output_size_bytes: ")?.parse().ok());
    Citation { bytes, is_decoded: true, ..Citation::new(path) }
}

/// Whether a tool left out a part of its own accord, and says so in the note or at the end.
fn is_short(found: Json, output: Json, tool: &str, call: &Call) -> bool {
    let note = found.get("note").map(first_text).unwrap_or_default();
    match tool {
        "Read" => {
            let is_notice = |text: &str| text.contains("Character limit reached. Effective max_chars: ");
            let is_told = is_notice(&note) || text_end(output, MAX_END).lines().last().is_some_and(is_notice);
            let read = note.split_once(" lines read from file ");
            let count = read.and_then(|(count, _)| count.trim_start_matches("<system>").parse().ok());
            is_told && call.gives_less(count.map(|count| ShownLines { count, is_end: false }))
        }
        "Glob" => {
            let (start, end) = (first_text(output), text_end(output, MAX_END));
            let ends = start.lines().take(3).chain(end.lines().rev().take(3)).chain(note.lines());
            ends.into_iter().any(is_first_page)
        }
        _ => false,
    }
}

/// Whether a line says that only the first matches are shown: `Showing matches 1–100 of 150.`
fn is_first_page(line: &str) -> bool {
    let told = line.split_once("Showing matches 1–").filter(|(_, told)| told.contains(" of "));
    told.and_then(|(_, told)| line_range(&format!("1-{told}"))).is_some_and(|shown| !shown.is_end)
}
