//! Tests what scans read of a file, and that they find what is in it.

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
fn a_scan_past_a_cut_reads_zeros_there_and_pages_before() {
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
