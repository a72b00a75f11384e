//! Properties that hold for every policy.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// Generates outputs with all kinds of line ends, wide characters and bad bytes.
pub(super) fn hostile(most: usize) -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 18] = [
        b"a",
        b"b",
        b"c",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xf0\x9f",
        "é".as_bytes(),
        "漢".as_bytes(),
        "\u{1F600}".as_bytes(),
        b"error ",
        b"\x1b[31m",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
    ];
    let piece = prop::sample::select(&PIECES[..]);
    prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

/// Checks that the kept parts of one source are ordered, disjoint and in range.
fn assert_ordered(preview: &Preview, len: usize) {
    let mut last = 0;
    for part in &preview.parts {
        if let Part::Kept { range, .. } = part {
            assert!(
                range.start < range.end && last <= range.start && range.end <= len,
                "{:?}",
                preview.parts
            );
            last = range.end;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn kept_parts_are_in_order_and_lengths_agree(bytes in hostile(60), lines in 0u64..8, size in 0u64..40) {
        let catalog = Catalog::builtin();
        for name in catalog.names() {
            let mut policy = catalog.get(name).unwrap();
            let _ = policy.set_max_lines(lines);
            let _ = policy.set_max_size(size);
            let totals = Totals::count(&bytes);
            let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/P");
            let preview = match plan(&input, &policy) {
                Ok(preview) => preview,
                Err(PlanError::Agent { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            assert_ordered(&preview, bytes.len());
            prop_assert_eq!(preview.byte_len(&input), preview.text(&input).len() as u64);
            prop_assert!(preview.missing.is_empty() && preview.counts_missing.is_empty());
        }
    }
}

#[test]
fn every_built_in_policy_parses_under_its_own_name() {
    let catalog = Catalog::builtin();
    for name in catalog.names() {
        let policy = catalog.get(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(policy.name(), name);
        assert!(!policy.source().is_empty() && !policy.summary().is_empty());
    }
}

/// Found by fuzzing: `go-opencode/read` numbered the line after the largest possible number.
#[test]
fn the_largest_offset_does_not_overflow() {
    let catalog = Catalog::builtin();
    for (name, bytes) in catalog.names().flat_map(|name| [(name, &b""[..]), (name, b"a\nb")]) {
        let mut policy = catalog.get(name).unwrap();
        let Some(key) = policy.key(ParamRole::Offset).map(str::to_owned) else { continue };
        let _ = policy.set(&key, &u64::MAX.to_string());
        let totals = Totals::count(bytes);
        let _ = plan(&Input::new(Output { bytes, totals: &totals }, "/P"), &policy);
    }
}

/// Reads of the largest size hold any output, in however many figures that is.
#[test]
fn the_largest_chunk_does_not_overflow() {
    for (name, chunk) in [("kilo/shell", u64::MAX), ("pi/bash", u64::MAX), ("pi/bash", 1 << 63)] {
        let mut policy = Catalog::builtin().get(name).unwrap();
        policy.set("chunk", &chunk.to_string()).unwrap();
        for max in ["0", "1", "51200"] {
            policy.set("max_bytes", max).unwrap();
            for bytes in [&b""[..], b"a\n", b"abc\ndef\xc3", b"\xfa\0\xf2\xf2\xf2\xf2\xf2\x92\xf2\x92"] {
                let totals = Totals::count(bytes);
                plan(&Input::new(Output { bytes, totals: &totals }, "/P"), &policy).unwrap();
            }
        }
    }
}

/// Text that looks like the place of kept text in a notice stays text.
#[test]
fn nul_bytes_in_a_parameter_do_not_stand_for_kept_text() {
    let mut policy = Catalog::builtin().get("kilo/shell").unwrap();
    policy.set("timeout_ms", "5").unwrap();
    policy.set("tag", "\u{0}0\u{0}\u{f0000}0\u{f0000}").unwrap();
    let totals = Totals::count(b"abc");
    let input = Input::new(Output { bytes: b"abc", totals: &totals }, "/P");
    let preview = plan(&input, &policy).unwrap();
    let kept = preview.parts.iter().filter(|part| matches!(part, Part::Kept { .. })).count();
    let text = preview.text(&input);
    assert_eq!((kept, text.matches("<\u{0}0\u{0}\u{f0000}0\u{f0000}_metadata>").count()), (1, 1), "{text:?}");
}

/// Returns a random value for a parameter: one that has an effect, or one that is absurdly large.
pub(super) fn any_value(kind: &ParamKind, seed: u64) -> String {
    match kind {
        ParamKind::Integer { .. } => {
            [0, 1, 2, 3, 7, 10, 39, 64, 1000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX][seed as usize % 12]
                .to_string()
        }
        ParamKind::Boolean => seed.is_multiple_of(2).to_string(),
        ParamKind::Choice(words) => words[seed as usize % words.len()].clone(),
        ParamKind::Text => {
            ["", "a", "{{ x }}", "\u{1b}[31m\n", "é\u{202e}\u{0}0\u{0}"][seed as usize % 5].to_owned()
        }
        ParamKind::Decimal => ["", "0", "0.5", "1", "999999999999999"][seed as usize % 5].to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(11), ..ProptestConfig::with_cases(48) })]

    #[test]
    fn any_bytes_and_any_parameters_make_a_preview_within_the_output(
        bytes in prop_oneof![hostile(60), prop::collection::vec(any::<u8>(), 0..200)],
        seeds in prop::collection::vec(any::<u64>(), 16),
        is_counted in any::<bool>(),
    ) {
        let catalog = Catalog::builtin();
        for name in catalog.names() {
            let mut policy = catalog.get(name).unwrap();
            for (param, seed) in policy.params().to_vec().iter().zip(seeds.iter().cycle()) {
                // A value out of the parameter's range is refused, which is fine.
                let _ = policy.set(&param.name, &any_value(&param.kind, *seed));
            }
            let totals = if is_counted { Totals::count(&bytes) } else { Totals::unknown() };
            let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/P");
            match plan(&input, &policy) {
                Ok(preview) => {
                    prop_assert_eq!(preview.byte_len(&input), preview.text(&input).len() as u64, "{}", name);
                    let inside = |part: &Part| part.range().is_none_or(|(_, range)| range.end <= bytes.len());
                    prop_assert!(preview.parts.iter().all(inside), "{name}: {:?}", preview.parts);
                }
                Err(PlanError::Agent { .. }) => {}
                Err(error) => prop_assert!(false, "{name}: {error}"),
            }
        }
    }
}
