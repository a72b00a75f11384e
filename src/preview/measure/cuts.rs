//! Finds where a size ends, from either end of a range.

use std::ops::Range;

use crate::preview::model::{Direction, Unit};
use crate::text::units::{self, Decoding};

use super::{Cut, STEP, Text, as_usize};

/// ASCII bytes decoded at a time.
const STRIDE: usize = 64;

impl Text<'_> {
    /// Takes an amount from one end of a range: the whole elements, and the bytes of a character that the cut halves.
    pub(crate) fn end(
        &self,
        within: Range<usize>,
        from: Direction,
        unit: Unit,
        amount: u64,
    ) -> (Range<usize>, Option<Range<usize>>) {
        match from {
            Direction::Head => {
                let cut = self.advance(within.start, within.end, unit, amount);
                (within.start..cut.at, cut.half)
            }
            Direction::Tail => {
                let cut = self.retreat(within.start, within.end, unit, amount);
                (cut.at..within.end, cut.half)
            }
        }
    }

    /// Takes as much of the joined ranges as fits, from one end.
    pub(crate) fn end_of_stretches(
        &self,
        stretches: &[Range<usize>],
        from: Direction,
        unit: Unit,
        amount: u64,
    ) -> Vec<Range<usize>> {
        let mut left = amount;
        let mut kept = Vec::new();
        for stretch in from.ordered(stretches.iter().collect()) {
            let (range, _) = self.end(stretch.clone(), from, unit, left);
            left -= self.size_of(range.clone(), unit);
            let is_whole = range == *stretch;
            kept.push(range);
            if !is_whole {
                break;
            }
        }
        from.ordered(kept)
    }

    /// Returns the cut after `amount` of a unit from `from`, at most `to`.
    pub(crate) fn advance(&self, from: usize, to: usize, unit: Unit, amount: u64) -> Cut {
        if unit == Unit::Cells {
            return Cut { at: self.cell(from, to, amount), half: None };
        }
        let mut at = from;
        let mut left = amount;
        let mut asked = from;
        while at < to && left > 0 {
            if at - asked >= STEP {
                if !self.is_wanted() {
                    return Cut { at: to, half: None };
                }
                asked = at;
            }
            let reach = STRIDE.min(as_usize(left)).min(to - at);
            if self.bytes[at..at + reach].is_ascii() {
                at += reach;
                left -= reach as u64;
                continue;
            }
            let next = self.decoded(units::element(&self.bytes[..to.min(self.read_end(at))], at));
            let cost = self.cost(next, unit);
            if cost > left {
                self.touch(from..at + next.len);
                return Cut { at, half: (unit == Unit::Utf16).then_some(at..at + next.len) };
            }
            left -= cost;
            at += next.len;
        }
        self.touch(from..at);
        Cut { at, half: None }
    }

    /// Returns the cut before the last `amount` of a unit up to `to`, at least `from`.
    pub(crate) fn retreat(&self, from: usize, to: usize, unit: Unit, amount: u64) -> Cut {
        if unit == Unit::Cells {
            let skipped = self.cells_of(from..to).saturating_sub(amount);
            return Cut { at: self.cell(from, to, skipped), half: None };
        }
        let mut at = to;
        let mut left = amount;
        let mut asked = to;
        while at > from && left > 0 {
            if asked - at >= STEP {
                if !self.is_wanted() {
                    return Cut { at: from, half: None };
                }
                asked = at;
            }
            let reach = STRIDE.min(as_usize(left)).min(at - from);
            if self.bytes[at - reach..at].is_ascii() {
                at -= reach;
                left -= reach as u64;
                continue;
            }
            let floor = from.max(self.read_start(at));
            let found = self.decoded(units::element_before(&self.bytes[..at], floor, at));
            let cost = self.cost(found, unit);
            if cost > left {
                self.touch(at - found.len..to);
                return Cut { at, half: (unit == Unit::Utf16).then_some(at - found.len..at) };
            }
            left -= cost;
            at -= found.len;
        }
        self.touch(at..to);
        Cut { at, half: None }
    }

    fn cost(&self, element: units::Element, unit: Unit) -> u64 {
        match (unit, self.decoding) {
            (Unit::Bytes | Unit::Tokens, Decoding::Go) => element.len as u64,
            (Unit::Bytes | Unit::Tokens, Decoding::Lossy) => element.decoded_bytes(),
            (Unit::Utf16, _) => element.units(),
            (Unit::Chars | Unit::Cells, _) => 1,
        }
    }

    /// Returns an element as it is decoded: in Go each bad byte alone.
    fn decoded(&self, found: units::Element) -> units::Element {
        let is_bad = self.decoding == Decoding::Go && !found.valid;
        if is_bad { units::Element { len: 1, valid: false } } else { found }
    }
}
