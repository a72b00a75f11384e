//! What became of each result of Claude Code: the living branch, compactions, and the server's clearing, as events.

use crate::session::branch::LivingBranch;
use crate::session::context::ContextEvent;
use crate::session::fate::{ContextChange, FateEvidence};
use crate::session::id::{IdMap, RecordId, record_id};
use crate::session::transcript::Transcript;

use super::changes::event;
use super::history::{ClaudeHistory, CompactBoundary, Conversation, NO_RECORD, RecordContext, ResultRecord};
use super::server::{LastingResult, ServerClearing};
use super::turns::ThreadTurns;

/// Puts the events of all results into a transcript.
pub(super) fn derive_events(history: &ClaudeHistory, out: &mut Transcript) {
    let living: Vec<LivingBranch> =
        history.conversations.iter().map(|conversation| conversation.branches.living()).collect();
    let fates = Fates { history, lives: living_messages(history, &living), living };
    let mut events = fates.changes();
    let lasting = fates.results(&mut events, out);
    fates.server_edits(&lasting, &mut events, out);
    events.sort_by_key(|(count, _)| *count);
    out.events = events.into_iter().map(|(_, event)| event).collect();
    let is_logged = |result: &ResultRecord| {
        let conversation = history.conversations.get(result.thread as usize);
        conversation.and_then(|own| own.requests.last()).is_some_and(|last| last.is_logged)
    };
    let is_sent = !history.results.is_empty() && history.results.iter().all(is_logged);
    out.default_evidence = if is_sent { FateEvidence::Sent } else { FateEvidence::Recorded };
}

/// An event, with how many records came before its own.
type CountedEvent = (u64, ContextEvent);

struct Fates<'a> {
    history: &'a ClaudeHistory,
    /// By the numbers of the threads.
    living: Vec<LivingBranch>,
    /// Whether a message of the model's is still part of the conversation.
    lives: IdMap<bool>,
}

