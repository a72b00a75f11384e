//! Scans a whole view: copies it chunk by chunk into page-aligned buffers, with as many threads as help.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::lock;
use crate::text::supply::{OwnBytes, Supply};
use crate::text::units::{self, Measure, TotalsMask};

use super::map::{PAGE, copy_out, data_at};
use super::{MapView, is_hole};

/// Bytes that a thread takes at a time.
const CHUNK: usize = 8 << 20;

/// Bytes copied at a time: they stay in a core's cache. A block is a divisor or a multiple of this.
const PIECE: usize = 256 << 10;

/// Extra bytes copied before and after a piece when text is measured: as far as a character can reach.
const AROUND: usize = 4;

/// Maximum number of threads; more would share the memory bandwidth without adding to it.
const MAX_THREADS: usize = 4;

/// Calls `work` once with each number below `count`, in order, on threads with own `state`s, until one breaks off.
pub fn share_out<S>(
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> ControlFlow<()> + Sync,
) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count).min(MAX_THREADS);
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = state();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            if work(&mut state, number).is_break() {
                return next.store(count, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot be started, the others do its share.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
}

/// Counts the wanted totals of all bytes of `view`. A long hole in the file costs one call.
pub fn count(view: &MapView, want: TotalsMask) -> Measure {
    let (mut total, mut at) = (Measure::default(), 0);
    while at < view.len() {
        let data = data_before_hole(view, at);
        let start = (data.start - data.start % CHUNK).max(at);
        let end = data.end.max(start + 1).next_multiple_of(CHUNK).min(view.len());
        total += Measure::zeros((start - at) as u64);
        total += count_chunks(view, start..end, want);
        at = end;
    }
    total
}

/// Returns where the next bytes are that must be read, up to a hole that is worth leaving out.
fn data_before_hole(view: &MapView, at: usize) -> Range<usize> {
    let mut data = data_at(view, at);
    while data.end < view.len() {
        let next = data_at(view, data.end);
        if next.start - data.end >= CHUNK {
            break;
        }
        data.end = next.end.max(data.end + 1);
    }
    data
}

/// Counts the wanted totals of a range that begins with a chunk.
fn count_chunks(view: &MapView, range: Range<usize>, want: TotalsMask) -> Measure {
    let total = Mutex::new(Measure::default());
    share_out(range.len().div_ceil(CHUNK), Buffer::default, |buffer, number| {
        let start = range.start + number * CHUNK;
        let mine = measure(view, start..(start + CHUNK).min(range.end), want, buffer);
        *lock(&total) += mine;
        ControlFlow::Continue(())
    });
    total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub fn measure(view: &MapView, range: Range<usize>, want: TotalsMask, buffer: &mut Buffer) -> Measure {
    if is_hole(view, &range) {
        return Measure::zeros(range.len() as u64);
    }
    let mut sum = Measure::default();
    let around = if TotalsMask::LINE_FEEDS.contains(want) { 0 } else { AROUND };
    each_piece(view, range, around, buffer, |_, bytes, piece| sum += units::measure(bytes, piece, want));
    sum
}

/// Counts the line feeds in each block of `block` bytes of a range, which must begin at the start of a block.
pub fn line_feeds(view: &MapView, range: Range<usize>, block: usize, buffer: &mut Buffer) -> Vec<u32> {
    let mut counts = vec![0; range.len().div_ceil(block)];
    if is_hole(view, &range) {
        return counts;
    }
    each_piece(view, range.clone(), 0, buffer, |at, bytes, piece| {
        for (number, part) in bytes[piece].chunks(block.min(PIECE)).enumerate() {
            let found = bytecount::count(part, b'\n') as u32;
            counts[(at - range.start + number * block.min(PIECE)) / block] += found;
        }
    });
    counts
}

/// Passes on copies of a range in pieces, each with its offset and a little around it, ending at multiples of `PIECE`.
fn each_piece(
    view: &MapView,
    range: Range<usize>,
    around: usize,
    buffer: &mut Buffer,
    mut take: impl FnMut(usize, &[u8], Range<usize>),
) {
    let mut at = range.start;
    while at < range.end {
        let stop = (at + 1).next_multiple_of(PIECE).min(range.end);
        let from = at.saturating_sub(around);
        take(at, &buffer.read(view, from..stop + around), at - from..stop - from);
        at = stop;
    }
}

/// A scan's buffer, one per thread. A scan costs no more with it than in the map, which stays free for the screen.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    /// Copies a range of `view` (bytes, clamped to it); what was truncated reads as zeros. Whole pages are read.
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

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::source::*;

    /// Returns a view of a file with this content; its name is removed after the test.
    fn view_of(bytes: &[u8]) -> MapView {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output");
        fs::write(&path, bytes).unwrap();
        Source::open(&path).unwrap().view()
    }

    #[test]
    fn a_scan_reads_whole_pages_into_whole_pages() {
        let bytes = b"0123456789 gr\xc3\xb6\xc3\x9fer\n".repeat(1 << 20);
        let want = crate::text::units::TotalsMask::ALL;
        let (len, page) = (bytes.len(), map::PAGE);
        let view = view_of(&bytes);
        count(&view, want);
        assert_eq!(view.reads().unaligned, 0);
        // One more page before and after each piece of 64 pages.
        assert!(view.reads().bytes <= (len + len / 16) as u64, "{:?}", view.reads());
        for start in [0, 1, 4, page - 1, page + 3] {
            let mut buffer = Buffer::default();
            assert_eq!(buffer.read(&view, start..len - 7).as_slice(), &bytes[start..len - 7]);
            measure(&view, start..len - start, want, &mut buffer);
            line_feeds(&view, 64 << 10..len - start, 64 << 10, &mut buffer);
        }
        assert_eq!(view.reads().unaligned, 0);
    }

    #[test]
    fn counting_lines_reads_each_byte_once() {
        let bytes = b"0123456789abcdefghijk\n".repeat(1 << 20);
        let view = view_of(&bytes);
        let measured = count(&view, crate::text::units::TotalsMask::LINE_FEEDS);
        assert_eq!(measured.line_feeds, 1 << 20);
        assert_eq!(view.reads(), Reads { bytes: bytes.len() as u64, unaligned: 0, ..Reads::default() });
        line_feeds(&view, 0..bytes.len(), 64 << 10, &mut Buffer::default());
        assert_eq!(view.reads(), Reads { bytes: 2 * bytes.len() as u64, unaligned: 0, ..Reads::default() });
    }

    #[test]
    fn a_scan_reads_zeros_past_the_end_of_a_truncated_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [b'x'; 100_000]).unwrap();
        let view = Source::open(file.path()).unwrap().view();
        for cut in [50_000, 8192, 8191, 5, 0] {
            file.as_file().set_len(cut).unwrap();
            let mut expected = vec![b'x'; 100_000];
            expected[cut as usize..].fill(0);
            assert_eq!(Buffer::default().read(&view, 0..100_000).as_slice(), expected);
            assert_eq!(view.reads().unaligned, 0);
        }
    }

    /// Without a file system that has holes there is nothing to see.
    #[test]
    fn a_hole_costs_the_same_however_long_it_is() {
        use std::os::unix::fs::FileExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output");
        let file = std::fs::File::create(&path).unwrap();
        let len: u64 = 8 << 40;
        file.set_len(len).unwrap();
        for (at, text) in [(0, "one\ntwo"), (len / 2 - 3, "\u{20ac}\n\u{20ac}"), (len - 4, "end\n")] {
            file.write_all_at(text.as_bytes(), at).unwrap();
        }
        let view = Source::open(&path).unwrap().view();
        let total = count(&view, crate::text::units::TotalsMask::ALL);
        assert_eq!((total.line_feeds, total.decoded_bytes, total.points), (3, len, len - 4));
        assert!(view.reads().seeks < 40 && view.reads().bytes < 64 << 20, "{:?}", view.reads());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
        #[test]
        fn a_scan_of_the_file_equals_one_of_its_bytes(piece in "[a-zé😀\r\n]{1,40}", len in 1usize..900_000, start in 0usize..9, block in 0u32..5) {
            let bytes: Vec<u8> = piece.bytes().cycle().take(len).collect();
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("output");
            std::fs::write(&path, &bytes).unwrap();
            let view = Source::open(&path).unwrap().view();
            let want = crate::text::units::TotalsMask::ALL;
            let range = start.min(len)..len;
            proptest::prop_assert_eq!(measure(&view, range.clone(), want, &mut Buffer::default()), crate::text::units::measure(&bytes, range, want));
            let block = (64 << 10) << block;
            let counts = crate::text::index::BlockIndex::count(&bytes, block, 0..len.div_ceil(block)).counts;
            proptest::prop_assert_eq!(line_feeds(&view, 0..len, block, &mut Buffer::default()), counts);
        }
    }
}
