//! The columns of the list: which ones there is room for, and how wide each is.

use crate::store::Entry;
use crate::tui::stores::StoresScreen;

use super::cells::{self, BETWEEN, Column, MARKS};

/// The columns shown, and their widths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    /// The columns but the last, each with its width.
    pub shown: Vec<(Column, usize)>,
    /// The width of the bar of the time left; 0 without it.
    pub bar: usize,
    /// The width of the last column: command and first line.
    pub content: usize,
}

/// What is left out, in this order, while the last column is too narrow.
enum Omitted {
    Column(Column),
    Bar,
}

const OMITTED: [Omitted; 7] = [
    Omitted::Column(Column::Call),
    Omitted::Column(Column::Session),
    Omitted::Column(Column::Tool),
    Omitted::Column(Column::Access),
    Omitted::Bar,
    Omitted::Column(Column::Age),
    Omitted::Column(Column::Got),
];

impl Columns {
    /// Fits the columns to the entries on the screen and to `width` columns.
    pub(super) fn of(screen: &StoresScreen, width: u16, entries: &[&Entry]) -> Self {
        let width = usize::from(width);
        let bar = if width >= 100 { 6 } else { 4 };
        let all = [
            Column::Agent,
            Column::Tool,
            Column::Size,
            Column::Age,
            Column::Left,
            Column::Got,
            Column::Access,
            Column::Session,
            Column::Call,
        ];
        let least = (width / 5).max(16);
        let mut columns = Self { shown: Vec::new(), bar, content: 0 };
        columns.shown =
            all.into_iter().filter_map(|column| columns.measured(screen, column, entries)).collect();
        columns.settle(width);
        for what in OMITTED {
            if columns.content >= least {
                break;
            }
            match what {
                Omitted::Column(column) => columns.shown.retain(|(other, _)| *other != column),
                Omitted::Bar => {
                    columns.bar = 0;
                    let left = columns.measured(screen, Column::Left, entries);
                    let old = columns.shown.iter_mut().find(|(column, _)| *column == Column::Left);
                    old.into_iter().zip(left).for_each(|(old, new)| *old = new);
                }
            }
            columns.settle(width);
        }
        columns
    }

    /// Gives the last column all that is left of `width`.
    fn settle(&mut self, width: usize) {
        let fixed: usize = self.shown.iter().map(|(_, width)| width + BETWEEN).sum();
        self.content = width.saturating_sub(MARKS + fixed);
    }

    /// Returns a column with the width of its widest text; `None` if it would be empty.
    fn measured(&self, screen: &StoresScreen, column: Column, entries: &[&Entry]) -> Option<(Column, usize)> {
        let widest =
            entries.iter().map(|entry| cells::width(screen, entry, column, self.bar)).max().unwrap_or(0);
        let known = screen.listing.shown().widest;
        let (widest, least, most) = match column {
            Column::Agent => (widest.max(known.agent), 5, 14),
            Column::Tool => (widest.max(known.tool), 4, 12),
            Column::Size => (widest, 7, 9),
            Column::Age => (widest, 6, 7),
            Column::Left => (widest, if self.bar == 0 { 4 } else { 9 }, 15),
            Column::Got => (widest, 9, if self.bar > 4 { 18 } else { 9 }),
            Column::Access => (widest, 4, 15),
            Column::Session => (widest.max(known.session), 7, 20),
            Column::Call => (widest, 4, 16),
        };
        let is_empty =
            widest == 0 && matches!(column, Column::Tool | Column::Access | Column::Session | Column::Call);
        (!is_empty).then(|| (column, widest.clamp(least, most)))
    }
}
