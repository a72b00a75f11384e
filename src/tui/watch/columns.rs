//! What the list of new outputs says of each: its columns, the words of its filter, and the lines of details.

use std::cmp::Ordering;

use crate::human::{count, size, thousands};
use crate::text::label::SafeText;
use crate::text::search::Severity;
use crate::tui::list::column::{FilterWord, LARGEST, ListColumn, ListSpec, RowCell, RowLook, Tone};
use crate::tui::widget::table::CellSide::{Left, Right};

use super::{AGENT, WatchRow};

/// From this many columns on, a row says what the model got in full, and of how many errors some were lost.
const WIDE: u16 = 100;

/// Below this many columns, the time has no seconds.
const NARROW: u16 = 72;

pub(super) static SPEC: ListSpec<WatchRow> = ListSpec {
    noun: "output",
    columns: &[
        ListColumn::new("time", Left, 8, time).yields(2).sorts(
            'w',
            ["oldest first", "newest first"],
            |_, _| Ordering::Equal,
        ),
        ListColumn::new("agent", Left, AGENT, |row: &WatchRow, _| RowCell::plain(row.agent.clone()))
            .yields(3),
        ListColumn::new("size", Right, 8, |row: &WatchRow, _| RowCell::plain(size(row.size)))
            .yields(1)
            .sorts('b', LARGEST, |a, b| b.size.cmp(&a.size)),
        ListColumn::new("model got", Right, 27, got),
        ListColumn::new("lost", Right, 15, lost),
        ListColumn::new("first lost error, else the first line", Left, 0, |row: &WatchRow, _| {
            RowCell::new(row.text.clone(), if row.lost() > 0 { Tone::Plain } else { Tone::Dim })
        }),
    ],
    groups: &[],
    words: &[
        FilterWord::new("cut", |row, _| row.got.is_cut()),
        FilterWord::new("lost", |row, _| {
            row.found.is_some_and(|(severity, found)| severity == Severity::Error && found.lost > 0)
        }),
    ],
    known: |row| row.id.to_string(),
    mark: |_| RowCell::plain(" "),
};

impl WatchRow {
    /// Returns the number of errors, or of warnings if there is no error, that the model did not get.
    fn lost(&self) -> u64 {
        self.found.map_or(0, |(_, found)| found.lost)
    }
}

fn time(row: &WatchRow, look: &RowLook) -> RowCell {
    let short = row.time.rsplit_once(':').filter(|_| look.width < NARROW).map(|(short, _)| short.into());
    RowCell::dim(short.unwrap_or_else(|| row.time.clone()))
}

fn got(row: &WatchRow, look: &RowLook) -> RowCell {
    let words = if look.width >= WIDE { row.got.words() } else { row.got.word() };
    RowCell::new(words, if row.got.is_cut() { Tone::Plain } else { Tone::Dim })
}

fn lost(row: &WatchRow, look: &RowLook) -> RowCell {
    let words = match row.found {
        Some((severity, found)) => {
            let of = if look.width >= WIDE { format!(" of {}", thousands(found.all)) } else { String::new() };
            let unit = if severity == Severity::Warning { " w" } else { "" };
            format!("{}{of}{unit}", thousands(found.lost))
        }
        None if row.is_known => String::new(),
        None => "–".to_owned(),
    };
    RowCell::new(words, if row.lost() > 0 { Tone::Warning } else { Tone::Dim })
}

/// Returns two lines about an output: what the model got of it, and the text of the row.
pub(super) fn details(row: &WatchRow) -> [SafeText; 2] {
    let errors = row.found.map_or(String::new(), |(severity, found)| {
        format!(" · {} lost of {}", count(found.lost, severity.singular()), thousands(found.all))
    });
    let got = format!("model got {}{errors} · {}", row.got.words(), row.id);
    [got.into(), row.text.clone()]
}
