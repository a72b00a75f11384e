//! Laws of witnesses: what a policy cuts has one, what it never makes has none.

use proptest::prelude::*;

use std::ops::Range;

use crate::preview::{Catalog, Input, PlanContext, Policy, plan_counted, witness};

const PATH: &str = "/tmp/out-12.txt";

const AROUND: PlanContext = PlanContext { saved_as: PATH, exit_code: Some(0), total: None };

/// Policies with small limits, of agents that keep no whole output, or not for long.
const POLICIES: &[(&str, &[(&str, &str)])] = &[
    ("kimi-cli/shell", &[("max_points", "400"), ("line_points", "40")]),
    ("continue/bash", &[("max_lines", "20"), ("max_units", "600")]),
    ("codex/exec-bytes", &[("max_bytes", "300")]),
    ("claude-code/bash-2025", &[]),
    ("hermes/terminal", &[("max_points", "400")]),
    ("cline/result", &[("max_units", "300"), ("executor_units", "700")]),
    ("pi/bash", &[("max_lines", "12"), ("max_bytes", "300")]),
    ("copilot-cli/tool", &[]),
];

fn policy(name: &str, limits: &[(&str, &str)]) -> Policy {
    let mut policy = Catalog::builtin().get(name).unwrap();
    limits.iter().for_each(|(key, value)| policy.set(key, value).unwrap());
    policy
}

/// Returns what a policy makes of an output, if it cuts it, with the places of its notices.
fn cut(policy: &Policy, output: &str) -> Option<(String, Vec<Range<usize>>)> {
    let input = Input { exit_code: Some(0), ..Input::from_bytes(output.as_bytes(), PATH) };
    let preview = plan_counted(&input, policy).unwrap();
    let mut at = 0;
    let mut notices = Vec::new();
    for part in &preview.parts {
        let range = at..at + part.byte_len(&input) as usize;
        at = range.end;
        notices.extend((part.kind() == "notice").then_some(range));
    }
    preview.truncated.then(|| (preview.text(&input), notices))
}

fn has_witness(policy: &Policy, text: &str) -> bool {
    witness(policy, text, AROUND).is_some()
}

