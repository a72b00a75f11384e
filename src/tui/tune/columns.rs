//! The columns of settings and of policies.

use std::cmp::Ordering;

use crate::human::{limit_in, thousands, tokens};
use crate::tui::list::column::{LARGEST, ListColumn, ListSpec, RowCell, Tone};
use crate::tui::widget::table::CellSide::{Left, Right};
use crate::tune::share_in_words;

use super::rows::TuneRow;

pub(super) static SPEC: ListSpec<TuneRow> = ListSpec {
    noun: "setting",
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
