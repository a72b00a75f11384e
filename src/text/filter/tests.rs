//! Properties of filters: counts by block are those of a plain loop over the lines.

use proptest::prelude::*;

use super::index::{BlockLines, FilterIndex, LineCount, LineScan};
use super::*;

/// Returns the lines of a file, each with its line feed.
fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut at = 0;
    let line = |line: &[u8]| {
        at += line.len();
        at - line.len()..at
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

fn is_met(conditions: &[Condition], line: &[u8]) -> bool {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    conditions.iter().all(|condition| {
        let regex = regex::bytes::Regex::new(&format!("(?i){}", condition.pattern().text())).unwrap();
        condition.admits(regex.is_match(text))
    })
}

fn is_got(got: &[Range<usize>], line: &Range<usize>, bytes: &[u8]) -> bool {
    let has = |at: usize| got.iter().any(|part| part.contains(&at));
    let text = line.start..line.end - usize::from(bytes[line.end - 1] == b'\n');
    if text.is_empty() { has(line.start) } else { text.into_iter().all(has) }
}

fn naive(conditions: &[Condition], got: &[Range<usize>], bytes: &[u8]) -> LineCount {
    let met: Vec<_> =
        lines(bytes).into_iter().filter(|line| is_met(conditions, &bytes[line.clone()])).collect();
    let lost = met.iter().filter(|line| !is_got(got, line, bytes)).count() as u64;
    LineCount { got: met.len() as u64 - lost, lost }
}

/// Counts what is pending.
fn fill(index: &mut FilterIndex, conditions: &[Condition], got: &[Range<usize>], bytes: &Vec<u8>) {
    for blocks in index.pending().to_vec() {
        let scan = LineScan { conditions, got: KeptRanges(got), block: index.block() };
        let counted = scan.count(&mut OwnBytes::from(bytes), blocks.clone(), &mut || true).unwrap();
        index.insert(blocks.start, &counted);
    }
}

pub(crate) fn file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => "[abe ]{0,9}".prop_map(String::into_bytes),
        8 => Just(b"\n".to_vec()),
        1 => (0usize..9000).prop_map(|len| vec![b'x'; len]),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

pub(crate) fn conditions() -> impl Strategy<Value = Vec<Condition>> {
    let typed = prop_oneof![
        Just("a"),
        Just("!a"),
        Just("be"),
        Just("!^$"),
        Just("^$"),
        Just("x{9}$"),
        Just("!x.*e"),
        Just("b*"),
        Just("!e$"),
        Just("^a"),
        Just("a.*e")
    ];
    let condition = typed.prop_map(|text| Condition::new(text, None).unwrap());
    proptest::collection::vec(condition, 0..3)
}

/// What the model got of a file: sorted, disjoint and not adjacent.
pub(crate) fn got(len: usize, ends: &[prop::sample::Index]) -> Vec<Range<usize>> {
    let mut ends: Vec<usize> = ends.iter().map(|end| end.index(len + 1)).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn filter_counts_agree_with_a_naive_loop(
        bytes in file(), more in file(), conditions in conditions(), block in 1usize..40,
        ends in any::<[[prop::sample::Index; 6]; 2]>(),
    ) {
        let [first, second] = ends.map(|ends| got(bytes.len(), &ends));
        let mut index = FilterIndex::with_block(bytes.len(), block);
        fill(&mut index, &conditions, &first, &bytes);
        prop_assert_eq!(index.total(), naive(&conditions, &first, &bytes));
        index.touch(&difference(&first, &second));
        fill(&mut index, &conditions, &second, &bytes);
        prop_assert_eq!(index.total(), naive(&conditions, &second, &bytes));
        let bytes = [bytes, more].concat();
        index.grow(bytes.len());
        fill(&mut index, &conditions, &second, &bytes);
        prop_assert_eq!(index.total(), naive(&conditions, &second, &bytes));
    }
}

#[test]
fn a_match_deep_inside_a_long_line_counts() {
    for at in [5000, (512 << 10) - 3, (512 << 10) + 4090, 1_300_000] {
        let mut bytes = vec![b'x'; 1_500_000];
        bytes[at..at + 6].copy_from_slice(b"needle");
        let bytes = [b"one\n", &bytes[..], b"\nneedle\n"].concat();
        let count = |text: &str| {
            let mut index = FilterIndex::new(bytes.len());
            fill(&mut index, &[Condition::new(text, None).unwrap()], &[], &bytes);
            index.total().lost
        };
        let counts = ["needle", "!needle", "x$", "^x", "e$", "n.edlex", "^$"].map(count);
        assert_eq!(counts, [2, 1, 1, 1, 2, 1, 0], "{at}");
    }
}

#[test]
fn lines_counted_twice_count_once() {
    let mut index = FilterIndex::with_block(10, 5);
    let lines = BlockLines { got: 2, lost: 1, last: index::LastLine::Got };
    index.insert(0, &[lines]);
    index.insert(0, &[lines]);
    assert_eq!(index.total(), LineCount { got: 2, lost: 1 });
    assert!(matches!(index.pending(), [pending] if *pending == (1..2)));
    assert_eq!(index.next(0, LineScope::Lost), Some(0));
    assert_eq!(index.next(1, LineScope::All), None);
}

#[test]
fn shares_are_whole_some_or_none() {
    let kept = [0..10, 20..30];
    let of = |stretch| KeptRanges(&kept).share(&stretch);
    assert_eq!(
        [of(0..10), of(5..12), of(10..20), of(25..26), of(30..40)],
        [Share::Whole, Share::Some, Share::None, Share::Whole, Share::None]
    );
}

#[test]
fn a_line_is_kept_if_one_range_holds_all_of_it() {
    let kept = [0..10, 20..30];
    for (line, expected) in [
        (0..10, true),
        (3..5, true),
        (9..11, false),
        (10..10, false),
        (20..20, true),
        (30..30, false),
        (19..21, false),
        (20..30, true),
        (12..12, false),
    ] {
        assert_eq!(KeptRanges(&kept).covers(&line), expected, "{line:?}");
    }
    assert!(!KeptRanges(&[]).covers(&(0..0)));
}
