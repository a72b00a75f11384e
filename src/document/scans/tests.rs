//! Scans find and count every byte and match once, whichever thread does it, and however the file grows.

use std::sync::Arc;

use crate::source::Source;
use crate::text::units::{measure, measure_all};

use super::*;

const ALL: UncountedBlocks = UncountedBlocks { lines: 0, totals: 0 };

/// Creates a file of this content. Its directory is removed with the temporary directory.
fn view(content: &[u8]) -> MapView {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("output");
    std::fs::write(&path, content).unwrap();
    Source::open(&path).unwrap().view()
}

/// Returns the reports of a count of lines and totals, in the order in which they came.
fn counted(view: &MapView) -> Vec<(BlockCounts, (Range<u64>, Measure))> {
    let all = Mutex::new(Vec::new());
    count(
        view,
        ALL,
        || true,
        |counts, measured| {
            all.lock().unwrap().push((counts, measured));
            ControlFlow::Continue(())
        },
    );
    all.into_inner().unwrap()
}

/// Returns where each chunk ends, and how many matches start in it.
fn chunks(view: &MapView, pattern: &str) -> Vec<(usize, u64)> {
    let all = Mutex::new(Vec::new());
    count_matches(
        view,
        &Pattern::new(pattern).unwrap(),
        0,
        || true,
        |end, count| {
            all.lock().unwrap().push((end, count));
            ControlFlow::Continue(())
        },
    );
    all.into_inner().unwrap()
}

/// Returns a search for the next match.
fn search_from(pattern: &Pattern, view: &MapView, from: usize, toward: Toward) -> Search {
    Search {
        pattern: pattern.clone(),
        view: view.clone(),
        skip: Arc::default(),
        from,
        toward,
        times: 1,
        within: None,
    }
}

fn find(search: &Search) -> Option<(Range<usize>, bool)> {
    search.find(&|| true)
}

#[test]
fn counts_lines_before_totals_and_measures_each_byte_once() {
    let content = "größer\n".repeat(3_000_000);
    let view = view(content.as_bytes());
    let mut index = BlockIndex::new(view.len() as u64);
    let (mut sum, mut seen) = (Measure::default(), 0);
    for (counts, (measured, measure)) in counted(&view) {
        let bytes = measured.end - measured.start;
        assert!(index.is_complete() || bytes == 0);
        index.insert(&counts);
        sum += measure;
        seen += bytes;
    }
    assert_eq!(index.line_feeds(), Some(3_000_000));
    assert_eq!((seen, sum.units), (content.len() as u64, 7 * 3_000_000));
}

#[test]
fn the_nearest_match_wins_whichever_thread_finds_it() {
    let mut content = vec![b'x'; 9 * search::CHUNK];
    for at in [2, 5, 6, 8] {
        content[at * search::CHUNK + 10] = b'N';
    }
    let view = view(&content);
    let pattern = Pattern::new("N").unwrap();
    let at = |chunk: usize| chunk * search::CHUNK + 10;
    let found = |from, toward| {
        let (found, round) = find(&search_from(&pattern, &view, from, toward)).unwrap();
        (found.start, round)
    };
    assert_eq!(found(0, Toward::End), (at(2), false));
    assert_eq!(found(at(5), Toward::Start), (at(2), false));
    assert_eq!(found(at(8) + 1, Toward::End), (at(2), true));
    assert_eq!(found(at(2), Toward::Start), (at(8), true));
}

#[test]
fn a_search_skips_ranges_and_finds_the_nth_match() {
    let line = "needle in the hay\n";
    let content = line.repeat(200_000);
    let view = view(content.as_bytes());
    let (first, last) = (1000 * line.len(), content.len() - 1000 * line.len());
    let kept = [0..first + 3, last + 3..content.len()];
    let found = |skip: &[Range<usize>], from, toward, times| {
        let pattern = Pattern::new("needle").unwrap();
        let skip = skip.into();
        let view = view.clone();
        let job = Search { pattern, view, skip, from, toward, times, within: None };
        find(&job).map(|(found, round)| (found.start, round))
    };
    // The match that begins in what is kept and ends in what is lost was not got.
    assert_eq!(found(&kept, 0, Toward::End, 1), Some((first, false)));
    assert_eq!(found(&kept, 0, Toward::End, 3), Some((first + 2 * line.len(), false)));
    assert_eq!(found(&kept, content.len(), Toward::Start, 1), Some((last, false)));
    assert_eq!(found(&kept, last + 6, Toward::End, 1), Some((first, true)));
    assert_eq!(found(std::slice::from_ref(&(0..content.len())), 0, Toward::End, 1), None);
    assert_eq!(found(&[], 1, Toward::End, 2), Some((2 * line.len(), false)));
    let kept = vec![2 * line.len()..content.len() - line.len(); 1];
    assert_eq!(found(&kept, 0, Toward::End, (3 << 40) + 2), Some((line.len(), true)));
}

#[test]
fn a_dense_chunk_ends_early_and_chunks_cover_everything() {
    let view = view(&b"aaaaaaaaa\n".repeat(100_000));
    let mut ends = vec![0];
    let mut total = 0;
    for (end, count) in chunks(&view, "a") {
        ends.push(end);
        total += count;
    }
    assert_eq!((ends[ends.len() - 1], total), (1_000_000, 900_000));
    assert!(ends.windows(2).all(|pair| pair[1] > pair[0] && pair[1] - pair[0] <= MIN_CHUNK));
}

