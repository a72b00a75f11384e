//! The job of comparing policies, for a worker, and what it reports.

use crate::compare::{Comparison, KeptFinds, lines_of};
use crate::config::EffectivePolicy;
use crate::source::ViewSupply;
use crate::text::search::{self, Pattern};
use crate::tui::pager::making::Making;

/// A task for a worker: plan the preview of an output under these policies.
#[derive(Debug, Clone)]
pub struct CompareJob {
    /// The number of the job; results of older jobs are dropped.
    pub number: u64,
    /// The policies, the most urgent first.
    pub choices: Vec<EffectivePolicy>,
    /// The patterns whose matches are counted: of the search, and of errors.
    pub patterns: [(CountedFinds, Option<Pattern>); 2],
    pub(crate) task: Making,
}

impl CompareJob {
    /// Returns the row of a policy by its 0-based number. The row is meaningless if it is no longer wanted.
    pub fn row(&self, number: usize, wanted: &dyn Fn() -> bool) -> Option<Comparison> {
        let choice = self.choices.get(number)?;
        Some(self.task.compare(choice, wanted))
    }

    /// Counts for each of these rows the matches that it keeps, by the name of its policy, and passes them on. `goes_on`
    /// is called for every chunk; once it returns false, counting ends.
    pub fn finds(
        &self,
        rows: &[Comparison],
        goes_on: &dyn Fn() -> bool,
        report: &mut dyn FnMut(ComparedReply),
    ) {
        for (which, pattern) in &self.patterns {
            if let Some(finds) = pattern.as_ref().and_then(|pattern| self.finds_of(pattern, rows, goes_on)) {
                report(ComparedReply::Finds(*which, finds));
            }
        }
    }

    fn finds_of(
        &self,
        pattern: &Pattern,
        rows: &[Comparison],
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Vec<(String, u64)>> {
        let view = self.task.view();
        let mut finds = KeptFinds::new(rows.iter().map(|row| &row.kept[..]));
        let mut supply = ViewSupply::from(view);
        for lines in lines_of(view, rows) {
            let mut start = lines.start;
            while start < lines.end {
                if !goes_on() {
                    return None;
                }
                let stop = (start + search::CHUNK).min(lines.end);
                let found = search::read_starting_in(&mut supply, pattern, start..stop);
                start = stop;
                for found in found {
                    start = start.max(found.end);
                    finds.found(&found);
                }
            }
        }
        let (_, kept) = finds.counts();
        Some(rows.iter().map(|row| row.policy.clone()).zip(kept).collect())
    }
}

/// What the matches that a policy keeps are matches of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedFinds {
    Search,
    /// The pattern of errors and warnings.
    Errors,
}

/// What a worker reports of a job.
#[derive(Debug)]
pub struct Compared {
    /// The number of the job.
    pub number: u64,
    pub reply: ComparedReply,
}

/// A result of a job.
#[derive(Debug)]
pub enum ComparedReply {
    /// The row of a policy.
    Row(Box<Comparison>),
    /// For each policy, by name, the number of matches that it keeps.
    Finds(CountedFinds, Vec<(String, u64)>),
    /// The job is done.
    Ended,
}
