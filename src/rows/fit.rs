//! How the columns of a list or table share the width of a screen: as wide as their widest cell, one takes what is left, and
//! those of least worth make room for it.

use super::column::TableColumn;

/// Columns between two columns of text.
pub(crate) const BETWEEN: usize = 2;

/// Returns the width of each column beside `marks` columns before a row; `None` for those that make room. `widest` returns
/// the columns that the widest cell of one takes; one without any text is left out.
pub(crate) fn widths(
    columns: &[TableColumn],
    widest: impl Fn(usize) -> usize,
    (room, marks): (usize, usize),
) -> Vec<Option<usize>> {
    let width = |(n, column): (usize, &TableColumn)| {
        let widest = widest(n);
        (column.most > 0 && widest > 0).then(|| widest.max(column.heading.chars().count()).min(column.most))
    };
    let mut widths: Vec<Option<usize>> = columns.iter().enumerate().map(width).collect();
    let open = columns.iter().position(|column| column.most == 0);
    let taken = |widths: &[Option<usize>]| {
        let columns: usize = widths.iter().flatten().map(|width| width + BETWEEN).sum();
        marks + if open.is_some() { columns } else { columns.saturating_sub(BETWEEN) }
    };
    let least = if open.is_some() { (room / 6).max(16) } else { 0 };
    let mut yielding: Vec<(u8, usize)> =
        columns.iter().enumerate().filter_map(|(n, column)| Some((column.yields?, n))).collect();
    yielding.sort_unstable();
    for (_, n) in yielding {
        if taken(&widths) + least <= room {
            break;
        }
        widths[n] = None;
    }
    // What is left over still is left out whole: a heading without its values says nothing.
    while taken(&widths) > room {
        let Some(first) = widths.iter().position(Option::is_some) else { break };
        widths[first] = None;
    }
    let rest = room.saturating_sub(taken(&widths));
    open.into_iter().for_each(|n| widths[n] = Some(rest));
    widths
}
