//! Page-aligned room into which a scan copies what it looks at, and what its reads of the file were.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::MapView;
use super::map::copy_out;
use super::reads::{PAGE, ReadCounts, fill};

/// Room into which a scan copies what it looks at, piece by piece; one for each thread. Where every byte is looked at
/// once, that costs no more than faulting in the map's pages, and the map stays free for whoever draws the screen.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    /// A copy of a range of `view` (bytes, clamped to the view). What has been cut off the file reads as zeros.
    /// Whole pages are read, so a range that starts or ends within one costs the rest of that page.
    pub fn read(&mut self, view: &MapView, range: Range<usize>) -> &[u8] {
        let end = range.end.min(view.len());
        let start = range.start.min(end);
        let pages = start - start % PAGE..end.next_multiple_of(PAGE).min(view.len());
        let room = self.room(pages.len());
        copy_out(view, pages.start, room);
        &room[start - pages.start..end - pages.start]
    }

    /// A copy of so many bytes of a file from `start` on, a multiple of the 4 KiB of a page; fewer at its end.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_file(&mut self, file: &File, start: u64, len: usize) -> io::Result<&[u8]> {
        let room = self.room(len);
        match fill(file, start, room, &ReadCounts::default()) {
            (count, Ok(())) => Ok(&room[..count]),
            (_, Err(error)) => Err(error),
        }
    }

    /// So many bytes that begin where a page does.
    fn room(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len + PAGE {
            self.0 = vec![0; len + PAGE];
        }
        let start = self.0.as_ptr().align_offset(PAGE);
        &mut self.0[start..start + len]
    }
}
