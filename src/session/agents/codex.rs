//! Codex CLI: rollouts in three forms, of which an agent may compress the old ones.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::base::env::Env;
use crate::base::provenance::numbers;
use crate::session::record::{is_packed, unpack};

use super::{
    ChangeOrigin, ContextChange, CutState, FateEvidence, FindWatch, FormatInfo, FoundFile, GLANCE, Json,
    Kind, LogReader, RecordEntry, RecordFiles, RecordPlace, ResultBody, SessionFacts, SessionFormat,
    Transcript, between, find, first_text, id_of, is_number, last_line, number_after, only_file, texts,
    title,
};

/// The length of a session's id at the end of a rollout's name, in bytes.
const ID: usize = 36;

/// Where the output begins in what the model gets.
const HEADER_END: &str = "\nOutput:\n";

/// What stands for the middle in a copy for the screen that was cut to about its limit: at most so many bytes below it.
const CUT_COPY: &str = "... command output truncated for persistence ...";
const MAX_BELOW: usize = 1024;

pub(crate) const CODEX: SessionFormat = SessionFormat {
    info: FormatInfo {
        body: |recorded, _| {
            let head = recorded.text.find(HEADER_END).map(|at| at + HEADER_END.len());
            Ok(ResultBody::after(recorded, head))
        },
        is_cut_copy: |copy, most| copy.len() + MAX_BELOW > most && copy.contains(CUT_COPY),
        is_by_day: true,
        ..FormatInfo::new("codex", "0.25.0 to 0.169.0")
    },
    find: rollouts,
    is_session: |path, head| {
        // The oldest form has no types: its first line has these keys.
        let is_bare = find::begins_with_line(head, &["\"instructions\"", "\"id\"", "\"timestamp\""]);
        let is_meta = find::begins_with_line(head, &["\"session_meta\""]);
        is_meta || is_bare || path.to_string_lossy().ends_with(".jsonl.zst")
    },
    id: |log| id(log).into(),
    glance: |file, head, tail| match is_packed(&file.path) {
        true => find::glance(&unpack(head, GLANCE).0, &[], note_facts),
        false => find::glance(head, tail, note_facts),
    },
    records: RecordFiles::Logs(only_file, || Box::new(CodexReader::default())),
};

fn rollouts(env: &Env, watch: FindWatch) -> Vec<FoundFile> {
    let patterns = &["sessions/*/*/*/rollout-*", "archived_sessions/rollout-*"];
    let mut files = find::in_agent_dir(env, ("CODEX_HOME", ".codex"), patterns, watch);
    let is_plain = |path: &Path| path.extension().is_some_and(|end| end == "jsonl");
    let plain: HashSet<PathBuf> =
        files.iter().map(|file| file.path.clone()).filter(|path| is_plain(path)).collect();
    // A compressed copy is only used where the plain one is gone.
    files.retain(|file| {
        let unpacked = file.path.with_extension("");
        is_plain(&file.path) || is_packed(&file.path) && is_plain(&unpacked) && !plain.contains(&unpacked)
    });
    files
}

fn id(rollout: &Path) -> &str {
    let name = rollout.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.trim_end_matches(".zst").trim_end_matches(".jsonl");
    stem.len().checked_sub(ID).and_then(|at| stem.get(at..)).unwrap_or(stem)
}

/// How an output that was cut by its tokens begins.
pub(super) const WARNING: &str = "Warning: truncated output (original token count: ";

/// With what the notice goes on, or an older one begins.
const TOTAL_LINES: &str = "Total output lines: ";

/// With what a command's result begins in the oldest form.
const OLDEST_FORM: &str = "{\"output\":";

/// With what a result begins whose output is in the free form.
const FREE_FORM: &str = "Exit code: ";

#[derive(Default)]
struct CodexReader {
    /// The calls of the results in the history, in their order, with their turns.
    history: Vec<(u32, u64)>,
    turn: u64,
    last: LastRecord,
    /// The negative statuses in items of commands without a result: a command that still runs has -1.
    ended: HashMap<u32, i32>,
}