impl Fates<'_> {
    fn conversation(&self, thread: u32) -> Option<(&Conversation, &LivingBranch)> {
        let thread = thread as usize;
        self.history.conversations.get(thread).zip(self.living.get(thread))
    }

    /// Whether a record is on the living branch, or has no place in it.
    fn lives(&self, context: RecordContext) -> bool {
        let Some((conversation, branch)) = self.conversation(context.thread) else { return true };
        context.number == NO_RECORD || branch.contains_number(context.number, &conversation.branches)
    }

    /// How it is known from a request on that results are not in it.
    fn evidence(&self, context: RecordContext) -> FateEvidence {
        if self.is_logged(context) { FateEvidence::Sent } else { FateEvidence::Recorded }
    }

    fn is_logged(&self, context: RecordContext) -> bool {
        let conversation = self.conversation(context.thread);
        conversation.zip(context.request).is_some_and(|((own, _), request)| own.is_logged(request))
    }

    /// Returns the changes that name their results. What the next request itself shows is not taken from a record besides.
    fn changes(&self) -> Vec<CountedEvent> {
        let on_branch = self.history.changes.iter().filter(|change| self.lives(change.context));
        let known = on_branch.filter(|change| {
            change.is_sent || change.event.change == ContextChange::Drop || !self.is_logged(change.context)
        });
        known.map(|change| (change.context.count, change.event.clone())).collect()
    }

    /// Adds what compactions and branches did. Returns the results on the living branch, in order.
    fn results(&self, events: &mut Vec<CountedEvent>, out: &Transcript) -> Vec<LastingResult<'_>> {
        // Of a result that was recorded again, the last record counts.
        let mut last = vec![usize::MAX; out.calls.len()];
        for (at, result) in self.history.results.iter().enumerate() {
            last.get_mut(result.call as usize).into_iter().for_each(|last| *last = at);
        }
        let mut lasting = Vec::new();
        let mut turns: Vec<ThreadTurns> =
            self.history.conversations.iter().map(|_| ThreadTurns::default()).collect();
        for boundary in &self.history.boundaries {
            let turn = turns.get_mut(boundary.context.thread as usize);
            turn.into_iter().for_each(|turn| turn.add_boundary(boundary, self.lives(boundary.context)));
        }
        for span in self.history.spans.iter().filter(|span| self.lives(span.context)) {
            let parent =
                self.conversation(span.context.thread).and_then(|(_, branch)| branch.number(span.parent));
            let turn = turns.get_mut(span.context.thread as usize);
            turn.zip(parent)
                .into_iter()
                .for_each(|(turn, parent)| turn.spans.push((span.context, parent, Vec::new())));
        }
        for (at, result) in self.history.results.iter().enumerate() {
            let turn = turns.get_mut(result.thread as usize);
            let Some(turn) = turn.filter(|_| last.get(result.call as usize) == Some(&at)) else { continue };
            let ids = out.result_ids(result.call);
            if is_on_branch(self.history, result, &self.living) || self.is_of_living(result) {
                let compacted = turn.compact(result, &|boundary| self.preserves(boundary, result), ids);
                lasting.push(LastingResult { result, compacted });
            } else {
                turn.leave(result.record, ids);
            }
        }
        for ((turn, conversation), branch) in
            turns.into_iter().zip(&self.history.conversations).zip(&self.living)
        {
            turn.events(conversation, branch, &|context| self.evidence(context), events);
        }
        lasting
    }

    fn preserves(&self, boundary: &CompactBoundary, result: &ResultRecord) -> bool {
        let Some((conversation, branch)) = self.conversation(result.thread) else { return false };
        let record = conversation.branches.id(result.record);
        let is_named = record.is_some_and(|record| boundary.preserved.contains(&record));
        let segment = boundary.segment.and_then(|(head, tail)| branch.number(head).zip(branch.number(tail)));
        is_named || segment.is_some_and(|(head, tail)| (head..=tail).contains(&result.record))
    }

    /// Parallel calls are in several records of one message, of which only one is followed by the next message: a result
    /// lives if any record of its message does.
    fn is_of_living(&self, result: &ResultRecord) -> bool {
        let message = message_of(self.history, result, &self.living);
        message.and_then(|message| self.lives.get(&message)) == Some(&true)
    }

    /// Adds what the server cleared: in each request the oldest results, which are whole again in one without.
    fn server_edits(&self, lasting: &[LastingResult], events: &mut Vec<CountedEvent>, out: &Transcript) {
        for thread in 0..self.history.conversations.len() as u32 {
            let edits = self
                .history
                .edits
                .iter()
                .filter(|edit| edit.context.thread == thread && self.lives(edit.context));
            let mut edits = edits.peekable();
            if edits.peek().is_none() {
                continue;
            }
            let results: Vec<_> = lasting.iter().filter(|lasting| lasting.result.thread == thread).collect();
            let tool = |call: u32| out.calls.get(call as usize).map(|call| record_id(out.tool(call)));
            let boundaries =
                self.history.boundaries.iter().filter(|boundary| boundary.context.thread == thread);
            let compactions: Vec<u64> = boundaries.map(|boundary| boundary.context.count).collect();
            let mut cleared = ServerClearing::default();
            for edit in edits {
                let compactions = compactions.partition_point(|count| *count < edit.context.count);
                let (gone, back) = cleared.apply(edit, compactions, &results, &tool);
                for (change, calls) in [(ContextChange::Clear, gone), (ContextChange::Restore, back)] {
                    let ids = out.results_of(calls);
                    if !ids.is_empty() {
                        events.push((edit.context.count, event(change, edit.context, ids)));
                    }
                }
            }
        }
    }
}

/// Whether the record of a result is on the living branch.
fn is_on_branch(history: &ClaudeHistory, result: &ResultRecord, living: &[LivingBranch]) -> bool {
    let thread = result.thread as usize;
    match (history.conversations.get(thread), living.get(thread)) {
        (Some(conversation), Some(branch)) if conversation.branches.last().is_some() => {
            branch.contains_number(result.record, &conversation.branches)
        }
        // No record of the conversation has an id.
        _ => true,
    }
}

/// Returns the message of the call of a result: in its own conversation, or in the main one.
fn message_of(history: &ClaudeHistory, result: &ResultRecord, living: &[LivingBranch]) -> Option<RecordId> {
    let source = result.source()?;
    let within = |thread: usize| {
        let number = living.get(thread)?.number(source)?;
        history.conversations.get(thread)?.message(number)
    };
    within(result.thread as usize).or_else(|| within(0))
}

/// Returns whether a record of a message is on a living branch, for the messages of results that are on none.
fn living_messages(history: &ClaudeHistory, living: &[LivingBranch]) -> IdMap<bool> {
    let off = history.results.iter().filter(|result| !is_on_branch(history, result, living));
    let mut messages: IdMap<bool> =
        off.filter_map(|result| Some((message_of(history, result, living)?, false))).collect();
    if messages.is_empty() {
        return messages;
    }
    for (conversation, branch) in history.conversations.iter().zip(living) {
        for (number, message) in &conversation.messages {
            if let Some(lives) = messages.get_mut(message) {
                *lives |= branch.contains_number(*number, &conversation.branches);
            }
        }
    }
    messages
}
