//! Gemini CLI: an upsert log, in which a message with a known id replaces the earlier one; of older versions a document.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use smallvec::SmallVec;

use crate::base::fs::plain_file;

use super::{
    Call, CallStatus, Citation, ContextChange, FateEvidence, FormatInfo, GLANCE, IdMap, Json, Kind,
    LogReader, MAX_TEXT, RecordEntry, RecordFiles, RecordId, RecordPlace, RecordedResult, SessionFacts,
    SessionFormat, Tape, Transcript, cited, content, count_records, find, first_text, get_or_grow,
    has_before, id_of, id_of_bytes, only_file, read_json, record_id, shown_lines, title,
};

/// How many bytes of a log are read for its id at first: all are listed before any is shown.
const SHORT: usize = 1 << 10;

/// How the notices begin that stand for a cut output, and what stands before the path: of now, and up to January 2026.
const NOTICES: [(&str, &str); 2] = [
    ("Output too large. Showing first ", " For full output see: "),
    ("Tool output was too large and has been truncated.\nThe full output has been saved to: ", ""),
];

/// With what the read tool begins if it cut a file.
const FILE_NOTICE: &str = "IMPORTANT: The file content has been truncated.\n";

pub(crate) const GEMINI_CLI: SessionFormat = SessionFormat {
    info: FormatInfo { parameters: &[("max_units", max_units)], ..FormatInfo::new("gemini-cli", "0.61.0") },
    find: |env, watch| {
        let patterns = &[".gemini/tmp/*/chats/*.jsonl", ".gemini/tmp/*/chats/*/*.jsonl"];
        find::in_agent_dir(env, ("GEMINI_CLI_HOME", ""), patterns, watch)
    },
    is_session: |_, head| find::begins_with_line(head, &["\"sessionId\"", "\"projectHash\""]),
    id,
    glance: |file, head, tail| SessionFacts {
        cwd: project(&file.path),
        ..find::glance(head, tail, note_facts)
    },
    records: RecordFiles::Logs(only_file, || Box::new(GeminiReader::default())),
};

/// A session of an older version is one document, which becomes a log beside it when it is resumed.
pub(crate) const GEMINI_DOCUMENT: SessionFormat = SessionFormat {
    info: FormatInfo { name: "gemini-cli (documents)", made_for: "the source of 2025", ..GEMINI_CLI.info },
    find: |env, watch| {
        let pattern = ".gemini/tmp/*/chats/session-*.json";
        let mut files = find::in_agent_dir(env, ("GEMINI_CLI_HOME", ""), &[pattern], watch);
        files.retain(|file| !file.path.with_extension("jsonl").is_file());
        files
    },
    is_session: |_, head| has_before(head, "messages", &["sessionId", "projectHash"]),
    id,
    glance: |file, head, _| SessionFacts { cwd: project(&file.path), ..document_facts(head) },
    records: RecordFiles::Documents(only_file, read_document),
};

/// The notice states both parts of the limit.
fn max_units(recorded: &RecordedResult) -> Option<String> {
    let rest = recorded.text.strip_prefix(NOTICES[0].0)?;
    let mut parts = rest.split_once(" characters.")?.0.split(" and last ");
    let add = |sum: u64, part: &str| sum.checked_add(part.replace(',', "").parse().ok()?);
    Some(parts.try_fold(0, add)?.to_string())
}

fn document_facts(head: &[u8]) -> SessionFacts {
    let (mut facts, mut tape) = (SessionFacts::default(), Tape::default());
    let document = tape.read_beginning(head).ok();
    document.into_iter().for_each(|document| note_all_facts(document, &mut facts));
    facts
}

fn note_all_facts(document: Json, facts: &mut SessionFacts) {
    note_facts(document, facts);
    document.list("messages").for_each(|message| note_facts(message, facts));
}

fn read_document(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript) {
    let mut reader = GeminiReader { has_documents: true, ..GeminiReader::default() };
    out.facts.cwd = project(path);
    note_all_facts(document, &mut out.facts);
    // Whether those versions record what they take out of the context is unknown. A resumed one begins with all of it.
    out.default_evidence = FateEvidence::Unknown;
    let whole = RecordEntry { record: document, place, at: None, thread: 0 };
    document.list("messages").for_each(|message| reader.add_message(message, whole.with(message), out));
    count_records(document.get("messages"), out);
}

