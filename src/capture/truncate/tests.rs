//! Checks the outcomes for complete outputs and for chunked ones, and that both agree.

use super::*;
use crate::capture::Portion;
use crate::preview::LimitHit;

fn truncator(policy: &str, set: &[(&str, &str)]) -> (tempfile::TempDir, Truncator) {
    let home = tempfile::tempdir().unwrap();
    let mut policy = Policy::builtin(policy).unwrap();
    set.iter().for_each(|(key, value)| policy.set(key, value).unwrap());
    let place = Location::dir(home.path().join("outputs"));
    (home, Truncator::from_policy(policy).save_in(place))
}

/// A truncator that cannot save anywhere.
fn without_a_place(policy: &str, set: &[(&str, &str)]) -> (tempfile::TempDir, Truncator) {
    let (home, truncator) = truncator(policy, set);
    std::fs::write(home.path().join("outputs"), "").unwrap();
    (home, truncator)
}

#[test]
fn an_output_within_the_limits_is_unchanged() {
    let (home, truncator) = truncator("opencode/output", &[]);
    let outcome = truncator.truncate("little\n", "shell").unwrap();
    let all = |total| Portion { total, kept: total };
    assert_eq!((outcome.text.as_str(), outcome.truncated, outcome.truncated_by), ("little\n", false, None));
    assert_eq!((outcome.lines, outcome.bytes, outcome.errors), (all(2), all(7), Some(all(0))));
    assert!(outcome.saved_to.is_none() && outcome.warnings.is_empty());
    assert!(!home.path().join("outputs").exists());
}

#[test]
fn a_failed_save_is_reported_in_the_policys_words() {
    let limit = [("max_lines", "1")];
    let (_home, truncator) = without_a_place("opencode/output", &limit);
    let outcome = truncator.truncate("a\nb\n", "shell").unwrap();
    assert!(outcome.text.contains("saved to: <not saved>") && outcome.saved_to.is_none());
    assert!(outcome.warnings[0].contains("could not be saved"));
    let (_home, truncator) = without_a_place("go-opencode/bash", &limit);
    let text = truncator.truncate("a\nb\n", "shell").unwrap().text;
    assert!(text.starts_with("<stdout truncated: 3 lines total>\n\na\nb"), "{text}");
}

#[test]
fn the_policys_cap_holds() {
    let (_home, truncator) = truncator("go-opencode/bash", &[("max_lines", "1"), ("max_saved_bytes", "3")]);
    let outcome = truncator.truncate("a\nb\nc\n", "shell").unwrap();
    assert_eq!(std::fs::read(outcome.saved_to.unwrap()).unwrap(), b"a\nb");
    assert!(outcome.text.contains(" (truncated at 100MB)\n"), "{}", outcome.text);
}

#[test]
fn a_complete_file_is_not_called_a_fragment() {
    let (_home, truncator) = truncator("goose/shell", &[]);
    let output = "a line of text\n".repeat(800_000);
    for outcome in [truncator.truncate(&output, "shell").unwrap(), written(&truncator, &output)] {
        let path = outcome.saved_to.unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), output.len() as u64);
        let notice = format!("Full output saved to {}.", path.display());
        assert!(outcome.text.contains(&notice) && outcome.warnings.is_empty(), "{}", outcome.text);
    }
}

#[test]
fn a_partial_file_is_not_called_the_full_output() {
    for (policy, set, notice) in [
        ("opencode/output", ("max_lines", "1"), "saved to: <not saved>"),
        ("goose/shell", ("max_lines", "1"), "saved to <not saved>"),
        ("qwen-code/shell", ("max_units", "3"), "Could not save full output to file"),
    ] {
        let (_home, truncator) = truncator(policy, &[set]);
        let request = Request { cap: 3, ..Request::new(truncator.policy("shell")) };
        let sink = truncator.place.sink(Stream::Stdout, SinkLimits { cap: 3, ..SinkLimits::default() });
        let mut writer = Writer { sink, request };
        let output = "a line\n".repeat(5000);
        writer.push(output.as_bytes());
        let outcome = writer.finish().unwrap();
        let path = outcome.saved_to.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"a l");
        let words = format!("{} holds only the first 3 of {} bytes", path.display(), output.len());
        assert_eq!(outcome.warnings, [words], "{policy}");
        assert!(outcome.text.contains(notice), "{}", outcome.text);
    }
}

#[test]
fn an_outcome_counts_what_the_model_does_not_get() {
    let (_home, truncator) = truncator("opencode/output", &[("max_lines", "2")]);
    let outcome = truncator.truncate("error: a\nfine\nerror: b\nerror: c\n", "shell").unwrap();
    assert_eq!(outcome.truncated_by, Some(LimitHit::Lines));
    assert_eq!(outcome.lines, Portion { total: 5, kept: 2 });
    assert_eq!(outcome.bytes, Portion { total: 32, kept: 13 });
    assert_eq!(outcome.errors.map(|errors| (errors.total, errors.lost())), Some((3, 2)));
}

#[test]
fn past_the_cap_totals_are_exact_and_errors_unknown() {
    let (_home, truncator) = truncator("go-opencode/bash", &[("max_saved_bytes", "3")]);
    let output = "a line of text\n".repeat(600_000);
    let outcome = written(&truncator, &output);
    assert_eq!((outcome.lines.total, outcome.bytes.total), (600_001, output.len() as u64));
    assert!(outcome.text.contains("600,001 lines total") && outcome.errors.is_none(), "{}", outcome.text);
}

