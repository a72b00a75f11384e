//! Figures that agree: kept, lost and cut mean the same under every policy.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::laws::{any_value, hostile};
use super::*;

/// Outputs that policies cut in different ways, each with its limits as they are.
fn outputs() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("empty", Vec::new()),
        ("feed", b"\n".to_vec()),
        ("feeds", b"\n\n\n".to_vec()),
        ("short", b"one\ntwo\n".to_vec()),
        ("open", b"one\ntwo".to_vec()),
        ("space", b"  \n one \n\n".to_vec()),
        ("one line", "word ".repeat(60_000).into_bytes()),
        ("open line", "x".repeat(2_500).into_bytes()),
        ("wide line", "\u{1F600}\u{fc}\u{6f22}".repeat(20_000).into_bytes()),
        ("lines", "a line of some length\n".repeat(20_000).into_bytes()),
        ("one line more", "a\n".repeat(2_001).into_bytes()),
        ("long lines", format!("{}\n", "y".repeat(30_000)).repeat(4).into_bytes()),
        ("broken", b"a\xffb\xf0\x9f\r\n\x1b[31mred\x1b[m\rc\n".to_vec()),
        ("colours", b"\x1b[31mred\x1b[m line\n".repeat(6_000)),
        ("mark", b"\xef\xbb\xbfone\n".to_vec()),
        ("errors", "ok\nerror: no\nfine\n".repeat(3_000).into_bytes()),
    ]
}

/// Returns what disagrees in a preview.
fn faults(p: &Preview) -> Vec<&'static str> {
    let all = |figures: [Option<u64>; 3]| figures.map(|figure| figure.expect("all totals are known"));
    let [lines, kept_lines, lost_lines] = all([p.total.lines, p.kept.lines, p.removed().lines]);
    let [bytes, kept_bytes, lost_bytes] = all([p.total.bytes, p.kept.bytes, p.removed().bytes]);
    let [units, kept_units, _] = all([p.total.units, p.kept.units, Some(0)]);
    let laws = [
        (kept_lines <= lines && kept_bytes <= bytes && kept_units <= units, "more is kept than there is"),
        (p.truncated == (lost_bytes > 0), "cut is not the same as lost"),
        (p.truncated || lost_lines == 0, "lines are lost of what is not cut"),
        (p.truncated == p.truncated_by.is_some(), "a limit without a cut, or a cut without a limit"),
    ];
    laws.into_iter().filter(|(holds, _)| !holds).map(|(_, words)| words).collect()
}

/// Returns the text of the output in a preview: without notices, line numbers, and the agent's way to write it.
fn own(p: &Preview, input: &Input) -> String {
    let text = |part: &Part| match part {
        Part::Kept { .. } => part.text(input),
        Part::Changed { fragments, source, decoding, .. }
            if fragments.iter().any(|fragment| !matches!(fragment, Fragment::Text(_))) =>
        {
            let bytes = input.stream(*source).bytes;
            fragments
                .iter()
                .filter_map(|fragment| match fragment {
                    Fragment::Bytes(range) => Some(decoding.decode(&bytes[range.clone()])),
                    _ => None,
                })
                .collect()
        }
        // Written as a string of JSON.
        Part::Changed { .. } => {
            serde_json::from_str(&format!("\"{}\"", part.text(input))).unwrap_or_default()
        }
        Part::Notice { .. } | Part::Counting => String::new(),
    };
    p.parts.iter().map(text).collect()
}

/// Returns the ASCII letters of a text, which no agent takes from an uncut output or breaks by reading.
fn letters(text: &str) -> String {
    let escapes = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    escapes.replace_all(text, "").chars().filter(|character| character.is_ascii_alphabetic()).collect()
}

/// Returns how many lines the parts hold any text of, and how many they touch, if only with a line feed.
fn lines_held(p: &Preview, bytes: &[u8]) -> [u64; 2] {
    let is_escapes = |part: &&Part| {
        let all = |parts: &[Fragment]| parts.iter().all(|part| matches!(part, Fragment::Escapes(_)));
        matches!(part, Part::Changed { fragments, .. } if all(fragments))
    };
    let of_text = p.parts.iter().filter(|part| !is_escapes(part));
    let mut ranges: Vec<_> = of_text.filter_map(|part| Some(part.range()?.1)).collect();
    ranges.sort_by_key(|range| range.start);
    let (mut held, mut start) = ([0; 2], 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len();
        let has = |to: usize| {
            let near =
                ranges.iter().skip_while(|range| range.end <= start).take_while(|range| range.start < to);
            u64::from(near.clone().any(|range| !range.is_empty()))
        };
        held = [held[0] + has(end - usize::from(line.ends_with(b"\n"))), held[1] + has(end)];
        ranges.drain(..ranges.iter().take_while(|range| range.end <= end).count());
        start = end;
    }
    held
}

