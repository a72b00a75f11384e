//! Compares every policy with a naive second implementation written from the documents.
use crate::naive::engine::{self, Answer};
use crate::naive::inputs::{Scale, Spec, tuned_case};
use crate::naive::{Case, Fault, case, edges, rules, samples, specs};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Returns the difference in the machine-readable details, where the documents specify them.
fn details_difference(case: &Case) -> Option<String> {
    let (expected, got) = (case.naive_details()?, engine::details(case)?);
    (expected != got).then(|| {
        let short = report(case, &Ok(expected.to_string()), &Ok(got.to_string()));
        format!("details of {short}")
    })
}

/// Describes the difference; none if the two agree.
fn difference(case: &Case) -> Option<String> {
    let Answer::Given(got) = engine::ask(case) else { return None };
    let expected = case.naive();
    match (&expected, &got) {
        // The documents give the text of few errors.
        (Err(Fault::Error(words)), Err(Fault::Error(_))) if words.is_empty() => None,
        _ if expected == got => None,
        _ => Some(report(case, &expected, &got)),
    }
}

fn report(case: &Case, expected: &crate::naive::Verdict, got: &crate::naive::Verdict) -> String {
    let short = |v: &crate::naive::Verdict| {
        let text = format!("{v:?}");
        if text.len() < 600 {
            return text;
        }
        let start: String = text.chars().take(200).collect();
        let mut end: Vec<char> = text.chars().rev().take(200).collect();
        end.reverse();
        format!("{start} ... {}", end.into_iter().collect::<String>())
    };
    let input = case.input.escape_ascii().to_string();
    let input = if input.len() < 400 {
        input
    } else {
        format!("{} ... {} ({} bytes)", &input[..100], &input[input.len() - 100..], case.input.len())
    };
    let stderr = case.stderr.as_ref().map(|e| e.escape_ascii().to_string());
    format!(
        "{} {:?} stderr {stderr:?} exit {:?}\n   input    b\"{input}\"\n   expected {}\n   got      {}\n",
        case.policy,
        case.sets,
        case.exit_code,
        short(expected),
        short(got)
    )
}

/// A fixed seed, so that a failing check of a change points to that change. `PROPTEST_RNG_SEED=n` tries other outputs.
fn seed() -> RngSeed {
    match Config::default().rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    }
}

/// Tries random outputs and limits; reports each policy's first difference, minimized.
fn compare(specs: &'static [Spec], difference: fn(&Case) -> Option<String>) {
    let mut differences = Vec::new();
    for spec in specs.iter().filter(|spec| engine::has(spec.policy)) {
        let cases = if spec.scale == Scale::Small { 800 } else { 80 };
        let config = Config { cases, failure_persistence: None, rng_seed: seed(), ..Config::default() };
        let mut runner = TestRunner::new(config);
        let asked = Cell::new(0);
        let outcome = runner.run(&tuned_case(spec), |case| {
            asked.set(asked.get() + u32::from(engine::takes(&case)));
            difference(&case).map_or(Ok(()), |words| Err(TestCaseError::fail(words)))
        });
        assert!(
            outcome.is_err() || asked.get() > cases / 2,
            "{}: too few cases could be compared",
            spec.policy
        );
        match outcome {
            Ok(()) => {}
            // A panic of the engine has no message of this test's.
            Err(TestError::Fail(words, case)) if !words.message().contains("expected") => {
                let words: String = words.message().chars().take(500).collect();
                differences.push(format!("{words}: {}", report(&case, &case.naive(), &Ok(String::new()))));
            }
            Err(TestError::Fail(words, _)) => differences.push(words.to_string()),
            Err(e) => panic!("{}: {e}", spec.policy),
        }
    }
    assert!(differences.is_empty(), "{} policies differ:\n{}", differences.len(), differences.join("\n"));
}

/// Policies that the documents do not define to the byte.
const WITHOUT_DOUBLE: &[&str] = &["crush/bash", "grok/bash", "mistral-vibe/bash", "roo/command"];