#[test]
fn matches_across_chunks_of_a_long_line_are_counted_once() {
    let view = view(&b"aab".repeat(100_000));
    for (pattern, expected) in [("aab", 100_000), ("ba", 99_999), ("aaba", 50_000), ("b$", 1)] {
        let counted = chunks(&view, pattern).into_iter().map(|(_, count)| count);
        assert_eq!((pattern, counted.sum::<u64>()), (pattern, expected));
    }
}

#[test]
fn a_search_reads_each_byte_about_once_and_pages_whole() {
    let line = "0123456789 abcdefghi\n";
    let content = line.repeat(400_000) + "needle\n" + &line.repeat(1000);
    let view = view(content.as_bytes());
    let pattern = Pattern::new("needle").unwrap();
    for (from, toward) in [(0, Toward::End), (content.len(), Toward::Start), (4097, Toward::End)] {
        let before = view.reads().bytes;
        let job = search_from(&pattern, &view, from, toward);
        let Some((found, false)) = find(&job) else { panic!("nothing found") };
        assert_eq!(found, 400_000 * line.len()..400_000 * line.len() + 6);
        let read = (view.reads().bytes - before) as usize;
        // Each stretch may read three pages more.
        assert!(read <= content.len() + content.len() / 32, "{read} of {}", content.len());
    }
    assert!(!chunks(&view, "needle").is_empty());
    assert!(!counted(&view).is_empty());
    assert_eq!(view.reads().unaligned, 0);
}

#[test]
fn finds_a_match_far_into_a_line_that_crosses_a_stretch() {
    for feed in [search::CHUNK + 9_000, search::CHUNK + 60_000, 0] {
        let mut content = vec![b'x'; 3 * search::CHUNK];
        content[feed] = b'\n';
        let at = search::CHUNK + 8_000;
        content[at..at + 6].copy_from_slice(b"needle");
        let view = view(&content);
        for toward in [Toward::End, Toward::Start] {
            let from = if toward == Toward::End { 0 } else { content.len() };
            let pattern = Pattern::new("x{9}needle").unwrap();
            let view = view.clone();
            let skip = Arc::default();
            let job = Search { pattern, view, skip, from, toward, times: 1, within: None };
            let (found, _) = find(&job).unwrap();
            assert_eq!(found, at - 9..at + 6, "{feed}");
        }
    }
}

#[test]
fn a_hole_has_no_lines_and_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(64 << 30).unwrap();
    let view = Source::open(&path).unwrap().view();
    let want = TotalsMask::LINE_FEEDS.with(TotalsMask::DECODED_BYTES);
    let measured = source::count(&view, want);
    assert_eq!((measured.line_feeds, measured.decoded_bytes), (0, 64 << 30));
}

/// Counts what is not counted yet, in chunks of two blocks of four bytes, the last first.
fn count_chunks(tally: &mut CountedChunks, text: &[u8]) -> u64 {
    let len = text.len() as u64;
    let from = tally.begin(4, len);
    let starts: Vec<u64> = (from..len).step_by(8).collect();
    for start in starts.into_iter().rev() {
        let chunk = start..(start + 8).min(len);
        let bytes = chunk.start as usize..chunk.end as usize;
        tally.add(chunk, measure(text, bytes, TotalsMask::ALL));
    }
    from
}

#[test]
fn a_file_that_grows_is_counted_on_from_where_it_ended() {
    let text = "größer 漢字 \u{1F600}\r\n".repeat(9);
    let text = text.as_bytes();
    for cut in 0..text.len() {
        let mut tally = CountedChunks::default();
        count_chunks(&mut tally, &text[..cut]);
        assert_eq!(tally.totals(cut as u64), Totals::count(&text[..cut]));
        tally.grow(cut as u64);
        assert!(!tally.is_whole(text.len() as u64));
        let from = count_chunks(&mut tally, text);
        assert!(from + 20 > cut as u64, "{from} of {cut}");
        assert_eq!(
            tally.totals(text.len() as u64),
            Totals::from_measure(&measure_all(text, TotalsMask::ALL), TotalsMask::ALL)
        );
    }
}

#[test]
fn a_count_that_was_abandoned_goes_on_at_its_first_gap() {
    let mut tally = CountedChunks::default();
    assert_eq!(tally.begin(4, 40), 0);
    for start in [0, 8, 24] {
        tally.add(start..start + 8, Measure::zeros(8));
    }
    assert_eq!(tally.begin(4, 40), 16);
    for start in [16, 24, 32] {
        tally.add(start..start + 8, Measure::zeros(8));
    }
    assert_eq!(tally.totals(40).points, Some(40));
    assert_eq!(tally.begin(4, 40), 40, "nothing is counted twice");
}

#[test]
fn chunks_that_end_within_a_larger_block_are_counted_again() {
    let mut tally = CountedChunks::default();
    tally.begin(4, 40);
    tally.add(0..12, Measure::zeros(12));
    assert_eq!(tally.begin(8, 40), 0);
    assert_eq!(tally.totals(40), Totals::unknown());
}
