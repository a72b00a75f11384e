//! The task of making the previews of a pair, for a worker.

use crate::tui::pager::making::{Making, Planned};

/// The two tasks of a pair, for a worker.
#[derive(Debug)]
pub struct PairTask {
    pub(super) number: u64,
    pub(super) tasks: [Making; 2],
}

/// Two finished previews.
#[derive(Debug)]
pub struct PairPlanned {
    pub(super) number: u64,
    pub(super) planned: [Planned; 2],
}

impl PairTask {
    /// Makes both previews. Returns `None` if they are no longer wanted.
    pub fn run(&self, wanted: &dyn Fn() -> bool) -> Option<PairPlanned> {
        let [a, b] = &self.tasks;
        Some(PairPlanned { number: self.number, planned: [a.run(wanted)?, b.run(wanted)?] })
    }
}