/// Returns the id in the first record, which is mostly short, or at the start of a document: a name that begins with
/// `session-` ends with the first eight characters of it.
fn id(log: &Path) -> Cow<'_, str> {
    let (name, mut head) = (find::stem(log), Vec::new());
    for most in [SHORT, GLANCE].into_iter().filter(|_| name.starts_with("session-")) {
        if !head.contains(&b'\n') {
            head = find::head(log, most).unwrap_or_default();
        }
    }
    let ids = [find::glance(find::first_line(&head), &[], note_facts).id, document_facts(&head).id];
    ids.into_iter().find(|id| !id.is_empty()).map_or(name.into(), Cow::from)
}

/// Returns the project of a chat, by the agent's list of its projects and their short names, or by the file beside the chats.
fn project(log: &Path) -> Option<String> {
    let dir = log.ancestors().find(|dir| dir.ends_with("chats"))?.parent()?;
    let is_it = |name: Json| name.is(find::dir_name(dir, 0));
    let root = |list: Json| {
        Some(list.get("projects")?.members().find(|(_, name)| is_it(*name))?.0.to_text(MAX_TEXT).text)
    };
    let listed = read_json(dir.ancestors().nth(2)?.join("projects.json"), root).flatten();
    listed.or_else(|| {
        let own = plain_file::read(&dir.join(".project_root")).ok()?;
        Some(own.trim().to_owned()).filter(|root| !root.is_empty())
    })
}

#[derive(Default)]
struct GeminiReader {
    /// The messages in the history, in their order: the numbers of the calls whose results they hold, and the texts of these,
    /// as numbers.
    history: Vec<SmallVec<[(u32, RecordId); 1]>>,
    numbers: IdMap<u32>,
    /// The messages of the model that were counted.
    answers: HashSet<RecordId>,
    /// The calls, by the messages with them and their ids.
    called: IdMap<u32>,
    /// The calls whose results left the history.
    gone: HashSet<u32>,
    /// The first and the last text of each call's result, as numbers.
    texts: HashMap<u32, (RecordId, RecordId)>,
    last_at: Option<Timestamp>,
    /// Whether results may be with their calls alone, as in the older documents, and in logs that began as such.
    has_documents: bool,
}

impl LogReader for GeminiReader {
    fn file(&mut self, path: &Path, out: &mut Transcript) {
        out.facts.cwd = project(path);
        self.has_documents = path.with_extension("json").is_file();
    }

    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let set = record.get("$set");
        let at = record.get("timestamp").or_else(|| set?.get("lastUpdated")).and_then(content::time);
        self.last_at = at.or(self.last_at);
        let line = RecordEntry { record, place, at: self.last_at, thread: 0 };
        if let Some(set) = set {
            set.get("messages").into_iter().for_each(|messages| self.begin_anew(messages, line, out));
        } else if let Some(to) = record.id("$rewindTo") {
            self.rewind(to, line, out);
        } else if record.get("id").is_some() && record.get("type").is_some() {
            self.add_message(record, line, out);
        } else if record.get("sessionId").is_none() {
            let first = record.members().next().map(|(key, _)| key.to_text(40).text);
            return out.unread.unknown(&first.unwrap_or_default());
        }
        true
    }
}

impl GeminiReader {
    /// The history is written whole: what is not in it is no longer sent.
    fn begin_anew(&mut self, messages: Json, line: RecordEntry, out: &mut Transcript) {
        let before = self.calls();
        let known = std::mem::take(&mut self.numbers);
        self.history.clear();
        let (mut is_summed_up, mut texts) = (false, BTreeMap::new());
        for message in messages.items() {
            let Some(id) = message.id("id") else { continue };
            let is_new = !known.contains_key(&id);
            let words = || message.get("content").map(first_text).unwrap_or_default();
            is_summed_up |= is_new && words().trim_start().starts_with("<state_snapshot>");
            texts.extend(self.message(message, line, out));
        }
        // Of several copies of a result, the last one counts.
        texts.into_iter().for_each(|(call, text)| self.set_text(call, text, line, out));
        let change = if is_summed_up { ContextChange::Compact } else { ContextChange::Drop };
        self.leave(change, before, line, out);
    }

    /// Says of calls whose results left the history that they are gone. `before` has those that were in it.
    fn leave(
        &mut self,
        change: ContextChange,
        mut before: BTreeMap<u32, RecordId>,
        line: RecordEntry,
        out: &mut Transcript,
    ) {
        for (call, _) in self.history.iter().flatten() {
            before.remove(call);
        }
        line.add_event(change, before.keys().copied(), out);
        self.gone.extend(before.into_keys());
    }

