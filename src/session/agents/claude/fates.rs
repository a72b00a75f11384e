//! What became of each result of Claude Code: the living branch, compactions, and the server's clearing, as events.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::session::agents::{
    ChangeOrigin, ContextChange, FateEvidence, IdMap, LivingBranch, RecordId, Transcript, record_id,
};

use super::history::{
    ClaudeHistory, CompactBoundary, ContextStep, ContextStepKind, Conversation, NO_RECORD, RecordContext,
    ResultRecord,
};

pub(super) fn derive_events(history: &ClaudeHistory, out: &mut Transcript) {
    let living: Vec<LivingBranch> =
        history.conversations.iter().map(|conversation| conversation.branches.living()).collect();
    let mut fates = Fates { history, living, lives: IdMap::default() };
    fates.lives = fates.living_messages();
    out.events.clear();
    fates.follow(out);
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
    fn is_on_living_branch(&self, context: RecordContext) -> bool {
        let branch = self.living.get(context.thread as usize);
        context.number == NO_RECORD || branch.is_none_or(|branch| branch.contains_number(context.number))
    }

    /// Goes through all results and steps in their order.
    fn follow(&self, out: &mut Transcript) {
        let all = self.history.results.iter().enumerate();
        // The last record of a result counts.
        let mut last = vec![usize::MAX; out.calls.len()];
        all.clone().for_each(|(at, result)| last[result.call as usize] = at);
        let mut results = all.filter(|(at, result)| last[result.call as usize] == *at).peekable();
        let new = |branch: &LivingBranch| ThreadContext { path: branch.path(), ..ThreadContext::default() };
        let mut threads: Vec<ThreadContext> = self.living.iter().map(new).collect();
        for step in &self.history.steps {
            while let Some((_, result)) = results.next_if(|(at, _)| *at < step.results) {
                self.add(result, &mut threads[result.thread as usize]);
            }
            self.apply(step, &mut threads[step.context.thread as usize], out);
        }
        results.for_each(|(_, result)| self.add(result, &mut threads[result.thread as usize]));
        let conversations = self.history.conversations.iter().zip(&self.living);
        for ((conversation, branch), context) in conversations.zip(threads) {
            context.leave(conversation, branch, out);
        }
    }

    fn add<'a>(&self, result: &'a ResultRecord, context: &mut ThreadContext<'a>) {
        // Parallel calls are in several records of one message: a result lives if any of them does.
        let message = || self.message_of(result).and_then(|message| self.lives.get(&message));
        if self.is_on_branch(result) || message() == Some(&true) {
            context.whole.push(context.lasting.len());
            context.lasting.push(LastingResult { result, is_compacted: false, was_compacted: false });
        } else {
            context.off.push(result);
        }
    }

    fn apply(&self, step: &ContextStep, context: &mut ThreadContext, out: &mut Transcript) {
        let Some((conversation, branch)) = self.conversation(step.context.thread) else { return };
        let origin = step.context.origin;
        match &step.kind {
            ContextStepKind::Boundary(boundary) => self.compact(step.context, boundary, context, out),
            _ if !self.is_on_living_branch(step.context) => {}
            ContextStepKind::Span { parent } => {
                let start = parent.map_or(Some(0), |parent| Some(branch.number(parent)? + 1));
                let Some(start) = start else { return };
                let taken = context.take_span(start, step.context.number);
                out.add_event(ContextChange::Compact, conversation.origin(origin.request), taken);
            }
            ContextStepKind::Edit { cleared, excluded } => {
                let changes = &context.changes;
                let tool = |call: u32| (!is_dropped(changes, call)).then(|| record_id(out.tool_of(call)));
                let (gone, back) = context.clearing.apply((*cleared, excluded), &context.lasting, &tool);
                out.add_event(ContextChange::Clear, origin, gone);
                // What the agent cut stays cleared.
                let is_cut = |call: &u32| context.changes.get(call) == Some(&ContextChange::Clear);
                let back = back.into_iter().filter(|call| !is_cut(call)).collect();
                context.restore(back, origin, out);
            }
            ContextStepKind::Change(change, calls) => {
                // A request in the records shows by itself what changed, except drops and what cannot be seen in it.
                let is_sent = origin.evidence == FateEvidence::Sent;
                let counts =
                    is_sent || *change == ContextChange::Drop || !conversation.is_logged(origin.request);
                let request = origin.request.unwrap_or_default();
                let is_known = |call: u32| counts || self.history.unshown.contains(&(request, call));
                // A request lacks what is gone, which does not make that whole again.
                let calls = calls.iter().copied().filter(|call| is_known(*call) && !context.is_gone(*call));
                let calls: Vec<u32> = calls.collect();
                context.changes.extend(calls.iter().map(|call| (*call, *change)));
                if *change == ContextChange::Drop {
                    // The server clears as many of those that are left.
                    context.clearing.cleared.retain(|(call, _)| !is_dropped(&context.changes, *call));
                }
                add_change(*change, origin, calls, out);
            }
        }
    }

    /// Takes out the results that a compaction does not preserve, and restores those of a rewound one.
    fn compact(
        &self,
        at: RecordContext,
        boundary: &CompactBoundary,
        context: &mut ThreadContext,
        out: &mut Transcript,
    ) {
        let Some((conversation, _)) = self.conversation(at.thread) else { return };
        let (lives, mut taken) = (self.is_on_living_branch(at), Vec::new());
        context.clearing.is_outdated = true;
        context.whole.retain(|place| {
            let lasting = &mut context.lasting[*place];
            if self.preserves(boundary, lasting.result) {
                return true;
            }
            let was_compacted = std::mem::replace(&mut lasting.was_compacted, true);
            lasting.is_compacted = lives;
            taken.extend((lives || !was_compacted).then_some(lasting.result.call));
            !lives
        });
        out.add_event(ContextChange::Compact, conversation.origin(at.origin.request), taken.iter().copied());
        if lives {
            let whole = taken.iter().filter(|call| !context.is_gone(**call)).copied().collect::<Vec<u32>>();
            context.changes.extend(whole.into_iter().map(|call| (call, ContextChange::Compact)));
        } else {
            let request = request_of(record_after(at.number, &context.path), conversation);
            let origin = conversation.origin(Some(request));
            if origin.evidence == FateEvidence::Sent {
                // The request shows by itself what became of them, except drops.
                taken.iter().for_each(|call| context.forget(*call));
            }
            context.restore(taken, origin, out);
        }
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
}

