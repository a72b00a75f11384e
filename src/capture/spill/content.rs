//! The bytes of a captured output: in memory, in a file, or only its two ends.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::source::{self, MapView, Source};
use crate::text::units::{self, Measure, TotalsMask};

use super::ends::{HELD, HeadAndTail};

/// A whole output, as bytes to plan a preview from.
#[derive(Debug)]
pub enum Content {
    Held(Vec<u8>),
    File(MapView),
    /// Part of the output is gone: between the ends are holes, which read as NUL bytes and cost no memory. Length and
    /// offsets are the real ones, so that a preview of the ends is exact.
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

    /// Returns the byte ranges that are gone.
    pub fn holes(&self) -> &[Range<u64>] {
        match self {
            Content::Ends(_, holes) => holes,
            Content::Held(_) | Content::File(_) => &[],
        }
    }

    /// Returns the content of a file that has the whole output; `None` if the file cannot be opened.
    pub(crate) fn open(path: &Path, len: u64) -> Option<Content> {
        let view = Source::open_entry(path).ok()?.view();
        (view.len() as u64 == len).then_some(Content::File(view))
    }

    /// Returns the content whose first `kept` bytes are in the file, followed by `rest`.
    pub(crate) fn from_ends(file: Option<&File>, kept: u64, rest: &HeadAndTail) -> io::Result<Content> {
        let total = kept + rest.total();
        if total == 0 {
            return Ok(Content::Held(Vec::new()));
        }
        let len = usize::try_from(total).map_err(io::Error::other)?;
        let mut map = MmapOptions::new().len(len).no_reserve_swap().map_anon()?;
        let mut filled = file_stretches(kept, total);
        for stretch in &filled {
            let into = &mut map[stretch.start as usize..stretch.end as usize];
            file.map_or(Ok(()), |file| file.read_exact_at(into, stretch.start))?;
        }
        for (at, held) in rest.stretches() {
            let start = kept + at;
            map[start as usize..][..held.len()].copy_from_slice(held);
            filled.push(start..start + held.len() as u64);
        }
        Ok(Content::Ends(map.make_read_only()?, gaps(&filled, total)))
    }
}

/// Returns the ranges to read from the file: its beginning, and what part of it belongs to the end of the output.
fn file_stretches(kept: u64, total: u64) -> Vec<Range<u64>> {
    let head = 0..kept.min(HELD as u64);
    let tail = total.saturating_sub(HELD as u64).clamp(head.end, kept)..kept;
    vec![head, tail]
}

/// Returns the gaps between ordered ranges.
fn gaps(filled: &[Range<u64>], total: u64) -> Vec<Range<u64>> {
    let ends = std::iter::once(0).chain(filled.iter().map(|range| range.end));
    let starts = filled.iter().map(|range| range.start).chain([total]);
    ends.zip(starts).filter(|(end, start)| end < start).map(|(end, start)| end..start).collect()
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
    fn all_bytes_but_the_holes_are_there() {
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
    fn without_a_file_only_the_ends_are_left() {
        let mut ends = HeadAndTail::default();
        ends.push(b"all of it");
        let content = Content::from_ends(None, 0, &ends).unwrap();
        assert_eq!((content.bytes(), content.holes().len()), (&b"all of it"[..], 0));
    }
}
