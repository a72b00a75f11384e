//! Cline since its 3.x command line: a JSON document for each conversation, and one about the session.

mod rendered;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::base::env::Env;

use super::{
    ChangeOrigin, ContextChange, CutState, DisplayCopy, Evidence, FateEvidence, FormatInfo, IdMap, Json,
    RecordEntry, RecordFiles, RecordId, RecordPlace, RecordSpan, ResultBody, SessionFacts, SessionFormat,
    Tape, Transcript, before_member, count_records, find, has_before, number_after, read_json, record_id,
};

const MESSAGES: &str = ".messages.json";
/// How the name of the file with its newest compaction ends.
const COMPACTION: &str = ".compaction.json";

/// The length from which an output was cut before it was recorded, in UTF-16 units; a shorter one is whole.
const EXECUTOR: u32 = 48_000;

pub(crate) const CLINE: SessionFormat = SessionFormat {
    info: FormatInfo {
        body: |recorded, output| Ok(ResultBody::in_json(recorded, output)),
        ..FormatInfo::new("cline", "3.0.65")
    },
    find: |env, watch| {
        let Some(data) = data_dir(env) else { return Vec::new() };
        let sessions = find::directories(&data.join("sessions"), watch).into_iter();
        let main = |dir: PathBuf| {
            let id = find::dir_name(&dir, 0);
            find::found_file(&dir.join(format!("{id}{MESSAGES}")))
        };
        sessions.filter_map(main).collect()
    },
    is_session: |_, head| has_before(head, "messages", &["sessionId", "updated_at", "agent"]),
    // The name of a conversation's file without its ending.
    id: |path| id_of(path).unwrap_or_default().into(),
    glance: |file, head, _| {
        with_manifest(&file.path, before_member(head, "messages", facts_of).unwrap_or_default())
    },
    records: RecordFiles::Documents(conversations, read),
};

pub(super) fn data_dir(env: &Env) -> Option<PathBuf> {
    let named = env.dir_or("CLINE_DIR", ".cline").map(|dir| dir.join("data"));
    env.dir("CLINE_DATA_DIR").or(named)
}

fn id_of(messages: &Path) -> Option<&str> {
    messages.file_name()?.to_str()?.strip_suffix(MESSAGES)
}

/// Returns the file of the main conversation, and those of its sub-agents and of compactions, which lie beside it.
fn conversations(main: &Path) -> Vec<PathBuf> {
    let is_main = id_of(main) == Some(find::dir_name(main, 1));
    let dir = main.parent().filter(|_| is_main);
    let is_followed = |name: &str| name.ends_with(MESSAGES) || name.ends_with(COMPACTION);
    let beside = dir.map(|dir| find::files(dir, is_followed, &mut |_| true));
    let others = beside.into_iter().flatten().map(|file| file.path).filter(|path| path != main);
    std::iter::once(main.to_owned()).chain(others).collect()
}

fn facts_of(document: Json) -> SessionFacts {
    SessionFacts {
        id: document.name("sessionId").unwrap_or_default(),
        version: document.object("origin").name("version"),
        parent: document.object("origin").name("parentThreadId"),
        ended: document.time("updated_at"),
        ..SessionFacts::default()
    }
}

fn with_manifest(messages: &Path, facts: SessionFacts) -> SessionFacts {
    read_manifest(messages, |manifest| SessionFacts {
        cwd: manifest.string("cwd"),
        title: manifest.object("metadata").string("title").or(manifest.string("prompt")),
        model: manifest.name("model"),
        started: manifest.time("started_at"),
        ended: facts.ended.max(manifest.time("ended_at")),
        ..facts.clone()
    })
    .unwrap_or(facts)
}

fn read_manifest<T>(messages: &Path, take: impl FnOnce(Json) -> T) -> Option<T> {
    read_json(messages.with_file_name(format!("{}.json", id_of(messages)?)), take)
}

