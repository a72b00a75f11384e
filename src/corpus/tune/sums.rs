//! Adds up what each setting does to all outputs: what it cuts differently, and which settings are worth choosing.

use std::cmp::Reverse;

use serde::Serialize;

use crate::base::human::thousands;
use crate::text::search::Severity;

use super::visit::{SettingEffect, VisitedOutput};

/// What one setting did to all outputs so far. Takes 4 bytes an output.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingSums {
    tokens: Vec<u32>,
    figures: SettingFigures,
    /// The matches kept, and the outputs that lose the first error, by the severity that the outputs go by.
    kept_matches: [u64; 2],
    lost_first_error: [u64; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MatchSums {
    pub all: u64,
    /// How many outputs have one.
    pub outputs: u64,
}

/// What one setting does to all outputs. Tokens are estimated, at four bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct SettingFigures {
    pub cut: u64,
    pub tokens: u64,
    /// Half of the previews have at most this many tokens.
    pub tokens_median: u64,
    /// 95 of 100 previews have at most this many tokens.
    pub tokens_p95: u64,
    pub tokens_max: u64,
    pub kept_matches: u64,
    /// How many outputs lose their last line, at least in part.
    pub lost_last_line: u64,
    /// How many outputs that have an error (or a warning, if no output has an error) lose the first one.
    pub lost_first_error: u64,
    pub lost_all: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct TuneSums {
    pub outputs: u64,
    pub bytes: u64,
    /// Matches by severity: outputs with errors are summed apart from those with only warnings.
    matches: [MatchSums; 2],
    settings: Vec<SettingSums>,
}

impl SettingSums {
    pub(crate) fn add(&mut self, under: &SettingEffect, severity: Severity) {
        let tokens = under.preview_bytes.div_ceil(4);
        self.tokens.push(u32::try_from(tokens).unwrap_or(u32::MAX));
        let figures = &mut self.figures;
        figures.tokens = figures.tokens.saturating_add(tokens);
        figures.tokens_max = figures.tokens_max.max(tokens);
        figures.cut += u64::from(under.is_cut);
        figures.lost_last_line += u64::from(under.lost_last_line);
        figures.lost_all += u64::from(under.lost_all);
        let kept = &mut self.kept_matches[severity as usize];
        *kept = kept.saturating_add(under.kept_matches);
        self.lost_first_error[severity as usize] += u64::from(under.lost_first_error);
    }

    /// Returns the figures of all outputs added, with the matches of those that go by this severity.
    pub(crate) fn figures(&mut self, severity: Severity) -> SettingFigures {
        SettingFigures {
            tokens_median: self.share(50),
            tokens_p95: self.share(95),
            kept_matches: self.kept_matches[severity as usize],
            lost_first_error: self.lost_first_error[severity as usize],
            ..self.figures
        }
    }

    /// Returns the smallest number of tokens that `percent` of the previews do not exceed; 0 without outputs.
    fn share(&mut self, percent: usize) -> u64 {
        let rank = (self.tokens.len() * percent).div_ceil(100).max(1) - 1;
        if rank >= self.tokens.len() {
            return 0;
        }
        u64::from(*self.tokens.select_nth_unstable(rank).1)
    }
}

impl TuneSums {
    pub(crate) fn new(settings: usize) -> Self {
        Self { settings: vec![SettingSums::default(); settings], ..Self::default() }
    }

    pub(crate) fn add(&mut self, visited: &VisitedOutput) {
        self.outputs += 1;
        self.bytes = self.bytes.saturating_add(visited.bytes);
        let matches = &mut self.matches[visited.severity as usize];
        matches.all = matches.all.saturating_add(visited.matches);
        matches.outputs += u64::from(visited.matches > 0);
        for (sums, under) in self.settings.iter_mut().zip(&visited.settings) {
            sums.add(under, visited.severity);
        }
    }

    /// Returns the severity that the figures go by: errors, or warnings if no output has an error.
    pub(crate) fn severity(&self) -> Severity {
        let [errors, warnings] = self.matches;
        if errors.all == 0 && warnings.all > 0 { Severity::Warning } else { Severity::Error }
    }

    pub(crate) fn matches(&self) -> MatchSums {
        self.matches[self.severity() as usize]
    }

    pub(crate) fn figures(&mut self) -> Vec<SettingFigures> {
        let severity = self.severity();
        self.settings.iter_mut().map(|sums| sums.figures(severity)).collect()
    }
}

/// Maximum number of outputs held for each setting, which bounds the memory.
const MAX_WORST: usize = 1000;

/// An output that a setting cuts differently than the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangedOutput {
    /// The number of the output in its corpus, 0-based.
    pub number: usize,
    pub matches: u64,
    pub severity: Severity,
    pub now: SettingEffect,
    pub then: SettingEffect,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ChangedOutputs {
    pub all: u64,
    /// The worst of them, in no order; now and then cut to [`MAX_WORST`].
    worst: Vec<ChangedOutput>,
}

impl ChangedOutput {
    /// Returns what makes it worse than others, the smallest first: errors before warnings, then most matches lost, then
    /// most won, then as many as before, then without any; then all of it lost, then the first error, then the last line,
    /// then most tokens more.
    fn badness(&self) -> impl Ord + use<> {
        let loss =
            |of: fn(&SettingEffect) -> bool| Reverse(i8::from(of(&self.then)) - i8::from(of(&self.now)));
        let more = |then: u64, now: u64| i128::from(then) - i128::from(now);
        let change = more(self.then.kept_matches, self.now.kept_matches);
        (
            self.matches == 0,
            self.severity,
            (change >= 0, change == 0, Reverse(change.abs())),
            loss(|under| under.lost_all),
            loss(|under| under.lost_first_error),
            loss(|under| under.lost_last_line),
            Reverse(more(self.then.preview_bytes, self.now.preview_bytes)),
            self.number,
        )
    }

    /// Describes what is lost and what is won: `loses the end`.
    pub(crate) fn describe(&self) -> String {
        let lost = |under: &SettingEffect| [under.lost_all, under.lost_first_error, under.lost_last_line];
        let parts = ["everything", "the first error", "the end"];
        let (now, then) = (lost(&self.now), lost(&self.then));
        let list = |lost: bool| {
            let is_so = |part: &usize| then[*part] == lost && now[*part] != lost;
            (0..parts.len()).filter(is_so).map(|part| parts[part]).collect::<Vec<_>>().join(", ")
        };
        let parts = [("loses", list(true)), ("gains", list(false))];
        let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
        parts.map(|(verb, list)| format!("{verb} {list}")).collect::<Vec<_>>().join("; ")
    }
}

impl ChangedOutputs {
    pub(crate) fn add(&mut self, number: usize, visited: &VisitedOutput, setting: usize, present: usize) {
        let is_changed = visited.otherwise.get(setting).copied().unwrap_or_default();
        let both = visited.settings.get(present).zip(visited.settings.get(setting));
        let Some((now, then)) = both.filter(|_| is_changed) else { return };
        self.all += 1;
        let VisitedOutput { matches, severity, .. } = *visited;
        self.worst.push(ChangedOutput { number, matches, severity, now: *now, then: *then });
        if self.worst.len() >= 2 * MAX_WORST {
            self.worst.select_nth_unstable_by_key(MAX_WORST, ChangedOutput::badness);
            self.worst.truncate(MAX_WORST);
        }
    }

    pub(crate) fn worst_first(mut self) -> Vec<ChangedOutput> {
        self.worst.sort_unstable_by_key(ChangedOutput::badness);
        self.worst.truncate(MAX_WORST);
        self.worst
    }
}

/// Returns the numbers of the Pareto-optimal settings (most matches, fewest tokens), fewest tokens first. Ties go to
/// `current`, then to fewer lost last lines, then to the lowest number. Settings without matches are left out if any has
/// some.
pub(crate) fn frontier(figures: &[SettingFigures], current: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..figures.len()).collect();
    let figures_of = |number: &usize| figures.get(*number).copied().unwrap_or_default();
    let kept = |number: &usize| figures_of(number).kept_matches;
    if figures.iter().any(|of| of.kept_matches > 0) {
        order.retain(|number| kept(number) > 0);
    }
    order.sort_by_key(|number| {
        let of = figures_of(number);
        (of.tokens, Reverse(of.kept_matches), *number != current, of.lost_last_line, *number)
    });
    let mut frontier: Vec<usize> = Vec::new();
    for number in order {
        if frontier.last().is_none_or(|last| kept(&number) > kept(last)) {
            frontier.push(number);
        }
    }
    frontier
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TuneMove {
    /// The share of all matches that it keeps, in percent; `None` if there are none.
    pub keeps: Option<f64>,
    /// The share that the present one keeps, in percent.
    pub now: Option<f64>,
    /// How many more tokens it takes, in percent of the present ones; negative for fewer.
    pub tokens: f64,
}

impl TuneMove {
    pub(crate) fn new(to: &SettingFigures, now: &SettingFigures, matches: u64) -> Self {
        let share = |kept| share_of(kept, matches);
        let tokens = match now.tokens {
            0 => 0.0,
            now => 100.0 * (to.tokens as f64 - now as f64) / now as f64,
        };
        Self { keeps: share(to.kept_matches), now: share(now.kept_matches), tokens }
    }

    /// Describes it: `97% of errors (now 61%) for 12% fewer tokens`.
    pub(crate) fn describe(&self, matches: &str) -> String {
        let change = self.tokens.abs();
        let rounded = match change {
            change if change < 0.95 => format!("{change:.1}"),
            change => thousands(change.round() as u64),
        };
        let tokens = match rounded.as_str() {
            "0.0" => "as many tokens".to_owned(),
            share if self.tokens < 0.0 => format!("{share}% fewer tokens"),
            share => format!("{share}% more tokens"),
        };
        match (self.keeps, self.now) {
            (Some(keeps), Some(now)) => {
                let now = if keeps == now { "same".to_owned() } else { format!("now {}", percent(now)) };
                format!("{} of {matches} ({now}) for {tokens}", percent(keeps))
            }
            _ => tokens,
        }
    }
}

/// Returns how much of all matches `kept` is, in percent; `None` if there are none.
fn share_of(kept: u64, matches: u64) -> Option<f64> {
    (matches > 0).then(|| 100.0 * kept as f64 / matches as f64)
}

/// Returns how much of all matches `kept` is: `97%`; a dash if there are none.
pub(crate) fn describe_share(kept: u64, matches: u64) -> String {
    share_of(kept, matches).map_or_else(|| "–".to_owned(), percent)
}

/// Rounds a share so that neither a few nor nearly all read as none or all: `97%`, `0.3%`, `99.9%`.
fn percent(share: f64) -> String {
    let is_whole = share == 0.0 || share == 100.0 || (1.0..99.0).contains(&share);
    match share {
        share if is_whole => format!("{share:.0}%"),
        share if share < 0.1 => "under 0.1%".to_owned(),
        share if share > 99.9 => "over 99.9%".to_owned(),
        share => format!("{share:.1}%"),
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::tune::tests::figures_of as figures;

    use super::*;

    fn visited(number: u64, otherwise: bool) -> VisitedOutput {
        let under = |kept_matches| SettingEffect { kept_matches, ..SettingEffect::default() };
        VisitedOutput {
            bytes: 0,
            matches: 9999,
            severity: Severity::Error,
            settings: vec![under(5000), under((number * 7919) % 9999)],
            otherwise: vec![false, otherwise],
        }
    }

    #[test]
    fn keeps_the_worst_changed_outputs_worst_first() {
        let mut changed = ChangedOutputs::default();
        for number in 0..9999 {
            changed.add(number, &visited(number as u64, number % 3 > 0), 1, 0);
        }
        assert_eq!(changed.all, 6666);
        assert!(changed.worst.capacity() <= 4 * MAX_WORST);
        let worst = changed.worst_first();
        let mut expected: Vec<u64> = (0..9999).filter(|n| n % 3 > 0).map(|n| (n * 7919) % 9999).collect();
        expected.sort_unstable();
        assert_eq!(
            worst.iter().map(|output| output.then.kept_matches).collect::<Vec<_>>(),
            expected[..MAX_WORST]
        );
    }

    #[test]
    fn losses_come_before_gains_and_outputs_without_errors_last() {
        let mut changed = ChangedOutputs::default();
        // The errors that an output has, that the model gets now, and under the setting.
        for (number, [matches, now, then]) in
            [[0, 0, 0], [9, 3, 3], [9, 3, 8], [9, 3, 4], [9, 8, 6], [9, 8, 2]].into_iter().enumerate()
        {
            let under = |kept_matches| SettingEffect { kept_matches, ..SettingEffect::default() };
            let settings = vec![under(now), under(then)];
            changed.add(number, &VisitedOutput { matches, settings, ..visited(0, true) }, 1, 0);
        }
        let order: Vec<usize> = changed.worst_first().iter().map(|output| output.number).collect();
        assert_eq!(order, [5, 4, 2, 3, 1, 0]);
    }

    #[test]
    fn the_frontier_has_the_settings_that_no_other_beats() {
        let all = figures(&[(100, 5), (100, 6), (90, 6), (50, 1), (200, 6), (200, 9), (60, 1)]);
        assert_eq!(frontier(&all, 0), [3, 2, 5]);
        assert_eq!(frontier(&[], 0), [] as [usize; 0]);
    }

    #[test]
    fn the_frontier_prefers_settings_that_keep_something() {
        assert_eq!(frontier(&figures(&[(10, 0), (50, 1)]), 0), [1]);
        assert_eq!(frontier(&figures(&[(10, 0), (50, 0)]), 1), [0]);
    }

    #[test]
    fn the_frontier_takes_the_present_one_of_equal_settings() {
        let all = figures(&[(10, 1), (10, 1), (10, 1)]);
        assert_eq!(frontier(&all, 2), [2]);
        assert_eq!(frontier(&all, 9), [0]);
    }

    #[test]
    fn a_move_is_described() {
        let all =
            figures(&[(1000, 61), (880, 97), (1000, 100), (2500, 100), (1, 0), (96_560, 61), (1004, 61)]);
        let words = |to: usize| TuneMove::new(&all[to], &all[0], 100).describe("errors");
        assert_eq!(words(1), "97% of errors (now 61%) for 12% fewer tokens");
        assert_eq!(words(2), "100% of errors (now 61%) for as many tokens");
        assert_eq!(words(3), "100% of errors (now 61%) for 150% more tokens");
        assert_eq!(words(4), "0% of errors (now 61%) for 100% fewer tokens");
        assert_eq!(words(5), "61% of errors (same) for 9,556% more tokens");
        assert_eq!(words(6), "61% of errors (same) for 0.4% more tokens");
        assert_eq!(TuneMove::new(&all[1], &all[0], 0).describe("errors"), "12% fewer tokens");
    }
}
