//! Measures all outputs of a corpus under many settings, on several threads: what was found out so far can be asked for at any time.

use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::base::human::thousands;
use crate::base::lock;
use crate::base::provenance::Confidence;
use crate::compare::{KeptPart, end_kept};
use crate::config::{Config, EffectivePolicy};
use crate::corpus::tune::{
    ChangedOutput, ChangedOutputs, SettingFigures, TuneGrid, TuneSums, Tuner, VisitedOutput,
};
use crate::preview::Policy;
use crate::source::share_out;
use crate::text::search::{Pattern, Severity, SeverityPatterns};

use super::super::{Corpus, CorpusOutput, CorpusReader, ReadFault};

/// The shortest time between two reports.
const EVERY: Duration = Duration::from_millis(200);

/// Reports are rarer if they take long: they are at least this many times their duration apart.
const REST: u32 = 8;

/// How many outputs that cannot be read are named.
const MAX_NAMED: usize = 8;

#[derive(Debug)]
pub struct TuneRun {
    pub(crate) corpus: Arc<Corpus>,
    pub(crate) choice: TuneChoice,
    /// The policies with their limits: one under many settings, or many.
    policies: Vec<Policy>,
    pub(crate) find: Option<Pattern>,
    severities: SeverityPatterns,
    /// The length of all outputs in bytes, if all are stored, so that it is known before they are read.
    bytes: Option<u64>,
    state: Mutex<RunState>,
}

#[derive(Debug)]
pub(crate) enum TuneChoice {
    Settings { policy: Box<EffectivePolicy>, grid: TuneGrid },
    Policies(TunedPolicies),
}

#[derive(Debug)]
pub(crate) struct TunedPolicies {
    pub policies: Vec<EffectivePolicy>,
    /// The number of the first that is a design; those come last.
    pub designs: usize,
    /// Which part of a long output each keeps.
    pub keeps: Vec<Option<KeptPart>>,
}

