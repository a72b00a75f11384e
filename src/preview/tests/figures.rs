//! Every figure of every policy is known once the totals that it asks for are counted.

use std::cell::RefCell;

use super::*;
use crate::preview::Report;
use crate::preview::plan::{TotalsFor, plan_counting};
use crate::text::units::{self, Measure, TotalsMask};

/// Outputs that policies cut in different ways, and that all but the first two are too large to be counted on the spot.
fn outputs() -> Vec<(&'static str, Vec<u8>)> {
    let many = |line: &str, bytes: usize| line.repeat(bytes / line.len()).into_bytes();
    let mut open = many("src/main.rs:12: error: it does not fit\n", 80_000);
    open.extend(b"the last line, which is open");
    let mut late = many("x", 70_000);
    late.extend(many("one line of many\n", 40_000));
    vec![
        ("empty", Vec::new()),
        ("short", b"one\ntwo\n".to_vec()),
        ("lines", many("a line of some length\n", 110_000)),
        ("open", open),
        ("one line", many("word ", 110_000)),
        ("late", late),
        ("wide", many("\u{1F600} \u{fc}\u{6f22}\n", 80_000)),
        ("broken", [b"a\xffb\xf0\x9f\r\n\x1b[31mred\x1b[m\rc\n".as_slice()].concat().repeat(5_000)),
        ("feeds", many("\n", 70_000)),
    ]
}

/// An output, and what was counted of it before: counting costs more than a plan.
struct Counted {
    bytes: Vec<u8>,
    known: Totals,
    measured: RefCell<Vec<(TotalsMask, Measure)>>,
}

impl Counted {
    fn new(bytes: Vec<u8>) -> Self {
        Self { known: Totals::count(&bytes), bytes, measured: RefCell::default() }
    }

    /// Returns just what is wanted.
    fn measure(&self, want: TotalsMask) -> Measure {
        let before =
            self.measured.borrow().iter().find(|(known, _)| *known == want).map(|(_, measure)| *measure);
        before.unwrap_or_else(|| {
            let measure = units::measure_all(&self.bytes, want);
            self.measured.borrow_mut().push((want, measure));
            measure
        })
    }

    /// Plans, and counts what the plan lacks.
    fn plan(&self, input: &Input, policy: &Policy, counts: TotalsFor) -> Result<Preview, PlanError> {
        plan_counting(input, policy, counts, |_, want| Some(self.measure(want)))
            .map(|counted| counted.preview)
    }
}

/// Returns what is unknown in a preview, in words.
fn unknown(preview: &Preview, input: &Input, policy: &Policy) -> Vec<String> {
    let certainty = Certainty::WouldGet;
    let report = Report { preview, input, policy: Some(policy), certainty, limits_from: "", store: &[] };
    let report = serde_json::to_value(report).unwrap();
    let nulls = ["total_lines", "total_bytes", "total_units", "kept_lines", "kept_bytes", "kept_units"];
    let nulls = nulls.iter().chain(&["removed_lines", "removed_bytes"]).filter(|key| report[**key].is_null());
    let mut faults: Vec<String> = nulls.map(|key| format!("{key} is null")).collect();
    if report["details"].to_string().contains(":null") {
        faults.push(format!("details: {}", report["details"]));
    }
    faults
}

/// Returns the faults of a preview for which everything was counted that it asked for.
fn faults(output: &Counted, input: &Input, policy: &Policy) -> Vec<String> {
    let all = match output.plan(input, policy, TotalsFor::All) {
        Ok(all) => all,
        Err(PlanError::Agent { message }) if !message.contains('…') => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let text = output.plan(input, policy, TotalsFor::Text).unwrap();
    let mut faults = unknown(&all, input, policy);
    for preview in [&all, &text] {
        if preview.parts.contains(&Part::Counting) || !preview.missing.is_empty() {
            faults.push(format!("waits for {:?}", preview.missing));
        }
    }
    let exact = Input { output: Output { totals: &output.known, ..input.output }, ..*input };
    let exact = plan(&exact, policy).unwrap();
    if exact != all || exact.parts != text.parts {
        faults.push("differs from the plan with all totals known".to_owned());
    }
    faults
}

#[test]
fn no_figure_of_any_policy_stays_unknown() {
    let outputs: Vec<_> = outputs().into_iter().map(|(what, bytes)| (what, Counted::new(bytes))).collect();
    let catalog = Catalog::builtin();
    let all = catalog.names().flat_map(|name| {
        let policy = policy(name, &[]);
        let faults_of = move |(what, output): &(&str, Counted)| {
            let input = Input { exit_code: Some(1), ..Input::from_bytes(&output.bytes, "/P") };
            let faults = faults(output, &input, &policy);
            faults.into_iter().map(|fault| format!("{name}: {what}: {fault}")).collect::<Vec<_>>()
        };
        outputs.iter().flat_map(faults_of).collect::<Vec<_>>()
    });
    let all: Vec<String> = all.collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
