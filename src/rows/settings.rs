//! The rows of settings, or of policies: their columns, which are shown and in which order, and what a move to one buys.

use std::cmp::{Ordering, Reverse};

use crate::base::human::{limit_in, thousands, tokens};
use crate::compare::KeptPart;
use crate::config::EffectivePolicy;
use crate::corpus::TunedPolicies;
use crate::corpus::tune::{SettingFigures, TuneGrid, TuneSetting, describe_share, frontier};
use crate::preview::{Policy, Unit};
use crate::text::label::SafeText;

use super::column::CellSide::{Left, Right};
use super::column::{LAST, ListColumn, ListSpec, MOST_FIRST, POLICY, RowCell, Tone};

/// A setting, or a policy with the limits that it has.
#[derive(Debug, Clone)]
pub struct TuneRow {
    /// The number of the setting, or policy, in its run.
    pub(crate) number: usize,
    /// The name of the policy; empty in a list of the settings of one.
    pub(crate) policy: SafeText,
    pub(crate) setting: TuneSetting,
    /// Which part of a long output it keeps.
    pub(crate) keeps: &'static str,
    pub(crate) unit: Unit,
    pub(crate) figures: SettingFigures,
    pub(crate) matches: u64,
    pub(crate) is_present: bool,
    /// Whether outputs open with these limits in this session.
    pub(crate) is_applied: bool,
}

impl TuneRow {
    fn new(
        number: usize,
        setting: TuneSetting,
        policy: &Policy,
        (figures, matches): (&[SettingFigures], u64),
    ) -> Self {
        Self {
            number,
            policy: SafeText::default(),
            setting,
            keeps: setting.direction.map_or("", |direction| direction.as_str()),
            unit: policy.unit(),
            figures: figures.get(number).copied().unwrap_or_default(),
            matches,
            is_present: false,
            is_applied: false,
        }
    }
}

type Column = ListColumn<TuneRow>;

pub(crate) static SPEC: ListSpec<TuneRow> = ListSpec {
    noun: "row",
    columns: COLUMNS,
    groups: &[],
    words: &[],
    known: |_| String::new(),
    key: |row| row.number as u64,
    sum: |_| String::new(),
    mark: |row| match row {
        TuneRow { is_present: true, .. } => RowCell::new("@", Tone::Accent),
        TuneRow { is_applied: true, .. } => RowCell::new("+", Tone::Accent),
        _ => RowCell::plain(" "),
    },
};

const FEWEST: [&str; 2] = ["fewest first", "most first"];

/// A column that is blank in every row, as the policy is among its own settings, is left out.
const COLUMNS: &[Column] = &[
    Column::new("policy", Left, POLICY, |row, _| RowCell::plain(row.policy.clone())),
    Column::new("keeps", Left, 9, |row, _| RowCell::plain(row.keeps)).yields(6),
    Column::new("lines", Right, 11, |row, _| {
        RowCell::plain(row.setting.max_lines.map(thousands).unwrap_or_default())
    })
    .yields(8),
    Column::new("size", Right, 20, |row, _| {
        RowCell::plain(
            row.setting.max_size.map(|size| limit_in(size, row.unit.describe())).unwrap_or_default(),
        )
    })
    .yields(7),
    // Rows come in this order.
    Column::new("kept", Right, 11, |row, _| {
        RowCell::plain(describe_share(row.figures.kept_matches, row.matches))
    })
    .sorts('k', MOST_FIRST, |_, _| Ordering::Equal),
    Column::new("tokens", Right, 7, |row, _| RowCell::plain(estimate(row.figures.tokens)))
        .yields(LAST)
        .sorts('t', FEWEST, |a, b| a.figures.tokens.cmp(&b.figures.tokens)),
    Column::new("median", Right, 7, |row, _| RowCell::dim(estimate(row.figures.tokens_median)))
        .yields(1)
        .sorts('m', FEWEST, |a, b| a.figures.tokens_median.cmp(&b.figures.tokens_median)),
    Column::new("cut", Right, 9, |row, _| RowCell::plain(thousands(row.figures.cut)))
        .sorts('c', FEWEST, |a, b| a.figures.cut.cmp(&b.figures.cut))
        .yields(2),
    Column::new("loses end", Right, 9, |row, _| loss(row.figures.lost_last_line))
        .sorts('e', FEWEST, |a, b| a.figures.lost_last_line.cmp(&b.figures.lost_last_line))
        .yields(4),
    Column::new("first error", Right, 11, |row, _| loss(row.figures.lost_first_error))
        .sorts('f', FEWEST, |a, b| a.figures.lost_first_error.cmp(&b.figures.lost_first_error))
        .yields(5),
    Column::new("everything", Right, 10, |row, _| loss(row.figures.lost_all))
        .sorts('v', FEWEST, |a, b| a.figures.lost_all.cmp(&b.figures.lost_all))
        .yields(3),
];

