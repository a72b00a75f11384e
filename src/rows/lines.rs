//! The columns of lines found in stored outputs.

use crate::corpus::{FoundLine, LineGot};
use crate::human::{span, thousands};

use super::column::CellSide::{Left, Right};
use super::column::{LARGEST, ListColumn, ListSpec, NAMES, RowCell, Tone, key_of};

pub(crate) static SPEC: ListSpec<FoundLine> =
    ListSpec {
        noun: "line",
        columns: &[
            ListColumn::new("when", Right, 6, |row: &FoundLine, _| {
                RowCell::dim(row.age.map_or("–".into(), span))
            })
            .leads(|row| row.at)
            .sorts('w', ["latest first", "earliest first"], |a, b| a.age.cmp(&b.age)),
            ListColumn::new("agent", Left, 12, |row: &FoundLine, _| RowCell::plain(&*row.agent)).sorts(
                'a',
                NAMES,
                |a, b| a.agent.cmp(&b.agent),
            ),
            ListColumn::new("output", Left, 16, |row: &FoundLine, _| RowCell::dim(&*row.id)).yields(1),
            ListColumn::new("line", Right, 10, |row: &FoundLine, _| RowCell::plain(thousands(row.number)))
                .sorts('n', LARGEST, |a, b| b.number.cmp(&a.number)),
            ListColumn::new("model", Left, 16, |row: &FoundLine, _| {
                RowCell::new(row.got.words(), if is_lost(row) { Tone::Warning } else { Tone::Dim })
            }),
            ListColumn::new("text", Left, 0, |row: &FoundLine, _| RowCell::plain(row.text.clone())),
        ],
        groups: &[],
        words: &[("lost", |row, _| is_lost(row))],
        known: |row| row.path.display().to_string(),
        key: |row| key_of((&row.path, row.number)),
        sum: |_| String::new(),
        mark: |_| RowCell::plain(" "),
    };

pub(crate) fn is_lost(row: &FoundLine) -> bool {
    matches!(row.got, LineGot::Lost(_))
}
