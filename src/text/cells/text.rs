//! The text of one cell: up to 32 bytes of UTF-8, stored inline.

use std::fmt;

/// A short text without allocation; the text of one cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellText {
    bytes: [u8; CellText::MAX],
    len: u8,
}

impl CellText {
    /// In bytes.
    pub const MAX: usize = 32;

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len()]).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub(super) fn ascii(byte: u8) -> Self {
        let mut text = Self::default();
        text.push_byte(byte);
        text
    }

    pub(crate) fn spaces(count: u8) -> Self {
        Self { bytes: [b' '; Self::MAX], len: count.min(Self::MAX as u8) }
    }

    /// Returns as much of `text` as fits.
    pub(crate) fn from_short(text: &str) -> Self {
        let mut short = Self::default();
        for c in text.chars() {
            if !short.push(c) {
                break;
            }
        }
        short
    }

    /// Formats a C0 control or DEL: `^M`.
    pub(super) fn caret(control: u8) -> Self {
        let mut text = Self::ascii(b'^');
        text.push_byte(control ^ 0x40);
        text
    }

    /// Formats a byte or code point with at least two digits: `<9B>`, `<202E>`.
    pub(super) fn hex(value: u32) -> Self {
        Self::named("<", value, 2)
    }

    /// Formats a character that the terminal's character set lacks: `<U+00E9>`.
    pub(super) fn point(c: char) -> Self {
        Self::named("<U+", c.into(), 4)
    }

    /// Formats a value with at least so many digits.
    fn named(start: &str, value: u32, least: u32) -> Self {
        let mut text = Self::from_short(start);
        let digits = (u32::BITS - value.leading_zeros()).div_ceil(4).max(least);
        for digit in (0..digits).rev() {
            let nibble = (value >> (4 * digit)) & 0xf;
            text.push_byte(b"0123456789ABCDEF"[nibble as usize]);
        }
        text.push_byte(b'>');
        text
    }

    /// Appends `c` if it fits; returns whether it did.
    pub(super) fn push(&mut self, c: char) -> bool {
        let end = self.len() + c.len_utf8();
        let fits = end <= Self::MAX;
        if fits {
            c.encode_utf8(&mut self.bytes[usize::from(self.len)..]);
            self.len = end as u8;
        }
        fits
    }

    pub(super) fn pop(&mut self) {
        if let Some(last) = self.as_str().chars().next_back() {
            self.len -= last.len_utf8() as u8;
        }
    }

    fn push_byte(&mut self, ascii: u8) {
        debug_assert!(ascii.is_ascii_graphic() || ascii == b' ');
        self.bytes[self.len()] = ascii;
        self.len += 1;
    }
}

impl Default for CellText {
    fn default() -> Self {
        Self { bytes: [0; Self::MAX], len: 0 }
    }
}

impl From<char> for CellText {
    fn from(c: char) -> Self {
        let mut text = Self::default();
        text.push(c);
        text
    }
}

impl fmt::Display for CellText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for CellText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
