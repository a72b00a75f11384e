//! What each policy does to the output on the screen: the rows of the policy picker, filled in by a worker.

pub mod job;

use std::collections::BTreeMap;

use crate::compare::Comparison;
use crate::config::EffectivePolicy;
use crate::preview::Want;
use crate::tui::job::Slot;
use crate::tui::screen::Effects;

use super::Pager;
use super::jobs;
use job::{CompareJob, Compared, ComparedReply, CountedFinds};

/// What the rows are about: the file as it was, and the totals that were known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct About {
    generation: u64,
    bytes: usize,
    known: Want,
}

impl About {
    fn same_bytes(self, other: Self) -> bool {
        (self.generation, self.bytes) == (other.generation, other.bytes)
    }
}

/// The rows made so far.
#[derive(Debug, Default)]
pub struct Comparisons {
    /// The rows by policy, each with what it is about.
    rows: BTreeMap<String, (Comparison, About)>,
    /// The policies whose rows are wanted, the most urgent first; empty while nothing shows them.
    wanted: Vec<EffectivePolicy>,
    number: u64,
    running: bool,
    about: About,
}

impl Comparisons {
    /// Returns the row of a policy, if it is made.
    pub(crate) fn row(&self, policy: &str) -> Option<&Comparison> {
        self.rows.get(policy).map(|(row, _)| row)
    }
}

impl Pager {
    /// Makes the rows of these policies, in this order, as far as they are missing.
    pub(crate) fn compare(&mut self, choices: Vec<EffectivePolicy>, effects: &mut Effects) {
        let name = |choice: &EffectivePolicy| choice.policy.name().to_owned();
        let rows = &mut self.comparisons;
        if rows.wanted.iter().map(name).ne(choices.iter().map(name)) {
            (rows.wanted, rows.running) = (choices, false);
        }
        self.compare_on(effects);
    }

    /// Drops all rows; none are made until [`Self::compare`] is called.
    pub(crate) fn stop_comparing(&mut self, effects: &mut Effects) {
        self.comparisons = Comparisons { number: self.next_plan(), ..Comparisons::default() };
        effects.stop([Slot::Compare]);
    }

    /// Makes what is still missing: rows, and those that lacked totals which are known by now.
    pub(crate) fn compare_on(&mut self, effects: &mut Effects) {
        let output = &self.output;
        let about =
            About { generation: output.view.generation(), bytes: output.view.len(), known: output.known() };
        let rows = &mut self.comparisons;
        if rows.wanted.is_empty() || rows.running {
            return;
        }
        let is_done = |choice: &&EffectivePolicy| {
            let row = rows.rows.get(choice.policy.name()).filter(|(_, then)| about.same_bytes(*then));
            row.is_some_and(|(row, then)| !row.lacks.meets(about.known.without(then.known)))
        };
        let choices: Vec<EffectivePolicy> =
            rows.wanted.iter().filter(|choice| !is_done(choice)).cloned().collect();
        if choices.is_empty() {
            return;
        }
        (rows.running, rows.about) = (true, about);
        let number = self.next_plan();
        self.comparisons.number = number;
        let job = CompareJob {
            number,
            choices,
            patterns: [
                (CountedFinds::Search, self.find.pattern.clone()),
                (CountedFinds::Errors, self.errors.patterns.get(self.severity()).cloned()),
            ],
            task: self.output.task(number),
        };
        effects.run(Slot::Compare, move |context| jobs::compare(&job, context));
    }

    pub(crate) fn compared(&mut self, compared: Compared, effects: &mut Effects) {
        let rows = &mut self.comparisons;
        if compared.number != rows.number {
            return;
        }
        match compared.reply {
            ComparedReply::Row(mut row) => {
                if let Some(old) = rows.row(&row.policy) {
                    (row.finds_kept, row.errors_kept) = (old.finds_kept, old.errors_kept);
                }
                rows.rows.insert(row.policy.clone(), (*row, rows.about));
            }
            ComparedReply::Finds(which, finds) => {
                for (policy, kept) in finds {
                    if let Some((row, _)) = rows.rows.get_mut(&policy) {
                        let kept = Some(kept).filter(|_| row.preview_bytes.is_some());
                        match which {
                            CountedFinds::Search => row.finds_kept = kept,
                            CountedFinds::Errors => row.errors_kept = kept,
                        }
                    }
                }
            }
            ComparedReply::Ended => {
                rows.running = false;
                self.compare_on(effects);
            }
        }
    }
}
