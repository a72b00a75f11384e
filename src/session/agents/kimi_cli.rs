//! Kimi CLI: the model's histories, of which older ones are kept under other names, and the times in another log.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};

use crate::session::text::{MAX_RESULT, to_text};

use super::{
    Call, CallStatus, ChangeOrigin, Citation, ContextChange, FormatInfo, Json, LogReader, RecordEntry,
    RecordFiles, RecordId, RecordPlace, RecordSpan, RecordedResult, ResultBody, SessionFacts, SessionFormat,
    ShownLines, Transcript, asked_lines_in, find, first_text, id_of_bytes, last_line, read_json, texts,
    title,
};

const HISTORY: &str = "context.jsonl";
/// What happened, with times.
const EVENTS: &str = "wire.jsonl";

pub(crate) const KIMI_CLI: SessionFormat = SessionFormat {
    info: FormatInfo {
        body: |recorded, _| Ok(ResultBody::after(recorded, head_of(recorded))),
        ..FormatInfo::new("kimi-cli", "1.49.0")
    },
    find: |env, watch| {
        find::in_agent_dir(env, ("KIMI_SHARE_DIR", ".kimi"), &["sessions/*/*/context.jsonl"], watch)
    },
    is_session: |_, head| {
        let roles = ["\"_system_prompt\"", "\"_checkpoint\""];
        roles.iter().any(|role| find::begins_with_line(head, &[role]))
    },
    id: |history| find::dir_name(history, 1).into(),
    glance: |file, _, _| {
        let history = &file.path;
        let (head, tail) = find::ends(&history.with_file_name(EVENTS)).unwrap_or_default();
        let facts = find::glance(&head, &tail, note_facts);
        SessionFacts { cwd: project_of(history), title: custom_title(history).or(facts.title), ..facts }
    },
    records: RecordFiles::Logs(logs, || Box::new(KimiReader::default())),
};

/// The last lines about a background task, and what its output follows.
const TASK_LINES: &str = "\nfull_output_tool: ";
const TASK_OUTPUT: &str = "\n[output]\n";

/// Returns where an output begins: after a message, a part of its own, or the lines about a background task.
fn head_of(recorded: &RecordedResult) -> Option<usize> {
    let RecordedResult { transcript, result, text, .. } = recorded;
    if let Some(header) = text.find(TASK_LINES) {
        return Some(header + text[header..].find(TASK_OUTPUT)? + TASK_OUTPUT.len());
    }
    let message = result.pieces.get(..1).filter(|_| result.pieces.len() > 1)?;
    to_text(transcript, message, MAX_RESULT).ok().map(|(message, _)| message.len())
}

fn custom_title(history: &Path) -> Option<String> {
    let title = read_json(history.with_file_name("state.json"), |record| record.string("custom_title"));
    title.flatten().filter(|title| !title.is_empty())
}

/// Returns the directory of the project of a session, for which the directory above the session's is named.
fn project_of(history: &Path) -> Option<String> {
    let name = find::dir_name(history, 2);
    let is_meant = |project: &Json| {
        let Some(path) = project.string("path") else { return false };
        let hash = format!("{:x}", Md5::digest(path));
        match project.name("kaos").filter(|host| host != "local") {
            Some(host) => format!("{host}_{hash}") == name,
            None => hash == name,
        }
    };
    let root = history.ancestors().nth(4)?;
    read_json(root.join("kimi.json"), |record| {
        record.list("work_dirs").filter(is_meant).last()?.string("path")
    })?
}

/// Returns the logs of a session: of the main conversation the histories, oldest first, and the events; then those of the
/// sub-agents. For another file than a session's history, that alone.
fn logs(main: &Path) -> Vec<PathBuf> {
    let dir = main.parent().filter(|_| main.ends_with(HISTORY));
    let Some(dir) = dir else { return vec![main.to_owned()] };
    let sub_agents = find::directories(&dir.join("subagents"), &mut |_| true);
    std::iter::once(dir.to_owned()).chain(sub_agents).flat_map(|dir| conversation_logs(&dir)).collect()
}

fn conversation_logs(dir: &Path) -> Vec<PathBuf> {
    let old = find::files(dir, |name| old_number(name).is_some(), &mut |_| true).into_iter();
    let mut logs: Vec<_> = old.map(|file| file.path).collect();
    logs.sort_by_key(|path| old_number(find::dir_name(path, 0)));
    logs.extend([HISTORY, EVENTS].map(|name| dir.join(name)).into_iter().filter(|path| path.is_file()));
    logs
}

