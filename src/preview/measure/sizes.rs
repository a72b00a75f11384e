//! Sizes in each unit, and where a size ends, from either end. Escape sequences and control characters take no cells.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::preview::model::{Direction, Unit};
use crate::text::ansi;
use crate::text::units::{self, Decoding, TotalsMask};

use super::{Cut, STEP, Text, as_usize};

/// ASCII bytes decoded at a time.
const STRIDE: usize = 64;

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

    /// Returns the size of the whole, or the total needed for it.
    pub(crate) fn size(&self, unit: Unit) -> Result<u64, TotalsMask> {
        match (unit, self.decoding) {
            (Unit::Bytes, Decoding::Go) => Ok(self.len() as u64),
            (Unit::Bytes, Decoding::Lossy) => self.totals.decoded_bytes.ok_or(TotalsMask::DECODED_BYTES),
            (Unit::Tokens, _) => self.size(Unit::Bytes).map(|bytes| bytes.div_ceil(4)),
            (Unit::Utf16, _) => self.totals.units.ok_or(TotalsMask::UNITS),
            (Unit::Chars, _) => self.totals.points.ok_or(TotalsMask::POINTS),
            (Unit::Cells, _) => Ok(self.cells_of(self.body.clone())),
        }
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
            return self.cells.get().unwrap_or_else(|| self.cells_up_to(self.body.clone(), max)) > max;
        }
        if let Ok(size) = self.size(unit) {
            return size > max;
        }
        if self.len() as u64 > most_bytes(unit, max) {
            return true;
        }
        self.size_of(self.body.clone(), unit) > max
    }

    /// Takes an amount from one end of a range.
    pub(crate) fn end(&self, within: Range<usize>, from: Direction, unit: Unit, amount: u64) -> Cut {
        if unit == Unit::Cells {
            let Range { start, end } = within;
            let range = match from {
                Direction::Head => start..self.cell(start, end, amount),
                Direction::Tail => self.cell(start, end, self.cells_of(within).saturating_sub(amount))..end,
            };
            return Cut { range, half: None };
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
            let near = &self.bytes[from.split(&rest, STEP.min(as_usize(left)).min(rest.len())).0];
            let is_ascii = |stride: &&[u8]| stride.is_ascii();
            let plain: usize = match from {
                Direction::Head => near.chunks(STRIDE).take_while(is_ascii).map(<[u8]>::len).sum(),
                Direction::Tail => near.rchunks(STRIDE).take_while(is_ascii).map(<[u8]>::len).sum(),
            };
            if plain > 0 {
                left -= plain as u64;
                rest = from.split(&rest, plain).1;
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

    fn cost(&self, element: units::Element, unit: Unit) -> u64 {
        match (unit, self.decoding) {
            (Unit::Bytes | Unit::Tokens, Decoding::Go) => element.len as u64,
            (Unit::Bytes | Unit::Tokens, Decoding::Lossy) => element.decoded_bytes(),
            (Unit::Utf16, _) => element.units(),
            (Unit::Chars | Unit::Cells, _) => 1,
        }
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

/// Bytes of non-ASCII text that are split into graphemes at a time.
const WINDOW: usize = 1024;

/// Bytes of the first look for the end of a run, and how many times longer each next one is, up to the window.
const FIRST_LOOK: usize = 16;
const LOOKS_GROW: usize = 8;

impl Text<'_> {
    fn cells_of(&self, range: Range<usize>) -> u64 {
        let whole = if range == self.body { self.cells.get() } else { None };
        whole.unwrap_or_else(|| self.cells_up_to(range, u64::MAX))
    }

    /// Counts the cells of a range until they exceed `max`; those of the whole are remembered.
    fn cells_up_to(&self, range: Range<usize>, max: u64) -> u64 {
        let mut sum = 0;
        self.walk(range.clone(), |_, cells| {
            sum += cells;
            sum <= max
        });
        if range == self.body && sum <= max {
            self.cells.set(Some(sum));
        }
        sum
    }

    /// Returns where the first character begins that exceeds this many cells.
    fn cell(&self, from: usize, to: usize, cells: u64) -> usize {
        let (mut sum, mut found) = (0, to);
        self.walk(from..to, |at, more| {
            sum += more;
            if sum > cells {
                found = at;
            }
            sum <= cells
        });
        found
    }

    /// Passes on the place and the cells of each item in a range while `see` returns true and the plan is wanted.
    fn walk(&self, range: Range<usize>, mut see: impl FnMut(usize, u64) -> bool) {
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
                if !see(at, 1) {
                    break;
                }
                at += 1;
                continue;
            }
            for (len, cells) in items(rest) {
                if !see(at, cells) {
                    self.touch(range.start..at);
                    return;
                }
                at += len;
            }
        }
        self.touch(range.start..at);
    }
}

/// Whether an ASCII character stands alone: nothing follows that may join it.
fn is_plain(rest: &[u8]) -> bool {
    matches!(rest[0], b' '..=b'~') && rest.get(1).is_none_or(u8::is_ascii)
}

/// Returns the length and the cells of what begins here: a single item, or as many graphemes as a window holds.
fn items(rest: &[u8]) -> Vec<(usize, u64)> {
    if let Some(found) = ansi::sequence(rest) {
        return vec![(found.len, 0)];
    }
    if rest[0] < b' ' || rest[0] == 0x7f { vec![(1, 0)] } else { characters(rest) }
}

/// Returns graphemes up to the next control character; the last of a full window is left for the next.
fn characters(rest: &[u8]) -> Vec<(usize, u64)> {
    let (valid, is_full) = run(rest);
    if valid.is_empty() {
        return vec![(1, 1)];
    }
    let item = |cluster: &str| (cluster.len(), cluster.width() as u64);
    let mut found: Vec<_> = valid.graphemes(true).map(item).collect();
    if is_full && found.len() > 1 {
        found.pop();
    }
    found
}

/// Returns the valid text up to the next control character, by looks that get longer, and whether it fills a window.
fn run(rest: &[u8]) -> (&str, bool) {
    let mut size = FIRST_LOOK;
    loop {
        let window = &rest[..rest.len().min(size)];
        let end = window.iter().position(|byte| *byte < b' ' || *byte == 0x7f).unwrap_or(window.len());
        let valid = window[..end].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        // The end of the window may cut a character of up to 4 bytes.
        let goes_on = valid.len() + 4 > window.len() && window.len() < rest.len();
        if !goes_on || size >= WINDOW {
            return (valid, end == WINDOW);
        }
        size *= LOOKS_GROW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_where_a_scan_of_the_whole_window_ends() {
        let at_once = |rest: &[u8]| {
            let window = &rest[..rest.len().min(WINDOW)];
            let end = window.iter().position(u8::is_ascii_control).unwrap_or(window.len());
            window[..end].utf8_chunks().next().map_or(0, |chunk| chunk.valid().len())
        };
        for character in ["\u{fc}", "\u{6f22}", "\u{1F600}", "e\u{301}"] {
            for count in (0..140).chain(250..260).chain(330..350).chain(500..520) {
                for end in [b"\n".as_slice(), b"\xff", b"\xf0\x9f", b"\x1b[m", b"", b"\xffmore \n"] {
                    let bytes =
                        [character.repeat(count).as_bytes(), end, "\u{fc}".repeat(9).as_bytes()].concat();
                    assert_eq!(run(&bytes).0.len(), at_once(&bytes), "{count} times {character:?}, {end:?}");
                }
            }
        }
    }
}
