//! Searches texts piece by piece: an agent's text may have 40 MB, and what is mapped and touched counts as memory.

use memchr::{memchr, memrchr};

use crate::text::supply::Supply;

const PIECE: usize = 64 << 10;

/// Maximum length of what is found in pieces, in bytes.
pub(super) const MAX_FOUND: usize = 256;

/// Returns the first thing, of at most [`MAX_FOUND`] bytes, that `find` finds in some bytes at an offset, alone.
pub(super) fn first_in<T>(
    text: &mut impl Supply,
    mut find: impl FnMut(usize, &[u8]) -> Option<T>,
) -> Option<T> {
    let len = text.len();
    let mut starts = (0..len).step_by(PIECE);
    starts.find_map(|start| find(start, &text.read(start..(start + PIECE + MAX_FOUND).min(len))))
}

/// Returns how many bytes one text has in common with the start of another, from an offset on.
pub(super) fn common_start(text: &mut impl Supply, from: usize, other: &mut impl Supply) -> usize {
    let len = text.len().saturating_sub(from).min(other.len());
    let differs = (0..len).step_by(PIECE).find_map(|at| {
        let end = (at + PIECE).min(len);
        let (one, two) = (text.read(from + at..from + end), other.read(at..end));
        one.iter().zip(two.iter()).position(|(a, b)| a != b).map(|same| at + same)
    });
    differs.unwrap_or(len)
}

pub(super) fn common_end(text: &mut impl Supply, other: &mut impl Supply) -> usize {
    let (all, len) = ([text.len(), other.len()], text.len().min(other.len()));
    let differs = (0..len).step_by(PIECE).find_map(|at| {
        let end = (at + PIECE).min(len);
        let (one, two) = (text.read(all[0] - end..all[0] - at), other.read(all[1] - end..all[1] - at));
        let mut pairs = one.iter().rev().zip(two.iter().rev());
        pairs.position(|(a, b)| a != b).map(|same| at + same)
    });
    differs.unwrap_or(len)
}

/// Returns of each offset, in order, the line: its number, 1-based, and its first `most` bytes without the line end.
pub(super) fn lines_of(text: &mut impl Supply, offsets: &[usize], most: usize) -> Vec<(u64, Vec<u8>)> {
    let (mut start, mut number) = (0, 1);
    let line_of = |offset: &usize| {
        for at in (start..*offset).step_by(PIECE) {
            let piece = text.read(at..(at + PIECE).min(*offset));
            number += bytecount::count(&piece, b'\n') as u64;
            start = memrchr(b'\n', &piece).map_or(start, |feed| at + feed + 1);
        }
        (number, first_of_line(text, start, most))
    };
    offsets.iter().map(line_of).collect()
}

fn first_of_line(text: &mut impl Supply, start: usize, most: usize) -> Vec<u8> {
    let bytes = text.read(start..(start + most + "\r\n".len()).min(text.len()));
    let line = match memchr(b'\n', &bytes) {
        Some(feed) => bytes[..feed].strip_suffix(b"\r").unwrap_or(&bytes[..feed]),
        None => &bytes[..],
    };
    line[..line.len().min(most)].to_vec()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use memchr::memmem;
    use proptest::prelude::*;

    use crate::compare::line_around;
    use crate::text::supply::OwnBytes;

    use super::*;

    /// Bytes of which no more than a piece can be read at once.
    struct Pieces<'a>(&'a Vec<u8>);

    impl Supply for Pieces<'_> {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn read(&mut self, range: Range<usize>) -> OwnBytes<'_> {
            assert!(range.len() <= PIECE + MAX_FOUND, "{range:?}");
            OwnBytes::from(self.0).part(range)
        }
    }

    /// Texts of some pieces, of few different bytes, with something of interest near where pieces meet.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let near =
            (0..3_usize, 0..600_usize).prop_map(|(piece, by)| (piece * PIECE + by).saturating_sub(300));
        let words = prop::sample::select(vec!["needle", "needl", "\n", "\r\n", "y", "\r"]);
        (proptest::collection::vec((near, words), 0..12), 0..3 * PIECE).prop_map(|(words, len)| {
            let mut text = vec![b'x'; len];
            for (at, word) in words {
                let at = at.min(len);
                let end = (at + word.len()).min(len);
                text[at..end].copy_from_slice(&word.as_bytes()[..end - at]);
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_search_in_pieces_agrees_with_one_of_the_whole(text in texts(), other in texts(), from in 0..99_999_usize) {
            let found = first_in(&mut Pieces(&text), |at, piece| Some(at + memmem::find(piece, b"needle")?));
            prop_assert_eq!(found, memmem::find(&text, b"needle"));

            let same = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
            let rest = text.get(from..).unwrap_or_default();
            let start = common_start(&mut Pieces(&text), from, &mut Pieces(&other));
            prop_assert_eq!(start, same(&mut rest.iter().zip(&other)));
            let end = common_end(&mut Pieces(&text), &mut Pieces(&other));
            prop_assert_eq!(end, same(&mut text.iter().rev().zip(other.iter().rev())));
        }

        #[test]
        fn lines_found_in_pieces_agree_with_the_whole_text(text in texts(), mut at in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let mut at: Vec<usize> = at.drain(..).filter(|_| !text.is_empty()).map(|at| at.index(text.len())).collect();
            at.retain(|at| !b"\r\n".contains(&text[*at]));
            at.sort_unstable();
            let lines = lines_of(&mut Pieces(&text), &at, 400);
            let expected = at.iter().map(|at| {
                let line = line_around(&text, &(*at..at + 1));
                let number = 1 + bytecount::count(&text[..line.start], b'\n') as u64;
                (number, text[line.start..line.end.min(line.start + 400)].to_vec())
            });
            prop_assert_eq!(lines, expected.collect::<Vec<_>>());
        }
    }
}
