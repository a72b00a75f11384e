//! A session whose records were read once: all its calls, by place, and what in the records was not understood.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::fate::{ContextChange, ContextState, FateEvidence};
use super::id::{IdMap, get_or_grow, record_id};
use super::model::{Call, ChangeOrigin, ContextEvent, RecordSpan, SessionFacts, Thread};
use super::record::{MAX_RECORD, RecordSource};
use super::sent::log::RequestLog;

const MAX_UNKNOWN: usize = 100;
/// The most threads, and the most tools, of one session.
const MAX_NAMES: usize = 100_000;
/// The most versions of the agent that are told apart in one session.
const MAX_VERSIONS: usize = 100;

/// A session that was opened. It holds places and short facts, never the texts.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// The agent: the first part of its policies' names.
    pub agent: &'static str,
    pub facts: SessionFacts,
    pub sources: Vec<Arc<dyn RecordSource>>,
    /// The conversations; the first is the main one.
    pub threads: Vec<Thread>,
    pub tools: Vec<Box<str>>,
    versions: Vec<Box<str>>,
    /// The calls, in the order of the records.
    pub calls: Vec<Call>,
    pub unread: ReadReport,
    /// Whether only the beginning is known of the record that is being read: what it does to results is then not known.
    pub is_beginning: bool,
    pub requests: RequestLog,
    /// What was done to the results in the model's context, in order. A reader that derives it again replaces all of it.
    pub events: Vec<ContextEvent>,
    /// How it is known of results that no event names that they are still in context; a rule is the main thread's alone.
    pub default_evidence: FateEvidence,
    /// The calls whose results the last requests carry as they were first sent, or as events say, which the records show.
    pub carried: HashSet<u32>,
    /// How many requests of each thread were answered so far.
    answers: Vec<u32>,
    /// The numbers of the calls by a hash of thread and id, or the next free one. A repeated id means the last call.
    by_id: IdMap<u32>,
    /// How many calls had the same id so far, where calls of one id are told apart.
    alike: IdMap<u32>,
    tool_ids: HashMap<Box<str>, u32>,
    thread_ids: HashMap<Box<str>, u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    pub records: u64,
    /// The number of records of a kind that the reader knows.
    pub known: u64,
    pub kinds: BTreeMap<Box<str>, u64>,
    /// Records that are not JSON, or too large.
    pub broken: u64,
    /// Records that are longer than [`MAX_RECORD`], of which the beginning was read.
    pub long: u64,
    /// The bytes at the end that are not a whole record yet.
    pub unfinished: u64,
    /// Why the text of a compressed log ends before its end.
    pub fault: Option<Box<str>>,
}

impl ReadReport {
    /// Whether a record is of one of the kinds that hold nothing about calls: words with blanks between them. Counts one that
    /// is not.
    pub fn is_known(&mut self, kind: &str, others: &str) -> bool {
        others.split(' ').any(|other| other == kind) || self.unknown(kind)
    }

    /// Counts a record of a kind that the reader does not know. Returns that it is not known.
    pub fn unknown(&mut self, kind: &str) -> bool {
        let is_named = self.kinds.len() < MAX_UNKNOWN || self.kinds.contains_key(kind);
        *self.kinds.entry(if is_named { kind } else { "others" }.into()).or_default() += 1;
        false
    }

    pub fn is_format_unknown(&self) -> bool {
        self.records > 0 && self.known == 0
    }

    /// Whether some of the records were not read.
    pub fn is_short(&self) -> bool {
        self.long > 0 || self.unfinished > MAX_RECORD as u64 || self.fault.is_some()
    }

