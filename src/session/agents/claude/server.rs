//! Results of Claude Code that the server leaves out of a request: the oldest, decided anew for each.

use std::collections::HashSet;

use crate::session::id::RecordId;

use super::history::{ResultRecord, ServerEdit};

/// A result on the living branch.
pub(super) struct LastingResult<'a> {
    pub result: &'a ResultRecord,
    /// How many records came before the compaction that took it; `u64::MAX` if none did.
    pub compacted: u64,
}

/// The results that the server cleared in the last request of a thread.
#[derive(Default)]
pub(super) struct ServerClearing {
    /// The calls, with their places among the results.
    cleared: Vec<(u32, usize)>,
    /// The place of the next that can be cleared.
    next: usize,
    excluded: Vec<RecordId>,
    /// How many compactions there were before.
    compactions: usize,
}

impl ServerClearing {
    /// Takes the next request, before which there were some compactions. `tool` names the tool of a call. Returns the calls
    /// whose results are cleared now, and those whose results are whole again.
    pub(super) fn apply(
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
