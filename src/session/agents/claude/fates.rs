//! What became of each result of Claude Code: the living branch, compactions, and the server's clearing, as events.

use std::collections::{BTreeMap, HashSet};

use crate::session::agents::{
    ChangeOrigin, ContextChange, ContextEvent, FateEvidence, IdMap, RecordId, Transcript, record_id,
};
use crate::session::branch::LivingBranch;

use super::history::{
    ClaudeHistory, CompactBoundary, Conversation, NO_RECORD, RecordContext, ResultRecord, ServerEdit,
};

pub(super) fn derive_events(history: &ClaudeHistory, out: &mut Transcript) {
    let living: Vec<LivingBranch> =
        history.conversations.iter().map(|conversation| conversation.branches.living()).collect();
    let mut fates = Fates { history, living, lives: IdMap::default() };
    fates.lives = fates.living_messages();
    let mut events = fates.changes();
    let lasting = fates.results(&mut events, out);
    fates.server_edits(&lasting, &mut events, out);
    events.sort_by_key(|(count, _)| *count);
    out.events.clear();
    for (_, ContextEvent { change, origin, calls }) in events {
        out.add_event(change, origin, calls);
    }
    let is_logged = |result: &ResultRecord| {
        let last = fates.conversation(result.thread).and_then(|(own, _)| own.requests.last());
        last.is_some_and(|last| last.is_logged)
    };
    let is_sent = !history.results.is_empty() && history.results.iter().all(is_logged);
    out.default_evidence = if is_sent { FateEvidence::Sent } else { FateEvidence::Recorded };
}

/// An event, with how many records came before its own.
type CountedEvent = (u64, ContextEvent);

impl RecordContext {
    fn event(self, change: ContextChange, calls: Vec<u32>) -> CountedEvent {
        (self.count, ContextEvent { change, origin: self.origin, calls })
    }
}

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
        let branch = self.living.get(context.thread as usize);
        context.number == NO_RECORD || branch.is_none_or(|branch| branch.contains_number(context.number))
    }

    /// Returns the changes that name calls. Skips what the next logged request shows itself, except drops.
    fn changes(&self) -> Vec<CountedEvent> {
        let on_branch = self.history.changes.iter().filter(|change| self.lives(change.context));
        let is_logged = |context: RecordContext| {
            self.conversation(context.thread).is_some_and(|(own, _)| own.is_logged(context.origin.request))
        };
        let known = on_branch.filter(|record| {
            record.context.origin.evidence == FateEvidence::Sent
                || record.change == ContextChange::Drop
                || !is_logged(record.context)
        });
        known.map(|record| record.context.event(record.change, record.calls.clone())).collect()
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
            if let Some(turn) = turns.get_mut(boundary.context.thread as usize) {
                let lives = self.lives(boundary.context);
                turn.compactions.push(Compaction { boundary, lives, taken: Vec::new() });
            }
        }
        for (context, parent) in self.history.spans.iter().filter(|(context, _)| self.lives(*context)) {
            let parent = self.conversation(context.thread).and_then(|(_, branch)| branch.number(*parent));
            if let Some((turn, parent)) = turns.get_mut(context.thread as usize).zip(parent) {
                turn.spans.push((*context, parent, Vec::new()));
            }
        }
        for (at, result) in self.history.results.iter().enumerate() {
            let turn = turns.get_mut(result.thread as usize);
            let Some(turn) = turn.filter(|_| last.get(result.call as usize) == Some(&at)) else { continue };
            // Parallel calls are in several records of one message: a result lives if any of them does.
            let message = || self.message_of(result).and_then(|message| self.lives.get(&message));
            if self.is_on_branch(result) || message() == Some(&true) {
                let compacted = turn.compact(result, &|boundary| self.preserves(boundary, result));
                lasting.push(LastingResult { result, compacted });
            } else {
                turn.leave(result);
            }
        }
        for ((turn, conversation), branch) in
            turns.into_iter().zip(&self.history.conversations).zip(&self.living)
        {
            turn.events(conversation, branch, events);
        }
        lasting
    }

    fn is_on_branch(&self, result: &ResultRecord) -> bool {
        // No record of a conversation may have an id.
        let own = self.conversation(result.thread).filter(|(own, _)| own.branches.last().is_some());
        own.is_none_or(|(_, branch)| branch.contains_number(result.record))
    }

    /// Returns the message of the call of a result: in its own conversation, or in the main one.
    fn message_of(&self, result: &ResultRecord) -> Option<RecordId> {
        let source = result.source()?;
        let within = |thread: u32| {
            let (conversation, branch) = self.conversation(thread)?;
            conversation.message(branch.number(source)?)
        };
        within(result.thread).or_else(|| within(0))
    }

    /// Returns whether a record of a message is on a living branch, for the messages of results that are on none.
    fn living_messages(&self) -> IdMap<bool> {
        let off = self.history.results.iter().filter(|result| !self.is_on_branch(result));
        let mut messages: IdMap<bool> =
            off.filter_map(|result| Some((self.message_of(result)?, false))).collect();
        if messages.is_empty() {
            return messages;
        }
        for (conversation, branch) in self.history.conversations.iter().zip(&self.living) {
            for (number, message) in &conversation.messages {
                if let Some(lives) = messages.get_mut(message) {
                    *lives |= branch.contains_number(*number);
                }
            }
        }
        messages
    }

    fn preserves(&self, boundary: &CompactBoundary, result: &ResultRecord) -> bool {
        let Some((conversation, branch)) = self.conversation(result.thread) else { return false };
        let record = conversation.branches.id(result.record);
        let is_named = record.is_some_and(|record| boundary.preserved.contains(&record));
        let segment = boundary.segment.and_then(|(head, tail)| branch.number(head).zip(branch.number(tail)));
        is_named || segment.is_some_and(|(head, tail)| (head..=tail).contains(&result.record))
    }

    /// Adds what the server cleared: in each request the oldest results, which are whole again in one without.
    fn server_edits(&self, lasting: &[LastingResult], events: &mut Vec<CountedEvent>, out: &Transcript) {
        for thread in 0..self.history.conversations.len() as u32 {
            let edits = self.history.edits.iter().filter(|edit| edit.context.thread == thread);
            let mut edits = edits.filter(|edit| self.lives(edit.context)).peekable();
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
                    events.push(edit.context.event(change, calls));
                }
            }
        }
    }
}