    /// Describes what was not read or not understood: `38 records of 3 unknown kinds (atis-latch ×22, …)`; empty if nothing.
    pub fn describe(&self) -> String {
        let count = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let records = |n: u64| (n > 0).then(|| count(n, "record"));
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let named: Vec<_> = kinds.iter().take(3).map(|(kind, count)| format!("{kind} ×{count}")).collect();
        let named = named.join(", ") + if kinds.len() > 3 { ", …" } else { "" };
        let kinds = count(kinds.len() as u64, "unknown kind");
        let mib = self.unfinished >> 20;
        let words = [
            records(self.kinds.values().sum()).map(|records| format!("{records} of {kinds} ({named})")),
            records(self.broken).map(|records| format!("{records} not readable")),
            records(self.long)
                .map(|records| format!("{records} over 16 MB, of which the beginning was read")),
            (self.unfinished > MAX_RECORD as u64)
                .then(|| format!("the last {mib} MB are no record and were not read")),
            self.fault.as_deref().map(str::to_owned),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl Transcript {
    pub fn new(agent: &'static str) -> Self {
        let main = Thread { id: "".into(), name: "main".into() };
        Self { agent, threads: vec![main], ..Self::default() }
    }

    pub fn add_source(&mut self, source: Arc<dyn RecordSource>) -> u32 {
        self.sources.push(source);
        (self.sources.len() - 1) as u32
    }

    pub fn tool_id(&mut self, name: &str) -> u32 {
        number_of(&mut self.tools, &mut self.tool_ids, name, |name| name.into())
    }

    /// Returns the number of a sub-agent's thread, by the agent's id of it; an empty id is the main one.
    pub fn thread_id(&mut self, id: &str) -> u32 {
        if id.is_empty() {
            return 0;
        }
        let new = |id: &str| Thread { id: id.into(), name: "sub-agent".into() };
        number_of(&mut self.threads, &mut self.thread_ids, id, new)
    }

    /// Returns the ids of a session, of its sub-agents, of theirs and so on, with their threads. `children` returns the ids and
    /// titles of those of one session.
    pub fn family<E, C: IntoIterator<Item = (String, Option<String>)>>(
        &mut self,
        session: &str,
        children: &dyn Fn(&str) -> Result<C, E>,
    ) -> Result<Vec<(String, u32)>, E> {
        let mut found = vec![(session.to_owned(), 0)];
        let mut at = 0;
        while let Some((parent, _)) = found.get(at).cloned() {
            for (id, title) in children(&parent)?.into_iter().filter(|(id, _)| id != session) {
                let before = self.threads.len();
                let thread = self.thread_id(&id);
                self.name_thread(thread, title);
                // In a circle it is known.
                found.extend((self.threads.len() > before).then_some((id, thread)));
            }
            at += 1;
        }
        Ok(found)
    }

    /// Notes a sub-agent's kind or title, if the records tell it.
    pub fn name_thread(&mut self, thread: u32, name: Option<String>) {
        if let Some((thread, name)) = self.threads.get_mut(thread as usize).zip(name) {
            thread.name = name.into();
        }
    }

    pub fn tool(&self, call: &Call) -> &str {
        self.tools.get(call.tool as usize).map_or("", |name| name)
    }

    /// Returns the tool of a call, by its number; empty if there is none.
    pub fn tool_of(&self, call: u32) -> &str {
        self.calls.get(call as usize).map_or("", |call| self.tool(call))
    }

    /// Notes the version of the agent that wrote a call, or its first result before that is added; nothing if it is empty.
    pub fn note_version(&mut self, call: u32, version: &str) {
        let call = self.calls.get_mut(call as usize).filter(|call| call.result.is_none());
        if let Some(call) = call.filter(|_| !version.is_empty()) {
            let known = self.versions.iter().rposition(|known| **known == *version);
            if known.is_none() && self.versions.len() == MAX_VERSIONS {
                return;
            }
            let number = known.unwrap_or(self.versions.len()) + 1;
            self.versions.extend(known.is_none().then(|| version.into()));
            call.version = u16::try_from(number).unwrap_or(0);
        }
    }

    /// Returns the version of the agent that wrote a call's result, or else the call; that of the last record if these do not
    /// say. Several versions may write one session.
    pub fn version_of(&self, call: &Call) -> Option<&str> {
        let noted = usize::from(call.version).checked_sub(1).and_then(|at| self.versions.get(at));
        noted.map(|version| &**version).or(self.facts.version.as_deref())
    }

    pub fn thread(&self, call: &Call) -> Option<&Thread> {
        self.threads.get(call.thread as usize)
    }

    /// Adds a call. If its thread has one of this id already, that one is kept, as in a log that repeats itself. Returns its
    /// number.
    pub fn add_call(&mut self, call: Call) -> u32 {
        let (key, known) = self.find(call.thread, &call.id);
        known.unwrap_or_else(|| self.push_call(key, call))
    }

    /// Adds a call of a log that holds each call once. An id may come again if the service restarts its count: if the
    /// known call differs, has a result or is in another thread, the new one is `ID#2`, and the id now means that. Returns its number.
    pub fn add_next_call(&mut self, mut call: Call) -> u32 {
        let (key, known) = self.find(call.thread, &call.id);
        let len = |call: &Call| call.input.map(|input| input.len());
        let is_same = |known: &Call| (known.tool, len(known)) == (call.tool, len(&call));
        let is_again = |known: u32| self.calls.get(known as usize).is_some_and(is_same);
        if let Some(known) = known.filter(|known| !self.has_result(*known) && is_again(*known)) {
            return known;
        }
        let (thread, id) = (call.thread, std::mem::take(&mut call.id));
        let alike = self.alike.get(&record_id(&id)).copied().unwrap_or(known.is_some().into());
        let numbered = |number: u32| if number == 1 { id.clone() } else { format!("{id}#{number}").into() };
        let is_free = |number: &u32| *number == 1 || self.find(thread, &numbered(*number)).1.is_none();
        let number = (alike + 1..).find(is_free).unwrap_or(u32::MAX);
        call.id = numbered(number);
        self.alike.insert(record_id(&id), number);
        let at = self.push_call(key, call);
        if number > 1 {
            let (own, _) = self.find(thread, &numbered(number));
            self.by_id.insert(own, at);
        }
        at
    }

    /// From here on, the id means a call that had it before, by its number.
    pub fn bind(&mut self, thread: u32, id: &str, call: u32) {
        let (key, _) = self.find(thread, id);
        self.by_id.insert(key, call);
    }

    fn push_call(&mut self, key: u64, call: Call) -> u32 {
        let at = self.calls.len() as u32;
        self.by_id.insert(key, at);
        self.calls.push(call);
        at
    }

    /// Returns the number of the last call of a thread with this id, by which it is found in `calls`.
    pub fn call_number(&self, thread: u32, id: &str) -> Option<u32> {
        self.find(thread, id).1
    }

    pub fn call_mut(&mut self, thread: u32, id: &str) -> Option<&mut Call> {
        let at = self.call_number(thread, id)?;
        self.calls.get_mut(at as usize)
    }

    /// Returns the number of a call; adds one of this tool if the record of the call was left out.
    pub fn call_or_new(&mut self, thread: u32, id: &str, tool: &str) -> u32 {
        self.call_number(thread, id).unwrap_or_else(|| {
            let tool = self.tool_id(tool);
            self.add_call(Call::new(id, thread, tool))
        })
    }

    /// Returns a call, by its number, that has no result yet.
    pub fn unanswered(&mut self, call: u32) -> Option<&mut Call> {
        self.calls.get_mut(call as usize).filter(|call| call.result.is_none())
    }

    /// Finds the key under which a call is, or would be, and its number if it is there.
    fn find(&self, thread: u32, id: &str) -> (u64, Option<u32>) {
        let mut key = record_id(id).wrapping_add(thread.into());
        while let Some(at) = self.by_id.get(&key) {
            let found = self.calls.get(*at as usize);
            if found.is_some_and(|call| call.thread == thread && is_named(&call.id, id)) {
                return (key, Some(*at));
            }
            key = key.wrapping_add(1);
        }
        (key, None)
    }

    /// Counts an answer of the model, which ends a request of the thread. Readers call it once an answer.
    pub fn count_answer(&mut self, thread: u32) {
        let answers = get_or_grow(&mut self.answers, thread);
        *answers = answers.saturating_add(1);
    }

    /// Returns the number of the next request of a thread, 1-based; `None` if its reader counts none.
    pub fn next_request(&self, thread: u32) -> Option<u32> {
        self.answers.get(thread as usize).map(|answers| answers.saturating_add(1))
    }

    /// Returns where a change comes from that is made before the next request of a thread.
    pub fn origin(&self, thread: u32) -> ChangeOrigin {
        let evidence = if self.is_beginning { FateEvidence::Unknown } else { FateEvidence::default() };
        ChangeOrigin { request: self.next_request(thread), evidence }
    }

    pub fn has_result(&self, call: u32) -> bool {
        self.calls.get(call as usize).is_some_and(|call| call.result.is_some())
    }

    /// Adds a change of the results of some calls; nothing if none of them has one.
    pub fn add_event(
        &mut self,
        change: ContextChange,
        origin: ChangeOrigin,
        calls: impl IntoIterator<Item = u32>,
    ) {
        let calls: Vec<u32> = calls.into_iter().filter(|call| self.has_result(*call)).collect();
        let evidence = if self.is_beginning { FateEvidence::Unknown } else { origin.evidence };
        if !calls.is_empty() {
            let origin = ChangeOrigin { evidence, ..origin };
            self.events.push(ContextEvent { change, origin, calls });
        }
    }

    pub fn derive_fates(&mut self) {
        for call in &mut self.calls {
            let is_known = call.thread == 0 || self.default_evidence != FateEvidence::ByRule;
            let evidence = if is_known { self.default_evidence } else { FateEvidence::Unknown };
            let context = ContextState { evidence, ..ContextState::default() };
            call.result.iter_mut().for_each(|result| result.context = context);
        }
        for event in &self.events {
            for call in &event.calls {
                let call = self.calls.get_mut(*call as usize);
                if let Some(result) = call.and_then(|call| call.result.as_mut()) {
                    result.context = event.applied_to(result.context);
                }
            }
        }
        for call in &self.carried {
            let result = self.calls.get_mut(*call as usize).and_then(|call| call.result.as_mut());
            let context = result.map(|result| &mut result.context).filter(|context| context.is_whole());
            if let Some(context) = context.filter(|context| context.evidence == FateEvidence::Recorded) {
                context.evidence = FateEvidence::Sent;
            }
        }
    }

    /// Returns the bytes of a place in the records, at most `most` from its start.
    pub fn read(&self, span: RecordSpan, most: u64) -> std::io::Result<Vec<u8>> {
        let source = self.sources.get(span.source() as usize).ok_or(std::io::ErrorKind::NotFound)?;
        source.read(span.row(), span.start()..span.start().saturating_add(span.len().min(most)))
    }

    pub(super) fn shrink(&mut self) {
        self.calls.shrink_to_fit();
        self.requests.shrink();
    }
}

/// Whether a call is the agent's call of this id: one of several has a number after it.
fn is_named(own: &str, id: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    own.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.strip_prefix('#').is_some_and(is_number))
}

/// Returns the number of a name in a list, in which a new one is put at the end.
fn number_of<T>(
    all: &mut Vec<T>,
    ids: &mut HashMap<Box<str>, u32>,
    name: &str,
    new: impl FnOnce(&str) -> T,
) -> u32 {
    if let Some(id) = ids.get(name) {
        return *id;
    }
    if all.len() < MAX_NAMES {
        ids.insert(name.into(), all.len() as u32);
        all.push(new(name));
    }
    all.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::super::model::{CallResult, TextPieces};
    use super::*;

    #[test]
    fn a_call_is_found_by_thread_and_id() {
        let mut transcript = Transcript::new("test");
        let side = transcript.thread_id("a1");
        let (bash, read) = (transcript.tool_id("Bash"), transcript.tool_id("Read"));
        transcript.add_call(Call::new("1", 0, bash));
        transcript.add_call(Call::new("1", side, read));
        transcript.add_call(Call::new("1", side, bash));
        assert_eq!(transcript.calls.len(), 2, "a repeated record adds no call");
        transcript.call_mut(side, "1").unwrap().exit = Some(3);
        assert_eq!((transcript.calls[0].exit, transcript.calls[1].exit), (None, Some(3)));
        assert_eq!(transcript.tool(&transcript.calls[1]), "Read");
        let second = transcript.call_or_new(0, "2", "Bash");
        assert_eq!((second, transcript.unanswered(second).unwrap().tool), (2, bash));
        assert_eq!((transcript.thread_id("a1"), transcript.threads.len()), (side, 2));
    }

    #[test]
    fn calls_of_one_id_are_told_apart_once_they_have_results() {
        let mut transcript = Transcript::new("test");
        let side = transcript.thread_id("a1");
        let answer = |transcript: &mut Transcript, thread| {
            let call = transcript.call_mut(thread, "x").unwrap();
            call.add(CallResult::recorded(TextPieces::new(), None, RecordSpan::new(0, 0, 0, 0)));
        };
        for _ in 0..3 {
            transcript.add_next_call(Call::new("x", 0, 0));
            transcript.add_next_call(Call::new("x", 0, 0));
            answer(&mut transcript, 0);
        }
        transcript.add_next_call(Call::new("x", side, 0));
        answer(&mut transcript, side);
        transcript.add_call(Call::new("x", 0, 0));
        // An agent may call one so itself, and a result may come without its call.
        transcript.add_next_call(Call::new("x#2", 0, 0));
        transcript.call_or_new(0, "y", "");
        transcript.add_next_call(Call::new("y", 0, 0));
        let ids: Vec<_> = transcript.calls.iter().map(|call| (call.thread, &*call.id)).collect();
        assert_eq!(ids, [(0, "x"), (0, "x#2"), (0, "x#3"), (side, "x#4"), (0, "x#2#2"), (0, "y")]);
        assert!(transcript.calls[..4].iter().all(|call| call.result.is_some() && call.later == 0));
    }

    #[test]
    fn counts_and_names_unknown_records() {
        let mut unread = ReadReport { records: 5, ..ReadReport::default() };
        assert!(unread.is_format_unknown() && unread.describe().is_empty());
        for kind in ["a", "b", "b", "c", "d"] {
            unread.unknown(kind);
        }
        assert_eq!(unread.describe(), "5 records of 4 unknown kinds (b ×2, a ×1, c ×1, …)");
        unread.broken = 1;
        assert!(unread.describe().ends_with("…), 1 record not readable"));
        assert!((0..1000).all(|n| !unread.unknown(&n.to_string())));
        assert!(unread.kinds.len() <= MAX_UNKNOWN + 1);
    }
}
