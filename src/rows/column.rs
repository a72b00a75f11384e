//! A column of a list: its heading and place, what it says of a row, and how rows are sorted by it.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::base::human::thousands;
use crate::text::label::SafeText;

use super::RowTable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellSide {
    Left,
    Right,
    /// The left side; a path that is too long loses its middle, because its end tells as much as its start.
    Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub heading: &'static str,
    pub side: CellSide,
    /// Maximum width on the screen, in columns; 0 is all that the others leave.
    pub max_width: usize,
    /// When it makes room for others: the smallest number first; `None` never.
    pub yields: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortColumn {
    /// The letter that picks it in the menu.
    pub letter: char,
    pub name: &'static str,
    /// Its order in words, and its order reversed.
    pub orders: [&'static str; 2],
}

impl SortColumn {
    pub(crate) fn order(&self, reversed: bool) -> &'static str {
        self.orders[usize::from(reversed)]
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Dim,
    Accent,
    Warning,
}

/// The orders in words of figures, and of names.
pub(crate) const MOST_FIRST: [&str; 2] = ["most first", "least first"];
pub(crate) const LARGEST_FIRST: [&str; 2] = ["largest first", "smallest first"];
pub(crate) const NAMES: [&str; 2] = ["A to Z", "Z to A"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowCell {
    pub text: SafeText,
    pub tone: Tone,
}

impl RowCell {
    pub(crate) fn new(text: impl Into<SafeText>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }

    pub(crate) fn plain(text: impl Into<SafeText>) -> Self {
        Self::new(text, Tone::Plain)
    }

    pub(crate) fn dim(text: impl Into<SafeText>) -> Self {
        Self::new(text, Tone::Dim)
    }

    /// Returns a plain text, or a dash if there is none.
    pub(crate) fn or_dash(text: Option<impl Into<SafeText>>) -> Self {
        Self::plain(text.map_or_else(|| "–".into(), Into::into))
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct RowLook {
    pub now: Timestamp,
    /// Columns of the screen.
    pub width: u16,
}

/// Whether a figure is known that takes a while to find.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SlowState {
    /// It is not, or is no longer right.
    #[default]
    Missing,
    Asked,
    Known,
    Failed,
}

/// A figure that takes a while to find: its last value, and whether that is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowFigure<T> {
    pub value: Option<T>,
    pub state: SlowState,
}

impl<T> Default for SlowFigure<T> {
    fn default() -> Self {
        Self { value: None, state: SlowState::Missing }
    }
}

impl<T> SlowFigure<T> {
    /// Takes in the figure; `None` if it cannot be had.
    pub fn set(&mut self, value: Option<T>) {
        self.state = if value.is_some() { SlowState::Known } else { SlowState::Failed };
        self.value = value;
    }

    pub(crate) fn and_then<U>(&self, figure: impl FnOnce(&T) -> Option<U>) -> SlowFigure<U> {
        let mut found = SlowFigure { value: None, state: self.state };
        if let Some(value) = &self.value {
            found.set(figure(value));
        }
        found
    }

    pub(crate) fn describe(&self, words: impl FnOnce(&T) -> String) -> String {
        match (&self.value, self.state) {
            (Some(value), _) => words(value),
            (None, SlowState::Failed) => "–".into(),
            (None, _) => "…".into(),
        }
    }
}

impl RowLook {
    /// Whether a time is on the same day as now, in local time.
    pub(crate) fn is_today(&self, at: Timestamp) -> bool {
        let day = |at: Timestamp| at.to_zoned(TimeZone::system()).date();
        day(at) == day(self.now)
    }
}

/// How rows are put in order, unless that is reversed.
pub enum RowOrder<R> {
    /// Compares two rows; the smallest comes first.
    Compare(CompareRows<R>),
    /// Returns the rows of these numbers in order, for lists in which comparing row by row takes too long.
    Whole(fn(&RowTable<R>, &[u32]) -> Vec<u32>),
}

type CompareRows<R> = fn(&R, &R) -> Ordering;

pub struct ListColumn<R> {
    pub(crate) table: TableColumn,
    pub(crate) cell: fn(&R, &RowLook) -> RowCell,
    pub(crate) order: Option<(SortColumn, RowOrder<R>)>,
    /// When a row was, if the column says that.
    pub(crate) time: Option<fn(&R) -> Option<Timestamp>>,
    /// Whether tables go without it, since files would have to be read for all rows.
    pub(crate) is_slow: bool,
}

impl<R> ListColumn<R> {
    /// Creates a column that neither makes room nor sorts.
    pub(crate) const fn new(
        heading: &'static str,
        side: CellSide,
        max_width: usize,
        cell: fn(&R, &RowLook) -> RowCell,
    ) -> Self {
        let table = TableColumn { heading, side, max_width, yields: None };
        Self { table, cell, order: None, time: None, is_slow: false }
    }

    /// Says that files have to be read for it.
    pub(crate) const fn slow(mut self) -> Self {
        self.is_slow = true;
        self
    }

    pub(crate) fn heading(&self) -> &'static str {
        self.table.heading
    }

    /// Has it make room, the smallest number first.
    pub(crate) const fn yields(mut self, rank: u8) -> Self {
        self.table.yields = Some(rank);
        self
    }

    pub(crate) const fn with_time(mut self, time: fn(&R) -> Option<Timestamp>) -> Self {
        self.time = Some(time);
        self
    }

    /// Has it sort: `letter` picks it in the menu, `orders` are its order in words, and reversed.
    pub(crate) const fn sorts(self, letter: char, orders: [&'static str; 2], by: CompareRows<R>) -> Self {
        self.in_order(letter, orders, RowOrder::Compare(by))
    }

    pub(crate) const fn in_order(mut self, letter: char, orders: [&'static str; 2], by: RowOrder<R>) -> Self {
        self.order = Some((SortColumn { letter, name: self.table.heading, orders }, by));
        self
    }
}

/// A word of the filter with a meaning, and whether a row meets it.
type FilterWord<R> = (&'static str, fn(&R, &RowLook) -> bool);

pub struct ListSpec<R: 'static> {
    pub noun: &'static str,
    /// The first that sorts goes by what does not change in a row.
    pub columns: &'static [ListColumn<R>],
    /// Ways of grouping, in the order in which the key goes through them: the words of a row's group.
    pub groups: &'static [fn(&R) -> String],
    pub words: &'static [FilterWord<R>],
    /// What the filter finds besides the words in columns.
    pub known: fn(&R) -> String,
    /// What a row is of: the same before and after a refresh, and of no other row.
    pub key: fn(&R) -> u64,
    /// What rows add up to, in words; empty if their number says it.
    pub sum: fn(&mut dyn Iterator<Item = &R>) -> String,
    pub mark: fn(&R) -> RowCell,
}

/// Columns of this rank or higher are dropped only if the fixed columns alone do not fit.
pub(crate) const LAST: u8 = 100;

/// Columns between two columns of text.
pub(crate) const BETWEEN: usize = 2;

/// Shares the width of a screen among the columns of a list or table, beside `marks` columns before a row: each is as
/// wide as its `widest` cell, one takes what is left, and those of least worth make room (`None`). One without any text
/// is left out.
pub(crate) fn column_widths(
    columns: &[TableColumn],
    widest: impl Fn(usize) -> usize,
    (room, marks): (usize, usize),
) -> Vec<Option<usize>> {
    let width = |(n, column): (usize, &TableColumn)| {
        let widest = widest(n);
        (column.max_width > 0 && widest > 0)
            .then(|| widest.max(column.heading.chars().count()).min(column.max_width))
    };
    let mut widths: Vec<Option<usize>> = columns.iter().enumerate().map(width).collect();
    let mut open = columns.iter().position(|column| column.max_width == 0);
    open = open.filter(|n| columns[*n].yields.is_none() || widest(*n) > 0);
    let taken = |widths: &[Option<usize>], open: Option<usize>| {
        let columns: usize = widths.iter().flatten().map(|width| width + BETWEEN).sum();
        marks + if open.is_some() { columns } else { columns.saturating_sub(BETWEEN) }
    };
    let least = (room / 6).max(16);
    let mut yielding: Vec<(u8, usize)> =
        columns.iter().enumerate().filter_map(|(n, column)| Some((column.yields?, n))).collect();
    yielding.sort_unstable();
    for (rank, n) in yielding {
        if taken(&widths, open) + if rank < LAST && open.is_some() { least } else { 0 } <= room {
            break;
        }
        widths[n] = None;
        open = open.filter(|open| *open != n);
    }
    // Drop what still does not fit as a whole: a heading without its values says nothing.
    while taken(&widths, open) > room {
        let Some(first) = widths.iter().position(Option::is_some) else { break };
        widths[first] = None;
    }
    let rest = room.saturating_sub(taken(&widths, open));
    open.into_iter().for_each(|n| widths[n] = Some(rest));
    widths
}

/// Maximum width of an id in a table, in columns: longer than any agent's, because other commands take it.
pub(crate) const ID: usize = 64;

/// Maximum width of a policy's name in a table, in columns: `-p` takes it.
pub(crate) const POLICY: usize = 40;

/// Joins the parts of a line of details, as far as there are any.
pub(crate) fn joined(parts: impl IntoIterator<Item = Option<String>>) -> SafeText {
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ").into()
}

/// Makes a [`ListSpec::key`] of what tells rows apart.
pub(crate) fn key_of(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Describes a share in percent, and whether it is an estimate: `~21%`.
pub(crate) fn percentage(percent: u64, is_estimate: bool) -> String {
    match percent {
        0 => "<1%".to_owned(),
        _ => format!("{}{percent}%", if is_estimate { "~" } else { "" }),
    }
}

const BAR: u64 = 8;

/// Returns a share in percent as a bar. Something is never nothing.
pub(crate) fn bar(percent: u64) -> String {
    let full = (percent.min(100) * BAR).div_ceil(100) as usize;
    format!("{}{}", "▇".repeat(full), "░".repeat(BAR as usize - full))
}

/// From this many columns of the screen on, shares have bars, and titles say what is of less worth.
pub(crate) const WIDE: u16 = 100;

/// Says in a title how many of the rows other users can read; empty for none, or without room.
pub(crate) fn readable_by_others(rows: u64, look: &RowLook) -> String {
    let is_said = rows > 0 && look.width >= WIDE;
    if is_said { format!(" · {} readable by others", thousands(rows)) } else { String::new() }
}