/// The compactions and summaries of a thread, and the calls whose results they took.
#[derive(Default)]
struct ThreadTurns<'a> {
    compactions: Vec<Compaction<'a>>,
    /// The summaries of spans on the living branch, each with the number of the record before its span.
    spans: Vec<(RecordContext, u32, Vec<u32>)>,
    /// The results that are on branches that were left.
    left: Vec<&'a ResultRecord>,
}

struct Compaction<'a> {
    boundary: &'a CompactBoundary,
    lives: bool,
    taken: Vec<u32>,
}

impl<'a> ThreadTurns<'a> {
    /// Assigns a result on the living branch to the compaction that took it, and to one since rewound, if that came
    /// first. Returns the number of records before the former; `u64::MAX` if none.
    fn compact(&mut self, result: &ResultRecord, preserves: &dyn Fn(&CompactBoundary) -> bool) -> u64 {
        let start = self.compactions.partition_point(|one| one.boundary.context.count <= result.count.into());
        let mut was_taken = false;
        for compaction in self.compactions.iter_mut().skip(start) {
            if compaction.lives && !preserves(compaction.boundary) {
                compaction.taken.push(result.call);
                return compaction.boundary.context.count;
            }
            if !compaction.lives && !was_taken && !preserves(compaction.boundary) {
                compaction.taken.push(result.call);
                was_taken = true;
            }
        }
        u64::MAX
    }

    /// Takes a result that is not on the living branch.
    fn leave(&mut self, result: &'a ResultRecord) {
        let next = self.spans.partition_point(|(context, _, _)| context.number < result.record);
        match self.spans.get_mut(next) {
            Some((context, parent, taken)) if *parent < result.record && context.number != NO_RECORD => {
                taken.push(result.call)
            }
            _ => self.left.push(result),
        }
    }