    /// A message and all after it are taken back; all, if there is none of this id. Earlier texts of results are back.
    fn rewind(&mut self, to: RecordId, line: RecordEntry, out: &mut Transcript) {
        let before = self.calls();
        let from = self.numbers.get(&to).copied().unwrap_or(0);
        self.history.truncate(from as usize);
        self.numbers.retain(|_, number| *number < from);
        for (call, text) in self.calls() {
            self.note_text(call, text, line, out);
        }
        self.leave(ContextChange::Rewind, before, line, out);
    }

    /// Returns the calls whose results are in the history, with the last text of each.
    fn calls(&self) -> BTreeMap<u32, RecordId> {
        self.history.iter().flatten().copied().collect()
    }

    fn add_message(&mut self, message: Json, line: RecordEntry, out: &mut Transcript) {
        let at = message.time("timestamp").or(line.at);
        let line = RecordEntry { at, ..line };
        for (call, text) in self.message(message, line, out) {
            self.set_text(call, text, line, out);
        }
    }

    /// Puts a message into the history. Returns the texts of the results in it, with the numbers of their calls.
    fn message<'a>(
        &mut self,
        message: Json<'a>,
        line: RecordEntry,
        out: &mut Transcript,
    ) -> Vec<(u32, Option<Json<'a>>)> {
        let Some(id) = message.id("id") else { return Vec::new() };
        let next = self.history.len() as u32;
        let number = *self.numbers.entry(id).or_insert(next);
        let is_new = self.answer(id, message, out);
        for called in message.list("toolCalls") {
            self.call(line, called, (id, is_new), out);
        }
        let calls = message.list("toolCalls").filter(|_| self.has_documents);
        let parts = calls.flat_map(|called| called.list("result")).chain(message.list("content"));
        let responses = parts.filter_map(|part| part.get("functionResponse"));
        let text = |response: Json<'a>| {
            let call = out.call_or_new(0, &response.name("id")?, &response.word("name"));
            let output = response.path(&["response", "output"]);
            Some((call, output.or_else(|| response.path(&["response", "error"]))))
        };
        let texts: Vec<_> = responses.filter_map(text).collect();
        let held = get_or_grow(&mut self.history, number);
        let last: HashMap<u32, usize> = texts.iter().enumerate().map(|(at, (call, _))| (*call, at)).collect();
        held.retain(|(known, _)| !last.contains_key(known));
        let lasting = texts.iter().enumerate().filter(|(at, (call, _))| last.get(call) == Some(at));
        held.extend(lasting.map(|(_, (call, text))| (*call, text_id(*text))));
        texts
    }

    /// Counts an answer. The agent writes its history again under other ids, without the tokens. Returns whether it is a new
    /// one.
    fn answer(&mut self, id: RecordId, message: Json, out: &mut Transcript) -> bool {
        let mut called = message.list("toolCalls");
        let is_new_call =
            |called: Json| called.name("id").is_some_and(|id| out.call_number(0, &id).is_none());
        let has_tokens = message.get("tokens").is_some_and(|tokens| tokens.kind() == Kind::Object);
        let is_first = has_tokens || called.any(is_new_call);
        let is_new = message.is_type("gemini") && is_first && self.answers.insert(id);
        if is_new {
            out.count_answer(0);
        }
        is_new
    }

    /// Reads a call. An id that returns in a new answer is of another call; else it is of the one that the message had.
    fn call(
        &mut self,
        line: RecordEntry,
        called: Json,
        (message, is_new): (RecordId, bool),
        out: &mut Transcript,
    ) {
        let Some(id) = id_of(called, "id", out) else { return };
        let entry = RecordEntry { at: called.time("timestamp").or(line.at), ..line };
        let key = message.wrapping_add(record_id(&id));
        let known = self.called.get(&key).copied().or_else(|| out.call_number(0, &id).filter(|_| !is_new));
        let new = || entry.add_next_call(&*id, &called.word("name"), called.get("args"), out);
        let number = known.unwrap_or_else(new);
        out.bind(0, &id, number);
        self.called.insert(key, number);
        let call = &mut out.calls[number as usize];
        // A command that failed is a success, too, and is written again.
        match &*called.word("status") {
            "success" => call.end(false),
            "cancelled" => call.status = CallStatus::Denied,
            "error" => call.end(true),
            _ => {}
        }
        call.display.clear();
        // Other tools may have just a line about the output.
        let most = Some(0).filter(|_| !called.has("name", "run_shell_command"));
        entry.note_copy("resultDisplay", called.get("resultDisplay"), most, call);
    }

    /// Sets the text of a call's result. Another one than before stands in the place of that.
    fn set_text(&mut self, number: u32, content: Option<Json>, line: RecordEntry, out: &mut Transcript) {
        // Whole messages are written again, mostly with the same text.
        if !self.note_text(number, text_id(content), line, out) {
            return;
        }
        let is_read = out.tool_of(number) == "read_file";
        if let Some(call) = out.calls.get_mut(number as usize) {
            result(line, content, is_read, call);
        }
    }

    /// Notes the text in the history for a call: a change, if the result was gone or had another text. Returns whether
    /// the text differs from the one before.
    fn note_text(&mut self, call: u32, text: RecordId, line: RecordEntry, out: &mut Transcript) -> bool {
        let before = self.texts.get(&call).copied();
        let first = before.map_or(text, |(first, _)| first);
        self.texts.insert(call, (first, text));
        let (is_new, was_gone) = (before.is_none_or(|(_, last)| last != text), self.gone.remove(&call));
        if was_gone || is_new && text == first {
            line.add_event(ContextChange::Restore, [call], out);
        }
        if (was_gone || is_new) && text != first {
            line.add_event(ContextChange::Replace, [call], out);
        }
        is_new
    }
}