/// Returns the number of a history that was renamed: 2 of `context_2.jsonl`.
fn old_number(name: &str) -> Option<u64> {
    name.strip_prefix("context_")?.strip_suffix(".jsonl")?.parse().ok()
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("timestamp"));
    let message = record.get("message").filter(|message| message.is_type("TurnBegin"));
    if let (None, Some(message)) = (&facts.title, message) {
        facts.title = title(message.path(&["payload", "user_input"]));
    }
}

const OTHER_EVENTS: &str = "TurnBegin TurnEnd SteerInput StepInterrupted StepRetry HookTriggered \
    HookResolved HookRequest CompactionBegin MCPLoadingBegin MCPLoadingEnd StatusUpdate Notification \
    ApprovalRequest ApprovalResponse PlanDisplay BtwBegin BtwEnd ToolCallRequest QuestionRequest";

/// How the message begins that stands for a history that was summed up.
const SUMMARY: &str = "<system>Previous context has been compacted.";

/// How often calls of one thread may have the same id. A service that counts its calls begins anew after each summary.
const MAX_ALIKE: usize = 1000;

/// How much of a background task's output is looked at for its header, in bytes.
const MAX_HEADER: usize = 64 << 10;

#[derive(Default)]
struct KimiReader {
    logs: Vec<KimiLog>,
    /// Which of them is read now.
    now: usize,
    /// The calls with results, by their numbers, with the last log that holds each.
    results: BTreeMap<u32, usize>,
    summed_up: Vec<(u32, ChangeOrigin)>,
}

#[derive(Default)]
struct KimiLog {
    path: PathBuf,
    thread: u32,
    is_events: bool,
    /// The summary with which it begins, as a number.
    summary: Option<RecordId>,
    /// Where the calls are by the agent's ids: in the transcript an id that returned has a number after it.
    ids: HashMap<Box<str>, Box<str>>,
    /// Whether a request was begun that is not answered yet.
    is_asked: bool,
    /// How many events of a kind had an id.
    counts: HashMap<(Box<str>, Box<str>), usize>,
}

impl LogReader for KimiReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        let known = self.logs.iter().position(|log| log.path == path);
        self.now = known.unwrap_or(self.logs.len());
        if known.is_none() {
            let agent = if find::dir_name(path, 2) == "subagents" { find::dir_name(path, 1) } else { "" };
            let (thread, is_events) = (out.thread_id(agent), path.ends_with(EVENTS));
            if thread == 0 && self.logs.is_empty() {
                out.facts.title = custom_title(path);
            }
            self.logs.push(KimiLog { path: path.to_owned(), thread, is_events, ..KimiLog::default() });
        }
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        let KimiLog { thread, is_events, .. } = *self.log();
        let entry = RecordEntry { record, place, at: record.time("timestamp"), thread };
        if is_events { self.event(entry, out) } else { self.message(RecordEntry { at: None, ..entry }, out) }
    }

    fn derive_events(&mut self, out: &mut Transcript) {
        // By the last history of each result: results of one history share a fate.
        let mut left: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        self.results.iter().for_each(|(call, log)| left.entry(*log).or_default().push(*call));
        out.events.clear();
        for (log, calls) in left {
            let Some((change, origin)) = self.change_after(log) else { continue };
            out.add_event(change, origin, calls);
        }
    }
}

impl KimiReader {
    fn log(&mut self) -> &mut KimiLog {
        &mut self.logs[self.now]
    }

    /// Reads a record of a history. Returns whether its role is known.
    fn message(&mut self, entry: RecordEntry, out: &mut Transcript) -> bool {
        let record = entry.record;
        match &*record.word("role") {
            "assistant" => record.list("tool_calls").for_each(|called| self.call(entry, called, out)),
            "tool" => self.result(entry, out),
            "user" => {
                let content =
                    record.get("content").filter(|content| first_text(*content).starts_with(SUMMARY));
                let log = self.log();
                log.summary = log.summary.or(content.map(|content| id_of_bytes(content.raw())));
            }
            role => return out.unread.is_known(role, "_system_prompt _checkpoint _usage system developer"),
        }
        true
    }

