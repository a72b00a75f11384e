//! A table of the Tune view: the settings of a policy that are worth choosing between, or all policies; how far
//! measuring is; and the cursor.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::config::EffectivePolicy;
use crate::corpus::{TuneFigures, TuneKind, TunePolicies, TuneRun};
use crate::preview::Policy;
use crate::store::{RootReport, StoreSpec};
use crate::text::label::SafeText;
use crate::tui::widget::cursor::ListCursor;
use crate::tune::{SettingFigures, TuneGrid, TuneMove, TuneSetting, frontier};

/// How far measuring is.
#[derive(Debug)]
pub(crate) enum TuneState {
    /// The outputs are being listed.
    Listing,
    /// They are being measured.
    Measuring,
    /// Measuring was stopped; the figures are of some of the outputs.
    Stopped,
    /// All outputs have been measured.
    Done,
    /// There are no outputs; what became of listing each directory of the stores.
    Empty(Vec<(Arc<StoreSpec>, Vec<RootReport>)>),
    /// They cannot be measured, for this reason.
    Failed(SafeText),
}

/// A table with what has been found out so far.
pub(crate) struct TuneTable {
    /// The number of the job that measures it.
    pub(crate) number: u64,
    /// What it is asked for.
    pub(crate) policies: TunePolicies,
    pub(crate) state: TuneState,
    pub(crate) run: Option<Arc<TuneRun>>,
    pub(crate) figures: TuneFigures,
    /// The numbers of the settings, or policies, in the order of the rows.
    pub(crate) rows: Vec<usize>,
    pub(crate) cursor: ListCursor,
    /// Whether a key has moved the cursor. Until then it stands on the present setting.
    pub(crate) touched: bool,
}

impl TuneTable {
    /// Creates a table that a job is to fill.
    pub(crate) fn new(number: u64, policies: TunePolicies) -> Self {
        Self {
            number,
            policies,
            state: TuneState::Listing,
            run: None,
            figures: TuneFigures::default(),
            rows: Vec::new(),
            cursor: ListCursor::default(),
            touched: false,
        }
    }

    /// Whether a worker is listing or measuring.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, TuneState::Listing | TuneState::Measuring)
    }

    /// Takes in figures; the same setting stays selected.
    pub(crate) fn measured(&mut self, figures: TuneFigures, height: usize) {
        let chosen = self.chosen();
        self.figures = figures;
        self.rows = match self.run.as_ref().map(|run| &run.choice.kind) {
            Some(TuneKind::Settings { grid, .. }) => best_and_present(&self.figures.settings, grid.current),
            Some(TuneKind::Policies { policies, designs }) => {
                by_kept(&self.figures.settings, (policies, *designs))
            }
            None => Vec::new(),
        };
        let sought = if self.touched { chosen } else { self.grid().map(|(_, grid)| grid.current) };
        let at = self.rows.iter().position(|row| Some(*row) == sought);
        let at = at.unwrap_or(if self.touched { self.cursor.chosen } else { 0 });
        self.cursor.go(at, self.rows.len(), height);
    }

    /// Returns the number of the selected setting, or policy.
    pub(crate) fn chosen(&self) -> Option<usize> {
        self.rows.get(self.cursor.chosen).copied()
    }

    /// Returns what a setting, or policy, does to the outputs.
    pub(crate) fn figures_of(&self, number: usize) -> SettingFigures {
        self.figures.settings.get(number).copied().unwrap_or_default()
    }

    /// Returns the policy that is tuned and its settings; `None` in a table of policies.
    pub(crate) fn grid(&self) -> Option<(&EffectivePolicy, &TuneGrid)> {
        match &self.run.as_ref()?.choice.kind {
            TuneKind::Settings { policy, grid } => Some((policy, grid)),
            TuneKind::Policies { .. } => None,
        }
    }

    /// Returns the selected setting with the policy under it.
    pub(crate) fn chosen_setting(&self) -> Option<(usize, TuneSetting, &Policy)> {
        let number = self.chosen()?;
        let setting = self.grid()?.1.settings.get(number)?;
        Some((number, *setting, self.run.as_ref()?.policy(number)?))
    }

    /// Returns the policies of a table of policies.
    pub(crate) fn listed_policies(&self) -> &[EffectivePolicy] {
        match self.run.as_ref().map(|run| &run.choice.kind) {
            Some(TuneKind::Policies { policies, .. }) => policies,
            _ => &[],
        }
    }

    /// Returns what the finds are called.
    pub(crate) fn finds(&self) -> &'static str {
        let is_find = self.run.as_ref().is_some_and(|run| run.find.is_some());
        if is_find { "finds" } else { self.figures.severity.plural() }
    }

    /// Describes what a move to a setting buys: `tail, 500 lines, 6,400 B: keeps 97 % of errors (now 61 %) for 12 % fewer
    /// tokens`.
    pub(crate) fn buys(&self, number: usize) -> Option<String> {
        let (policy, grid) = self.grid()?;
        let setting = grid.settings.get(number)?.words(policy.policy.unit());
        let now = self.figures_of(grid.current);
        let buys = TuneMove::of(&self.figures_of(number), &now, self.figures.finds);
        Some(format!("{setting}: {}", buys.words(self.finds())))
    }
}

/// Returns the best settings, and the present one in its place among them.
fn best_and_present(figures: &[SettingFigures], current: usize) -> Vec<usize> {
    let mut shown = frontier(figures, current);
    if !shown.contains(&current) && current < figures.len() {
        let tokens = |number: usize| figures.get(number).map_or(0, |of| of.tokens);
        let at = shown.partition_point(|number| tokens(*number) <= tokens(current));
        shown.insert(at, current);
    }
    shown
}

/// Returns all policies, those first that keep the most finds for the fewest tokens; designs, from a number on, last.
fn by_kept(figures: &[SettingFigures], (policies, designs): (&[EffectivePolicy], usize)) -> Vec<usize> {
    let mut order: Vec<usize> = (0..policies.len().min(figures.len())).collect();
    order.sort_by_key(|number| {
        let of = figures.get(*number).copied().unwrap_or_default();
        let is_design = *number >= designs;
        (
            is_design,
            Reverse(of.kept_finds),
            of.tokens,
            policies.get(*number).map(|found| found.policy.name().to_owned()),
        )
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::figures_of as figures;

    #[test]
    fn the_present_setting_has_a_row_among_the_best() {
        let all = figures(&[(10, 1), (30, 0), (20, 5), (40, 9)]);
        assert_eq!(best_and_present(&all, 1), [0, 2, 1, 3]);
        assert_eq!(best_and_present(&all, 2), [0, 2, 3]);
        assert_eq!(best_and_present(&[], 3), [] as [usize; 0]);
    }

    #[test]
    fn policies_that_keep_more_come_first_and_designs_last() {
        let catalog = crate::preview::Catalog::builtin();
        let found = |name: &str| EffectivePolicy::chosen(catalog.get(name).unwrap(), true);
        let policies = ["pi/bash", "opencode/output", "codex/exec", "basic/smart"].map(found);
        let all = figures(&[(10, 1), (20, 5), (10, 5), (1, 9)]);
        assert_eq!(by_kept(&all, (&policies, 3)), [2, 1, 0, 3]);
    }
}
