//! The history of a session's conversations in Claude Code's records: their results, and what changed the model's context.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::session::branch::Branches;
use crate::session::context::ContextEvent;
use crate::session::id::RecordId;
use crate::session::model::RecordSpan;

/// The number of a record without an id.
pub(super) const NO_RECORD: u32 = u32::MAX;

/// How many of the last results are looked through for one.
const MAX_RECENT: usize = 4096;

/// All that was read.
#[derive(Default)]
pub(super) struct ClaudeHistory {
    /// By the numbers of their threads.
    pub conversations: Vec<Conversation>,
    pub results: Vec<ResultRecord>,
    pub boundaries: Vec<CompactBoundary>,
    pub spans: Vec<SummarySpan>,
    pub edits: Vec<ServerEdit>,
    /// What names its results itself.
    pub changes: Vec<ContextRecord>,
    pub count: u64,
}

impl ClaudeHistory {
    pub(super) fn conversation(&mut self, thread: u32) -> &mut Conversation {
        let thread = thread as usize;
        if thread >= self.conversations.len() {
            self.conversations.resize_with(thread + 1, Conversation::default);
        }
        &mut self.conversations[thread]
    }

    /// Whether a request before carried the result of a call. One that is not among the last was long sent.
    pub(super) fn was_sent(&self, call: u32) -> bool {
        let result = self.results.iter().rev().take(MAX_RECENT).find(|result| result.call == call);
        let Some(result) = result else { return true };
        let requests = self.conversations.get(result.thread as usize).map(|own| &own.requests);
        requests.and_then(|requests| requests.last()).is_some_and(|last| result.record < last.position)
    }

    /// Gives back the room for records that have not come.
    pub(super) fn shrink(&mut self) {
        self.results.shrink_to_fit();
        for conversation in &mut self.conversations {
            conversation.branches.shrink();
            conversation.messages.shrink_to_fit();
            conversation.requests.shrink_to_fit();
        }
    }
}

/// One conversation.
#[derive(Default)]
pub(super) struct Conversation {
    pub branches: Branches,
    /// The model's messages, by the numbers of their records, in order.
    pub messages: Vec<(u32, RecordId)>,
    pub requests: Vec<CountedRequest>,
    /// The tools whose results the server does not clear in the last request.
    pub excluded: Vec<RecordId>,
    /// Whether the server had cleared results in the last request that was answered.
    pub is_edited: bool,
}

/// A request, as it is counted.
#[derive(Clone, Copy)]
pub(super) struct CountedRequest {
    /// How many records of the conversation came before it.
    pub position: u32,
    /// Whether it is itself in the records, and not only its answer.
    pub is_logged: bool,
}

impl Conversation {
    pub(super) fn message(&self, number: u32) -> Option<RecordId> {
        let at = self.messages.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.messages.get(at).map(|(_, message)| *message)
    }

    /// Returns the number of the first request after a record, 1-based.
    pub(super) fn request_after(&self, record: u32) -> u32 {
        let before = self.requests.partition_point(|request| request.position <= record);
        (before as u32).saturating_add(1)
    }

    /// Whether a request is in the records, by its number.
    pub(super) fn is_logged(&self, request: u32) -> bool {
        let request = request.checked_sub(1).and_then(|at| self.requests.get(at as usize));
        request.is_some_and(|request| request.is_logged)
    }
}

/// Where a result was recorded.
pub(super) struct ResultRecord {
    pub thread: u32,
    pub call: u32,
    /// How many records came before it.
    pub count: u32,
    /// The number of its record in the conversation; [`NO_RECORD`] if that has no id.
    pub record: u32,
    /// The record of the call; 0 if it is not named.
    pub source: RecordId,
}

impl ResultRecord {
    pub(super) fn source(&self) -> Option<RecordId> {
        (self.source != 0).then_some(self.source)
    }
}

/// A record that changes the context of a thread.
#[derive(Clone, Copy)]
pub(super) struct RecordContext {
    pub thread: u32,
    /// How many records came before it.
    pub count: u64,
    /// Its number in the conversation; [`NO_RECORD`] if it has no id.
    pub number: u32,
    pub at: Option<Timestamp>,
    /// The first request after it; of an answer, the request itself.
    pub request: Option<u32>,
    pub record: RecordSpan,
}

/// A compaction: the model no longer sees what was recorded before it, except what it preserves.
pub(super) struct CompactBoundary {
    pub context: RecordContext,
    pub preserved: HashSet<RecordId>,
    /// The first and the last of the records that are preserved, where they are not named one by one.
    pub segment: Option<(RecordId, RecordId)>,
}

/// A summary that stands for the records between it and the one that it follows.
pub(super) struct SummarySpan {
    pub context: RecordContext,
    pub parent: RecordId,
}

/// What the server cleared in a request that was answered: the oldest results.
pub(super) struct ServerEdit {
    pub context: RecordContext,
    pub cleared: usize,
    /// The tools whose results are left.
    pub excluded: Vec<RecordId>,
}

/// A change that names its results.
pub(super) struct ContextRecord {
    pub context: RecordContext,
    pub event: ContextEvent,
    /// Whether it is read from the requests themselves.
    pub is_sent: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of 2 GB holds over 100,000 results.
    #[test]
    fn a_result_record_takes_few_bytes() {
        assert_eq!(size_of::<ResultRecord>(), 24);
    }
}
