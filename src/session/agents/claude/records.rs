//! Claude Code's records: calls, results, and what became of them.

use std::ops::RangeInclusive;
use std::path::Path;

use crate::base::provenance::numbers;
use crate::session::agents::{
    Call, ChangeOrigin, Citation, ContextChange, CutState, DisplayCopy, FateEvidence, IdMap, Json, JsonText,
    Kind, LogReader, MAX_TEXT, RecordEntry, RecordId, RecordPlace, TextPiece, Transcript, cited, find,
    first_text, is_number, read_json, record_id, text_start,
};
use crate::session::sent::log::{Speaker, message_hash};

use super::history::{
    ClaudeHistory, ContextStepKind, CountedRequest, NO_RECORD, RecordContext, ResultRecord, excluded_tools,
};
use super::requests::RequestLists;
use super::{fates, note_facts};

const OTHER_KINDS: &str = "api-request-resumed queue-operation last-prompt mode permission-mode ai-title \
    custom-title summary file-history-snapshot tools-used atis-latch cost-state derived-from \
    fork-context-ref";

/// Reads the records of one session: of the main conversation and of its sub-agents.
#[derive(Default)]
pub(super) struct ClaudeReader {
    /// The sub-agent whose file is being read; empty in the main one.
    file_agent: String,
    /// Conversations in the main file, by their records, where no key names the sub-agent.
    inline: IdMap<u32>,
    history: ClaudeHistory,
    lists: RequestLists,
}

#[derive(Clone, Copy)]
struct ClaudeRecord<'a> {
    entry: RecordEntry<'a>,
    context: RecordContext,
    message: Option<RecordId>,
}

impl LogReader for ClaudeReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        self.file_agent = find::stem(path).strip_prefix("agent-").unwrap_or_default().to_owned();
        if !self.file_agent.is_empty() {
            let thread = out.thread_id(&self.file_agent);
            let kind = read_json(path.with_extension("meta.json"), |meta| meta.name("agentType"));
            out.name_thread(thread, kind.flatten());
        }
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        let at = note_facts(record, &mut out.facts);
        let kind = record.word("type");
        let thread = self.thread(record, out);
        let parent = || record.id("parentUuid").or_else(|| record.id("logicalParentUuid"));
        let conversation = self.history.conversation(thread);
        let is_after_gap = std::mem::replace(&mut conversation.broken, out.unread.broken) < out.unread.broken;
        let branches = &mut conversation.branches;
        if is_after_gap {
            branches.add_gap();
        }
        let number = record.id("uuid").map_or(NO_RECORD, |id| branches.add(id, parent()));
        // Of a leaf that was named and newer records, these count.
        let is_before = |leaf: RecordId| branches.recent(leaf).is_some_and(|leaf| leaf < number);
        if number != NO_RECORD && branches.leaf.is_some_and(is_before) {
            branches.leaf = None;
        }
        let id_of_message = || record.get("message").and_then(|message| message.id("id"));
        let message = (kind == "assistant").then(|| id_of_message().unwrap_or_default());
        let is_of_file = thread == 0 || !self.file_agent.is_empty();
        if matches!(&*kind, "assistant" | "user") && is_of_file {
            // A hash in a request may stand for it.
            out.requests.add_spoken(message.map_or(Speaker::User, Speaker::model), place.span(record));
        }
        let entry = RecordEntry { record, place, at, thread };
        let origin = out.origin(entry.thread);
        let origin = ChangeOrigin { request: origin.request.or(Some(1)), ..origin };
        let context = RecordContext { thread, number, origin };
        let recorded = ClaudeRecord { entry, context, message };
        match &*kind {
            "assistant" => self.calls(recorded, out),
            "user" => self.user(recorded, out),
            "api-request" => self.request(recorded, out),
            "api-request-blob" => self.lists.blob(entry, &self.history, out),
            "api-request-shape" => {
                let hash = record.get("shapeHash").and_then(message_hash);
                hash.into_iter().for_each(|hash| out.requests.add_shape(hash, entry.span()));
            }
            "system" | "attachment" => self.history.read_change(record, context, out),
            "content-replacement" => {
                let replaced = replace(entry, &|call| self.is_seen(thread, call), out);
                self.history.change(ContextChange::Replace, context, replaced);
            }
            "last-prompt" => {
                let branches = &mut self.history.conversation(thread).branches;
                branches.leaf = record.id("leafUuid").or(branches.leaf);
            }
            kind => return out.unread.is_known(kind, OTHER_KINDS),
        }
        true
    }

    fn derive_events(&mut self, out: &mut Transcript) {
        self.history.shrink();
        out.carried = self.lists.carried(&self.history, out);
        fates::derive_events(&self.history, out);
    }
}

