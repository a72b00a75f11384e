//! Sizes in each unit, of a range and of the whole.

use std::ops::Range;

use crate::preview::model::{Decoding, Unit};
use crate::text::units::TotalsMask;

use super::Text;

impl Text<'_> {
    pub(crate) fn size_of(&self, range: Range<usize>, unit: Unit) -> u64 {
        match (unit, self.decoding) {
            (Unit::Bytes, Decoding::Go) => range.len() as u64,
            (Unit::Bytes, Decoding::Lossy) => self.measure(range, TotalsMask::DECODED_BYTES).decoded_bytes,
            (Unit::Tokens, _) => self.size_of(range, Unit::Bytes).div_ceil(4),
            (Unit::Utf16, _) => self.measure(range, TotalsMask::UNITS).units,
            (Unit::Chars, _) => self.measure(range, TotalsMask::POINTS).points,
            (Unit::Cells, _) => self.cells_of(range),
        }
    }

    pub(crate) fn decoded_bytes_of(&self, range: Range<usize>) -> u64 {
        match self.decoding {
            Decoding::Lossy => self.measure(range, TotalsMask::DECODED_BYTES).decoded_bytes,
            Decoding::Go => range.len() as u64 + 2 * self.measure(range, TotalsMask::BAD_BYTES).bad_bytes,
        }
    }

    pub(crate) fn want_of(&self, unit: Unit) -> TotalsMask {
        match (unit, self.decoding) {
            (Unit::Bytes | Unit::Tokens, Decoding::Go) => TotalsMask::NOTHING,
            (Unit::Bytes | Unit::Tokens, Decoding::Lossy) => TotalsMask::DECODED_BYTES,
            (Unit::Utf16, _) => TotalsMask::UNITS,
            (Unit::Chars, _) => TotalsMask::POINTS,
            (Unit::Cells, _) => TotalsMask::NOTHING,
        }
    }

    /// Returns the size of the whole, or the total needed for it.
    pub(crate) fn size(&self, unit: Unit) -> Result<u64, TotalsMask> {
        let known = match (unit, self.decoding) {
            (Unit::Bytes, Decoding::Go) => Some(self.len() as u64),
            (Unit::Bytes, Decoding::Lossy) => self.totals.decoded_bytes,
            (Unit::Tokens, _) => return self.size(Unit::Bytes).map(|bytes| bytes.div_ceil(4)),
            (Unit::Utf16, _) => self.totals.units,
            (Unit::Chars, _) => self.totals.points,
            (Unit::Cells, _) => return Ok(self.cells_of(self.body.clone())),
        };
        known.ok_or_else(|| self.want_of(unit))
    }

    /// Returns the UTF-8 bytes of the whole text, or the total needed for it.
    pub(crate) fn decoded_bytes(&self) -> Result<u64, TotalsMask> {
        match self.decoding {
            Decoding::Lossy => self.totals.decoded_bytes.ok_or(TotalsMask::DECODED_BYTES),
            Decoding::Go => {
                let bad = self.totals.bad_bytes.ok_or(TotalsMask::BAD_BYTES)?;
                Ok(self.len() as u64 + 2 * bad)
            }
        }
    }

    /// Whether the whole is larger than `max`. Reads no further than `max` can reach.
    pub(crate) fn exceeds(&self, unit: Unit, max: u64) -> bool {
        if unit == Unit::Tokens {
            return self.exceeds(Unit::Bytes, max.saturating_mul(4));
        }
        if unit == Unit::Cells {
            return self.exceeds_cells(max);
        }
        if let Ok(size) = self.size(unit) {
            return size > max;
        }
        if self.len() as u64 > most_bytes(unit, max) {
            return true;
        }
        self.size_of(self.body.clone(), unit) > max
    }
}

/// Returns the maximum number of raw bytes that a size may take.
pub(crate) fn most_bytes(unit: Unit, size: u64) -> u64 {
    match unit {
        Unit::Bytes => size,
        Unit::Utf16 => size.saturating_mul(3),
        Unit::Chars | Unit::Tokens => size.saturating_mul(4),
        // Escape sequences take no cells.
        Unit::Cells => u64::MAX,
    }
}