fn read(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript) {
    if path.to_str().is_some_and(|path| path.ends_with(COMPACTION)) {
        return;
    }
    let thread = if place.source == 0 {
        out.facts = with_manifest(path, facts_of(document));
        0
    } else {
        let sub_agent = document.object("origin").name("subagent");
        out.thread_id(&sub_agent.or(id_of(path).map(str::to_owned)).unwrap_or_default())
    };
    let Some(messages) = count_records(document.get("messages"), out) else { return };
    let count = messages.items().count();
    // The compaction of a longer conversation, which was taken back since then, is not used.
    let compaction = Compaction::read(path);
    let mut compaction = compaction.filter(|compaction| compaction.messages <= count);
    let (mut reads, first) = (FileReads::default(), out.calls.len() as u32);
    for (number, message) in messages.items().enumerate() {
        if let Some(compaction) = compaction.as_ref().filter(|compaction| compaction.messages == number) {
            compaction.apply(thread, first, &mut reads, out);
        }
        let at = message.time("ts");
        if message.has("role", "assistant") {
            reads.clear(thread, out);
            out.count_answer(thread);
        }
        for block in message.list("content") {
            let entry = RecordEntry { record: block, place, at, thread };
            if block.is_type("tool_use") {
                entry.add_next_call_of(block, ["id", "name", "input"], out);
            } else if block.is_type("tool_result")
                && let Some(call) = result(entry, out)
            {
                reads.note(call, block, place, out);
                let compaction = compaction.as_mut().filter(|compaction| number < compaction.messages);
                compaction.into_iter().for_each(|compaction| compaction.note(call, block, place));
            }
        }
    }
    if let Some(compaction) = compaction.filter(|compaction| compaction.messages == count) {
        compaction.apply(thread, first, &mut reads, out);
    }
}

/// Reads a result. Returns the number of its call, unless that has one already.
fn result(entry: RecordEntry, out: &mut Transcript) -> Option<u32> {
    let (block, thread) = (entry.record, entry.thread);
    let (id, content) = (block.name("tool_use_id")?, block.get("content")?);
    let number = out.call_or_new(thread, &id, &block.word("name"));
    let call = out.unanswered(number)?;
    let is_failed = |item: &Json| item.get("success").and_then(|flag| flag.bool()) == Some(false);
    let first_failed = content.items().find(is_failed);
    call.end(block.flag("is_error") || first_failed.is_some());
    let error = first_failed.map(|item| item.word("error")).unwrap_or_default();
    call.exit = number_after(&error, "Command exited with code ");
    match rendered::render(content, entry.place) {
        Some(sent) => {
            call.note_cut(None, sent.is_cut);
            let copy = |span: &RecordSpan| DisplayCopy::new("result", *span, Some(EXECUTOR));
            call.display = sent.cut.iter().map(copy).collect();
            entry.add_text(Evidence::Rendered, sent.pieces, call);
        }
        None => {
            call.cut = CutState::No;
            entry.add_result(Some(content), call);
        }
    }
    Some(number)
}

/// How many bytes must be won before outdated reads are taken out.
const MIN_WON: u64 = 65_536;

/// The newest compaction of a conversation, which has a file of its own.
struct Compaction {
    /// How many messages of the conversation it stands for.
    messages: usize,
    /// The ids of the calls whose results are kept, each with the length of what is sent in its place, in bytes.
    kept: IdMap<u64>,
    /// The calls of those of which another text is sent.
    edited: Vec<u32>,
}

impl Compaction {
    /// Reads the newest compaction, whose file lies beside the messages, whatever the session claims; `None` if there is none
    /// that can be read.
    fn read(messages: &Path) -> Option<Self> {
        let claimed = read_manifest(messages, |manifest| manifest.string("compaction_path")).flatten();
        let claimed = claimed.and_then(|path| Some(Path::new(&path).file_name()?.to_owned()));
        let usual = || Some(format!("{}{COMPACTION}", id_of(messages)?).into());
        read_json(messages.with_file_name(claimed.or_else(usual)?), |document| {
            let messages = document.number("source_message_count")?;
            let blocks = document.get("messages")?.items().flat_map(|message| message.list("content"));
            let results = blocks.filter(|block| block.is_type("tool_result"));
            let any_place = RecordPlace::new(0, 0, 0);
            let kept =
                results.filter_map(|block| Some((block.id("tool_use_id")?, sent_len(block, any_place))));
            Some(Self { messages, kept: kept.collect(), edited: Vec::new() })
        })?
    }

    /// Notes a result that comes before it.
    fn note(&mut self, call: u32, block: Json, place: RecordPlace) {
        let kept = block.id("tool_use_id").and_then(|id| self.kept.get(&id));
        self.edited.extend(kept.filter(|len| **len != sent_len(block, place)).map(|_| call));
    }

    /// Takes out what came before in a thread whose calls begin with `first`, except what is kept.
    fn apply(&self, thread: u32, first: u32, reads: &mut FileReads, out: &mut Transcript) {
        let is_gone = |call: u32, out: &Transcript| {
            let call = out.calls.get(call as usize).filter(|call| call.thread == thread);
            call.is_some_and(|call| !self.kept.contains_key(&record_id(&call.id)))
        };
        reads.retain(|call| !is_gone(call, out));
        let gone: Vec<u32> = (first..out.calls.len() as u32).filter(|call| is_gone(*call, out)).collect();
        out.add_event(ContextChange::Compact, out.origin(thread), gone);
        out.add_event(ContextChange::Replace, out.origin(thread), self.edited.iter().copied());
    }
}

