//! Finds where a size ends, from either end of a range.

use std::ops::Range;

use crate::preview::model::{Direction, Unit};
use crate::text::units::{self, Decoding};

use super::{Cut, STEP, Text, as_usize};

/// ASCII bytes decoded at a time.
const STRIDE: usize = 64;

impl Text<'_> {
    /// Takes an amount from one end of a range.
    pub(crate) fn end(&self, within: Range<usize>, from: Direction, unit: Unit, amount: u64) -> Cut {
        if unit == Unit::Cells {
            return Cut { range: self.end_in_cells(within, from, amount), half: None };
        }
        let mut rest = within.clone();
        let mut left = amount;
        let mut asked = within.len();
        while !rest.is_empty() && left > 0 {
            if asked - rest.len() >= STEP {
                if !self.is_wanted() {
                    return Cut { range: within, half: None };
                }
                asked = rest.len();
            }
            let (stride, beyond) = from.split(&rest, STRIDE.min(as_usize(left)).min(rest.len()));
            if self.bytes[stride.clone()].is_ascii() {
                left -= stride.len() as u64;
                rest = beyond;
                continue;
            }
            let found = self.outer_element(&rest, from);
            let (element, beyond) = from.split(&rest, found.len);
            let cost = self.cost(found, unit);
            if cost > left {
                self.touch(from.up_to(&within, &element));
                let range = from.split(&within, within.len() - rest.len()).0;
                return Cut { range, half: (unit == Unit::Utf16).then_some(element) };
            }
            left -= cost;
            rest = beyond;
        }
        let range = from.split(&within, within.len() - rest.len()).0;
        self.touch(range.clone());
        Cut { range, half: None }
    }

    fn end_in_cells(&self, within: Range<usize>, from: Direction, cells: u64) -> Range<usize> {
        let Range { start, end } = within;
        match from {
            Direction::Head => start..self.cell(start, end, cells),
            Direction::Tail => self.cell(start, end, self.cells_of(within).saturating_sub(cells))..end,
        }
    }

    fn cost(&self, element: units::Element, unit: Unit) -> u64 {
        match (unit, self.decoding) {
            (Unit::Bytes | Unit::Tokens, Decoding::Go) => element.len as u64,
            (Unit::Bytes | Unit::Tokens, Decoding::Lossy) => element.decoded_bytes(),
            (Unit::Utf16, _) => element.units(),
            (Unit::Chars | Unit::Cells, _) => 1,
        }
    }
}
