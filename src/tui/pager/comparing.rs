//! What each policy does to the output on the screen: the rows of the policy picker, filled in by a worker.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::compare::{Comparison, KeptFinds, lines_of};
use crate::config::EffectivePolicy;
use crate::output::plan::PlanTask;
use crate::preview::TotalsMask;
use crate::source::{self, ViewSupply};
use crate::text::search::{self, Pattern};
use crate::tui::job::{JobContext, Slot};
use crate::tui::screen::Effects;

use super::Pager;
use super::event::{ComparedReply, Counting, OutputEvent};

/// What rows are about: the generation and length of the file as it was, and the totals that were known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct About {
    file: (u64, usize),
    known: TotalsMask,
}

#[derive(Debug, Default)]
pub struct Comparisons {
    rows: BTreeMap<String, (Comparison, About)>,
    /// The policies whose rows are wanted, the most urgent first.
    wanted: Vec<EffectivePolicy>,
    is_running: bool,
    about: About,
}

impl Comparisons {
    pub(crate) fn row(&self, policy: &str) -> Option<&Comparison> {
        self.rows.get(policy).map(|(row, _)| row)
    }

    /// Returns the policies whose rows are missing, or lack totals which are known by now.
    fn missing(&self, about: About) -> Vec<EffectivePolicy> {
        let is_made = |choice: &&EffectivePolicy| {
            let row = self.rows.get(choice.policy.name()).filter(|(_, then)| then.file == about.file);
            row.is_some_and(|(row, then)| !row.missing.meets(about.known.without(then.known)))
        };
        self.wanted.iter().filter(|choice| !is_made(choice)).cloned().collect()
    }

    fn insert(&mut self, mut row: Comparison) {
        if let Some(old) = self.row(&row.policy) {
            (row.finds_kept, row.errors_kept) = (old.finds_kept, old.errors_kept);
        }
        self.rows.insert(row.policy.clone(), (row, self.about));
    }

    fn set_finds(&mut self, what: Counting, finds: Vec<(String, u64)>) {
        for (policy, kept) in finds {
            if let Some((row, _)) = self.rows.get_mut(&policy) {
                let kept = Some(kept).filter(|_| row.preview_bytes.is_some());
                match what {
                    Counting::Matches => row.finds_kept = kept,
                    Counting::Severity(_) => row.errors_kept = kept,
                }
            }
        }
    }
}

impl Pager {
    pub(crate) fn compare(&mut self, choices: Vec<EffectivePolicy>, effects: &mut Effects) {
        let Some(picker) = &mut self.drawer.picker else { return };
        let name = |choice: &EffectivePolicy| choice.policy.name().to_owned();
        let rows = &mut picker.comparisons;
        if rows.wanted.iter().map(name).ne(choices.iter().map(name)) {
            (rows.wanted, rows.is_running) = (choices, false);
        }
        self.compare_on(effects);
    }

    pub(crate) fn compare_on(&mut self, effects: &mut Effects) {
        let (severity, output) = (Counting::Severity(self.severity()), &self.output);
        let about =
            About { file: (output.view.generation(), output.view.len()), known: output.totals().known() };
        let patterns = [Counting::Matches, severity].map(|what| (what, self.pattern(what).cloned()));
        let Some(picker) = &mut self.drawer.picker else { return };
        let rows = &mut picker.comparisons;
        let choices = rows.missing(about);
        if rows.is_running || choices.is_empty() {
            return;
        }
        (rows.is_running, rows.about) = (true, about);
        let job = CompareJob { choices, patterns, task: output.task() };
        effects.run(Slot::Compare, move |context| job.run(context));
    }

    pub(crate) fn compared(&mut self, reply: ComparedReply, effects: &mut Effects) {
        let Some(picker) = &mut self.drawer.picker else { return };
        let rows = &mut picker.comparisons;
        match reply {
            ComparedReply::Row(row) => rows.insert(*row),
            ComparedReply::Finds(what, finds) => rows.set_finds(what, finds),
            ComparedReply::Ended => {
                rows.is_running = false;
                self.compare_on(effects);
            }
        }
    }
}

/// A task for a worker: plan the preview of an output under these policies.
struct CompareJob {
    choices: Vec<EffectivePolicy>,
    /// The patterns whose matches are counted: of the search, and of errors.
    patterns: [(Counting, Option<Pattern>); 2],
    task: PlanTask,
}

impl CompareJob {
    /// Reports the rows as they are made, then the matches that they keep, then the end.
    fn run(&self, context: &JobContext) {
        let report = |reply| context.report(OutputEvent::Compared(reply));
        let made = Mutex::new(Vec::new());
        let make = |(): &mut (), n: usize| {
            if !context.go_on() {
                return ControlFlow::Break(());
            }
            let row = self.task.compare(&self.choices[n], &|| context.is_wanted());
            if !context.is_wanted() {
                return ControlFlow::Break(());
            }
            let shown = Comparison { kept: Vec::new(), ..row.clone() };
            made.lock().unwrap_or_else(PoisonError::into_inner).push(row);
            report(ComparedReply::Row(Box::new(shown)))
        };
        // A policy that reads the whole output must not hold up the others, so there are several threads.
        source::share_out(self.choices.len(), || (), make);
        let rows = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (what, pattern) in &self.patterns {
            let finds = pattern.as_ref().and_then(|pattern| self.finds(pattern, &rows, context));
            if let Some(finds) = finds {
                let _ = report(ComparedReply::Finds(*what, finds));
            }
        }
        if context.go_on() {
            let _ = report(ComparedReply::Ended);
        }
    }

    /// Counts for each of these rows the matches that it keeps, by the name of its policy. `None` if that is not wanted.
    fn finds(
        &self,
        pattern: &Pattern,
        rows: &[Comparison],
        context: &JobContext,
    ) -> Option<Vec<(String, u64)>> {
        let mut finds = KeptFinds::new(rows.iter().map(|row| &row.kept[..]));
        let mut supply = ViewSupply::from(&self.task.view);
        for lines in lines_of(&self.task.view, rows) {
            let mut start = lines.start;
            while start < lines.end {
                if !context.go_on() {
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
