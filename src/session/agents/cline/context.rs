//! What leaves the context of Cline's model: what was compacted, and reads that a later one makes outdated.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::session::content::MAX_TEXT;
use crate::session::context::ContextEvent;
use crate::session::fate::{ContextChange, FateEvidence};
use crate::session::id::{IdMap, RecordId, record_id};
use crate::session::json::{Json, Tape};
use crate::session::model::RecordSpan;
use crate::session::reader::RecordPlace;
use crate::session::record::FileRecords;
use crate::session::transcript::Transcript;

use super::rendered;

/// The tools that read files.
const READ_TOOLS: &[&str] = &["read", "read_files"];

/// How many bytes must be won before outdated reads are taken out.
const MIN_WON: u64 = 65_536;

/// The newest compaction of a conversation, which has a file of its own.
pub(super) struct Compaction {
    /// How many messages of the conversation it stands for.
    pub messages: usize,
    /// The results that it holds.
    kept: HashSet<RecordId>,
    at: Option<Timestamp>,
    record: RecordSpan,
}

impl Compaction {
    /// Reads the compaction in a file; `None` if there is none that can be read.
    pub(super) fn read(path: &Path, out: &mut Transcript) -> Option<Self> {
        let records = FileRecords::new(path);
        let bytes = records.whole().ok()?;
        let mut tape = Tape::default();
        let document = tape.read(bytes.trim_ascii()).ok()?;
        let messages = document.number("source_message_count")?;
        let blocks = document.get("messages")?.items().flat_map(|message| message.list("content"));
        let results = blocks.filter(|block| block.is_type("tool_result"));
        let kept = results.filter_map(|block| block.id("tool_use_id")).collect();
        let at = document.time("updated_at");
        let source = out.add_source(Arc::new(records));
        let record = RecordSpan::new(source, 0, 0, bytes.len() as u64);
        Some(Self { messages, kept, at, record })
    }

    /// Takes out what came before in a thread whose calls begin with `first`, except what is kept.
    pub(super) fn apply(&self, thread: u32, first: u32, reads: &mut FileReads, out: &mut Transcript) {
        let is_gone = |call: u32, out: &Transcript| {
            let call = out.calls.get(call as usize).filter(|call| call.thread == thread);
            call.is_some_and(|call| !self.kept.contains(&record_id(&call.id)))
        };
        reads.retain(|call| !is_gone(call, out));
        let gone = (first..out.calls.len() as u32).filter(|call| is_gone(*call, out));
        let results = out.results_of(gone);
        let (request, record) = (out.next_request(thread), Some(self.record));
        let event = ContextEvent::recorded(ContextChange::Compact, self.at);
        out.add_event(ContextEvent { request, record, results, ..event });
    }
}

/// The files that were read in a conversation, of which the agent sends only what was read last. It records nothing of
/// that: its rule is followed.
#[derive(Default)]
pub(super) struct FileReads {
    /// What was read last: by file, and in it by the lines.
    newest: IdMap<IdMap<FileRead>>,
    /// What was read again, and is still sent.
    outdated: Vec<FileRead>,
    /// The bytes that would be won with them.
    won: u64,
    /// How many files of each result are sent.
    sent: HashMap<u32, u32>,
    /// The last result that made another one outdated.
    record: Option<RecordSpan>,
}

/// One file in a result.
#[derive(Clone, Copy)]
struct FileRead {
    call: u32,
    bytes: u64,
}