impl ClaudeReader {
    /// Returns a record's conversation. In 1.0 only a mark, and the records that they follow, identify sub-agents.
    fn thread(&mut self, record: Json, out: &mut Transcript) -> u32 {
        let named = record.name("agentId");
        let agent = named.as_deref().unwrap_or(&self.file_agent);
        if named.is_some() || !agent.is_empty() || !record.flag("isSidechain") {
            return out.thread_id(agent);
        }
        let Some(uuid) = record.name("uuid") else { return 0 };
        let parent = record.id("parentUuid");
        let thread = parent.and_then(|parent| self.inline.get(&parent).copied());
        let thread = thread.unwrap_or_else(|| out.thread_id(&uuid));
        self.inline.insert(record_id(&uuid), thread);
        thread
    }

    fn calls(&mut self, recorded: ClaudeRecord, out: &mut Transcript) {
        let entry = recorded.entry;
        let Some(message) = entry.record.get("message") else { return };
        self.answer(recorded, message, out);
        let name = recorded.message.filter(|name| *name != 0 && recorded.context.number != NO_RECORD);
        if let Some(name) = name {
            self.history.conversation(entry.thread).messages.push((recorded.context.number, name));
        }
        for block in message.list("content").filter(|block| block.is_type("tool_use")) {
            let number = entry.add_call_of(block, ["id", "name", "input"], out);
            number.into_iter().for_each(|number| out.note_version(number, &entry.record.word("version")));
        }
    }

    fn user(&mut self, recorded: ClaudeRecord, out: &mut Transcript) {
        let RecordEntry { record, thread, .. } = recorded.entry;
        // It may stand for the records between it and the one that it follows.
        if record.flag("replacesSpan") {
            let parent = record.id("parentUuid");
            self.history.push(recorded.context, ContextStepKind::Span { parent });
        }
        for block in record.list_at(&["message", "content"]) {
            let id = block.get("tool_use_id").filter(|_| block.is_type("tool_result"));
            let Some(id) = id.and_then(|id| id.short_text(MAX_TEXT)) else { continue };
            let number = out.call_or_new(thread, &id, "");
            out.note_version(number, &record.word("version"));
            let version = numbers(&record.word("version"));
            let is_old = !version.is_empty() && version[..] <= LAST_OF_2025[..];
            let tool = match out.tool_of(number) {
                "Bash" if is_old => ResultTool::Bash2025,
                "Bash" if version[..] >= FIRST_WITH_WINDOW[..] => ResultTool::Bash,
                tool if tool.starts_with("mcp__") => ResultTool::Mcp,
                _ => ResultTool::Other,
            };
            out.unanswered(number).into_iter().for_each(|call| result(recorded.entry, block, tool, call));
            let source = record.id("sourceToolAssistantUUID").or_else(|| record.id("parentUuid"));
            self.history.results.push(ResultRecord {
                thread,
                call: number,
                record: recorded.context.number,
                source: source.unwrap_or_default(),
            });
            if source.is_some_and(|source| self.history.retracted.contains(&source)) {
                self.history.change(ContextChange::Drop, recorded.context, vec![number]);
            }
        }
    }

    /// Counts a request that is in the records, and takes what it carries.
    fn request(&mut self, recorded: ClaudeRecord, out: &mut Transcript) {
        let ClaudeRecord { entry, context, .. } = recorded;
        let number = out.requests.add_request(entry.record, entry.at, entry.span());
        self.count_request(context, number, out);
        self.history.conversation(entry.thread).excluded = excluded_tools(entry.record);
        let mut named = self.history.named.remove(&entry.thread).unwrap_or_default();
        let Some(number) = number else { return };
        let changes = self.lists.request(entry.thread, number, &mut named, out);
        let request = context.origin.request.unwrap_or_default();
        self.history.unshown.extend(named.into_iter().map(|(call, _)| (request, call)));
        for (change, calls) in changes {
            let origin = ChangeOrigin { evidence: FateEvidence::Sent, ..context.origin };
            self.history.change(change, RecordContext { origin, ..context }, calls);
        }
    }

