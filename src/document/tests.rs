//! Properties of documents: segments tile them, wherever lines, anchors and characters fall.

use proptest::prelude::*;

use crate::preview::{Catalog, Input, Output, Totals, plan};
use crate::text::index::BlockIndex;
use crate::text::layout::ANCHOR;

use super::reader::{Files, LineSegment, Reader};
use super::*;

/// Generates a piece of an output: text, line endings, invalid UTF-8, and lines about as long as an anchor.
fn stretch() -> impl Strategy<Value = Vec<u8>> {
    let long = (1..=2usize, -6..=6isize, prop_oneof![Just("x"), Just("é"), Just("日"), Just("😀")]);
    prop_oneof![
        6 => "[a-z ]{0,30}".prop_map(String::into_bytes),
        6 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        2 => "[é日😀]{1,9}".prop_map(String::into_bytes),
        2 => proptest::collection::vec(any::<u8>(), 1..9),
        4 => long.prop_map(|(times, off, text)| {
            let len = (times * ANCHOR).saturating_add_signed(off);
            text.repeat(len / text.len()).into_bytes()
        }),
    ]
}

/// Generates a whole output, of a few anchors at most.
pub(crate) fn output() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(stretch(), 0..9).prop_map(|all| all.concat())
}

/// Calls `look` with a reader of a document over the bytes `out`.
pub(crate) fn with_reader<T>(doc: &Doc, out: &[u8], look: impl FnOnce(Reader) -> T) -> T {
    look(Reader { doc, files: Files { out, err: b"", index: None }, cost: None })
}

/// Returns the preview of an output under these limits, as a document.
pub(crate) fn preview_of(out: &[u8], lines: u64, bytes: u64, tail: bool) -> Doc {
    let mut policy = Catalog::builtin().get("opencode/output").unwrap();
    policy.set_max_lines(lines).unwrap();
    policy.set_max_size(bytes).unwrap();
    if tail {
        policy.set_direction(crate::preview::Direction::Tail).unwrap();
    }
    let totals = Totals::count(out);
    let input = Input::new(Output { bytes: out, totals: &totals }, "/saved");
    Doc::preview(&plan(&input, &policy).unwrap(), &input)
}

fn segments(reader: &Reader) -> Vec<LineSegment> {
    let mut at = 0;
    let mut all = Vec::new();
    while at < reader.doc.len() {
        let segment = reader.segment(at);
        assert!(segment.next > at, "a segment of nothing at {at}");
        at = segment.next;
        all.push(segment);
    }
    all
}

/// Returns places in a segment where mistakes are likely.
fn places(segment: &LineSegment) -> impl Iterator<Item = u64> + use<> {
    let (start, next) = (segment.start, segment.next);
    let anchors = (start / ANCHOR as u64..=next / ANCHOR as u64).map(|n| n * ANCHOR as u64);
    let near = anchors.chain([start, segment.end, next, (start + next) / 2]);
    near.flat_map(|at| at.saturating_sub(5)..at + 5).filter(move |at| (start..next).contains(at))
}

fn check(reader: Reader) -> Result<(), TestCaseError> {
    let all = segments(&reader);
    let mut at = 0;
    let mut opens = true;
    for segment in &all {
        prop_assert_eq!((segment.start, segment.opens), (at, opens));
        prop_assert!(segment.end >= segment.start && segment.next - segment.end <= 1);
        prop_assert!(segment.next - segment.start <= 2 * ANCHOR as u64 + 1);
        prop_assert_eq!(reader.char_start(segment.start), segment.start, "a character is split");
        let text = reader.copy(segment.start..segment.end);
        prop_assert!(!text.contains(&b'\n'));
        let line_feed = reader.copy(segment.end..segment.next);
        prop_assert_eq!(segment.closes, line_feed == b"\n" || segment.next == reader.doc.len());
        for place in places(segment) {
            prop_assert_eq!(reader.segment_start(place), segment.start, "from {}", place);
        }
        (at, opens) = (segment.next, line_feed == b"\n");
    }
    prop_assert_eq!(at, reader.doc.len());
    Ok(())
}