impl FileReads {
    pub(super) fn note(&mut self, call: u32, block: Json, place: RecordPlace, out: &Transcript) {
        let is_read = out
            .calls
            .get(call as usize)
            .is_some_and(|call| READ_TOOLS.iter().any(|tool| out.tool(call).eq_ignore_ascii_case(tool)));
        let is_error = block.flag("is_error");
        if !is_read || is_error {
            return;
        }
        let before = self.outdated.len();
        for file in block.list("content") {
            *self.sent.entry(call).or_default() += 1;
            let Some(lines) = FileLines::read(file) else { continue };
            let (bytes, of_file) = (rendered::len(file, place), self.newest.entry(lines.path).or_default());
            let found = match lines.range {
                Some(_) => of_file.remove(&lines.key()).into_iter().collect(),
                None => std::mem::take(of_file).into_values().collect::<Vec<_>>(),
            };
            of_file.insert(lines.key(), FileRead { call, bytes });
            self.outdated.extend(found.into_iter().filter(|read| read.call != call));
        }
        self.won += self.outdated[before..].iter().map(|read| read.bytes).sum::<u64>();
        if self.outdated.len() > before {
            self.record = Some(place.span(block));
        }
    }

    /// Takes out what is outdated before a request, if that is worth it.
    pub(super) fn clear(&mut self, thread: u32, at: Option<Timestamp>, out: &mut Transcript) {
        if self.won < MIN_WON {
            return;
        }
        self.won = 0;
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        for read in &self.outdated {
            let left = self.sent.entry(read.call).or_default();
            *left = left.saturating_sub(1);
        }
        let mut calls: Vec<u32> = self.outdated.drain(..).map(|read| read.call).collect();
        calls.sort_unstable();
        calls.dedup();
        for call in calls {
            let is_whole = self.sent.get(&call) == Some(&0);
            if is_whole { &mut whole } else { &mut part }.extend(out.result_ids(call));
        }
        let (request, record) = (out.next_request(thread), self.record);
        for (change, results) in [(ContextChange::Clear, whole), (ContextChange::Replace, part)] {
            let evidence = FateEvidence::ByRule;
            out.add_event(ContextEvent { change, at, request, evidence, record, results });
        }
    }

    /// Forgets the results that are in the context no more.
    fn retain(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.newest.values_mut().for_each(|of_file| of_file.retain(|_, read| is_kept(read.call)));
        self.outdated.retain(|read| is_kept(read.call));
        self.won = self.outdated.iter().map(|read| read.bytes).sum();
    }
}

/// Which lines of which file were read.
struct FileLines {
    path: RecordId,
    /// The first and the last, as far as they were named; `None` for the whole file.
    range: Option<[Option<i64>; 2]>,
}

impl FileLines {
    /// Reads what an entry of a result is of. Its `query` is a path, `path:first-last`, or the request in JSON.
    fn read(file: Json) -> Option<Self> {
        if let Some(found) = Self::from_members(file) {
            return Some(found);
        }
        let query = file.string("query").filter(|query| !query.is_empty())?;
        let mut tape = Tape::default();
        let request = query.starts_with('{').then(|| tape.read(query.as_bytes()).ok()).flatten();
        request.and_then(Self::from_members).or_else(|| Some(Self::from_text(&query)))
    }

    fn from_members(record: Json) -> Option<Self> {
        let paths = ["path", "file_path", "filePath"].into_iter();
        let path = paths.filter_map(|key| record.get(key)?.short(MAX_TEXT)).find(|path| !path.is_empty())?;
        let range = [record.number("start_line"), record.number("end_line")];
        let range = range.iter().any(Option::is_some).then_some(range);
        Some(Self { path: record_id(&path), range })
    }

    fn from_text(query: &str) -> Self {
        let ranged = query.rsplit_once(':').and_then(|(path, lines)| {
            let (first, last) = lines.split_once('-')?;
            let last = if last == "EOF" { None } else { Some(last.parse().ok()?) };
            Some(Self { path: record_id(path), range: Some([Some(first.parse().ok()?), last]) })
        });
        ranged.unwrap_or_else(|| Self { path: record_id(query), range: None })
    }

    /// Returns a number that only the same lines of the file have.
    fn key(&self) -> RecordId {
        match self.range {
            None => 0,
            Some([first, last]) => record_id(&format!("{}-{last:?}", first.unwrap_or(1))),
        }
    }
}