    /// Counts the request of an answer, unless that is in the records. One answer may be several records.
    fn answer(&mut self, recorded: ClaudeRecord, message: Json, out: &mut Transcript) {
        let RecordEntry { record, thread, .. } = recorded.entry;
        let is_error = record.flag("isApiErrorMessage") || message.has("model", "<synthetic>");
        let name = recorded.message.filter(|name| *name != 0 && !is_error);
        let last = self.history.conversation(thread).messages.last().map(|(_, name)| *name);
        if name.is_none() || name == last {
            return;
        }
        if !record.id("requestRef").is_some_and(|request| out.requests.has_request(request)) {
            self.count_request(recorded.context, None, out);
        }
        let request = out.next_request(thread).and_then(|next| next.checked_sub(1));
        let origin = ChangeOrigin { request, ..recorded.context.origin };
        self.history.read_answer(message, RecordContext { origin, ..recorded.context });
    }

    fn count_request(&mut self, context: RecordContext, number: Option<u32>, out: &mut Transcript) {
        let conversation = self.history.conversation(context.thread);
        let position = Some(context.number).filter(|number| *number != NO_RECORD);
        let position = position.unwrap_or_else(|| conversation.branches.next());
        conversation.requests.push(CountedRequest { position, number });
        out.count_answer(context.thread);
    }

    /// Whether the model has spoken since it could see a result.
    fn is_seen(&self, thread: u32, call: u32) -> bool {
        let result = self.history.results.iter().rev().find(|result| result.call == call);
        let Some(conversation) = self.history.conversations.get(thread as usize) else { return true };
        let source = result.and_then(|result| conversation.branches.recent(result.source()?));
        let called = source.and_then(|source| conversation.message(source));
        called.is_none() || called != conversation.messages.last().map(|(_, message)| *message)
    }
}

/// How many UTF-16 units of a failed command's output, or of a failure of an MCP server's, come before the notice, with the
/// line about the exit status: a pair is not split.
const FAILURE_HEAD: RangeInclusive<usize> = 4999..=5000;

/// How many UTF-16 units of any other command's output come before the notice, up to the version in which
/// `claude-code/bash-2025` ends.
const HEAD_2025: RangeInclusive<usize> = 30_000..=30_000;
const LAST_OF_2025: [u64; 3] = [2, 1, 1];

/// How many bytes of what a failed command printed are read, less the part of a character at the end; from which version on.
const MIN_WINDOW: usize = 29_997;
const FIRST_WITH_WINDOW: [u64; 3] = [2, 1, 45];

/// How many bytes are enough for the notice.
const MAX_NOTICE: usize = 64;

/// A tool by the notices of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultTool {
    /// A command of a version that kept nothing of what it cut.
    Bash2025,
    /// A command of a version that reads only the first bytes of what a failed one printed.
    Bash,
    Mcp,
    Other,
}

fn result(entry: RecordEntry, block: Json, tool: ResultTool, call: &mut Call) {
    let (content, is_error) = (block.get("content"), block.flag("is_error"));
    let ui = entry.record.object("toolUseResult");
    // A command may print the frame of a result before it.
    let is_printed = |start: &str| {
        let printed = || ui.string("stdout").unwrap_or_default();
        start.starts_with('<') && printed().lines().take(2).eq(start.lines().take(2))
    };
    let start = content.map(|content| frame(content, is_error)).filter(|start| !is_printed(start));
    let start = start.unwrap_or_default();
    let status = start.strip_prefix("Exit code ").filter(|_| is_error);
    call.exit = status.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    call.end(is_error);
    let saved = ui.string("persistedOutputPath").or_else(|| framed_path(&start));
    let oversized = oversized_result(&start).filter(|_| tool == ResultTool::Mcp);
    let saved = saved.or_else(|| oversized.map(|(path, _)| path.to_owned()));
    let cite = saved.map(|path| Citation { bytes: ui.number("persistedOutputSize"), ..Citation::new(path) });
    call.has_unmodelled_cut = oversized.is_some();
    let is_cut_after = |units, end| content.is_some_and(|content| is_cut_after(content, units, end));
    let is_failure = call.exit.is_some() || is_error && tool == ResultTool::Mcp;
    let is_cut = start.starts_with("<truncated-output>\n")
        || is_failure && is_cut_after(FAILURE_HEAD, " characters truncated] ...\n\n")
        || tool == ResultTool::Bash2025 && is_cut_after(HEAD_2025, " lines truncated] ...");
    call.note_cut(cite, is_cut);
    // No word tells that the end is gone of what a failed command printed.
    let may_be_window = || content.is_some_and(|content| is_window(content));
    if tool == ResultTool::Bash && is_failure && call.cut == CutState::No && may_be_window() {
        call.cut = CutState::Unknown;
    }
    entry.note_copy("toolUseResult", Some(ui), Some(0), call);
    entry.note_copy("toolUseResult.stdout", ui.get("stdout"), Some(30_000), call);
    entry.note_copy("toolUseResult.stderr", ui.get("stderr"), Some(0), call);
    entry.note_copy("toolUseResult.file.content", ui.path(&["file", "content"]), Some(0), call);
    entry.add_result(content, call);
}

