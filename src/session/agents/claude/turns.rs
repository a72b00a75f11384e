//! What happened to the results of one conversation of Claude Code as a whole: compactions, and branches that were left.

use std::collections::BTreeMap;

use crate::session::branch::LivingBranch;
use crate::session::context::{ContextEvent, ResultId};
use crate::session::fate::{ContextChange, FateEvidence};

use super::changes::event;
use super::history::{CompactBoundary, Conversation, NO_RECORD, RecordContext, ResultRecord};

/// The compactions and summaries of a thread, and what they took.
#[derive(Default)]
pub(super) struct ThreadTurns<'a> {
    compactions: Vec<Compaction<'a>>,
    /// The summaries of spans on the living branch, each with the number of the record before its span.
    pub spans: Vec<(RecordContext, u32, Vec<ResultId>)>,
    /// What is on branches that were left, with the numbers of their records.
    left: Vec<(u32, ResultId)>,
}

/// A compaction, and what it took.
struct Compaction<'a> {
    boundary: &'a CompactBoundary,
    /// Whether it is on the living branch.
    lives: bool,
    taken: Vec<ResultId>,
}

impl<'a> ThreadTurns<'a> {
    pub(super) fn add_boundary(&mut self, boundary: &'a CompactBoundary, lives: bool) {
        self.compactions.push(Compaction { boundary, lives, taken: Vec::new() });
    }

    /// Takes a result on the living branch. Returns how many records came before the compaction that took it;
    /// `u64::MAX` if none did. One from before which the person went back takes it for a while.
    pub(super) fn compact(
        &mut self,
        result: &ResultRecord,
        preserves: &dyn Fn(&CompactBoundary) -> bool,
        ids: impl Iterator<Item = ResultId> + Clone,
    ) -> u64 {
        let start = self.compactions.partition_point(|one| one.boundary.context.count <= result.count.into());
        let mut was_taken = false;
        for compaction in self.compactions.iter_mut().skip(start) {
            if compaction.lives && !preserves(compaction.boundary) {
                compaction.taken.extend(ids);
                return compaction.boundary.context.count;
            }
            if !compaction.lives && !was_taken && !preserves(compaction.boundary) {
                compaction.taken.extend(ids.clone());
                was_taken = true;
            }
        }
        u64::MAX
    }

    /// Takes a result that is not on the living branch.
    pub(super) fn leave(&mut self, record: u32, ids: impl Iterator<Item = ResultId>) {
        let next = self.spans.partition_point(|(context, _, _)| context.number < record);
        match self.spans.get_mut(next) {
            Some((context, parent, taken)) if *parent < record && context.number != NO_RECORD => {
                taken.extend(ids)
            }
            _ => self.left.extend(ids.map(|id| (record, id))),
        }
    }

    /// Adds the events, each with how many records came before it.
    pub(super) fn events(
        self,
        conversation: &Conversation,
        branch: &LivingBranch,
        evidence: &dyn Fn(RecordContext) -> FateEvidence,
        events: &mut Vec<(u64, ContextEvent)>,
    ) {
        let mut add = |change, context: RecordContext, results: Vec<ResultId>| {
            if !results.is_empty() {
                let event = ContextEvent { evidence: evidence(context), ..event(change, context, results) };
                events.push((context.count, event));
            }
        };
        let has_turned = !self.left.is_empty() || self.compactions.iter().any(|one| !one.lives);
        let path = if has_turned { BranchPath::new(conversation, branch) } else { BranchPath::default() };
        for Compaction { boundary, lives, taken } in self.compactions {
            let context = boundary.context;
            add(ContextChange::Compact, context, taken.clone());
            if !lives {
                let request = Some(path.request_after(context.number, conversation));
                add(ContextChange::Restore, RecordContext { request, ..context }, taken);
            }
        }
        for (context, _, taken) in self.spans {
            add(ContextChange::Compact, context, taken);
        }
        let mut left: BTreeMap<u32, Vec<ResultId>> = BTreeMap::new();
        for (record, id) in self.left {
            left.entry(path.request_after(record, conversation)).or_default().push(id);
        }
        for (request, results) in left {
            let evidence =
                if conversation.is_logged(request) { FateEvidence::Sent } else { FateEvidence::Recorded };
            let event = ContextEvent::recorded(ContextChange::Leave, None);
            // Nothing that happens to a branch after it was left brings its results back.
            events.push((u64::MAX, ContextEvent { request: Some(request), evidence, results, ..event }));
        }
    }
}

/// The numbers of the records of the living branch.
#[derive(Default)]
struct BranchPath(Vec<u32>);

impl BranchPath {
    fn new(conversation: &Conversation, branch: &LivingBranch) -> Self {
        let branches = &conversation.branches;
        Self((0..branches.next()).filter(|number| branch.contains_number(*number, branches)).collect())
    }

    /// Returns the number of the first request of the branch that comes after a record of another branch.
    fn request_after(&self, record: u32, conversation: &Conversation) -> u32 {
        let next = self.0.get(self.0.partition_point(|number| *number <= record)).copied();
        let request = conversation.request_after(next.unwrap_or(NO_RECORD));
        let is_answer = next.is_some_and(|next| conversation.message(next).is_some());
        request - u32::from(is_answer && request > 1)
    }
}
