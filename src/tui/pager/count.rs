//! Counts the matches of the search, the errors and the warnings: in the file, and among what the model got.

use crate::base::human::thousands;
use crate::document::scans;
use crate::output::OpenOutput;
use crate::text::search::{MatchCounts, Pattern, Severity, SeverityPatterns};
use crate::tui::job::{Pace, Slot};
use crate::tui::screen::Effects;

use super::filter::AT_ONCE;
use super::{Counting, OutputEvent, Pager};

#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub counts: MatchCounts,
    /// The number of matches of which the model got every byte; `None` if that is too much to search.
    pub kept: Option<u64>,
}

impl Tally {
    pub fn is_whole(&self, len: usize) -> bool {
        self.counts.counted_bytes() >= len
    }

    /// Returns the number of matches in the file, with `+` while they are being counted.
    pub(crate) fn describe(&self, output: &OpenOutput) -> String {
        let more = if self.is_whole(output.view.len()) { "" } else { "+" };
        format!("{}{more}", thousands(self.counts.total()))
    }

    pub fn got(&self, output: &OpenOutput) -> Option<u64> {
        let is_all = matches!(&output.made.kept[..], [all] if all.start == 0 && all.end >= output.view.len());
        if is_all { Some(self.counts.total()) } else { self.kept }
    }
}

#[derive(Debug, Clone, Default)]
pub struct ErrorSearch {
    pub patterns: SeverityPatterns,
    tallies: [Tally; 2],
    /// Whether they are being counted, or were; otherwise that waits until the lines are counted.
    is_started: bool,
}

impl Pager {
    /// Marks lines by these patterns once a worker has compiled them, so that the first screen does not wait for that.
    pub(crate) fn mark_severities(&mut self, patterns: SeverityPatterns, effects: &mut Effects) {
        self.errors.patterns = patterns.clone();
        if !patterns.are_compiled() {
            effects.run(Slot::Other, move |context| {
                patterns.compile();
                context.send(OutputEvent::SeveritiesCompiled);
            });
        }
    }

    /// Returns the severity that walks and figures go by: errors, or warnings if there is no error.
    pub(crate) fn severity(&self) -> Severity {
        let [errors, warnings] = &self.errors.tallies;
        let has_none = errors.is_whole(self.output.view.len()) && errors.counts.total() == 0;
        if has_none && warnings.counts.total() > 0 { Severity::Warning } else { Severity::Error }
    }

    /// Whether it is known that there is neither an error nor a warning to go to. In UTF-16 they are not looked for.
    pub(crate) fn has_no_error(&self) -> bool {
        let len = self.output.view.len();
        let is_none = |tally: &Tally| tally.is_whole(len) && tally.counts.total() == 0;
        self.output.utf16().is_some() || self.errors.is_started && self.errors.tallies.iter().all(is_none)
    }

    pub(crate) fn pattern(&self, what: Counting) -> Option<&Pattern> {
        match what {
            Counting::Matches => self.find.pattern.as_ref(),
            Counting::Severity(severity) => self.errors.patterns.get(severity),
        }
    }

    pub(crate) fn tally(&self, what: Counting) -> &Tally {
        match what {
            Counting::Matches => &self.find.tally,
            Counting::Severity(severity) => &self.errors.tallies[severity as usize],
        }
    }

    pub(super) fn tally_mut(&mut self, what: Counting) -> &mut Tally {
        match what {
            Counting::Matches => &mut self.find.tally,
            Counting::Severity(severity) => &mut self.errors.tallies[severity as usize],
        }
    }

    pub(super) fn count(&mut self, what: Counting, effects: &mut Effects) {
        let Some(pattern) = self.pattern(what).cloned() else { return };
        let counts = &mut self.tally_mut(what).counts;
        counts.forget_end(counts.counted_bytes());
        let (from, view) = (counts.counted_bytes(), self.output.view.clone());
        // Compiling takes longer than counting little.
        let is_short = view.len() - from <= AT_ONCE && self.errors.patterns.are_compiled();
        let pace = if is_short { Pace::AtOnce } else { Pace::Background };
        let slot = match what {
            Counting::Matches => Slot::CountMatches,
            Counting::Severity(Severity::Error) => Slot::CountErrors,
            Counting::Severity(Severity::Warning) => Slot::CountWarnings,
        };
        effects.run_at(pace, slot, move |context| {
            let report = |end, count| context.report(OutputEvent::MatchesCounted(what, end, count));
            scans::count_matches(&view, &pattern, from, || context.wait_turn(), report);
        });
        self.count_kept(what);
    }

    fn count_kept(&mut self, what: Counting) {
        if let Some(pattern) = self.pattern(what) {
            let kept = scans::count_kept(pattern, &self.output.view, &self.output.made.kept);
            self.tally_mut(what).kept = kept;
        }
    }

    /// Starts counting the errors and warnings that are not counted yet, once the lines are: line numbers are waited for.
    pub(crate) fn count_errors(&mut self, effects: &mut Effects) {
        if !self.errors.is_started && self.output.index.is_complete() {
            self.errors.is_started = true;
            Severity::ALL.into_iter().for_each(|severity| self.count(Counting::Severity(severity), effects));
        }
    }

    pub(crate) fn count_all_kept(&mut self) {
        self.count_kept(Counting::Matches);
        if self.errors.is_started {
            Severity::ALL.into_iter().for_each(|severity| self.count_kept(Counting::Severity(severity)));
        }
    }

    /// Counts the matches again after the file has changed: only what is new if it grew.
    pub(crate) fn recount_matches(&mut self, grew: bool, effects: &mut Effects) {
        if !grew {
            self.find.forget_place();
        }
        self.count(Counting::Matches, effects);
    }

    pub(crate) fn recount_all(&mut self, grew: bool, effects: &mut Effects) {
        self.recount_matches(grew, effects);
        if !grew {
            self.errors.tallies = Default::default();
        }
        self.errors.is_started = false;
        effects.stop([Slot::CountErrors, Slot::CountWarnings]);
        self.count_errors(effects);
    }

    pub(crate) fn count_on(&mut self, effects: &mut Effects) {
        let len = self.output.view.len();
        if !self.find.tally.is_whole(len) {
            self.count(Counting::Matches, effects);
        }
        self.errors.is_started &= self.errors.tallies.iter().all(|tally| tally.is_whole(len));
        self.count_errors(effects);
    }
}