    fn call(&mut self, entry: RecordEntry, called: Json, out: &mut Transcript) {
        let Some(id) = called.name("id") else { return };
        let Some(own) = self.own_id(&id, entry.with(called), out) else { return };
        // From here on in this log the id means this call.
        self.log().ids.insert(id.into(), own.clone());
        let function = called.object("function");
        let (tool, arguments) = (function.word("name"), function.get("arguments"));
        let call = entry.call(own, &tool, arguments, out);
        let number = out.add_call(call);
        if tool == READ_TOOL {
            out.calls[number as usize].asked_lines = asked_lines_in(arguments);
        }
    }

    /// Returns the id of a call in the transcript; one that an earlier history has word for word keeps its id.
    fn own_id(&mut self, id: &str, called: RecordEntry, out: &Transcript) -> Option<Box<str>> {
        let input = called.record.path(&["function", "arguments"]).map(|input| called.place.span(input));
        let is_taken = self.log().ids.contains_key(id);
        let is_it = |call: u32| !is_taken && is_same(out.calls[call as usize].input, input, out);
        numbered(id).find(|own| out.call_number(called.thread, own).is_none_or(is_it))
    }

    fn result(&mut self, entry: RecordEntry, out: &mut Transcript) {
        let record = entry.record;
        let (Some(id), Some(content)) = (record.name("tool_call_id"), record.get("content")) else { return };
        let Some(own) = self.call_of_result(&id, entry, out) else { return };
        let number = out.call_or_new(entry.thread, &own, "");
        self.results.insert(number, self.now);
        let tool = out.tool_of(number).to_owned();
        let call = out.unanswered(number);
        call.into_iter().for_each(|call| read_result(entry, content, &tool, call));
    }

    /// Returns the call of a result: if that has another result already, the next of the same id, with the same input.
    fn call_of_result(&mut self, id: &str, entry: RecordEntry, out: &mut Transcript) -> Option<Box<str>> {
        let (thread, own) = (entry.thread, self.log().ids.get(id).cloned().unwrap_or_else(|| id.into()));
        let Some(call) = out.call_mut(thread, &own).cloned() else { return Some(own) };
        let first = call.first().and_then(|first| first.record);
        if first.is_none() || is_same(first, Some(entry.span()), out) {
            return Some(own);
        }
        let next = numbered(id).find(|next| out.call_mut(thread, next).is_none())?;
        let new = Call::new(next.clone(), thread, call.tool);
        out.add_call(Call { input: call.input, record: call.record, ..new });
        self.log().ids.insert(id.into(), next.clone());
        Some(next)
    }

    /// Reads an event. Returns whether its kind is known.
    fn event(&mut self, entry: RecordEntry, out: &mut Transcript) -> bool {
        let RecordEntry { record, at, thread, .. } = entry;
        if thread == 0 {
            note_facts(record, &mut out.facts);
        }
        let Some(message) = record.get("message") else {
            return out.unread.is_known(&record.word("type"), "metadata");
        };
        let Some(payload) = message.get("payload") else { return true };
        let kind = message.word("type");
        let is_answer = matches!(&*kind, "ContentPart" | "ToolCall" | "ToolCallPart");
        if is_answer && std::mem::take(&mut self.log().is_asked) {
            out.count_answer(thread);
        }
        match &*kind {
            "ToolCall" => {
                if let Some(call) = self.next_call(&kind, payload.name("id"), out) {
                    call.at = call.at.or(at);
                }
            }
            "ToolResult" => {
                let call = self.next_call(&kind, payload.name("tool_call_id"), out);
                if let Some(first) = call.and_then(|call| call.result.as_mut()) {
                    first.at = first.at.or(at);
                }
            }
            "StepBegin" => self.log().is_asked = true,
            "ContentPart" | "ToolCallPart" => {}
            "CompactionEnd" => self.summed_up.push((thread, out.origin(entry.thread))),
            "SubagentEvent" => {
                if let Some(agent) = payload.name("agent_id").filter(|id| !id.is_empty()) {
                    let thread = out.thread_id(&agent);
                    out.name_thread(thread, payload.name("subagent_type"));
                }
            }
            kind => return out.unread.is_known(kind, OTHER_EVENTS),
        }
        true
    }