/// Returns the columns of a table of settings: `now` (marks the one in use) replaces `policy`.
pub(crate) fn setting_columns() -> impl Iterator<Item = &'static Column> {
    std::iter::once(&NOW).chain(COLUMNS.iter().skip(1))
}

static NOW: Column =
    Column::new("now", Left, 3, |row, _| RowCell::plain(if row.is_present { "*" } else { "" }));

fn estimate(number: u64) -> String {
    tokens(number.saturating_mul(4))
}

/// A loss stands out; no loss does not.
fn loss(outputs: u64) -> RowCell {
    RowCell::new(thousands(outputs), if outputs > 0 { Tone::Warning } else { Tone::Dim })
}

/// Returns the rows of the settings that are worth choosing between, with the present one in its place among them.
pub(crate) fn setting_rows(
    policy: &Policy,
    grid: &TuneGrid,
    figures: &[SettingFigures],
    matches: u64,
) -> Vec<TuneRow> {
    let row = |number: usize| {
        let row = TuneRow::new(number, *grid.settings.get(number)?, policy, (figures, matches));
        Some(TuneRow { is_present: number == grid.current, ..row })
    };
    best_and_present(figures, grid.current).into_iter().filter_map(row).collect()
}

pub(crate) fn policy_rows(of: &TunedPolicies, figures: &[SettingFigures], matches: u64) -> Vec<TuneRow> {
    let row = |number: usize| {
        let policy = &of.policies.get(number)?.policy;
        let row = TuneRow::new(number, TuneSetting::new(policy), policy, (figures, matches));
        let keeps = of.keeps.get(number).copied().flatten().map_or("–", KeptPart::as_str);
        Some(TuneRow { policy: policy.name().into(), keeps, ..row })
    };
    by_kept(figures, (&of.policies, of.designs)).into_iter().filter_map(row).collect()
}

pub(crate) fn beside_best(figures: &[SettingFigures], current: usize) -> &'static str {
    let kept = |setting: usize| figures.get(setting).map_or(0, |of| of.kept_matches);
    match frontier(figures, current).as_slice() {
        [only] if *only == current => "no other setting keeps more, nor as much for fewer tokens",
        best if best.contains(&current) => "no other setting keeps as much for fewer tokens",
        [best, ..] if kept(current) == 0 && kept(*best) > 0 => "other settings keep some",
        _ => "other settings keep as much for fewer tokens",
    }
}

/// Returns the best settings, and the present one in its place among them; those that keep the most come first.
fn best_and_present(figures: &[SettingFigures], current: usize) -> Vec<usize> {
    let mut shown = frontier(figures, current);
    if !shown.contains(&current) && current < figures.len() {
        shown.push(current);
    }
    shown.sort_by_key(|number| {
        let of = figures.get(*number).copied().unwrap_or_default();
        (Reverse(of.kept_matches), of.tokens)
    });
    shown
}

/// Returns all policies, those first that keep the most matches for the fewest tokens; designs, from a number on, last.
fn by_kept(figures: &[SettingFigures], (policies, designs): (&[EffectivePolicy], usize)) -> Vec<usize> {
    let mut order: Vec<usize> = (0..policies.len().min(figures.len())).collect();
    order.sort_by_key(|number| {
        let of = figures.get(*number).copied().unwrap_or_default();
        let name = policies.get(*number).map(|found| found.policy.name().to_owned());
        (*number >= designs, Reverse(of.kept_matches), of.tokens, name)
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::tune::tests::figures_of as figures;

    #[test]
    fn the_present_setting_has_a_row_among_the_best() {
        let all = figures(&[(10, 1), (30, 0), (20, 5), (40, 9)]);
        assert_eq!(best_and_present(&all, 1), [3, 2, 0, 1]);
        assert_eq!(best_and_present(&all, 2), [3, 2, 0]);
        assert_eq!(best_and_present(&[], 3), [] as [usize; 0]);
    }

    #[test]
    fn the_present_setting_is_compared_with_the_best() {
        let said = |all: &[(u64, u64)], current| beside_best(&figures(all), current);
        assert_eq!(said(&[(10, 0), (50, 1)], 0), "other settings keep some");
        assert_eq!(said(&[(10, 0), (50, 0)], 1), "other settings keep as much for fewer tokens");
        assert_eq!(said(&[(10, 1), (50, 2)], 1), "no other setting keeps as much for fewer tokens");
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