#[test]
fn a_policy_that_distinguishes_tools_gets_the_tool() {
    let (_home, truncator) = truncator("basic/recommended", &[]);
    let lines = "x\n".repeat(300);
    assert!(truncator.truncate(&lines, "grep").unwrap().truncated);
    assert!(!truncator.truncate(&lines, "shell").unwrap().truncated);
}

#[test]
fn the_hint_depends_on_whether_the_agent_may_delegate() {
    let (_home, truncator) = truncator("opencode/output", &[("max_lines", "1")]);
    let text = |truncator: &Truncator| truncator.truncate("a\nb\n", "shell").unwrap().text;
    assert!(text(&truncator).contains("Use Grep"));
    assert!(text(&truncator.clone().may_delegate(true)).contains("Use the Task tool"));
    assert!(text(&truncator.may_delegate(false)).contains("Use Grep"));
}

#[test]
fn an_agents_crash_is_reported_as_an_error() {
    let (_home, truncator) = truncator("go-opencode/legacy", &[]);
    let lines = "x\n".repeat(3000);
    let error = truncator.truncate(&lines, "shell").unwrap_err();
    assert!(matches!(error, Error::Crashed(words) if words.contains("out of range")));
}

/// A policy whose response always names the file, and is cut at `max` bytes including that name.
fn naming(max: usize) -> Policy {
    Policy::parse(&format!(
        r#"
agent = "test"
tool = "naming"
summary = "Names the file, and cuts the whole response."
confidence = "run"
source = "none"
unit = "bytes"

[when]
lines = 1000

[keep]
strategy = "pieces"
from = "head"
lines = 1000

[text]
whole = "{{{{ kept }}}}({{{{ path }}}})"
cut = "{{{{ kept }}}}({{{{ path }}}})"

[cap]
over = {max}
size = {max}
notice = "..."
"#
    ))
    .unwrap()
}

#[test]
fn truncated_agrees_with_the_text_when_the_path_length_counts() {
    let dir = tempfile::tempdir().unwrap();
    let place = Location::dir(dir.path().join("a-directory-of-a-long-name"));
    for max in [5, 15, 20, 60, 200, 400] {
        let truncator = Truncator::from_policy(naming(max)).save_in(place.clone());
        for outcome in [truncator.truncate("little\n", "t").unwrap(), written(&truncator, "little\n")] {
            // Bytes that the cap takes of the agent's own text are not part of the output.
            let is_cut = !outcome.text.starts_with("little\n");
            assert_eq!(outcome.truncated, is_cut, "{max}: {outcome:?}");
            assert!(outcome.saved_to.is_some() || !outcome.truncated, "{max}: {outcome:?}");
        }
    }
    // `<not saved>` is longer than this path.
    let policy = naming("little\n(/a)".len());
    let input = Input::from_bytes(b"little\n", "");
    let save = |_| Ok("/a".into());
    let (plan, _) = saved_plan(input.output, |_| None, Request::new(policy), save, &mut Vec::new()).unwrap();
    assert_eq!((plan.preview.truncated, plan.preview.text(&input)), (false, "little\n(/a)".to_owned()));
}

fn written(truncator: &Truncator, output: &str) -> Outcome {
    let mut writer = truncator.writer("t");
    output.as_bytes().chunks(7).for_each(|chunk| writer.push(chunk));
    writer.finish().unwrap()
}

#[test]
fn a_writer_gives_the_same_outcome_as_truncate() {
    for policy in ["opencode/output", "pi/bash", "basic/smart", "claude-code/bash", "crush/bash"] {
        let (_home, truncator) = truncator(policy, &[]);
        for count in [0, 1, 100, 30_000] {
            let output = "a line of text\n".repeat(count);
            let (whole, chunks) = (truncator.truncate(&output, "t").unwrap(), written(&truncator, &output));
            assert_eq!((whole.truncated, &whole.warnings), (chunks.truncated, &chunks.warnings));
            let figures = |outcome: &Outcome| (outcome.lines, outcome.bytes, outcome.errors);
            assert_eq!(figures(&whole), figures(&chunks), "{policy} {count}");
            let text = |outcome: &Outcome| {
                let path = outcome.saved_to.as_ref().map_or("-".into(), |path| path.to_string_lossy());
                outcome.text.replace(&*path, "PATH")
            };
            assert_eq!(text(&whole), text(&chunks), "{policy} {count}");
            let saved = chunks.saved_to.map(|path| std::fs::read_to_string(path).unwrap());
            assert!(saved.is_none_or(|saved| saved == output), "{policy} {count}");
        }
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_no_file() {
    let (home, truncator) = truncator("opencode/output", &[]);
    let mut writer = truncator.writer("shell");
    writer.push(&vec![b'x'; 1 << 20]);
    let files = || std::fs::read_dir(home.path().join("outputs")).unwrap().count();
    assert_eq!((writer.bytes(), files()), (1 << 20, 1));
    drop(writer);
    assert_eq!(files(), 0);
}

#[test]
fn a_writer_that_cannot_save_says_so() {
    let (_home, truncator) = without_a_place("opencode/output", &[]);
    let outcome = written(&truncator, &"line\n".repeat(30_000));
    assert!(outcome.truncated && outcome.text.contains("saved to: <not saved>"));
    assert!(outcome.warnings[0].contains("could not be saved"), "{:?}", outcome.warnings);
}