/// The results of a thread, on the way through its records.
#[derive(Default)]
struct ThreadContext<'a> {
    /// The records of the living branch.
    path: Vec<u32>,
    /// The results on the living branch.
    lasting: Vec<LastingResult<'a>>,
    /// The places of those that no compaction took.
    whole: Vec<usize>,
    /// The results on branches that were left: since the last summary of a span, and before.
    off: Vec<&'a ResultRecord>,
    left: Vec<&'a ResultRecord>,
    /// The last change that named a call, or the compaction that took its result.
    changes: HashMap<u32, ContextChange>,
    clearing: ServerClearing,
}

fn is_dropped(changes: &HashMap<u32, ContextChange>, call: u32) -> bool {
    changes.get(&call) == Some(&ContextChange::Drop)
}

struct LastingResult<'a> {
    result: &'a ResultRecord,
    is_compacted: bool,
    /// Whether any compaction took it, also one that was since rewound.
    was_compacted: bool,
}

impl ThreadContext<'_> {
    fn is_gone(&self, call: u32) -> bool {
        matches!(self.changes.get(&call), Some(ContextChange::Drop | ContextChange::Compact))
    }

    fn forget(&mut self, call: u32) {
        if !is_dropped(&self.changes, call) {
            self.changes.remove(&call);
        }
    }

    /// Brings results back as they were before they were taken, changes included.
    fn restore(&self, back: Vec<u32>, origin: ChangeOrigin, out: &mut Transcript) {
        use ContextChange::{Clear, Drop, Replace, Restore};
        if back.is_empty() {
            return;
        }
        let cleared: HashSet<u32> = self.clearing.cleared.iter().map(|(call, _)| *call).collect();
        let change = |call: &u32| match self.changes.get(call) {
            _ if cleared.contains(call) => Clear,
            change => change.copied().unwrap_or(Restore),
        };
        add_change(Restore, origin, back.clone(), out);
        for kind in [Clear, Replace, Drop] {
            out.add_event(kind, origin, back.iter().copied().filter(|call| change(call) == kind));
        }
    }

    /// Takes the results off the branch that a summary replaces, from the record `start` to `summary`; others are left.
    fn take_span(&mut self, start: u32, summary: u32) -> Vec<u32> {
        let is_taken = |off: &&ResultRecord| summary != NO_RECORD && (start..summary).contains(&off.record);
        let (taken, left): (Vec<_>, Vec<_>) = self.off.drain(..).partition(is_taken);
        self.left.extend(left);
        taken.into_iter().map(|result| result.call).collect()
    }

    /// Adds the events of left branches. Nothing that happens to a branch later restores its results.
    fn leave(self, conversation: &Conversation, branch: &LivingBranch, out: &mut Transcript) {
        if self.left.is_empty() && self.off.is_empty() {
            return;
        }
        let mut left: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let (left_at, firsts) = (conversation.branches.left_at(branch), conversation.first_records());
        for result in self.left.iter().chain(&self.off) {
            // A branch goes on from one of the results of parallel calls, and from each of their calls.
            let source = result.source().and_then(|source| branch.number(source));
            let first = source.and_then(|source| firsts.get(&source)).unwrap_or(&result.record);
            let next = left_at.get(*first as usize).copied().flatten();
            let next = next.or_else(|| record_after(result.record, &self.path));
            let request = request_of(next, conversation);
            left.entry(request).or_default().push(result.call);
        }
        for (request, calls) in left {
            out.add_event(ContextChange::Leave, conversation.origin(Some(request)), calls);
        }
    }
}

