//! The engine under test, used only through its public API, with the invariants of every answer.
use super::text::{go_text, lossy};
use super::{Case, Fault, Verdict};
use overspill::preview::{
    Catalog, Decoding, Input, Output, ParamError, Part, PlanError, Policy, Preview, Status, Stream, Totals,
    plan,
};
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

/// The result of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Given(Verdict),
    /// The policy does not take this value: there is nothing to compare.
    Refused,
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::builtin);
static PARSED: LazyLock<Mutex<BTreeMap<&'static str, Policy>>> = LazyLock::new(Mutex::default);

pub fn has(policy: &str) -> bool {
    CATALOG.names().any(|name| name == policy)
}

pub fn names() -> impl Iterator<Item = &'static str> {
    CATALOG.names()
}

/// Whether the policy takes the case's values.
pub fn takes(case: &Case) -> bool {
    configured(case).is_some()
}

fn parsed(policy: &'static str) -> Policy {
    let mut all = PARSED.lock().unwrap();
    // Claude Code takes no limit below 4,000: its rule is tried with smaller ones, too.
    let unbounded = || CATALOG.text(policy).unwrap().replace("\nmin = 4000\n", "\n");
    all.entry(policy).or_insert_with(|| Policy::parse(&unbounded()).unwrap()).clone()
}

/// Returns the case's policy with its parameters set; `None` if it refuses a value.
fn configured(case: &Case) -> Option<Policy> {
    let mut policy = parsed(case.policy);
    for (key, value) in &case.sets {
        match policy.set(key, value) {
            Ok(()) => {}
            Err(ParamError::Value { .. }) => return None,
            Err(e) => panic!("{e}"),
        }
    }
    Some(policy)
}

/// Asks the engine, and checks the invariants.
pub fn ask(case: &Case) -> Answer {
    let Some(policy) = configured(case) else { return Answer::Refused };
    let totals = Totals::count(&case.input);
    let stderr_totals = Totals::count(case.stderr.as_deref().unwrap_or_default());
    let mut input = Input::new(Output { bytes: &case.input, totals: &totals }, case.path());
    input.stderr = case.stderr.as_deref().map(|bytes| Output { bytes, totals: &stderr_totals });
    input.exit_code = case.exit_code;
    input.saved_as_stderr = case.path_stderr();
    let answer = plan(&input, &policy);
    // This doubles the work, so only for the smaller outputs, which are the most.
    if case.input.len() < 20_000 {
        check_without_totals(case, &policy, &input, &answer);
    }
    Answer::Given(match answer {
        Ok(preview) => {
            check_parts(case, &preview, &input);
            match &preview.status {
                Status::Ok => Ok(preview.text(&input)),
                Status::Crashed(words) => Err(Fault::Crash(words.clone())),
                other => panic!("{case:?}: {other:?}"),
            }
        }
        Err(PlanError::Agent { message }) => Err(Fault::Error(message)),
        Err(e) => panic!("{case:?}: {e}"),
    })
}

/// Checks that kept parts are ordered, disjoint, in range and the plain decoding of their range; that what is not cut
/// is whole; and that the parts' lengths add up to the preview's.
fn check_parts(case: &Case, preview: &Preview, input: &Input) {
    let mut joined = String::new();
    let mut ends = [0, 0];
    for part in &preview.parts {
        let text = part.text(input);
        assert_eq!(part.byte_len(input), text.len() as u64, "byte_len of {part:?} in {case:?}");
        joined += &text;
        let Some((source, range)) = part.range() else { continue };
        let bytes = match source {
            Stream::Stdout => &case.input[..],
            Stream::Stderr => case.stderr.as_deref().unwrap_or_default(),
        };
        assert!(range.start <= range.end && range.end <= bytes.len(), "{part:?} is out of range in {case:?}");
        if let Part::Kept { decoding, .. } = part {
            let end = &mut ends[usize::from(source == Stream::Stderr)];
            // Some agents show the whole text as the last 0 characters; nothing else occurs twice.
            assert!(*end <= range.start, "{part:?} overlaps what came before in {case:?}");
            *end = range.end;
            let plain = match decoding {
                Decoding::Lossy => lossy(&bytes[range.clone()]),
                Decoding::Go => go_text(&bytes[range.clone()]),
                other => panic!("{case:?}: {other:?}"),
            };
            assert_eq!(text, plain, "kept text in {case:?}");
        }
    }
    assert_eq!(joined, preview.text(input), "parts of {case:?}");
    assert_eq!(preview.byte_len(input), joined.len() as u64, "length of {case:?}");
    assert_eq!(preview.tokens_estimate(input), joined.len().div_ceil(4) as u64, "tokens of {case:?}");
}

/// Without any total counted, the engine may report that it waits, but nothing else may differ.
fn check_without_totals(case: &Case, policy: &Policy, input: &Input, whole: &Result<Preview, PlanError>) {
    let unknown = Totals::unknown();
    let mut early = *input;
    early.output.totals = &unknown;
    if let Some(stderr) = &mut early.stderr {
        stderr.totals = &unknown;
    }
    let early_plan = plan(&early, policy);
    let (Ok(early_preview), Ok(preview)) = (&early_plan, whole) else { return };
    if early_preview.missing == Default::default() {
        assert_eq!(early_preview.text(&early), preview.text(input), "before the totals, in {case:?}");
        assert_eq!(early_preview.status, preview.status, "before the totals, in {case:?}");
    }
}

/// Returns the machine-readable details beside the text, null if there are none; none if the policy does not take the
/// values.
pub fn details(case: &Case) -> Option<serde_json::Value> {
    let policy = configured(case)?;
    let totals = Totals::count(&case.input);
    let input = Input::new(Output { bytes: &case.input, totals: &totals }, case.path());
    Some(plan(&input, &policy).ok()?.details.unwrap_or(serde_json::Value::Null))
}
