//! Sizes in terminal cells: escape sequences and control characters take none, a grapheme as many as a terminal gives
//! it.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::preview::model::Unit;
use crate::text::ansi;

use super::{STEP, Text};

/// Bytes of non-ASCII text that are split into graphemes at a time.
const WINDOW: usize = 1024;

/// An item of a text: its bytes, and the cells that it takes.
struct Item {
    len: usize,
    cells: u64,
}

impl Text<'_> {
    /// Returns the cells of a range.
    pub(super) fn cells_of(&self, range: Range<usize>) -> u64 {
        let whole = if range == self.body { self.cells.get() } else { None };
        whole.unwrap_or_else(|| self.cells_up_to(range, u64::MAX))
    }

    /// Whether the whole takes more than `max` cells; reads no further than necessary.
    pub(super) fn exceeds_cells(&self, max: u64) -> bool {
        self.cells.get().unwrap_or_else(|| self.cells_up_to(self.body.clone(), max)) > max
    }

    /// Counts the cells of a range until they exceed `max`; those of the whole are remembered.
    fn cells_up_to(&self, range: Range<usize>, max: u64) -> u64 {
        let mut sum = 0;
        self.walk(range.clone(), |_, item| {
            sum += item.cells;
            sum <= max
        });
        if range == self.body && sum <= max {
            self.cells.set(Some(sum));
        }
        sum
    }

    /// Returns where the first character begins that exceeds this many cells.
    pub(super) fn cell(&self, from: usize, to: usize, cells: u64) -> usize {
        let (mut sum, mut found) = (0, to);
        self.walk(from..to, |at, item| {
            sum += item.cells;
            if sum > cells {
                found = at;
            }
            sum <= cells
        });
        found
    }

    /// Returns where the last `cells` cells begin.
    pub(super) fn cell_back(&self, from: usize, to: usize, cells: u64) -> usize {
        let total = self.size_of(from..to, Unit::Cells);
        self.cell(from, to, total - cells.min(total))
    }

    /// Walks through a range while `see` returns true and the plan is wanted.
    fn walk(&self, range: Range<usize>, mut see: impl FnMut(usize, &Item) -> bool) {
        let (mut at, mut asked) = (range.start, range.start);
        while at < range.end {
            if at - asked >= STEP {
                asked = at;
                if !self.is_wanted() {
                    break;
                }
            }
            let rest = &self.bytes[at..range.end];
            if is_plain(rest) {
                if !see(at, &Item { len: 1, cells: 1 }) {
                    break;
                }
                at += 1;
                continue;
            }
            for item in items(rest) {
                if !see(at, &item) {
                    self.touch(range.start..at);
                    return;
                }
                at += item.len;
            }
        }
        self.touch(range.start..at);
    }
}

/// Whether an ASCII character stands alone: nothing follows that may join it.
fn is_plain(rest: &[u8]) -> bool {
    matches!(rest[0], b' '..=b'~') && rest.get(1).is_none_or(u8::is_ascii)
}

/// Returns what begins here: a single item, or as many graphemes as a window holds.
fn items(rest: &[u8]) -> Vec<Item> {
    let one = |len, cells| vec![Item { len, cells }];
    if let Some(found) = ansi::sequence(rest) {
        return one(found.len, 0);
    }
    if rest[0] < b' ' || rest[0] == 0x7f { one(1, 0) } else { characters(rest) }
}

/// Returns graphemes up to the next control character; the last of a full window is left for the next.
fn characters(rest: &[u8]) -> Vec<Item> {
    let window = &rest[..rest.len().min(WINDOW)];
    let end = window.iter().position(|byte| *byte < b' ' || *byte == 0x7f).unwrap_or(window.len());
    let valid = match std::str::from_utf8(&window[..end]) {
        Ok(valid) => valid,
        Err(error) if error.valid_up_to() == 0 => return vec![Item { len: 1, cells: 1 }],
        Err(error) => std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(),
    };
    let item = |cluster: &str| Item { len: cluster.len(), cells: cluster.width() as u64 };
    let mut found: Vec<_> = valid.graphemes(true).map(item).collect();
    if end == WINDOW && found.len() > 1 {
        found.pop();
    }
    found
}