/// Adds a change. Whether what is whole again is in the last request is known of that: see [`Transcript::carried`].
fn add_change(change: ContextChange, origin: ChangeOrigin, calls: Vec<u32>, out: &mut Transcript) {
    let is_whole = change == ContextChange::Restore;
    let evidence = if is_whole { FateEvidence::Recorded } else { origin.evidence };
    out.add_event(change, ChangeOrigin { evidence, ..origin }, calls);
}

/// Returns the first record after one of another branch. `path` has the records of the living one.
fn record_after(record: u32, path: &[u32]) -> Option<u32> {
    path.get(path.partition_point(|number| *number <= record)).copied()
}

/// Returns the first request that carries a record, or that it answers; the next one without a record.
fn request_of(next: Option<u32>, conversation: &Conversation) -> u32 {
    let request = conversation.request_after(next.unwrap_or(NO_RECORD));
    let is_answer = next.is_some_and(|next| conversation.message(next).is_some());
    request - u32::from(is_answer && request > 1)
}

/// The results that the server cleared in the last request of a thread.
#[derive(Default)]
struct ServerClearing {
    /// The calls, with their places among the results.
    cleared: Vec<(u32, usize)>,
    /// The place of the next that can be cleared.
    next: usize,
    excluded: Vec<RecordId>,
    /// Whether a compaction came since.
    is_outdated: bool,
}

impl ServerClearing {
    /// Takes the next request. Returns the calls whose results are cleared now, and those that are whole again. `tool` returns
    /// the tool of a call whose result was not dropped.
    fn apply(
        &mut self,
        (wanted, excluded): (usize, &[RecordId]),
        results: &[LastingResult],
        tool: &dyn Fn(u32) -> Option<RecordId>,
    ) -> (Vec<u32>, Vec<u32>) {
        let mut before = Vec::new();
        if self.excluded != excluded || self.is_outdated {
            before = std::mem::take(&mut self.cleared);
            (self.next, self.excluded, self.is_outdated) = (0, excluded.to_vec(), false);
        }
        let (mut gone, mut back) = (Vec::new(), Vec::new());
        while self.cleared.len() < wanted
            && let Some(lasting) = results.get(self.next)
        {
            let call = lasting.result.call;
            let is_open = tool(call).is_some_and(|tool| !self.excluded.contains(&tool));
            if is_open && !lasting.is_compacted {
                self.cleared.push((call, self.next));
                gone.push(call);
            }
            self.next += 1;
        }
        let keep = wanted.min(self.cleared.len());
        for (call, at) in self.cleared.split_off(keep).into_iter().rev() {
            self.next = at;
            back.push(call);
        }
        if !before.is_empty() {
            let now: HashSet<u32> = gone.iter().copied().collect();
            let lasts = |at: usize| results.get(at).is_some_and(|result| !result.is_compacted);
            let whole = before.iter().filter(|(call, at)| !now.contains(call) && lasts(*at));
            back.extend(whole.map(|(call, _)| *call));
            let was: HashSet<u32> = before.iter().map(|(call, _)| *call).collect();
            gone.retain(|call| !was.contains(call));
        }
        (gone, back)
    }
}
