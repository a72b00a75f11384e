//! What the model still has of the results in a conversation: compactions, marks of pruning, and what was reverted.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::session::context::{ContextEvent, ResultId};
use crate::session::fate::ContextChange;
use crate::session::id::{IdMap, RecordId, record_id};
use crate::session::json::Json;
use crate::session::model::RecordSpan;
use crate::session::reader::RecordPlace;
use crate::session::transcript::Transcript;

use super::part;

/// The messages of a conversation, in the order in which they were sent, and the results in them.
pub(super) struct SessionHistory {
    thread: u32,
    messages: Vec<Message>,
    numbers: IdMap<u32>,
    results: Vec<MessageResult>,
    marks: Vec<Mark>,
}

#[derive(Default)]
struct Message {
    at: Option<Timestamp>,
    is_answer: bool,
    /// The message that a summary answers, if it was made to its end.
    summary_of: Option<RecordId>,
    compaction: Option<Compaction>,
}

/// The part of a user's message that asks for a summary.
struct Compaction {
    /// The message from which on what is before the summary is kept.
    tail: Option<RecordId>,
    record: RecordSpan,
}

/// A result, and the number of its message.
#[derive(Clone, Copy)]
struct MessageResult {
    message: u32,
    id: ResultId,
}

/// A result that was cleared.
struct Mark {
    at: Timestamp,
    id: ResultId,
    record: RecordSpan,
}

/// A compaction that was in force, and what it took.
struct AppliedCompaction {
    /// The numbers of the messages that make it.
    messages: [u32; 2],
    taken: Vec<MessageResult>,
}

impl SessionHistory {
    pub(super) fn new(thread: u32) -> Self {
        let (messages, numbers) = (Vec::new(), IdMap::default());
        Self { thread, messages, numbers, results: Vec::new(), marks: Vec::new() }
    }

    /// Adds a message, after those before it in time.
    pub(super) fn add_message(&mut self, id: &str, at: Option<Timestamp>, message: Option<Json>) {
        let has =
            |key: &str| message.and_then(|message| message.get(key)).is_some_and(|value| !value.is_null());
        let is_summary = message.is_some_and(|message| message.flag("summary"));
        let parent = message.and_then(|message| message.id("parentID"));
        let is_answer = has("finish");
        let summary_of = parent.filter(|_| is_summary && is_answer && !has("error"));
        self.numbers.insert(record_id(id), self.messages.len() as u32);
        self.messages.push(Message { at, is_answer, summary_of, compaction: None });
    }

    pub(super) fn part(
        &mut self,
        message: &str,
        part: Json,
        place: RecordPlace,
        out: &mut Transcript,
    ) -> bool {
        let call = out.calls.len() as u32;
        let is_known = part::read(part, self.thread, place, out);
        let Some(number) = self.numbers.get(&record_id(message)).copied() else { return is_known };
        let Some(message) = self.messages.get_mut(number as usize) else { return is_known };
        let record = place.span(part);
        if part.is_type("compaction") {
            let tail = part.id("tail_start_id");
            message.compaction = Some(Compaction { tail, record });
        }
        message.is_answer |= part.is_type("tool");
        for id in out.result_ids(call) {
            self.results.push(MessageResult { message: number, id });
            let at = part.object("state").object("time").time("compacted");
            self.marks.extend(at.map(|at| Mark { at, id, record }));
        }
        is_known
    }

    /// Tells what was done to the results. `revert` is the message from which on all was taken back.
    pub(super) fn derive_events(mut self, revert: Option<&str>, out: &mut Transcript) {
        let mut living = std::mem::take(&mut self.results);
        let hidden = revert.and_then(|id| self.numbers.get(&record_id(id)).copied());
        let reverted: Vec<_> = living
            .iter()
            .copied()
            .filter(|result| hidden.is_some_and(|from| result.message >= from))
            .collect();
        self.marks.sort_by_key(|mark| mark.at);
        let mut marks = self.marks.iter().peekable();
        let mut compacted = Vec::new();
        for (number, message) in self.messages.iter().enumerate() {
            while let Some(mark) = marks.next_if(|mark| message.is_answer && message.at > Some(mark.at)) {
                self.add_event(mark.event(), out);
            }
            if message.is_answer {
                out.count_answer(self.thread);
            }
            if let Some((asked, compaction)) = self.in_force(message) {
                let tail = compaction.tail.and_then(|id| self.numbers.get(&id).copied());
                let is_taken = |result: &mut MessageResult| {
                    result.message < asked && tail.is_none_or(|tail| result.message < tail)
                };
                let taken: Vec<_> = living.extract_if(.., is_taken).collect();
                let mut event = event(ContextChange::Compact, message.at, &taken);
                event.record = Some(compaction.record);
                self.add_event(event, out);
                compacted.push(AppliedCompaction { messages: [asked, number as u32], taken });
            }
        }
        marks.for_each(|mark| self.add_event(mark.event(), out));
        if let Some(from) = hidden {
            self.revert(from, &reverted, compacted, out);
        }
    }

    /// Returns what asked for a summary, by the number of its message, if that was made.
    fn in_force(&self, message: &Message) -> Option<(u32, &Compaction)> {
        let asked = *self.numbers.get(&message.summary_of?)?;
        Some((asked, self.messages.get(asked as usize)?.compaction.as_ref()?))
    }

    /// Takes back all messages from one on. Without its messages, a compaction is not in force any more.
    fn revert(
        &self,
        from: u32,
        reverted: &[MessageResult],
        compacted: Vec<AppliedCompaction>,
        out: &mut Transcript,
    ) {
        let undone = compacted.into_iter().filter(|done| done.messages.iter().any(|number| *number >= from));
        let back: Vec<_> = undone.flat_map(|done| done.taken).collect();
        self.add_event(event(ContextChange::Restore, None, &back), out);
        let back: HashSet<_> = back.iter().map(|result| result.id).collect();
        let cleared = self.marks.iter().filter(|mark| back.contains(&mark.id));
        cleared.for_each(|mark| self.add_event(mark.event(), out));
        self.add_event(event(ContextChange::Rewind, None, reverted), out);
    }

    fn add_event(&self, mut event: ContextEvent, out: &mut Transcript) {
        event.request = out.next_request(self.thread);
        out.add_event(event);
    }
}

impl Mark {
    fn event(&self) -> ContextEvent {
        let record = Some(self.record);
        ContextEvent {
            record,
            results: vec![self.id],
            ..ContextEvent::recorded(ContextChange::Clear, Some(self.at))
        }
    }
}

fn event(change: ContextChange, at: Option<Timestamp>, results: &[MessageResult]) -> ContextEvent {
    let results = results.iter().map(|result| result.id).collect();
    ContextEvent { results, ..ContextEvent::recorded(change, at) }
}