fn check(name: &str, what: &str, policy: &Policy, bytes: &[u8], totals: &Totals) -> Vec<String> {
    let stdout = Output { bytes, totals };
    let input = Input { exit_code: Some(0), ..Input::new(stdout, "/P") };
    let p = match plan(&input, policy) {
        Ok(preview) => preview,
        Err(PlanError::Agent { .. }) => return Vec::new(),
        Err(error) => panic!("{name}: {what}: {error}"),
    };
    let mut faults = faults(&p);
    let (shown, whole) = (letters(&own(&p, &input)), letters(&String::from_utf8_lossy(bytes)));
    if !p.truncated && shown != whole {
        faults.push("not cut, and yet text is missing");
    }
    let [least, most] = lines_held(&p, bytes);
    // Others end lines at a return, too.
    if p.truncated
        && !bytes.contains(&b'\r')
        && !(least..=most + 1).contains(&p.kept.lines.unwrap_or_default())
    {
        faults.push("the lines that are kept are not those that are there");
    }
    if p.truncated && p.text(&input).as_bytes() == bytes {
        faults.push("cut, and yet all of it is there");
    }
    faults
        .into_iter()
        .map(|fault| {
            let lines = format!("lines {:?} of {:?}", p.kept.lines, p.total.lines);
            format!(
                "{name}: {what}: {fault}: {lines}, bytes {:?} of {:?} {:?}",
                p.kept.bytes,
                p.total.bytes,
                p.parts.iter().take(4).collect::<Vec<_>>()
            )
        })
        .collect()
}

#[test]
fn figures_agree_under_every_policy() {
    let outputs: Vec<_> =
        outputs().into_iter().map(|(what, bytes)| (what, Totals::count(&bytes), bytes)).collect();
    let catalog = Catalog::builtin();
    let faults = catalog.names().flat_map(|name| {
        let policy = policy(name, &[]);
        let check =
            move |(what, totals, bytes): &(&str, Totals, Vec<u8>)| check(name, what, &policy, bytes, totals);
        outputs.iter().flat_map(check).collect::<Vec<_>>()
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A record may name a number that a policy does not take, or did not mean.
#[cfg(feature = "app")]
#[test]
fn an_output_can_be_planned_with_any_recorded_number() {
    let outputs: Vec<_> = outputs()
        .into_iter()
        .map(|(_, bytes)| (Totals::count(&bytes), bytes))
        .filter(|(_, bytes)| bytes.len() < 5_000)
        .collect();
    let catalog = Catalog::builtin();
    for name in catalog.names() {
        let policy = catalog.get(name).unwrap();
        let integers = policy.params().iter().filter(|param| matches!(param.kind, ParamKind::Integer { .. }));
        for (param, value) in integers.flat_map(|param| [0, 1, 7, 150, u64::MAX].map(|value| (param, value)))
        {
            let mut policy = policy.clone();
            policy.set_recorded(&param.name, &value.to_string()).unwrap();
            for (totals, bytes) in &outputs {
                let input = Input { exit_code: Some(1), ..Input::new(Output { bytes, totals }, "/P") };
                let _ = plan(&input, &policy).map(|preview| preview.text(&input));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(14), ..ProptestConfig::with_cases(12) })]

    #[test]
    fn figures_agree_whatever_the_parameters(
        bytes in hostile(60),
        seeds in prop::collection::vec(any::<u64>(), 16),
    ) {
        let (catalog, totals) = (Catalog::builtin(), Totals::count(&bytes));
        for name in catalog.names() {
            let mut policy = catalog.get(name).unwrap();
            for (param, seed) in policy.params().to_vec().iter().zip(seeds.iter().cycle()) {
                let _ = policy.set(&param.name, &any_value(&param.kind, *seed));
            }
            let faults = check(name, "hostile", &policy, &bytes, &totals);
            prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
        }
    }
}