/// What the last record was, as far as turns and requests are distinguished by it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LastRecord {
    #[default]
    Other,
    /// A task began, which need not be a turn: compacting is one, too.
    Task,
    /// A message of the user, by one of the two or three records of it.
    Prompt,
    Answer,
}

impl LogReader for CodexReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let at = record.time("timestamp");
        // The oldest form has no wrapper.
        let item = record.get("payload").unwrap_or(record);
        let kind = match record.word("type") {
            outer if matches!(&*outer, "response_item" | "event_msg") => item.word("type"),
            outer => outer,
        };
        let entry = RecordEntry { record, place, at, thread: 0 };
        match &*kind {
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                self.answered(out);
                call(entry, item, out);
            }
            "function_call_output" | "custom_tool_call_output" => self.result(entry, item, out),
            "item_completed" => {
                let item = item.object("item");
                if item.is_type("UserMessage") {
                    self.begin_turn(LastRecord::Prompt);
                } else if item.is_type("CommandExecution") {
                    self.screen_copy(entry, item, "id", ("CommandExecution.aggregated_output", 65_536), out);
                }
            }
            // Of older versions.
            "exec_command_end" => {
                self.screen_copy(entry, item, "call_id", ("exec_command_end.aggregated_output", 10_000), out);
            }
            "compacted" => self.compact(entry, item, out),
            "thread_rolled_back" => self.roll_back(entry, item, out),
            "task_started" => self.begin_turn(LastRecord::Task),
            "user_message" => self.begin_turn(LastRecord::Prompt),
            "turn_aborted" | "task_complete" => self.end_task(),
            "message" if item.has("role", "assistant") => self.answered(out),
            // Other parts of an answer of the model.
            "reasoning" | "web_search_call" | "image_generation_call" => self.answered(out),
            "session_meta" | "turn_context" | "world_state" | "token_usage_record" | "message" => {}
            "ghost_snapshot" => {}
            "" => return record.get("record_type").is_some() || record.get("instructions").is_some(),
            // The many other events are for the agent's own screen.
            _ if record.is_type("event_msg") => {}
            other => return out.unread.unknown(other),
        }
        true
    }
}

impl CodexReader {
    /// Counts an answer at the first of its records.
    fn answered(&mut self, out: &mut Transcript) {
        if self.last != LastRecord::Answer {
            out.count_answer(0);
        }
        self.last = LastRecord::Answer;
    }

    /// Begins a turn at the first of the records of its prompt.
    fn begin_turn(&mut self, record: LastRecord) {
        if !matches!(self.last, LastRecord::Task | LastRecord::Prompt) {
            self.turn += 1;
        }
        if self.last != LastRecord::Prompt {
            self.last = record;
        }
    }

    /// A turn may end without an answer. A task without a prompt was none.
    fn end_task(&mut self) {
        self.turn -= u64::from(self.last == LastRecord::Task && self.turn > 0);
        self.last = LastRecord::Other;
    }

