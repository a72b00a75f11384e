//! A preview that was not made by a policy but recorded by the agent: its text, set beside the output it was cut from.

use std::ops::Range;

use super::align::{AlignedPiece, PieceOrigin, align};
use super::error::PlanError;
use super::input::{Input, Stream, Totals};
use super::model::{Counts, Decoding, Fragment, Part, Preview, Reply, Status, Unit};
use crate::text::units::TotalsMask;

/// What is needed of the output's totals to say how much of it the model got.
const WANTED: TotalsMask = TotalsMask::LINE_FEEDS;

/// Makes a preview of the text that an agent recorded. Its parts' texts, joined, are `text`; what of it stands in the
/// output are kept and changed parts, all else are notices. Lines are counted as `less` counts them, bytes are those of
/// the output.
///
/// # Errors
/// If `input` is no longer wanted.
pub(crate) fn recorded(text: &str, input: &Input) -> Result<Preview, PlanError> {
    let bytes = input.output.bytes;
    let pieces = align(text, bytes, &|| input.is_wanted()).ok_or(PlanError::Cancelled)?;
    let ranges = standing(&pieces);
    let kept: usize = ranges.iter().map(Range::len).sum();
    let total_lines = lines(input.output.totals, bytes);
    let kept_lines = ranges.iter().map(|range| touched(bytes, range)).sum::<u64>() - shared(bytes, &ranges);
    let counts = |lines, bytes| Counts { lines, bytes: Some(bytes as u64), units: Some(bytes as u64) };
    let waiting = if total_lines.is_some() { TotalsMask::NOTHING } else { WANTED };
    Ok(Preview {
        parts: pieces.into_iter().map(|piece| part(text, piece)).collect(),
        status: Status::Ok,
        truncated: kept < bytes.len(),
        truncated_by: None,
        reply: if kept < bytes.len() { Reply::Cut } else { Reply::Whole },
        unit: Unit::Bytes,
        total: counts(total_lines, bytes.len()),
        kept: counts(Some(kept_lines), kept),
        text_bytes: None,
        missing: TotalsMask::NOTHING,
        ranges_missing: TotalsMask::NOTHING,
        counts_missing: waiting,
        details: None,
    })
}

fn part(text: &str, piece: AlignedPiece) -> Part {
    let text = &text[piece.text];
    match piece.origin {
        PieceOrigin::Added => Part::Notice { text: text.to_owned() },
        PieceOrigin::Same(range) => Part::Kept { source: Stream::Stdout, range, decoding: Decoding::Lossy },
        PieceOrigin::Changed(range) => Part::Changed {
            source: Stream::Stdout,
            range,
            fragments: vec![Fragment::Text(text.to_owned())],
            decoding: Decoding::Lossy,
        },
    }
}

/// Returns the ranges of the output for which pieces stand, in order; adjacent ones are joined.
fn standing(pieces: &[AlignedPiece]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for piece in pieces {
        let (PieceOrigin::Same(range) | PieceOrigin::Changed(range)) = &piece.origin else { continue };
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range.clone()),
        }
    }
    ranges
}

/// Returns the number of lines as `less` counts them, if line feeds are counted.
fn lines(totals: &Totals, bytes: &[u8]) -> Option<u64> {
    Some(totals.line_feeds? + u64::from(bytes.last().is_some_and(|last| *last != b'\n')))
}

fn touched(bytes: &[u8], range: &Range<usize>) -> u64 {
    let Some(kept) = bytes.get(range.clone()).filter(|kept| !kept.is_empty()) else { return 0 };
    let inner = &kept[..kept.len() - 1];
    1 + bytecount::count(inner, b'\n') as u64
}

/// Returns how many times two ranges touch the same line, which then counts once.
fn shared(bytes: &[u8], ranges: &[Range<usize>]) -> u64 {
    let same = |pair: &&[Range<usize>]| {
        let from = pair[0].end.saturating_sub(1);
        bytes.get(from..pair[1].start).is_some_and(|gap| memchr::memchr(b'\n', gap).is_none())
    };
    ranges.windows(2).filter(same).count() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::preview::input::Output;

    fn made(text: &str, whole: &[u8]) -> (Preview, String) {
        let totals = Totals::count(whole);
        let input = Input::new(Output { bytes: whole, totals: &totals }, "/x");
        let preview = recorded(text, &input).unwrap();
        let joined = preview.text(&input);
        (preview, joined)
    }

    #[test]
    fn lines_count_once_though_a_cut_lies_within_them() {
        let line = "x".repeat(40) + "yyyyyyyyyy" + &"z".repeat(40);
        let text = format!("{}[10 cut]{}", "x".repeat(40), "z".repeat(40));
        let (preview, _) = made(&text, line.as_bytes());
        assert_eq!(
            (preview.kept.lines, preview.total.lines, preview.removed().lines),
            (Some(1), Some(1), Some(0))
        );
        assert_eq!((preview.kept.bytes, preview.removed().bytes), (Some(80), Some(10)));
        assert!(preview.truncated);
    }

    #[test]
    fn lines_that_were_cut_off_are_lost() {
        let (preview, _) =
            made("one one one\ntwo two two\n[cut]", b"one one one\ntwo two two\nthree\nfour\n");
        assert_eq!(
            (preview.kept.lines, preview.total.lines, preview.removed().lines),
            (Some(2), Some(4), Some(2))
        );
    }

    proptest! {
        #[test]
        fn the_parts_joined_are_what_was_recorded(
            whole in proptest::collection::vec(prop_oneof![
                Just(b"\x1b[31m".to_vec()), Just(b"\r\n".to_vec()), Just(b"a line of some text\n".to_vec()),
                Just(vec![0xff]), Just("\u{e9}\u{1F600}".as_bytes().to_vec()), any::<u8>().prop_map(|b| vec![b]),
            ], 0..30),
            cut in 0usize..200,
            notice in "[a-z\\[\\]\n\u{e9}]{0,12}",
        ) {
            let whole = whole.concat();
            let text = String::from_utf8_lossy(&whole).into_owned();
            let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let text = format!("{}{notice}{}", &text[..cut / 2 * usize::from(text.is_char_boundary(cut / 2))], &text[cut..]);
            let (preview, joined) = made(&text, &whole);
            prop_assert_eq!(joined, text);
            prop_assert!(preview.kept.bytes <= preview.total.bytes && preview.kept.lines <= preview.total.lines);
        }
    }
}
