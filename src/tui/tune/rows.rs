//! The rows of settings, or of policies: their columns, which are shown and in which order, and what a move to one buys.

use std::cmp::{Ordering, Reverse};

use crate::config::EffectivePolicy;
use crate::corpus::TuneKind;
use crate::human::{count, limit_in, thousands, tokens};
use crate::preview::{Policy, Unit};
use crate::text::label::SafeText;
use crate::tui::list::List;
use crate::tui::list::column::{LARGEST, ListColumn, ListSpec, RowCell, RowLook, Tone};
use crate::tui::widget::table::CellSide::{Left, Right};
use crate::tune::{SettingFigures, TuneMove, TuneSetting, frontier, share_in_words};

use super::Tuning;

/// A setting, or a policy with the limits that it has.
#[derive(Debug, Clone)]
pub struct TuneRow {
    /// The number of the setting, or policy, in its run.
    pub(super) number: usize,
    /// The name of the policy; empty in a list of the settings of one.
    pub(super) policy: SafeText,
    pub(super) setting: TuneSetting,
    pub(super) unit: Unit,
    pub(super) figures: SettingFigures,
    pub(super) finds: u64,
    pub(super) is_present: bool,
    /// Whether outputs open with these limits in this session.
    pub(super) is_applied: bool,
}

pub(super) static SPEC: ListSpec<TuneRow> = ListSpec {
    noun: "row",
    columns: COLUMNS,
    groups: &[],
    words: &[],
    known: |_| String::new(),
    key: |row| row.number as u64,
    sum: |_| String::new(),
    mark: |row| match row {
        TuneRow { is_present: true, .. } => RowCell::new("*", Tone::Accent),
        TuneRow { is_applied: true, .. } => RowCell::new("+", Tone::Accent),
        _ => RowCell::plain(" "),
    },
};

const FEWEST: [&str; 2] = ["fewest first", "most first"];

/// A column that is blank in every row, as the policy is among its own settings, is left out.
const COLUMNS: &[ListColumn<TuneRow>] = &[
    ListColumn::new("policy", Left, 24, |row: &TuneRow, _| RowCell::plain(row.policy.clone())),
    ListColumn::new("keeps", Left, 6, |row: &TuneRow, _| {
        RowCell::plain(row.setting.direction.map_or("", |direction| direction.as_str()))
    })
    .yields(6),
    ListColumn::new("lines", Right, 11, |row: &TuneRow, _| {
        RowCell::plain(row.setting.max_lines.map(thousands).unwrap_or_default())
    })
    .yields(8),
    ListColumn::new("size", Right, 20, |row: &TuneRow, _| {
        RowCell::plain(row.setting.max_size.map(|size| limit_in(size, row.unit.words())).unwrap_or_default())
    })
    .yields(7),
    // Rows come in this order.
    ListColumn::new("kept", Right, 11, |row: &TuneRow, _| {
        RowCell::plain(share_in_words(row.figures.kept_finds, row.finds))
    })
    .sorts('k', LARGEST, |_, _| Ordering::Equal),
    ListColumn::new("tokens", Right, 7, |row: &TuneRow, _| RowCell::plain(estimate(row.figures.tokens)))
        .sorts('t', FEWEST, |a, b| a.figures.tokens.cmp(&b.figures.tokens)),
    ListColumn::new("median", Right, 7, |row: &TuneRow, _| RowCell::dim(estimate(row.figures.tokens_median)))
        .yields(1)
        .sorts('m', FEWEST, |a, b| a.figures.tokens_median.cmp(&b.figures.tokens_median)),
    ListColumn::new("cut", Right, 9, |row: &TuneRow, _| RowCell::plain(thousands(row.figures.cut)))
        .yields(2)
        .sorts('c', FEWEST, |a, b| a.figures.cut.cmp(&b.figures.cut)),
    ListColumn::new("loses end", Right, 9, |row: &TuneRow, _| loss(row.figures.lost_last_line))
        .yields(4)
        .sorts('e', FEWEST, |a, b| a.figures.lost_last_line.cmp(&b.figures.lost_last_line)),
    ListColumn::new("first error", Right, 11, |row: &TuneRow, _| loss(row.figures.lost_first_error))
        .yields(5)
        .sorts('f', FEWEST, |a, b| a.figures.lost_first_error.cmp(&b.figures.lost_first_error)),
    ListColumn::new("everything", Right, 10, |row: &TuneRow, _| loss(row.figures.lost_all)).yields(3).sorts(
        'v',
        FEWEST,
        |a, b| a.figures.lost_all.cmp(&b.figures.lost_all),
    ),
];

