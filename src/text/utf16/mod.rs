//! UTF-16 in a file of bytes: whether a file is, its text with the place of each character, and patterns that match it.
//!
//! A line ends with the byte of a line feed, as in all other files: the other half of the line feed, where it comes second,
//! is the first byte of the next line.

mod decoded;
mod pattern;

pub use decoded::{LineText, Utf16Text};
pub(super) use pattern::encoded;

#[cfg(test)]
mod tests;

/// How much of a file is looked at to identify it, in bytes.
const LOOK: usize = 4096;

/// A file without a mark is not taken for UTF-16 below this many bytes.
const MIN_UNMARKED: usize = 16;

/// Which half of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// Returns the order of a file in UTF-16: one that begins with a byte-order mark, or of which every other byte of the
    /// start is NUL, and the others are ASCII text.
    pub fn detect(file: &[u8]) -> Option<Self> {
        let start = &file[..file.len().min(LOOK)];
        let [first, second, ..] = *start else { return None };
        match [first, second] {
            // The same bytes begin the mark of UTF-32.
            [0xff, 0xfe] => return (start.get(2..4) != Some(&[0, 0])).then_some(Self::Little),
            [0xfe, 0xff] => return Some(Self::Big),
            [0, 0] => return None,
            [_, 0] | [0, _] if start.len() >= MIN_UNMARKED => {}
            _ => return None,
        }
        let order = if first == 0 { Self::Big } else { Self::Little };
        let is_text = |byte: u8| matches!(byte, b'\t'..=b'\r' | 0x1b | b' '..=b'~');
        let is_ascii = |unit: &[u8; 2]| {
            let [high, low] = order.unit(*unit).to_be_bytes();
            high == 0 && is_text(low)
        };
        start.as_chunks().0.iter().all(is_ascii).then_some(order)
    }

    pub fn describe(self) -> &'static str {
        match self {
            Self::Little => "UTF-16, little-endian",
            Self::Big => "UTF-16, big-endian",
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }
}
