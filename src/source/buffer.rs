//! A page-aligned buffer into which a scan copies what it reads.

use std::ops::Range;

use crate::text::supply::{OwnBytes, Supply};

use super::MapView;
use super::map::copy_out;
use super::reads::PAGE;

/// A buffer into which a scan copies the file piece by piece; one per thread. If every byte is read once, this costs no
/// more than faulting in the map's pages, and the map stays free for drawing the screen.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    /// Copies a range of `view` (bytes, clamped to the view). Anything truncated reads as zeros. Whole pages are read,
    /// so a range that starts or ends within a page costs the rest of that page.
    pub fn read(&mut self, view: &MapView, range: Range<usize>) -> OwnBytes<'_> {
        let end = range.end.min(view.len());
        let start = range.start.min(end);
        let pages = start - start % PAGE..end.next_multiple_of(PAGE).min(view.len());
        let room = self.room(pages.len());
        copy_out(view, pages.start, &mut self.0[room.clone()]);
        OwnBytes::from(&self.0)
            .part(room.start + start - pages.start..room.start + end - pages.start)
            .at(start)
    }

    /// Makes room for `len` page-aligned bytes, and returns where they are.
    fn room(&mut self, len: usize) -> Range<usize> {
        if self.0.len() < len + PAGE {
            // Both would take memory at once.
            self.0 = Vec::new();
            self.0 = vec![0; len + PAGE];
        }
        let start = self.0.as_ptr().align_offset(PAGE);
        start..start + len
    }
}

/// A view that is searched: copied piece by piece.
#[derive(Debug)]
pub struct ViewSupply<'a> {
    view: &'a MapView,
    range: Range<usize>,
    buffer: Buffer,
}

impl ViewSupply<'_> {
    /// Returns the bytes of a range in the view, as if they were all.
    #[must_use]
    pub fn within(self, range: Range<usize>) -> Self {
        Self { range, ..self }
    }
}

impl<'a> From<&'a MapView> for ViewSupply<'a> {
    fn from(view: &'a MapView) -> Self {
        Self { view, range: 0..view.len(), buffer: Buffer::default() }
    }
}

impl Supply for ViewSupply<'_> {
    fn len(&self) -> usize {
        self.range.len()
    }

    fn read(&mut self, range: Range<usize>) -> OwnBytes<'_> {
        let start = self.range.start;
        self.buffer.read(self.view, start + range.start..start + range.end)
    }
}
