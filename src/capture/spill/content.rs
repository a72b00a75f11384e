//! The bytes of a captured output: in memory, in a file, or only its two ends.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use memmap2::{Mmap, MmapOptions};

use crate::source::{self, MapView};
use crate::text::filter::gaps;
use crate::text::units::{self, Measure, TotalsMask};

/// Bytes held of the beginning, and as many of the end: more than any agent's limits keep.
const HELD: usize = 2 << 20;

/// A whole output, as bytes to plan a preview from.
#[derive(Debug)]
pub enum Content {
    Held(Vec<u8>),
    File(MapView),
    /// Part of the output is gone: holes, which read as NUL bytes, keep length and offsets real.
    Ends(Mmap, Vec<Range<u64>>),
}

impl Content {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Content::Held(bytes) => bytes,
            Content::File(view) => view,
            Content::Ends(map, _) => map,
        }
    }

    /// Counts the whole output; `None` if part of it is gone.
    pub(crate) fn count(&self, want: TotalsMask) -> Option<Measure> {
        match self {
            Content::Held(bytes) => Some(units::measure_all(bytes, want)),
            Content::File(view) => Some(source::count(view, want)),
            Content::Ends(..) => None,
        }
    }

    pub fn holes(&self) -> &[Range<u64>] {
        if let Content::Ends(_, holes) = self { holes } else { &[] }
    }

    /// Returns the content whose first `kept` bytes are in the file, followed by `rest`.
    pub(crate) fn from_ends(file: Option<&File>, kept: u64, rest: &HeadAndTail) -> io::Result<Content> {
        let total = kept + rest.total;
        if total == 0 {
            return Ok(Content::Held(Vec::new()));
        }
        let len = usize::try_from(total).map_err(io::Error::other)?;
        let mut map = MmapOptions::new().len(len).no_reserve_swap().map_anon()?;
        // The file's part of the output's beginning, and its part of the end.
        let head = 0..kept.min(HELD as u64);
        let tail = total.saturating_sub(HELD as u64).clamp(head.end, kept)..kept;
        let mut filled = vec![head, tail];
        for stretch in &filled {
            let into = &mut map[stretch.start as usize..stretch.end as usize];
            file.map_or(Ok(()), |file| file.read_exact_at(into, stretch.start))?;
        }
        for (at, held) in rest.stretches() {
            let start = kept + at;
            map[start as usize..][..held.len()].copy_from_slice(held);
            filled.push(start..start + held.len() as u64);
        }
        Ok(Content::Ends(map.make_read_only()?, gaps(0..total, filled)))
    }
}

#[derive(Debug, Default)]
pub(crate) struct HeadAndTail {
    head: Vec<u8>,
    /// A ring buffer once full: the oldest byte is at `oldest`.
    tail: Vec<u8>,
    oldest: usize,
    pub total: u64,
}

impl HeadAndTail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(HELD - self.head.len()));
        self.head.extend_from_slice(first);
        self.push_tail(&rest[rest.len().saturating_sub(HELD)..]);
    }

    /// Returns the held stretches in order, each with its offset in bytes from the first push.
    pub(crate) fn stretches(&self) -> [(u64, &[u8]); 3] {
        let (newer, older) = self.tail.split_at(self.oldest);
        let start = self.total - self.tail.len() as u64;
        [(0, &self.head), (start, older), (start + older.len() as u64, newer)]
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let (growing, around) = bytes.split_at(bytes.len().min(HELD - self.tail.len()));
        self.tail.extend_from_slice(growing);
        let (first, second) = around.split_at(around.len().min(HELD - self.oldest));
        self.tail[self.oldest..self.oldest + first.len()].copy_from_slice(first);
        self.tail[..second.len()].copy_from_slice(second);
        if !around.is_empty() {
            self.oldest = (self.oldest + around.len()) % HELD;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn content(kept: usize, rest: usize) -> (Vec<u8>, Content) {
        let block: Vec<u8> = (1..=251).collect();
        let output: Vec<u8> = block.iter().copied().cycle().take(kept + rest).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&output[..kept]).unwrap();
        let mut ends = HeadAndTail::default();
        ends.push(&output[kept..]);
        let content = Content::from_ends(Some(&file), kept as u64, &ends).unwrap();
        (output, content)
    }

    #[test]
    fn content_holds_all_bytes_outside_the_holes() {
        let some = HELD / 3;
        for (kept, rest) in
            [(0, some), (some, 0), (some, some), (0, 3 * HELD), (3 * HELD, 1), (HELD + 1, 3 * HELD)]
        {
            let (output, content) = content(kept, rest);
            let bytes = content.bytes();
            assert_eq!(bytes.len(), output.len());
            let mut at = 0;
            for hole in content.holes().iter().chain([&(output.len() as u64..output.len() as u64)]) {
                assert!(bytes[at..hole.start as usize] == output[at..hole.start as usize], "{kept} {rest}");
                at = hole.end as usize;
            }
            let ends = HELD.min(output.len());
            assert!(at == output.len() && bytes[..ends] == output[..ends]);
            assert!(bytes[output.len() - ends..] == output[output.len() - ends..]);
        }
    }

    #[test]
    fn holes_are_the_bytes_that_were_not_kept() {
        assert!(content(HELD, HELD).1.holes().is_empty());
        let (_, content) = content(3 * HELD, 3 * HELD);
        let held = HELD as u64;
        assert_eq!(content.holes(), [held..3 * held, 4 * held..5 * held]);
    }

    #[test]
    fn content_without_a_file_comes_from_the_held_ends() {
        let mut ends = HeadAndTail::default();
        ends.push(b"all of it");
        let content = Content::from_ends(None, 0, &ends).unwrap();
        assert_eq!((content.bytes(), content.holes().len()), (&b"all of it"[..], 0));
    }

    fn assembled(ends: &HeadAndTail) -> Vec<u8> {
        let mut bytes = vec![0; ends.total as usize];
        for (at, held) in ends.stretches() {
            bytes[at as usize..][..held.len()].copy_from_slice(held);
        }
        bytes
    }

    fn numbered(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn both_ends_together_hold_a_small_output_whole() {
        for len in [0, 1, HELD, HELD + 1, 2 * HELD] {
            let (bytes, mut ends) = (numbered(len), HeadAndTail::default());
            bytes.chunks(100_003).for_each(|chunk| ends.push(chunk));
            assert!(assembled(&ends) == bytes, "{len}");
        }
    }

    #[test]
    fn only_the_ends_of_a_large_output_are_held() {
        for chunk in [65_536, 100_003, HELD - 1, HELD, 3 * HELD + 7] {
            let (bytes, mut ends) = (numbered(5 * HELD + 12_345), HeadAndTail::default());
            bytes.chunks(chunk).for_each(|chunk| ends.push(chunk));
            let held = assembled(&ends);
            let tail = ends.stretches()[1].0 as usize;
            assert_eq!(bytes.len() - tail, HELD);
            assert!(held[..HELD] == bytes[..HELD] && held[tail..] == bytes[tail..], "{chunk}");
            assert!(held[HELD..tail].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn memory_is_bounded() {
        let (block, mut ends) = (vec![1; 1 << 20], HeadAndTail::default());
        (0..64).for_each(|_| ends.push(&block));
        assert!(ends.head.capacity() <= 2 * HELD && ends.tail.capacity() <= 2 * HELD);
        assert_eq!(ends.head.len() + ends.tail.len(), 2 * HELD);
    }
}