/// Returns the start of a result: all of a notice; else the words with a failure's status.
fn frame(content: Json, is_error: bool) -> String {
    // A backslash may stand for any first character.
    let may_be_notice = |text: JsonText| matches!(text.encoded, [b'<' | b'E' | b'\\', ..]);
    if !is_error && content.text().is_some_and(|text| !may_be_notice(text)) {
        return String::new();
    }
    let words = text_start(content, 64);
    if words.starts_with(['<', 'E']) && !words.starts_with("Exit code ") {
        first_text(content)
    } else {
        words
    }
}

/// Whether a failed command printed so much that more may have followed.
fn is_window(content: Json) -> bool {
    let enough = MIN_WINDOW + MAX_NOTICE;
    let printed = || text_start(content, enough).split_once('\n').map_or(0, |(_, printed)| printed.len());
    content.raw().len() >= MIN_WINDOW && printed() >= MIN_WINDOW
}

/// Whether an output was cut after so many UTF-16 units: the notice follows them, whose figure has `end` behind it.
fn is_cut_after(content: Json, head: RangeInclusive<usize>, end: &str) -> bool {
    let text = text_start(content, 3 * head.end() + MAX_NOTICE);
    let (least, mut units) = (*head.start(), 0);
    let near = text.char_indices().skip_while(|(_, c)| {
        units += c.len_utf16();
        units <= least
    });
    let mut after = near.take(head.count()).filter_map(|(at, _)| text.get(at..)?.strip_prefix("\n\n... ["));
    after.next().and_then(|rest| rest.split_once(end)).is_some_and(|(figure, _)| is_number(figure))
}

/// Reads that several large results of a turn were replaced together. `is_seen` returns whether the model has seen the result
/// of the call with a number; if not, it only ever gets the replacement. Returns the calls whose results it had whole.
fn replace(entry: RecordEntry, is_seen: &dyn Fn(u32) -> bool, out: &mut Transcript) -> Vec<u32> {
    let mut replaced = Vec::new();
    let is_result = |replacement: &Json| replacement.get("kind").is_none_or(|kind| kind.is("tool-result"));
    for replacement in entry.record.list("replacements").filter(is_result) {
        let id = replacement.name("toolUseId");
        let text = replacement.get("replacement").filter(|text| text.kind() == Kind::String);
        let (Some(id), Some(text)) = (id, text) else { continue };
        let Some(number) = out.call_number(entry.thread, &id) else { continue };
        let Some(call) = out.calls.get_mut(number as usize) else { continue };
        // What was replaced may be recorded again.
        let is_same = call.first().is_some_and(|first| first.recorded_len() == text.raw().len() as u64);
        if call.later == 0 && call.has_unmodelled_cut && is_same {
            continue;
        }
        // One that is replaced again may have been replaced on a branch that was left.
        if call.later > 0 || call.result.is_some() && is_seen(number) {
            replaced.push(number);
        } else {
            // What the model never saw is a copy for the agent's own screen.
            let texts = call.result.take().into_iter().flat_map(|result| result.pieces);
            let copies = texts.filter(|piece| matches!(piece, TextPiece::Json(_)));
            let copy = |text| DisplayCopy { name: "tool_result", text, most: Some(0) };
            call.display.extend(copies.map(copy));
        }
        if let Some(path) = framed_path(&first_text(text)) {
            (call.cut, call.has_unmodelled_cut) = (CutState::Spill, true);
            call.cites.push(Citation::new(path));
        }
        entry.add_result(Some(text), call);
    }
    replaced
}

/// Returns the path in the frame `<persisted-output>`, which must begin the text.
fn framed_path(start: &str) -> Option<String> {
    let after = |words| cited(start, "<persisted-output>\n", words);
    after(" Full output saved to: ").or_else(|| after(" were saved to: "))
}

/// Returns the path of the file that stands for a result of too many tokens, as an MCP server's, and its format with what
/// follows.
pub(crate) fn oversized_result(told: &str) -> Option<(&str, &str)> {
    const SAVED: &str = " exceeds maximum allowed tokens. Output has been saved to ";
    told.strip_prefix("Error: result (")?.split_once(SAVED)?.1.split_once(".\nFormat: ")
}
