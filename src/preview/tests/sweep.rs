//! What is looked up for many settings agrees with plans.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::laws::hostile;
use super::*;
use crate::preview::sweep::{Marks, Sweep, SweptPreview};

/// The policies for which nothing is planned once their notices are known.
const LOOKED_UP: [&str; 10] = [
    "basic/line-limit",
    "basic/recommended",
    "kilo/output",
    "kilo/shell",
    "opencode/output",
    "opencode/shell",
    "pi-30k/bash",
    "pi/bash",
    "t15/output",
    "t15/recipe",
];

/// Settings of a policy with these limits and this length of a read, in both directions if that is a parameter.
fn settings(name: &str, chunk: &str, lines: &[u64], sizes: &[u64]) -> Vec<Policy> {
    let mut all = Vec::new();
    for direction in [Direction::Head, Direction::Tail] {
        for lines in lines {
            for size in sizes {
                let mut policy = Catalog::builtin().get(name).unwrap();
                let _ = policy.set_max_lines(*lines);
                let _ = policy.set_max_size(*size);
                let _ = policy.set_direction(direction);
                let _ = policy.set("chunk", chunk);
                all.push(policy);
            }
        }
    }
    all
}

/// Checks that every preview is as planned; returns how many plans were needed.
fn check(sweep: &mut Sweep, settings: &[Policy], bytes: &[u8], path: &str) -> Result<(), TestCaseError> {
    let marks = Marks::new(bytes);
    let totals = Totals::count(bytes);
    let input = Input::new(Output { bytes, totals: &totals }, path);
    let mut found = Vec::new();
    sweep.each(bytes, &marks, path, |number, swept| found.push((number, swept))).unwrap();
    prop_assert_eq!(found.len(), settings.len());
    for (number, swept) in found {
        let SweptPreview::Lines { bytes: len, truncated, range } = swept else { continue };
        let policy = &settings[number];
        let expected = plan(&input, policy).unwrap();
        let limits = (policy.name(), policy.max_lines(), policy.max_size(), policy.direction());
        let kept: Vec<_> = expected.parts.iter().filter_map(Part::range).map(|(_, range)| range).collect();
        let ours = if range.is_empty() { Vec::new() } else { vec![range] };
        prop_assert_eq!(&kept, &ours, "{:?}: {:?}", limits, bytes);
        prop_assert_eq!(expected.truncated, truncated, "{:?}: {:?}", limits, bytes);
        prop_assert_eq!(expected.byte_len(&input), len, "{:?}: {:?}", limits, expected.text(&input));
    }
    Ok(())
}

#[test]
fn policies_that_keep_whole_lines_are_looked_up() {
    let catalog = Catalog::builtin();
    let mut looked_up: Vec<&str> =
        catalog.names().filter(|name| Sweep::new(&[catalog.get(name).unwrap()]).deciders.is_some()).collect();
    looked_up.sort_unstable();
    assert_eq!(looked_up, LOOKED_UP);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(16), ..ProptestConfig::with_cases(6) })]

    #[test]
    fn hostile_outputs_are_as_planned(
        outputs in prop::collection::vec((hostile(60), "/[a-z]{0,30}"), 1..4),
        lines in prop::collection::vec(1u64..12, 2),
        sizes in prop::collection::vec(1u64..90, 3),
    ) {
        for name in LOOKED_UP {
            let settings = settings(name, "7", &lines, &sizes);
            let mut sweep = Sweep::new(&settings);
            for (bytes, path) in &outputs {
                check(&mut sweep, &settings, bytes, path)?;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(17), ..ProptestConfig::with_cases(4) })]

    #[test]
    fn outputs_of_many_blocks_are_as_planned(
        piece in prop::sample::select(&["a line\n", "é漢\u{1F600} x\n", "", "\n\n"][..]),
        middle in hostile(400),
        times in 1usize..1200,
        lines in 1u64..900,
        size in 1u64..12_000,
    ) {
        let bytes = [piece.repeat(times).into_bytes(), middle, piece.repeat(times).into_bytes()].concat();
        for name in LOOKED_UP {
            let settings = settings(name, "999", &[lines, 2000], &[size, 5_000]);
            check(&mut Sweep::new(&settings), &settings, &bytes, "/tmp/out")?;
        }
    }
}

#[test]
fn plans_do_not_grow_with_outputs() {
    for name in LOOKED_UP {
        let settings = settings(name, "999", &[10, 100, 1000], &[1000, 5000]);
        let mut sweep = Sweep::new(&settings);
        let mut planned = Vec::new();
        for _ in 0..2 {
            for number in 0..8 {
                let bytes = format!("line {number} of an output\n").repeat(2_000 + number);
                let marks = Marks::new(bytes.as_bytes());
                let mut others = 0;
                let count = |_, swept| others += usize::from(!matches!(swept, SweptPreview::Lines { .. }));
                sweep.each(bytes.as_bytes(), &marks, "/tmp/out", count).unwrap();
                assert_eq!(others, 0, "{name}");
            }
            planned.push(sweep.plans);
        }
        assert_eq!(planned[0], planned[1], "{name}");
        assert!(planned[0] <= 8 * 12, "{name}: {planned:?}");
    }
}