#[test]
fn every_policy_has_a_naive_double_and_is_compared() {
    for name in engine::names().filter(|name| !WITHOUT_DOUBLE.contains(name)) {
        assert!(crate::naive::TABLE.iter().any(|(double, _)| *double == name), "{name} has no double");
        let asked = specs::CORE.iter().chain(specs::SHIPPED).any(|spec| spec.policy == name);
        assert!(asked, "{name} is never asked about");
        assert!(
            edges::LIMITS.iter().any(|(policy, ..)| *policy == name),
            "{name} is not tried at its limits"
        );
    }
}

#[test]
fn documented_policies_on_hostile_outputs() {
    compare(specs::CORE, difference);
}

#[test]
fn shipped_policies_on_hostile_outputs() {
    compare(specs::SHIPPED, difference);
}

#[test]
fn details_on_hostile_outputs() {
    compare(specs::DETAILED, details_difference);
}

/// The documents' rules reproduce what the agents recorded.
#[test]
fn naive_samples() {
    let mut differences = Vec::new();
    for (case, recorded) in samples::all() {
        let (said, recorded) = (case.naive(), Ok(recorded));
        differences.extend((said != recorded).then(|| report(&case, &recorded, &said)));
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// So does the engine.
#[test]
fn recorded_samples() {
    let mut differences = Vec::new();
    for (case, recorded) in samples::all().into_iter().filter(|(case, _)| engine::has(case.policy)) {
        let (answer, recorded) = (engine::ask(&case), Ok(recorded));
        let Answer::Given(got) = answer else { panic!("{} refuses {:?}", case.policy, case.sets) };
        differences.extend((got != recorded).then(|| report(&case, &recorded, &got)));
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// The shipped limits, to the line and to the unit.
#[test]
fn defaults_at_their_edges() {
    let mut differences = Vec::new();
    for (policy, lines, size) in edges::LIMITS.iter().filter(|(policy, ..)| engine::has(policy)) {
        let mut outputs = vec![Vec::new(), b"\n".to_vec(), b"\r\n".to_vec(), b"a".to_vec()];
        if *lines > 0 {
            outputs.extend(edges::by_lines(*lines));
        }
        if *size > 0 {
            outputs.extend(edges::by_size(*size));
            // The largest limits are tried only on a few outputs, to save time.
            if *size >= 100_000 {
                outputs = outputs.into_iter().step_by(3).collect();
            }
        }
        let found = outputs.iter().filter_map(|output| difference(&case(policy, output, &[])));
        differences.extend(found.take(2));
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// Returns each policy's first differences over these cases.
fn first_differences(cases: Vec<Case>) -> Vec<String> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in cases.iter().filter(|case| engine::has(case.policy)) {
        let so_far = found.entry(case.policy).or_default();
        if so_far.len() < 2 {
            so_far.extend(difference(case));
        }
    }
    found.into_values().flatten().collect()
}

/// What is trimmed, escaped, stripped or split between two reads.
#[test]
fn rules_at_their_edges() {
    let differences = first_differences(rules::all());
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// The only limit that takes a large output to reach.
#[test]
fn the_persist_limit() {
    let differences = first_differences(rules::persist_limit());
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// Every short string under small limits: a bounded number of cases per policy, evenly chosen.
#[test]
fn every_short_string() {
    const MAX_CASES: usize = 2_500;
    let letters: &[&[u8]] = &[b"a", b"\n", "é".as_bytes(), b"\xff"];
    let strings = edges::every_string(letters, 5);
    let mut differences = Vec::new();
    for (policy, values) in edges::SWEEPS.iter().filter(|(policy, _)| engine::has(policy)) {
        let combinations = edges::combinations(values);
        let all = strings.len() * combinations.len();
        // A step without a common factor with either count reaches every string and combination.
        let step = (all / MAX_CASES).max(1) | 1;
        let found = (0..all).step_by(step).find_map(|i| {
            let (string, sets) = (&strings[i % strings.len()], &combinations[i / strings.len()]);
            difference(&case(policy, string, sets))
        });
        differences.extend(found);
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// Outputs of many reads, and beyond what collectors keep.
#[test]
fn large_outputs() {
    let outputs = edges::large();
    let mut differences = Vec::new();
    for policy in edges::STREAMED.iter().filter(|policy| engine::has(policy)) {
        let found = outputs.iter().filter_map(|output| difference(&case(policy, output, &[])));
        differences.extend(found.take(3));
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}