/// Returns the length of what is sent of a result, in bytes.
fn sent_len(block: Json, place: RecordPlace) -> u64 {
    block.get("content").map_or(0, |content| rendered::len(content, place))
}

/// Files that were read, of which the agent sends only the last reading. That is not recorded: its rule is followed.
#[derive(Default)]
struct FileReads {
    /// What was read last: by file, and in it by the lines.
    newest: IdMap<IdMap<FileRead>>,
    /// What was read again, and is still sent.
    outdated: Vec<FileRead>,
    /// The bytes that would be won with them.
    won: u64,
    /// How many files of each result are sent.
    sent: HashMap<u32, u32>,
}

#[derive(Clone, Copy)]
struct FileRead {
    call: u32,
    bytes: u64,
    /// How many entries of the result are of the same lines.
    entries: u32,
}

impl FileReads {
    fn note(&mut self, call: u32, block: Json, place: RecordPlace, out: &Transcript) {
        let is_read = ["read", "read_files"].iter().any(|tool| out.tool_of(call).eq_ignore_ascii_case(tool));
        if !is_read || block.flag("is_error") {
            return;
        }
        let before = self.outdated.len();
        for file in block.list("content") {
            *self.sent.entry(call).or_default() += 1;
            let Some((path, lines)) = lines_of(file) else { continue };
            let (bytes, of_file) = (rendered::len(file, place), self.newest.entry(path).or_default());
            let is_old = |read: &FileRead| read.call != call;
            match lines {
                0 => {
                    let old = of_file.extract_if(|_, read| is_old(read));
                    self.outdated.extend(old.map(|(_, read)| read));
                }
                _ if of_file.get(&lines).is_some_and(is_old) => self.outdated.extend(of_file.remove(&lines)),
                _ => {}
            }
            let read = of_file.entry(lines).or_insert(FileRead { call, bytes: 0, entries: 0 });
            *read = FileRead { call, bytes: read.bytes + bytes, entries: read.entries + 1 };
        }
        self.won += self.outdated[before..].iter().map(|read| read.bytes).sum::<u64>();
    }

    /// Takes out what is outdated before a request, if that is worth it.
    fn clear(&mut self, thread: u32, out: &mut Transcript) {
        if self.won < MIN_WON {
            return;
        }
        self.won = 0;
        for read in &self.outdated {
            let left = self.sent.entry(read.call).or_default();
            *left = left.saturating_sub(read.entries);
        }
        let calls: BTreeSet<u32> = self.outdated.drain(..).map(|read| read.call).collect();
        let is_whole = |call: &u32| self.sent.get(call) == Some(&0);
        let (whole, part): (Vec<u32>, Vec<u32>) = calls.into_iter().partition(is_whole);
        let origin = ChangeOrigin { evidence: FateEvidence::ByRule, ..out.origin(thread) };
        out.add_event(ContextChange::Clear, origin, whole);
        out.add_event(ContextChange::Replace, origin, part);
    }

    /// Forgets the results that are in the context no more.
    fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.newest.values_mut().for_each(|of_file| of_file.retain(|_, read| is_kept(read.call)));
        self.outdated.retain(|read| is_kept(read.call));
        self.won = self.outdated.iter().map(|read| read.bytes).sum();
    }
}

/// Reads of which file an entry of a result is, and of which lines, as numbers: 0 for the whole file. Its `query` is a path,
/// `path:first-last`, or the request in JSON.
fn lines_of(file: Json) -> Option<(RecordId, RecordId)> {
    if let Some(found) = lines_in(file) {
        return Some(found);
    }
    let query = file.string("query").filter(|query| !query.is_empty())?;
    let mut tape = Tape::default();
    let request = query.starts_with('{').then(|| tape.read(query.as_bytes()).ok()).flatten();
    request.and_then(lines_in).or_else(|| {
        let ranged = query.rsplit_once(':').and_then(|(path, lines)| {
            let (first, last) = lines.split_once('-')?;
            let last = if last == "EOF" { None } else { Some(last.parse().ok()?) };
            Some((record_id(path), range_id(Some(first.parse().ok()?), last)))
        });
        ranged.or_else(|| Some((record_id(&query), 0)))
    })
}

fn lines_in(record: Json) -> Option<(RecordId, RecordId)> {
    let paths = ["path", "file_path", "filePath"].into_iter();
    let path = paths.filter_map(|key| record.name(key)).find(|path| !path.is_empty())?;
    let lines = match (record.number("start_line"), record.number("end_line")) {
        (None, None) => 0,
        (first, last) => range_id(first, last),
    };
    Some((record_id(&path), lines))
}

/// Returns a number that only the same lines of a file have.
fn range_id(first: Option<i64>, last: Option<i64>) -> RecordId {
    record_id(&format!("{}-{last:?}", first.unwrap_or(1)))
}