    fn result(&mut self, entry: RecordEntry, item: Json, out: &mut Transcript) {
        let (Some(id), Some(output)) = (item.name("call_id"), item.get("output")) else { return };
        self.last = LastRecord::Other;
        let number = out.call_or_new(0, &id, "");
        let is_as_sent = numbers(out.facts.version.as_deref().unwrap_or_default())[..] >= AS_SENT[..];
        let Some(call) = out.unanswered(number) else { return };
        self.history.push((number, self.turn));
        // Some versions wrote the text into an object.
        let content = output.get("content").filter(|_| output.kind() == Kind::Object).unwrap_or(output);
        let start = first_text(content);
        let parts = start.split_once(HEADER_END);
        let (header, printed) = parts.unwrap_or((&start, &start));
        let is_running = || header.lines().any(|line| line.starts_with("Process running with session ID "));
        let ended = self.ended.remove(&number).filter(|_| !is_running());
        call.exit = exit_of(parts.map(|_| header), content).or(call.exit).or(ended);
        call.end(false);
        // In code mode, the words of the script's end are a part of their own.
        let has_warning = |text: Json| first_text(text).starts_with(WARNING);
        let is_free = header.starts_with(FREE_FORM);
        let may_be_cut_again = is_free || parts.is_none() || content.raw().len() < MAX_CUT_AGAIN;
        // The free form says so in the third line before the output, if that has fewer lines than before.
        let told = header.lines().nth(2).filter(|_| is_free).unwrap_or_default();
        let tokens = header.lines().find_map(|line| line.strip_prefix("Original token count: "));
        let tokens = tokens.filter(|_| parts.is_some());
        // What is not UTF-8 is longer as text than the bytes that the header counts.
        let count = || tokens.and_then(|tokens| tokens.parse::<usize>().ok()).unwrap_or(0);
        let is_less = || count().saturating_mul(4) > content.raw().len();
        let is_cut = told.starts_with(TOTAL_LINES)
            || !is_free && is_cut(printed, tokens.filter(|_| !is_less()))
            || texts(content).skip(1).any(has_warning);
        call.note_cut(None, is_cut || may_be_cut_again && is_cut_again(content));
        entry.add_result(Some(content), call);
        let len = |text: Json| Some(text.text()?.to_text(MAX_IN_HISTORY + 1).text.len());
        let is_commands = parts.is_some() || start.starts_with(OLDEST_FORM);
        let may_be_longer = !is_commands && content.raw().len() > MAX_IN_HISTORY;
        let is_longer = || texts(content).filter_map(len).sum::<usize>() > MAX_IN_HISTORY;
        if may_be_longer && !is_as_sent && call.cut == CutState::No && is_longer() {
            call.cut = CutState::Unknown;
        }
    }