/// Returns the ranges of the output that a document shows, in order; adjacent ranges are joined.
fn shown_ranges(doc: &Doc) -> Vec<Range<usize>> {
    let mut shown: Vec<Range<usize>> = Vec::new();
    for range in doc.chunks.iter().filter_map(Chunk::on_stdout) {
        match shown.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => shown.push(range.clone()),
        }
    }
    shown
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn segments_tile_a_file(out in output()) {
        with_reader(&Doc::file(out.len()), &out, check)?;
    }

    #[test]
    fn segments_tile_a_preview(
        out in output(), lines in 0u64..9, bytes in prop_oneof![0u64..80, 60_000u64..140_000], tail: bool,
    ) {
        with_reader(&preview_of(&out, lines, bytes, tail), &out, check)?;
    }

    #[test]
    fn lines_start_and_end_where_line_feeds_are(out in output(), at: prop::sample::Index) {
        prop_assume!(!out.is_empty());
        let at = at.index(out.len());
        let start = out[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
        let end = out[at..].iter().position(|byte| *byte == b'\n').map_or(out.len(), |found| at + found);
        let mut index = BlockIndex::new(out.len() as u64);
        index.insert(&BlockIndex::count(&out, index.block(), 0..index.blocks()));
        let doc = Doc::file(out.len());
        for index in [None, Some(&index)] {
            let reader = Reader { doc: &doc, files: Files { out: &out, err: b"", index }, cost: None };
            prop_assert_eq!((reader.line_start(at as u64), reader.line_end(at as u64)), (start as u64, end as u64));
        }
    }

    #[test]
    fn kept_ranges_are_found_from_either_side(out in output(), lines in 0u64..9, tail: bool) {
        let doc = preview_of(&out, lines, 100_000, tail);
        let shown = shown_ranges(&doc);
        for range in &shown {
            for offset in [range.start, range.start + range.len() / 2, range.end - 1] {
                let at = doc.from_file(offset);
                prop_assert_eq!((doc.class_at(at), doc.to_file(at)), (Class::Kept, offset));
                with_reader(&doc, &out, |reader| {
                    prop_assert_eq!(reader.copy(at..at + 1), &out[offset..offset + 1]);
                    Ok(())
                })?;
            }
        }
        for at in [0, doc.len() / 2, doc.len().saturating_sub(1)] {
            if !doc.is_empty() && doc.class_at(at) == Class::Kept {
                prop_assert_eq!(doc.from_file(doc.to_file(at)), at);
            }
        }
    }

    #[test]
    fn a_lost_offset_maps_to_the_notice(out in output(), lines in 1u64..9, tail: bool) {
        let doc = preview_of(&out, lines, 100_000, tail);
        let kept = shown_ranges(&doc);
        prop_assume!(doc.classes(0..doc.len()).any(|(_, class)| class == Class::Notice));
        for offset in [0, out.len() / 2, out.len().saturating_sub(1)] {
            if !kept.iter().any(|range| range.contains(&offset)) {
                let at = doc.from_file(offset);
                prop_assert!(at == doc.len() || doc.class_at(at) == Class::Notice, "{} is at {}", offset, at);
            }
        }
    }
}

#[test]
fn classes_splits_a_range_into_runs_of_one_class() {
    let doc = preview_of(b"aaa\nbbbb\nccccc\n", 2, 1000, false);
    let all: Vec<_> = doc.classes(0..doc.len()).collect();
    assert_eq!(all.iter().map(|run| run.1).collect::<Vec<_>>(), [Class::Kept, Class::Notice]);
    assert_eq!((all[0].0.clone(), all[1].0.start), (0..8, 8));
    assert_eq!(doc.classes(7..9).collect::<Vec<_>>(), [(7..8, Class::Kept), (8..9, Class::Notice)]);
}

#[test]
fn a_line_of_changed_text_is_that_of_its_bytes() {
    let lines = |text: &[u8], bytes: &[u8]| line_starts(text, bytes);
    assert_eq!(lines(b"ab\nc\n", b"[ab]\n[c]\n"), [[3, 5]]);
    assert_eq!(lines(b"ab\nc", b"[ab]\n[c]\n"), [[3, 5]], "without the line feed at the end");
    assert_eq!(lines(b"ab\nc", b"[ab]\n\n[c]\n"), [[0; 2]; 0], "not line by line");
    assert_eq!(lines(b"ab\n", b"[ab]\n[c]\n"), [[0; 2]; 0], "one line for all");
    let many = [b'\n'; MAX_LINES + 3];
    assert_eq!([1, 2].map(|more| lines(&many[more..], &many[more..]).len()), [0, MAX_LINES]);
}
