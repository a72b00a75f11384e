//! A preview of the text that an agent recorded.

use std::ops::Range;

use crate::text::align::{AlignedPiece, align};
use crate::text::units::{Decoding, TotalsMask};

use super::input::{Input, Stream};
use super::model::{Counts, Fragment, Part, PlanError, Preview, Reply, Status, Unit};

/// Makes a preview of the text that an agent recorded: what stands in the output are kept and changed parts, all else are
/// notices. Lines are counted as `less` counts them, bytes are those of the output. Fails if `input` is no longer wanted.
pub(crate) fn recorded(text: &str, input: &Input) -> Result<Preview, PlanError> {
    let bytes = input.output.bytes;
    let pieces = align(text, bytes, &|| input.is_wanted()).ok_or(PlanError::Cancelled)?;
    let ranges: Vec<Range<usize>> = pieces.iter().filter_map(|piece| piece.place.clone()).collect();
    let kept: usize = ranges.iter().map(Range::len).sum();
    // As `less` counts them.
    let open = u64::from(bytes.last().is_some_and(|last| *last != b'\n'));
    let total_lines = input.output.totals.line_feeds.map(|feeds| feeds + open);
    let kept_lines = touched(bytes, &ranges);
    let counts = |lines, bytes| Counts { lines, bytes: Some(bytes as u64), units: Some(bytes as u64) };
    let waiting = if total_lines.is_some() { TotalsMask::NOTHING } else { TotalsMask::LINE_FEEDS };
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
    let text = text[piece.text].to_owned();
    let (source, decoding) = (Stream::Stdout, Decoding::Lossy);
    match piece.place {
        None => Part::Notice { text },
        Some(range) if piece.is_same => Part::Kept { source, range, decoding },
        Some(range) => Part::Changed { source, range, fragments: vec![Fragment::Text(text)], decoding },
    }
}

/// Returns how many lines of the output ranges touch, which are in order.
fn touched(bytes: &[u8], ranges: &[Range<usize>]) -> u64 {
    let (mut lines, mut last) = (0, None);
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        let is_new =
            last.is_none_or(|last: usize| memchr::memchr(b'\n', &bytes[last..range.start]).is_some());
        last = Some(range.end - 1);
        lines += u64::from(is_new) + bytecount::count(&bytes[range.start..range.end - 1], b'\n') as u64;
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::preview::input::{Output, Totals};

    use super::*;

    fn made(text: &str, whole: &[u8]) -> (Preview, String) {
        let totals = Totals::count(whole);
        let input = Input::new(Output { bytes: whole, totals: &totals }, "/x");
        let preview = recorded(text, &input).unwrap();
        let joined = preview.text(&input);
        (preview, joined)
    }

    #[test]
    fn a_line_with_a_cut_inside_counts_once() {
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
        fn the_parts_join_to_the_recorded_text(
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