fn text_id(content: Option<Json>) -> RecordId {
    id_of_bytes(content.map(|content| content.raw()).unwrap_or_default())
}

fn result(line: RecordEntry, content: Option<Json>, is_read: bool, call: &mut Call) {
    if call.result.is_none() {
        let start = content.map(first_text).unwrap_or_default();
        let is_told = is_read && start.trim_start().starts_with(FILE_NOTICE);
        let is_cut = is_told && call.gives_less(shown_lines(&start));
        let saved = NOTICES.iter().find_map(|(beginning, before)| cited(&start, beginning, before));
        call.has_unmodelled_cut = start.starts_with(NOTICES[1].0);
        call.note_cut(saved.map(Citation::new), is_cut);
        call.exit = content.and_then(exit_of);
        if call.status == CallStatus::NoResult || call.exit.is_some_and(|code| code != 0) {
            call.end(false);
        }
    }
    line.add_result(content, call);
}

/// Reads the status from the lines after a command's output.
fn exit_of(content: Json) -> Option<i32> {
    let ending = content.text()?.ending(1024);
    ending.lines().rev().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = ["timestamp", "startTime", "lastUpdated"].iter().find_map(|key| record.time(key));
    let last = record.get("$set").unwrap_or(record).time("lastUpdated");
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at).max(last);
    if facts.id.is_empty() {
        facts.id = record.name("sessionId").unwrap_or_default();
    }
    facts.model = record.name("model").or(facts.model.take());
    if facts.title.is_none() && record.is_type("user") {
        facts.title = title(record.get("content")).filter(|words| !words.starts_with('<'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::list;
    use crate::session::record::READ;

    #[test]
    fn little_of_each_chat_is_read_to_list_them() {
        let home = tempfile::tempdir().unwrap();
        let chats = home.path().join(".gemini/tmp/p/chats");
        std::fs::create_dir_all(&chats).unwrap();
        let write = |name: &str, id: &str, more: usize| {
            let first = format!("{{\"sessionId\":\"{id}\",\"projectHash\":\"{}\"}}\n", "h".repeat(more));
            std::fs::write(chats.join(name), first + &"{}\n".repeat(GLANCE)).unwrap();
        };
        (10..30).for_each(|n| {
            write(&format!("session-2026-11-22T05-{n}-8305e0af.jsonl"), &format!("id-{n}"), 64)
        });
        let env = crate::base::env::Env::hermetic(home.path());
        let read = READ.get();
        let ids = || list::list(&env, Some("gemini-cli"), &()).sessions.into_iter().map(|file| file.id);
        assert!(ids().all(|id| id.starts_with("id-")));
        assert!(READ.get() - read <= 20 * SHORT, "{} bytes", READ.get() - read);
        write("session-2026-11-22T05-30-8305e0af.jsonl", "long", 2 * SHORT);
        assert!(ids().any(|id| id == "long"), "of a first record of any length");
    }
}
