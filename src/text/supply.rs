//! Where a search reads from: copies, because the bytes of a mapped file may change at any moment.

use std::ops::{Deref, Range};

/// Bytes in memory of our own, which nobody else changes. A regular expression reads the same bytes twice and panics if
/// they differ, so it is given nothing else: this is made of what owns its bytes, or by a [`Supply`], never of a slice,
/// which may be a map's.
///
/// ```
/// # use overspill::internals::text::search::Pattern;
/// let pattern = Pattern::new("b+").unwrap();
/// assert_eq!(pattern.in_lines(&vec![b'a', b'b']).next(), Some(1..2));
/// ```
///
/// ```compile_fail
/// # use overspill::internals::text::search::Pattern;
/// let pattern = Pattern::new("b+").unwrap();
/// assert_eq!(pattern.in_lines(&vec![b'a', b'b'][..]).next(), Some(1..2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnBytes<'a> {
    bytes: &'a [u8],
    /// The offset in the file; `None` without a file, or where the offset does not matter.
    offset: Option<usize>,
}

impl<'a> OwnBytes<'a> {
    /// Returns a range of the bytes, which must lie within them.
    pub fn part(self, range: Range<usize>) -> Self {
        let offset = self.offset.map(|offset| offset + range.start);
        Self { bytes: &self.bytes[range], offset }
    }

    /// Returns them as bytes from this offset of a file on.
    pub fn at(self, offset: usize) -> Self {
        Self { offset: Some(offset), ..self }
    }

    pub(crate) fn offset(self) -> Option<usize> {
        self.offset
    }

    pub fn as_slice(self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> From<&'a Vec<u8>> for OwnBytes<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self { bytes, offset: None }
    }
}

impl<'a> From<&'a str> for OwnBytes<'a> {
    fn from(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), offset: None }
    }
}

impl<'a, const LEN: usize> From<&'a [u8; LEN]> for OwnBytes<'a> {
    fn from(bytes: &'a [u8; LEN]) -> Self {
        Self { bytes, offset: None }
    }
}

impl Deref for OwnBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

/// What a search reads: an output, of which it gets copies.
pub trait Supply {
    fn len(&self) -> usize;

    /// Returns a range of the bytes, which must lie within them.
    fn read(&mut self, range: Range<usize>) -> OwnBytes<'_>;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Supply for Box<dyn Supply + '_> {
    fn len(&self) -> usize {
        (**self).len()
    }

    fn read(&mut self, range: Range<usize>) -> OwnBytes<'_> {
        (**self).read(range)
    }
}

impl Supply for OwnBytes<'_> {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn read(&mut self, range: Range<usize>) -> OwnBytes<'_> {
        self.part(range)
    }
}

/// Copies of bytes that others may change, into memory that is used again.
#[derive(Debug)]
pub struct CopySupply<'a> {
    bytes: &'a [u8],
    copy: Vec<u8>,
}

impl<'a> From<&'a [u8]> for CopySupply<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self { bytes, copy: Vec::new() }
    }
}

impl Supply for CopySupply<'_> {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn read(&mut self, range: Range<usize>) -> OwnBytes<'_> {
        self.copy.clear();
        self.copy.extend_from_slice(&self.bytes[range.clone()]);
        OwnBytes::from(&self.copy).at(range.start)
    }
}
