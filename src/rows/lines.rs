//! The columns of the list of lines found in all stored outputs, and what its details say.

use crate::base::human::{span, thousands};
use crate::corpus::{FoundLine, LineReceipt, LostBy};
use crate::text::label::SafeText;

use super::column::CellSide::{Left, Right};
use super::column::{ListColumn, ListSpec, NAMES, RowCell, Tone, key_of};

pub(crate) static SPEC: ListSpec<FoundLine> = ListSpec {
    noun: "line",
    columns: COLUMNS,
    groups: &[],
    words: &[("lost", |row, _| is_lost(row))],
    known: |row| row.entry.path().display().to_string(),
    key: |row| key_of((&row.entry.place().path, row.entry.name(), row.number)),
    sum: |_| String::new(),
    mark: |_| RowCell::plain(" "),
};

const COLUMNS: &[ListColumn<FoundLine>] = &[
    ListColumn::new("when", Right, 6, |row: &FoundLine, _| RowCell::dim(row.age.map_or("–".into(), span)))
        .leads(|row| Some(row.entry.modified()))
        .yields(2)
        .sorts('w', ["latest first", "earliest first"], |a, b| a.age.cmp(&b.age)),
    ListColumn::new("agent", Left, 12, |row: &FoundLine, _| RowCell::plain(row.entry.agent()))
        .yields(3)
        .sorts('a', NAMES, |a, b| a.entry.agent().cmp(b.entry.agent())),
    ListColumn::new("command", Left, 24, |row: &FoundLine, _| {
        RowCell::new(row.name.clone(), if row.written.is_empty() { Tone::Dim } else { Tone::Plain })
    })
    .yields(1),
    ListColumn::new("line", Right, 10, |row: &FoundLine, _| RowCell::plain(thousands(row.number))).sorts(
        'n',
        ["highest first", "lowest first"],
        |a, b| b.number.cmp(&a.number),
    ),
    ListColumn::new("model", Left, 30, |row: &FoundLine, _| {
        RowCell::new(describe_got(row), if is_lost(row) { Tone::Warning } else { Tone::Dim })
    })
    .yields(4),
    ListColumn::new("text", Left, 0, |row: &FoundLine, _| RowCell::plain(row.text.clone())),
];

pub(crate) fn is_lost(row: &FoundLine) -> bool {
    matches!(row.got, LineReceipt::Lost(_))
}

/// Says what became of a line: `kept`, `lost: over 50 KB`.
fn describe_got(row: &FoundLine) -> String {
    match (row.got, &row.over) {
        (LineReceipt::Lost(LostBy::Limit(_)), Some(over)) => format!("lost: {over}"),
        (got, _) => got.describe(),
    }
}

pub(crate) fn details(row: &FoundLine) -> [SafeText; 2] {
    let line = format!("{} {} · line {}", row.entry.agent(), row.name, thousands(row.number));
    [format!("{line} · {}", describe_got(row)).into(), row.text.clone()]
}