fn estimate(number: u64) -> String {
    tokens(number.saturating_mul(4))
}

/// What is lost stands out; that nothing is does not.
fn loss(outputs: u64) -> RowCell {
    RowCell::new(thousands(outputs), if outputs > 0 { Tone::Warning } else { Tone::Dim })
}

impl Tuning {
    /// Shows what was measured so far. Until the user selects a row it is the present setting, or the first policy.
    pub(super) fn fill(&self, list: &mut List<TuneRow>) {
        let rows = if self.figures.outputs > 0 { self.rows() } else { Vec::new() };
        let present = rows.iter().position(|row| row.is_present);
        list.set_rows(rows);
        list.begin_at(present.unwrap_or(0));
    }

    fn rows(&self) -> Vec<TuneRow> {
        let all = &self.figures.settings;
        let row = |number: usize, setting: TuneSetting, policy: &Policy| TuneRow {
            number,
            policy: SafeText::default(),
            setting,
            unit: policy.unit(),
            figures: all.get(number).copied().unwrap_or_default(),
            finds: self.figures.finds,
            is_present: false,
            is_applied: false,
        };
        match self.run.as_ref().map(|run| &run.choice.kind) {
            Some(TuneKind::Settings { policy, grid }) => {
                let policy = &policy.policy;
                let applied = self.applied.get(policy.name());
                let setting_row = |number: usize| {
                    let setting = *grid.settings.get(number)?;
                    let (is_present, is_applied) = (number == grid.current, applied == Some(&setting));
                    Some(TuneRow { is_present, is_applied, ..row(number, setting, policy) })
                };
                best_and_present(all, grid.current).into_iter().filter_map(setting_row).collect()
            }
            Some(TuneKind::Policies { policies, designs }) => {
                let policy_row = |number: usize| {
                    let policy = &policies.get(number)?.policy;
                    let row = row(number, TuneSetting::of(policy), policy);
                    Some(TuneRow { policy: policy.name().into(), ..row })
                };
                by_kept(all, (policies, *designs)).into_iter().filter_map(policy_row).collect()
            }
            None => Vec::new(),
        }
    }

    pub(super) fn details_of(&self, row: &TuneRow, look: &RowLook) -> [SafeText; 2] {
        let figures = &self.figures;
        match (&self.run.as_ref().map(|run| &run.choice.kind), self.grid()) {
            (Some(TuneKind::Policies { policies, .. }), _) => {
                let Some(found) = policies.get(row.number) else { return Default::default() };
                let limits = format!("{} · limits from: {}", row.setting.words(row.unit), found.limits_from);
                let words = format!("{}: {}", found.policy.name(), found.policy.summary());
                [words.into(), limits.into()]
            }
            (_, Some((policy, grid))) if row.is_present => {
                let now = share_in_words(row.figures.kept_finds, figures.finds);
                let limits = row.setting.words(row.unit);
                let others = match frontier(&figures.settings, grid.current).as_slice() {
                    [only] if *only == row.number => {
                        "no other setting keeps more, nor as much for fewer tokens"
                    }
                    best if best.contains(&row.number) => "no other setting keeps as much for fewer tokens",
                    _ => "other settings keep as much for fewer tokens",
                };
                let kept = match figures.finds {
                    0 => format!("no {} in these outputs, so the fewest tokens are best", self.finds()),
                    _ => format!("{now} of {}; {others}", self.finds()),
                };
                let from = format!("now: {limits} (limits from: {})", policy.limits_from);
                [from.into(), kept.into()]
            }
            (_, Some((_, grid))) => {
                let now = figures.settings.get(grid.current).copied().unwrap_or_default();
                let buys = TuneMove::of(&row.figures, &now, figures.finds).words(self.finds());
                let setting = format!("{}: {buys}", row.setting.words(row.unit));
                let fits = setting.chars().count() + 2 <= usize::from(look.width);
                let changed = figures.changed.get(row.number).copied().unwrap_or_default();
                let outputs = count(figures.outputs, "output");
                let changed = format!("cuts {} of {outputs} differently", thousands(changed));
                [if fits { setting } else { buys }.into(), changed.into()]
            }
            _ => Default::default(),
        }
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
        (Reverse(of.kept_finds), of.tokens)
    });
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
        assert_eq!(best_and_present(&all, 1), [3, 2, 0, 1]);
        assert_eq!(best_and_present(&all, 2), [3, 2, 0]);
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