#[derive(Debug)]
struct RunState {
    sums: TuneSums,
    /// For each setting.
    changed: Vec<ChangedOutputs>,
    /// Outputs that vanished or cannot be read.
    left_out: u64,
    /// How many outputs and directories cannot be read, and why the first of them cannot.
    unreadable: (u64, Vec<String>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TuneFigures {
    pub(crate) settings: Vec<SettingFigures>,
    /// How many outputs each setting cuts differently than the present one; empty for policies.
    pub(crate) changed: Vec<u64>,
    /// How many outputs were measured, and their length in bytes.
    pub(crate) outputs: u64,
    pub(crate) bytes: u64,
    pub(crate) matches: u64,
    /// What they are, unless they were asked for.
    pub(crate) severity: Severity,
    pub(crate) with_errors: u64,
    /// How many outputs have been looked at, of how many.
    pub(crate) done: (u64, u64),
    /// How far measuring is, of how much: in bytes if their number is known, else in outputs.
    pub(crate) progress: (u64, u64),
    /// How many outputs and directories cannot be read, and why the first of them cannot.
    pub(crate) unreadable: (u64, Vec<String>),
    /// Seconds left, once known.
    pub(crate) left: Option<u64>,
}

impl TuneFigures {
    /// Counts the matches by their name in the plural: `1 match`, `2 errors`.
    pub(crate) fn count_matches(&self, plural: &str) -> String {
        match (self.matches, plural.strip_suffix("es").or(plural.strip_suffix('s'))) {
            (1, Some(one)) => format!("1 {one}"),
            (all, _) => format!("{} {plural}", thousands(all)),
        }
    }
}

impl TunedPolicies {
    /// Takes policies with the limits that they have; designs of overspill's, neither an agent's nor the user's own, come last.
    pub(crate) fn new(config: &Config, mut policies: Vec<EffectivePolicy>) -> Self {
        let is_design = |EffectivePolicy { policy, .. }: &EffectivePolicy| {
            policy.confidence() == Confidence::Own && !config.catalog.is_own(policy.name())
        };
        policies.sort_by_key(is_design);
        let designs = policies.partition_point(|found| !is_design(found));
        let keeps = policies.iter().map(|found| end_kept(&found.policy)).collect();
        Self { policies, designs, keeps }
    }
}

impl TuneChoice {
    fn present(&self) -> Option<usize> {
        let TuneChoice::Settings { grid, .. } = self else { return None };
        Some(grid.current)
    }
}

impl TuneRun {
    pub(crate) fn new(
        corpus: Arc<Corpus>,
        choice: TuneChoice,
        find: Option<Pattern>,
        severities: SeverityPatterns,
    ) -> Self {
        let policies: Vec<Policy> = match &choice {
            TuneChoice::Settings { grid, .. } => grid.policies.clone(),
            TuneChoice::Policies(of) => of.policies.iter().map(|found| found.policy.clone()).collect(),
        };
        let compared = choice.present().map_or(0, |_| policies.len());
        let state = RunState {
            sums: TuneSums::new(policies.len()),
            changed: vec![ChangedOutputs::default(); compared],
            left_out: 0,
            unreadable: (corpus.faults.len() as u64, corpus.faults.clone()),
        };
        let bytes = corpus.outputs.iter().try_fold(0, |sum: u64, output| match output {
            CorpusOutput::Entry(entry) => Some(sum.saturating_add(entry.size())),
            CorpusOutput::Named(_) | CorpusOutput::Found(_) => None,
        });
        Self { corpus, choice, policies, find, severities, bytes, state: Mutex::new(state) }
    }

    pub(crate) fn policy(&self, number: usize) -> Option<&Policy> {
        self.policies.get(number)
    }

    /// Returns what could not be used from the agent's own configuration.
    pub(crate) fn warnings(&self) -> &[String] {
        match &self.choice {
            TuneChoice::Settings { policy, .. } => &policy.warnings,
            TuneChoice::Policies(_) => &[],
        }
    }

    /// Measures all outputs while `is_wanted` says yes, and reports the figures from time to time and at the end.
    pub fn measure(
        &self,
        is_wanted: &(dyn Fn() -> bool + Sync),
        report: &(dyn Fn(TuneFigures) + Sync),
    ) -> Result<(), String> {
        let began = Instant::now();
        let ended = (Mutex::new(false), Condvar::new());
        let measured = std::thread::scope(|scope| {
            let reports = || self.report_until(&ended, &|| report(self.figures(began.elapsed())));
            // Without the thread there is only the last report.
            let _ = std::thread::Builder::new().spawn_scoped(scope, reports);
            let measured = self.visit_all(is_wanted);
            *lock(&ended.0) = true;
            ended.1.notify_all();
            measured
        });
        report(self.figures(began.elapsed()));
        measured
    }

    fn report_until(&self, (ended, wake): &(Mutex<bool>, Condvar), report: &dyn Fn()) {
        let mut rest = EVERY;
        let mut is_over = lock(ended);
        while !*is_over {
            is_over =
                wake.wait_timeout(is_over, rest).map_or_else(|error| error.into_inner().0, |(over, _)| over);
            if !*is_over {
                drop(is_over);
                let began = Instant::now();
                report();
                rest = EVERY.max(began.elapsed() * REST);
                is_over = lock(ended);
            }
        }
    }

    /// Visits all outputs, until `is_wanted` says no. Each thread has a tuner of its own.
    ///
    /// # Errors
    /// A policy has a mistake that only shows in use; the rest is not visited.
    fn visit_all(&self, is_wanted: &(dyn Fn() -> bool + Sync)) -> Result<(), String> {
        let failed = Mutex::new(None);
        let (present, find) = (self.choice.present(), self.find.as_ref());
        let tuner = || Tuner::new(&self.policies, present, find, &self.severities);
        let state = || (CorpusReader::default(), tuner());
        share_out(self.corpus.outputs.len(), state, |(reader, tuner), number| {
            let Some(output) = self.corpus.outputs.get(number).filter(|_| is_wanted()) else {
                return ControlFlow::Break(());
            };
            let saved_as = output.saved_as();
            let visited = reader.look(output, &mut || true, &mut |open| {
                tuner.visit(&open, &mut open.supply(), &saved_as).map_err(|error| error.to_string())
            });
            match visited {
                Ok(Ok(visited)) => self.add(number, &visited),
                Err(why) => self.leave_out(why),
                Ok(Err(error)) => {
                    *lock(&failed) = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Takes the figures of an output by its number in the corpus, 0-based.
    fn add(&self, number: usize, visited: &VisitedOutput) {
        let mut state = lock(&self.state);
        state.sums.add(visited);
        let Some(present) = self.choice.present() else { return };
        for (setting, changed) in state.changed.iter_mut().enumerate() {
            changed.add(number, visited, setting, present);
        }
    }

    fn leave_out(&self, why: ReadFault) {
        let mut state = lock(&self.state);
        state.left_out += 1;
        let (ReadFault::Failed(words) | ReadFault::Unsteady(words)) = why else { return };
        let (count, named) = &mut state.unreadable;
        *count += 1;
        named.extend((named.len() < MAX_NAMED).then_some(words));
    }

    /// Returns what has been found out, `elapsed` after the measuring began.
    fn figures(&self, elapsed: Duration) -> TuneFigures {
        let mut state = lock(&self.state);
        let all = self.corpus.outputs.len() as u64;
        let done = state.sums.outputs + state.left_out;
        let progress = match self.bytes {
            Some(bytes) if done < all => (state.sums.bytes.min(bytes), bytes),
            _ => (done, all),
        };
        TuneFigures {
            settings: state.sums.figures(),
            changed: state.changed.iter().map(|changed| changed.all).collect(),
            outputs: state.sums.outputs,
            bytes: state.sums.bytes,
            matches: state.sums.matches().all,
            severity: state.sums.severity(),
            with_errors: state.sums.matches().outputs,
            done: (done, all),
            progress,
            unreadable: state.unreadable.clone(),
            left: seconds_left(elapsed, progress.0, progress.1),
        }
    }

    /// Returns how many outputs a setting cuts differently than the present one, and the worst, worst first.
    pub(crate) fn changed(&self, setting: usize) -> (u64, Vec<ChangedOutput>) {
        let changed = lock(&self.state).changed.get(setting).cloned().unwrap_or_default();
        (changed.all, changed.worst_first())
    }
}

/// Estimates the seconds left, if the rest (outputs or bytes) goes on at the same rate.
pub(crate) fn seconds_left(elapsed: Duration, done: u64, all: u64) -> Option<u64> {
    let each = elapsed.as_secs_f64() / (done > 0).then_some(done)? as f64;
    Some((each * all.saturating_sub(done) as f64).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_outputs_done() {
        let left = |seconds, done| seconds_left(Duration::from_secs(seconds), done, 100);
        assert_eq!([left(5, 50), left(9, 90), left(1, 100)], [Some(5), Some(1), Some(0)]);
        assert_eq!(left(5, 0), None);
    }
}