    /// Adds the events, each with how many records came before it.
    fn events(self, conversation: &Conversation, branch: &LivingBranch, events: &mut Vec<CountedEvent>) {
        let mut add = |change, context: RecordContext, calls: Vec<u32>| {
            let evidence = conversation.evidence(context.origin.request);
            let origin = ChangeOrigin { evidence, ..context.origin };
            events.push(RecordContext { origin, ..context }.event(change, calls));
        };
        let has_turned = !self.left.is_empty() || self.compactions.iter().any(|one| !one.lives);
        let numbers = if has_turned { 0..conversation.branches.next() } else { 0..0 };
        let path: Vec<u32> = numbers.filter(|number| branch.contains_number(*number)).collect();
        for Compaction { boundary, lives, taken } in self.compactions {
            let context = boundary.context;
            add(ContextChange::Compact, context, taken.clone());
            if !lives {
                let request = Some(request_after(context.number, &path, conversation));
                let origin = ChangeOrigin { request, ..context.origin };
                add(ContextChange::Restore, RecordContext { origin, ..context }, taken);
            }
        }
        for (context, _, taken) in self.spans {
            add(ContextChange::Compact, context, taken);
        }
        let mut left: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for result in self.left {
            let request = request_after(result.record, &path, conversation);
            left.entry(request).or_default().push(result.call);
        }
        for (request, calls) in left {
            let (request, evidence) = (Some(request), conversation.evidence(Some(request)));
            let origin = ChangeOrigin { request, evidence };
            // Nothing that happens to a branch after it was left brings its results back.
            events.push((u64::MAX, ContextEvent { change: ContextChange::Leave, origin, calls }));
        }
    }
}

/// Returns the first request after a record of another branch. `path` has the records of the living one.
fn request_after(record: u32, path: &[u32], conversation: &Conversation) -> u32 {
    let next = path.get(path.partition_point(|number| *number <= record)).copied();
    let request = conversation.request_after(next.unwrap_or(NO_RECORD));
    let is_answer = next.is_some_and(|next| conversation.message(next).is_some());
    request - u32::from(is_answer && request > 1)
}

struct LastingResult<'a> {
    result: &'a ResultRecord,
    /// How many records came before the compaction that took it; `u64::MAX` if none did.
    compacted: u64,
}

/// The results that the server cleared in the last request of a thread.
#[derive(Default)]
struct ServerClearing {
    /// The calls, with their places among the results.
    cleared: Vec<(u32, usize)>,
    /// The place of the next that can be cleared.
    next: usize,
    excluded: Vec<RecordId>,
    /// How many compactions there were before.
    compactions: usize,
}

impl ServerClearing {
    /// Takes the next request. Returns the calls whose results are cleared now, and those that are whole again.
    fn apply(
        &mut self,
        edit: &ServerEdit,
        compactions: usize,
        results: &[&LastingResult],
        tool: &dyn Fn(u32) -> Option<RecordId>,
    ) -> (Vec<u32>, Vec<u32>) {
        let mut before = Vec::new();
        if self.excluded != edit.excluded || self.compactions != compactions {
            before = std::mem::take(&mut self.cleared);
            (self.next, self.excluded, self.compactions) = (0, edit.excluded.clone(), compactions);
        }
        let (mut gone, mut back) = (Vec::new(), Vec::new());
        while self.cleared.len() < edit.cleared
            && let Some(lasting) = results.get(self.next)
            && u64::from(lasting.result.count) < edit.context.count
        {
            let call = lasting.result.call;
            let is_open = tool(call).is_some_and(|tool| !self.excluded.contains(&tool));
            if is_open && lasting.compacted > edit.context.count {
                self.cleared.push((call, self.next));
                gone.push(call);
            }
            self.next += 1;
        }
        let keep = edit.cleared.min(self.cleared.len());
        for (call, at) in self.cleared.split_off(keep).into_iter().rev() {
            self.next = at;
            back.push(call);
        }
        if !before.is_empty() {
            let now: HashSet<u32> = gone.iter().copied().collect();
            let lasts =
                |at: usize| results.get(at).is_some_and(|result| result.compacted > edit.context.count);
            let whole = before.iter().filter(|(call, at)| !now.contains(call) && lasts(*at));
            back.extend(whole.map(|(call, _)| *call));
            let was: HashSet<u32> = before.iter().map(|(call, _)| *call).collect();
            gone.retain(|call| !was.contains(call));
        }
        (gone, back)
    }
}