    /// Reads an item of the agent's own screen, which keeps part of what a command printed.
    fn screen_copy(
        &mut self,
        entry: RecordEntry,
        item: Json,
        id: &str,
        (what, most): (&'static str, u32),
        out: &mut Transcript,
    ) {
        let Some(number) = item.name(id).and_then(|id| out.call_number(0, &id)) else { return };
        let Some(call) = out.calls.get_mut(number as usize) else { return };
        let exit: Option<i32> = item.number("exit_code");
        call.exit = call.exit.or(exit.filter(|code| *code >= 0));
        if call.result.is_some() {
            call.end(false);
        } else if let Some(exit) = exit.filter(|code| *code < 0) {
            self.ended.insert(number, exit);
        }
        entry.note_copy(what, item.get("aggregated_output"), Some(most), call);
    }

    /// The history begins anew, with the record's items or no result. What of an item is encrypted cannot be known.
    fn compact(&mut self, entry: RecordEntry, item: Json, out: &mut Transcript) {
        let history = || item.list("replacement_history");
        let outputs = history().filter(|item| !item.name("type").is_some_and(|kind| kind.ends_with("_call")));
        let kept: HashSet<u32> =
            outputs.filter_map(|item| out.call_number(0, &item.name("call_id")?)).collect();
        let is_sealed =
            history().any(|item| item.is_type("compaction") || item.is_type("context_compaction"));
        let evidence = if is_sealed { FateEvidence::Unknown } else { FateEvidence::Recorded };
        let origin = ChangeOrigin { evidence, ..out.origin(entry.thread) };
        if self.last != LastRecord::Prompt {
            self.end_task();
        }
        let taken = self.take(|call, _| !kept.contains(&call));
        out.add_event(ContextChange::Compact, origin, taken);
    }

    /// The last turns are taken out of the history.
    fn roll_back(&mut self, entry: RecordEntry, item: Json, out: &mut Transcript) {
        self.turn = self.turn.saturating_sub(item.number("num_turns").unwrap_or(0));
        self.last = LastRecord::Other;
        let last_turn = self.turn;
        let taken = self.take(|_, turn| turn > last_turn);
        entry.add_event(ContextChange::Rewind, taken, out);
    }

    /// Takes results out of the history, by their calls and turns. Returns the calls.
    fn take(&mut self, is_taken: impl Fn(u32, u64) -> bool) -> Vec<u32> {
        self.history.extract_if(.., |(call, turn)| is_taken(*call, *turn)).map(|(call, _)| call).collect()
    }
}

fn call(entry: RecordEntry, item: Json, out: &mut Transcript) {
    let key = if item.get("call_id").is_some_and(|id| !id.is_null()) { "call_id" } else { "id" };
    let Some(id) = id_of(item, key, out) else { return };
    let tool = item.name("name").unwrap_or_else(|| "local_shell".to_owned());
    let input = item.get("arguments").or_else(|| item.get("input")).or_else(|| item.get("action"));
    entry.add_next_call(id, &tool, input, out);
}

/// Reads the exit status from the lines before a command's output; of the oldest form from the end of the JSON around it.
fn exit_of(header: Option<&str>, content: Json) -> Option<i32> {
    let Some(header) = header else {
        let end = Some(last_line(content)).filter(|_| first_text(content).starts_with(OLDEST_FORM))?;
        return end.rsplit_once("\"exit_code\":")?.1.split([',', '}']).next()?.trim().parse().ok();
    };
    let mut lines = header.lines();
    let is_unified = ["Chunk ID: ", "Wall time: "].iter().any(|first| header.starts_with(first));
    match is_unified {
        true => lines.find_map(|line| number_after(line, "Process exited with code ")),
        false => number_after(lines.next()?, FREE_FORM),
    }
}

/// Whether the agent says at the start of an output that it cut it. `tokens` is how many the header says the whole has, if the
/// notice must say as many: commands print notices, too.
fn is_cut(output: &str, tokens: Option<&str>) -> bool {
    let output = output.strip_prefix("{\"output\":\"").unwrap_or(output);
    if let Some(rest) = output.strip_prefix(WARNING) {
        return tokens.is_none_or(|tokens| rest.split(')').next() == Some(tokens));
    }
    let rest =
        output.strip_prefix(TOTAL_LINES).map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.is_some_and(|rest| rest.starts_with("\n\n") || rest.starts_with("\\n\\n"))
}

/// For texts cut in the middle, in bytes: how much is searched, the shortest end, and how far the ends (cut at
/// characters) may differ.
const MAX_KEPT: usize = 1 << 20;
const MIN_END: usize = 100;
const MAX_UNEVEN: usize = 8;
/// The most bytes of the figure and its unit, with the mark before them.
const MAX_FIGURE: usize = 40;
/// Maximum length in bytes of a recorded result whose header lines can push it over the history's limit (1.2 times the
/// output's).
const MAX_CUT_AGAIN: usize = 8 << 10;

/// What stood in autumn 2025 in the middle of an output in the free form, of which 10 KiB were kept: 5 KiB at most before it.
const FITTED: &str = "\n[... output truncated to fit 10240 bytes ...]\n\n";
const MAX_FITTED: usize = 10_240;

/// How many bytes of a result are kept in the history, which older versions wrote down whole: 1.2 times 10,000 tokens. The
/// first version of which it is known that it does not.
const MAX_IN_HISTORY: usize = 48_000;
const AS_SENT: [u64; 2] = [0, 169];

/// Whether the agent cut a result when it took it into its history, as it does with an MCP server's, or a command's output in
/// the free form: from the middle of a text, of which it keeps as much of both ends, and all of the texts after it.
fn is_cut_again(content: Json) -> bool {
    const WORDS: &str = " truncated…";
    let is_middle = |text: &str, end: usize| {
        let near = (end.saturating_sub(MAX_FIGURE)..end).find_map(|from| text.get(from..end))?;
        let (_, figure) = near.rsplit_once('…')?;
        let number = figure.strip_suffix(" tokens").or(figure.strip_suffix(" chars"))?;
        let (head, tail) = (end - figure.len() - '…'.len_utf8(), text.len() - end - WORDS.len());
        Some(is_number(number) && head.min(tail) >= MIN_END && head.abs_diff(tail) <= MAX_UNEVEN)
    };
    let is_fitted = |text: &str| {
        let may_be = (MAX_FITTED / 2..=MAX_FITTED).contains(&text.len());
        may_be && text.find(FITTED).is_some_and(|head| head <= MAX_FITTED / 2)
    };
    let is_cut_within =
        |text: &str| text.match_indices(WORDS).any(|(end, _)| is_middle(text, end) == Some(true));
    let has = |text: &Json, words: &str| memmem::find(text.raw(), words.as_bytes()).is_some();
    let has_words = |text: &Json| has(text, WORDS) || has(text, " truncated to fit ");
    let is_cut = |text: Json| {
        let text = text.text().map(|text| text.to_text(MAX_KEPT).text).unwrap_or_default();
        let output = text.split_once(HEADER_END).filter(|_| text.starts_with(FREE_FORM));
        is_cut_within(&text) || output.is_some_and(|(_, output)| is_cut_within(output) || is_fitted(output))
    };
    let last = texts(content).skip(1).last().map(first_text).unwrap_or_default();
    let omitted = between(&last, "[omitted ", " text items ...]");
    omitted.is_some_and(is_number) || texts(content).filter(has_words).any(is_cut)
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let item = record.get("payload").unwrap_or(record);
    facts.note_time(record.time("timestamp"));
    if record.is_type("session_meta") || record.get("type").is_none() && record.get("id").is_some() {
        if facts.id.is_empty() {
            facts.id = item.name("id").unwrap_or_default();
            facts.parent = item.name("forked_from_id");
            facts.origin = facts.parent.clone().or_else(|| Some(facts.id.clone()));
        } else if facts.parent.is_none() {
            // Older forks begin with the lines of the session from which they were forked.
            facts.parent = item.name("id").filter(|id| *id != facts.id);
            facts.origin = facts.parent.clone().or(facts.origin.take());
        }
        facts.version = facts.version.take().or_else(|| item.name("cli_version"));
        facts.cwd = facts.cwd.take().or_else(|| item.string("cwd"));
    }
    if record.is_type("turn_context") {
        facts.model = item.name("model").or(facts.model.take());
        facts.cwd = facts.cwd.take().or_else(|| item.string("cwd"));
    }
    let is_user = item.is_type("message") && item.has("role", "user");
    if facts.title.is_none() && is_user {
        facts.title = title(item.get("content")).filter(|words| !words.starts_with('<'));
    }
}

#[cfg(test)]
mod tests {
    use crate::session::json::Tape;

    use super::*;

    #[test]
    fn recognises_a_codex_cut_by_its_equally_long_ends() {
        let is_cut = |content: serde_json::Value| {
            is_cut_again(Tape::default().read(content.to_string().as_bytes()).unwrap())
        };
        let text = |head: usize, words: &str, tail: usize| {
            format!("{}{words}{}", "é".repeat(head), "x".repeat(tail))
        };
        let words = "…9321 tokens truncated…";
        assert!(
            is_cut(text(500, words, 1001).into()) && is_cut(text(500, "…3 chars truncated…", 1000).into())
        );
        for quoted in [text(500, words, 1200), text(5, words, 10), "…".repeat(9000) + words] {
            assert!(!is_cut(quoted.into()), "a quoted notice is no notice");
        }
        assert!(!is_cut(text(500, "…some tokens truncated…", 1000).into()));
        let parts = |last: &str| serde_json::json!([{"text": "a"}, {"text": "b"}, {"text": last}]);
        assert!(is_cut(parts("[omitted 2 text items ...]")) && is_cut(parts(&text(200, words, 400))));
        assert!(
            !is_cut(parts("[omitted 2 text items ...] ")) && !is_cut("[omitted 2 text items ...]".into())
        );
    }
}