fn lines(line: &'static str) -> impl Strategy<Value = String> {
    proptest::collection::vec((line, prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n")]), 40..160)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

#[test]
fn finds_a_witness_for_cuts_at_real_limits() {
    let output: String = (1..=12_000).map(|n| format!("{n}\n")).collect();
    for name in [
        "kimi-cli/shell",
        "continue/bash",
        "codex/exec-bytes",
        "codex/exec",
        "claude-code/bash-2025",
        "claude-code/bash",
        "hermes/terminal",
        "cline/result",
        "pi/bash",
        "copilot-cli/tool",
        "goose/shell",
        "gemini-cli/output",
        "opencode/shell",
        "opencode/output",
        "qwen-code/shell",
        "qwen-code/grep",
    ] {
        let policy = policy(name, &[]);
        let (text, _) = cut(&policy, &output).unwrap();
        assert!(has_witness(&policy, &text), "{name}");
    }
}

#[test]
fn text_missing_from_the_witness_was_added_by_the_agent() {
    let kimi = policy("kimi-cli/shell", &[("max_points", "400"), ("line_points", "40")]);
    let (text, _) = cut(&kimi, &"a line that is longer than forty characters are\n".repeat(20)).unwrap();
    let added = witness(&kimi, &text, AROUND).unwrap().added;
    assert!(
        added.len() > 5 && added.iter().all(|range| text[range.clone()].trim_end() == "[...truncated]"),
        "{text}"
    );
    let pi = policy("pi/bash", &[("max_lines", "12")]);
    let (text, notices) = cut(&pi, &"a line\n".repeat(20)).unwrap();
    assert_eq!(witness(&pi, &text, AROUND).unwrap().added, notices);
}

#[test]
fn a_witness_is_as_long_as_the_records_tell() {
    let policy = policy("copilot-cli/tool", &[]);
    let (text, _) = cut(&policy, &"x".repeat(20_736)).unwrap();
    let (right, wrong) = ("(20.3 KB)", "(20.2 KB)");
    let has = |figure: &str, total: Option<u64>| {
        let around = PlanContext { total, ..AROUND };
        witness(&policy, &text.replace(right, figure), around).is_some()
    };
    assert!(has(right, None) && has(wrong, None), "some output has either figure");
    assert_eq!([has(right, Some(20_736)), has(wrong, Some(20_736))], [true, false]);
    assert_eq!([has(right, Some(20_685)), has(wrong, Some(20_685))], [false, true]);
}

/// The notice counts in the limit: with one digit fewer, more of the output is kept.
#[test]
fn finds_a_witness_if_a_figure_has_fewer_digits_than_guessed() {
    let policy = policy("hermes/terminal", &[("max_points", "400")]);
    for points in (1_100..1_500).step_by(7) {
        let output: String = "é0 a😀.\r\n".chars().cycle().take(points - 1).chain(['a']).collect();
        let (text, _) = cut(&policy, &format!("{output}\n")).unwrap();
        assert!(has_witness(&policy, &text), "{points}: {text}");
    }
}

#[test]
fn a_witness_is_never_too_large() {
    let policy = policy("continue/bash", &[]);
    let kept: String = (1..1000).map(|n| format!("{n}\n")).collect();
    assert!(has_witness(&policy, &format!("(previous 1000000 lines truncated)\n\n{kept}")));
    assert!(!has_witness(&policy, &format!("(previous 9000000000 lines truncated)\n\n{kept}")));
    assert!(!has_witness(&policy, &format!("(previous 99999999999999999999999 lines truncated)\n\n{kept}")));
}

#[test]
fn an_uncut_text_has_no_witness() {
    for (name, limits) in POLICIES {
        assert!(!has_witness(&policy(name, limits), "one\ntwo\n"), "{name}");
        assert!(!has_witness(&policy(name, limits), ""), "{name}");
    }
}

#[test]
fn a_silent_end_before_the_limit_has_no_witness() {
    let policy = policy("kimi-cli/shell", &[("max_points", "400"), ("line_points", "40")]);
    let full = "a line of twenty cp\n".repeat(20);
    assert!(has_witness(&policy, &full));
    assert!(!has_witness(&policy, &full[1..]));
    assert!(!has_witness(&policy, &format!("{full}b\n")));
    let clipped = format!("{}[...truncated]\n", "a".repeat(25));
    assert!(has_witness(&policy, &clipped));
    assert!(!has_witness(&policy, &clipped[1..]) && !has_witness(&policy, &format!("a{clipped}")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn finds_a_witness_for_anything_a_policy_cuts(output in lines("[a-zé😀 .0-9]{0,60}"), number in 0..POLICIES.len()) {
        let (name, limits) = POLICIES[number];
        let policy = policy(name, limits);
        // Blanks that an agent strips from the ends leave no trace.
        if let Some((text, _)) = cut(&policy, &format!("{}\n", output.trim())) {
            prop_assert!(has_witness(&policy, &text), "{name}: {text:?}");
        }
    }

    /// These keep so much exactly, and their notices say the same thing twice or not at all.
    #[test]
    fn a_text_that_a_policy_never_makes_has_no_witness(
        output in lines("[a-z .]{1,60}"), name in prop_oneof![Just(2usize), Just(4), Just(5)],
        place in any::<prop::sample::Index>(), is_longer in any::<bool>(),
    ) {
        let (name, limits) = POLICIES[name];
        let policy = policy(name, limits);
        // Blanks at the ends are taken away, and count nevertheless.
        let Some((text, notices)) = cut(&policy, output.trim()) else { return Ok(()) };
        let mut altered = text.clone();
        let at = place.index(text.len());
        prop_assume!(text.is_char_boundary(at));
        let is_notice = notices.iter().any(|notice| notice.contains(&at));
        if is_longer && !is_notice {
            altered.insert(at, 'y');
        } else {
            let other = if text[at..].starts_with(|char: char| char.is_ascii_digit()) { "#" } else { "9" };
            prop_assume!(is_notice && text.is_char_boundary(at + 1));
            altered.replace_range(at..at + 1, other);
        }
        prop_assert!(!has_witness(&policy, &altered), "{name}: {altered:?}");
    }

    #[test]
    fn no_text_takes_long_or_panics(text in "(previous [0-9]{1,12} (lines|characters) truncated|\\[\\.\\.\\.truncated\\]|[a-zé\n ]{1,9}|\\.\\.\\.\\[truncated [0-9]{1,20} chars\\]\\.\\.\\.\n|… [0-9,]{1,9} chars truncated…){0,12}") {
        for (name, limits) in POLICIES {
            let _ = has_witness(&policy(name, limits), &text);
        }
    }
}
