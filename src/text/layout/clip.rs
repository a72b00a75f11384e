//! Clips cells at the edge of a row, and in rows that are narrower than the cell.

use std::ops::Range;

use anstyle::Style;

use crate::text::cells::{Cell, CellKind, CellText};

/// Returns a one-column mark for a cell that is wider than the whole row.
pub(super) fn stand_in(cell: Cell) -> Cell {
    Cell { text: CellText::from('>'), width: 1, kind: CellKind::Control, look: Style::new(), ..cell }
}

/// Returns the visible part of a cell at column `start`, where `view` are the visible columns.
pub(super) fn seen(cell: Cell, start: u64, view: Range<u64>) -> Cell {
    let end = start + u64::from(cell.width);
    if view.start <= start && end <= view.end {
        return cell;
    }
    let from = view.start.saturating_sub(start);
    let to = view.end.min(end) - start;
    narrowed(cell, from as u8..to as u8)
}

/// Returns the columns `columns` of a cell: names are cut, half a wide character becomes spaces.
pub(super) fn narrowed(cell: Cell, columns: Range<u8>) -> Cell {
    let width = columns.len() as u8;
    let text = match cell.kind {
        CellKind::Control | CellKind::Escape if cell.text.as_str().is_ascii() => part_of(cell.text, columns),
        _ => CellText::spaces(width),
    };
    Cell { text, width, ..cell }
}

/// Names are ASCII, so that a column is a byte.
fn part_of(name: CellText, columns: Range<u8>) -> CellText {
    let columns = usize::from(columns.start)..usize::from(columns.end);
    name.as_str().get(columns).map_or_else(CellText::default, CellText::from_short)
}