    /// Returns the call of an event: the nth event of a kind with an id belongs to the nth call with that id.
    fn next_call<'a>(
        &mut self,
        kind: &str,
        id: Option<String>,
        out: &'a mut Transcript,
    ) -> Option<&'a mut Call> {
        let (log, id) = (self.log(), id?);
        let count = log.counts.entry((kind.into(), id.as_str().into())).or_default();
        let own = numbered(&id).nth(*count)?;
        *count += 1;
        out.call_mut(log.thread, &own)
    }

    /// Returns what took the results of a history away, a summary or not; `None` for the last history of a thread. A history
    /// that was taken back begins with the same summary again.
    fn change_after(&self, log: usize) -> Option<(ContextChange, ChangeOrigin)> {
        let thread = self.logs[log].thread;
        let histories =
            self.logs.iter().enumerate().filter(|(_, log)| log.thread == thread && !log.is_events);
        let (before, after): (Vec<_>, Vec<_>) = histories.partition(|(number, _)| *number <= log);
        let (_, next) = after.first()?;
        if next.summary.is_none_or(|summary| self.logs[log].summary == Some(summary)) {
            return Some((ContextChange::Rewind, ChangeOrigin::default()));
        }
        let mut earlier: Vec<_> = before.iter().filter_map(|(_, log)| log.summary).collect();
        earlier.dedup();
        let earlier = earlier.len();
        let of_thread = self.summed_up.iter().filter(|(of, _)| *of == thread);
        let origin = of_thread.map(|(_, origin)| *origin).nth(earlier);
        Some((ContextChange::Compact, origin.unwrap_or_default()))
    }
}

/// Returns an id and what it is called when it returns: `id`, `id#2`, `id#3`.
fn numbered(id: &str) -> impl Iterator<Item = Box<str>> {
    let id: Box<str> = id.into();
    (1..=MAX_ALIKE).map(move |number| if number == 1 { id.clone() } else { format!("{id}#{number}").into() })
}

/// Whether two values of the records are the same, byte for byte.
fn is_same(a: Option<RecordSpan>, b: Option<RecordSpan>, out: &Transcript) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let bytes = |span: RecordSpan| out.read(span, u64::MAX).ok();
            a.len() == b.len() && bytes(a).is_some_and(|bytes_of_a| Some(bytes_of_a) == bytes(b))
        }
        (a, b) => a == b,
    }
}

fn read_result(entry: RecordEntry, content: Json, tool: &str, call: &mut Call) {
    let start = first_text(content);
    let error = start.strip_prefix("<system>ERROR: ");
    call.status = match error {
        Some(words) if words.starts_with("The tool call is rejected by the user") => CallStatus::Denied,
        Some(_) => CallStatus::Failed,
        None => CallStatus::Ok,
    };
    let code = error.and_then(|words| words.strip_prefix("Command failed with exit code: "));
    call.exit = code.and_then(|code| code.split('.').next()?.parse().ok());
    let saved = if tool == "TaskOutput" { task_log(content) } else { None };
    let is_cut = start.ends_with(" Output is truncated to fit in the message.</system>")
        || tool == READ_TOOL && is_short(&start, call)
        || last_line(content).starts_with("[Output truncated: exceeded ");
    call.note_cut(saved, is_cut);
    entry.add_result(Some(content), call);
}

const READ_TOOL: &str = "ReadFile";

/// Whether the read tool left out a part of what it was asked for, by its message: `600 lines read from file starting from
/// line 1. Total lines in file: 4001. Max 102400 bytes reached. Lines [7] were truncated.`
fn is_short(message: &str, call: &Call) -> bool {
    let read = message
        .strip_prefix("<system>")
        .and_then(|rest| rest.split_once(" lines read from file starting from line "));
    let Some((count, told)) = read else { return false };
    let number = |text: &str| text.split('.').next()?.parse::<u32>().ok();
    let total = told.split_once(" Total lines in file: ").and_then(|(_, total)| number(total));
    let shown = count.parse().ok().map(|count| ShownLines { count, is_end: false });
    let next = shown.zip(number(told)).map(|(shown, first)| first.saturating_add(shown.count));
    let is_more = told.contains(" Max ") || next.is_some_and(|next| total >= Some(next));
    told.contains(" Lines [") || is_more && call.gives_less(shown)
}

/// Returns the log of a background task, of which the result has only the end.
fn task_log(content: Json) -> Option<Citation> {
    let text = texts(content).nth(1)?.text()?;
    let start = text.to_text(MAX_HEADER).text;
    // The command may be of several lines, and comes before.
    let header = start.split_once("\nfull_output_tool: ")?.0;
    let field = |name: &str| header.lines().rev().find_map(|line| line.strip_prefix(name));
    field("output_truncated: ").filter(|cut| *cut == "true")?;
    let bytes = field("output_size_bytes: ").and_then(|bytes| bytes.parse().ok());
    Some(Citation { bytes, ..Citation::new(field("output_path: ")?) })
}
