//! Properties of decoding and measuring.

use proptest::prelude::*;

use super::*;

/// Generates bytes that are often valid UTF-8, and often broken.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        Just(b'a'),
        Just(b'\n'),
        Just(b'\r'),
        Just(0xE2),
        Just(0x82),
        Just(0xAC),
        Just(0xF0),
        Just(0x9F),
        Just(0x98),
        Just(0x80),
        Just(0xED),
        Just(0xA0),
        Just(0xFF),
        Just(0xC3),
        Just(0xF4),
        Just(0xE0),
        any::<u8>()
    ];
    prop::collection::vec(byte, 0..40)
}

#[test]
fn the_worked_example_holds() {
    let bytes = b"ab\xffcd\xf0\x9f\x98\n";
    assert_eq!(Decoding::Lossy.decode(bytes), "ab\u{FFFD}cd\u{FFFD}\n");
    assert_eq!(Decoding::Go.decode(bytes), "ab\u{FFFD}cd\u{FFFD}\u{FFFD}\u{FFFD}\n");
}

#[test]
fn an_unfinished_character_is_found_at_the_end_alone() {
    assert_eq!(unfinished(b"ab\xf0\x9f\x98"), 2);
    assert_eq!(unfinished("ab\u{1F600}".as_bytes()), 6);
    assert_eq!(unfinished(b"ab\xf0\x41"), 4);
    assert_eq!(unfinished(b"\xe0\x80"), 2);
    assert_eq!(unfinished(b"a\xc3"), 1);
    assert_eq!(unfinished(b""), 0);
}

#[test]
fn a_window_that_is_not_ascii_is_measured_across_its_edge() {
    let text = format!("{}{}", "a".repeat(WINDOW - 1), "\u{1F600}é\n".repeat(9000));
    let all = measure_all(text.as_bytes(), TotalsMask::ALL);
    assert_eq!(all.decoded_bytes, text.len() as u64);
    assert_eq!(all.units, text.encode_utf16().count() as u64);
    assert_eq!(all.points, text.chars().count() as u64);
    assert_eq!(all.line_feeds, 9000);
}

proptest! {
    #[test]
    fn measures_agree_with_the_decoded_text(bytes in hostile()) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let all = measure_all(&bytes, TotalsMask::ALL);
        prop_assert_eq!(Decoding::Lossy.decode(&bytes), text.clone());
        prop_assert_eq!(all.decoded_bytes, text.len() as u64);
        prop_assert_eq!(all.units, text.encode_utf16().count() as u64);
        prop_assert_eq!(all.points, text.chars().count() as u64);
        prop_assert_eq!(all.line_feeds, text.matches('\n').count() as u64);
        prop_assert_eq!(all.lone_returns as usize, text.replace("\r\n", "\n").matches('\r').count());
        prop_assert_eq!(Decoding::Go.decode(&bytes).len() as u64, bytes.len() as u64 + 2 * all.bad_bytes);
    }

    #[test]
    fn measures_of_long_text_agree_with_its_decoding(start in hostile(), piece in hostile(), times in 1usize..20, gap in 0usize..200) {
        let mut bytes = start;
        for _ in 0..times {
            bytes.extend_from_slice(&piece);
            bytes.resize(bytes.len() + gap, b'x');
        }
        let text = String::from_utf8_lossy(&bytes);
        let all = measure_all(&bytes, TotalsMask::ALL);
        prop_assert_eq!(all.decoded_bytes, text.len() as u64);
        prop_assert_eq!(all.units, text.encode_utf16().count() as u64);
        prop_assert_eq!(all.points, text.chars().count() as u64);
        prop_assert_eq!(Decoding::Go.decode(&bytes).len() as u64, bytes.len() as u64 + 2 * all.bad_bytes);
    }

    #[test]
    fn any_partition_sums_to_the_whole(bytes in hostile(), cuts in prop::collection::vec(0usize..40, 0..6)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.push(0);
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let sum = cuts.windows(2).map(|pair| measure(&bytes, pair[0]..pair[1], TotalsMask::ALL))
            .fold(Measure::default(), Measure::add);
        prop_assert_eq!(sum, measure_all(&bytes, TotalsMask::ALL));
    }

    #[test]
    fn stepping_back_retraces_stepping_on(bytes in hostile()) {
        let mut bounds = vec![0];
        while bounds[bounds.len() - 1] < bytes.len() {
            let at = bounds[bounds.len() - 1];
            bounds.push(at + element(&bytes, at).len);
        }
        for pair in bounds.windows(2) {
            prop_assert_eq!(element_before(&bytes, 0, pair[1]), element(&bytes, pair[0]));
            for inside in pair[0]..pair[1] {
                prop_assert_eq!(element_start(&bytes, inside), pair[0]);
                prop_assert_eq!(element_end(&bytes, inside), if inside == pair[0] { inside } else { pair[1] });
            }
        }
    }
}
