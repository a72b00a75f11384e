//! The outputs that a setting cuts differently than the present one: how many there are, and the worst of them.

use std::cmp::Reverse;

use crate::text::search::Severity;

use super::visit::{SettingEffect, VisitedOutput};

/// As many of the outputs are held for each setting, so that the memory does not grow with them.
const MAX_WORST: usize = 1000;

/// An output that a setting cuts differently than the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangedOutput {
    /// The number of the output in its corpus, 0-based.
    pub number: usize,
    pub finds: u64,
    /// The severity of its finds.
    pub severity: Severity,
    pub now: SettingEffect,
    pub then: SettingEffect,
}

/// The outputs that one setting cuts differently than the present one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangedOutputs {
    pub all: u64,
    /// The worst of them, in no order; now and then cut to [`MAX_WORST`].
    worst: Vec<ChangedOutput>,
}

impl ChangedOutput {
    /// Returns what makes it worse than others, the smallest first: errors before warnings, then most finds lost, then all of it lost, then the
    /// first error, then the last line, then most tokens more.
    fn badness(&self) -> impl Ord + use<> {
        let loss =
            |of: fn(&SettingEffect) -> bool| Reverse(i8::from(of(&self.then)) - i8::from(of(&self.now)));
        let more = |then: u64, now: u64| i128::from(then) - i128::from(now);
        (
            self.severity,
            more(self.then.kept_finds, self.now.kept_finds),
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
    /// Adds an output if the setting of this number cuts it differently than the present one.
    pub(crate) fn add(&mut self, number: usize, visited: &VisitedOutput, setting: usize, present: usize) {
        let is_changed = visited.otherwise.get(setting).copied().unwrap_or_default();
        let both = visited.settings.get(present).zip(visited.settings.get(setting));
        let Some((now, then)) = both.filter(|_| is_changed) else { return };
        self.all += 1;
        let VisitedOutput { finds, severity, .. } = *visited;
        self.worst.push(ChangedOutput { number, finds, severity, now: *now, then: *then });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(number: u64, otherwise: bool) -> VisitedOutput {
        let under = |kept_finds| SettingEffect { kept_finds, ..SettingEffect::default() };
        VisitedOutput {
            bytes: 0,
            lines: 0,
            finds: 9999,
            has_error: true,
            severity: Severity::Error,
            settings: vec![under(5000), under((number * 7919) % 9999)],
            otherwise: vec![false, otherwise],
        }
    }

    #[test]
    fn the_worst_of_many_are_kept_worst_first() {
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
            worst.iter().map(|output| output.then.kept_finds).collect::<Vec<_>>(),
            expected[..MAX_WORST]
        );
    }
}
