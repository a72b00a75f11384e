//! Tests that the cost of a plan follows the limits, and that unknown figures are waited for, never guessed.

use crate::preview::model::PlanError;
use crate::preview::template::COMPILED;

use super::*;

/// Two blocks of slack.
const SLACK: u64 = 2 * 64 * 1024;

/// Returns the maximum number of bytes that a policy's limits can stand for; codex's collector has one of 1 MiB.
fn allowance(policy: &Policy) -> u64 {
    let widest = match policy.unit() {
        Unit::Bytes => 1,
        Unit::Utf16 => 3,
        Unit::Chars | Unit::Cells | Unit::Tokens => 4,
    };
    let collected = if policy.agent() == "codex" { 1 << 20 } else { 0 };
    policy.max_size().unwrap_or(0).min(1 << 30) * widest + collected
}

fn is_exempt(policy: &Policy) -> bool {
    matches!(policy.name(), "basic/smart" | "crush/bash" | "crush/bang" | "deepagents/tool")
        // Escape sequences anywhere change the size in its notice.
        || policy.agent() == "copilot-cli"
        // A CRLF anywhere changes the figure in its notice.
        || policy.agent() == "mini-swe-agent"
        || policy.key(ParamRole::Offset).is_some()
}

fn check(bytes: &[u8], totals: &Totals) {
    let catalog = Catalog::builtin();
    for name in catalog.names() {
        let policy = catalog.get(name).unwrap();
        if is_exempt(&policy) {
            continue;
        }
        let input = Input::new(Output { bytes, totals }, "/P");
        let (preview, touched) = plan_touching(&input, &policy);
        preview.unwrap();
        let allowed = allowance(&policy) + SLACK;
        assert!(touched <= allowed, "{name} touched {touched} bytes, over {allowed}");
    }
}

#[test]
fn a_plan_reads_no_more_than_its_limits_and_two_blocks() {
    let size = 64 << 20;
    let short = b"0123456789abcdefghijklmnopqrstu\n".repeat(size / 32);
    check(&short, &Totals::unknown());
    check(&short, &Totals::count(&short));
    let long = vec![b'y'; size];
    check(&long, &Totals::unknown());
}

#[test]
fn a_missing_total_shows_as_an_ellipsis_until_counted() {
    let bytes = b"0123456789abcdefghijklmnopqrstu\n".repeat(1 << 15);
    let unknown = Totals::unknown();
    let input = Input::new(Output { bytes: &bytes, totals: &unknown }, "/P");
    let preview = plan(&input, &policy("opencode/output", &[])).unwrap();
    assert!(preview.text(&input).contains("\n\n...… bytes truncated...\n\n"));
    assert!(preview.missing.contains(TotalsMask::DECODED_BYTES));
    assert_eq!(preview.total.lines, None);
    let known = Totals::count(&bytes);
    let input = Input::new(Output { bytes: &bytes, totals: &known }, "/P");
    let exact = plan(&input, &policy("opencode/output", &[])).unwrap();
    assert!(exact.missing.is_empty());
    assert_eq!(exact.kept.lines, Some(1600));
}

#[test]
fn templates_compile_on_load_and_not_on_use() {
    let lines = b"an error, or a line without one\nx\nx\nx\nx\nx\nx\nx\nx\nx\n".repeat(200);
    let totals = Totals::count(&lines);
    let input = Input::new(Output { bytes: &lines, totals: &totals }, "/P");
    for name in Catalog::builtin().names() {
        let before = COMPILED.get();
        let mut policy = policy(name, &[]);
        let loaded = COMPILED.get();
        assert!(loaded > before, "{name} compiles nothing, so this test sees nothing");
        for limit in ["1", "1000"] {
            if let Some(key) =
                policy.key(ParamRole::Limit).or(policy.key(ParamRole::Lines)).map(str::to_owned)
            {
                policy.set(&key, limit).unwrap();
            }
            plan(&input, &policy).unwrap();
        }
        assert_eq!(COMPILED.get(), loaded, "{name} compiles in use");
    }
}

#[test]
fn an_unwanted_plan_can_be_cancelled_at_any_point() {
    let lines = b"an error, or a line without one\n".repeat(1 << 12);
    let wide = "größer, 日本語, 👩\u{200d}👧\t\u{1b}[31mred\u{1b}[0m ".repeat(1 << 12).into_bytes();
    let raw: Vec<u8> = (0..=255).cycle().take(1 << 17).collect();
    let catalog = Catalog::builtin();
    for bytes in [&lines, &wide, &raw] {
        let all = [Totals::unknown(), Totals::count(bytes)];
        for name in catalog.names() {
            let policy = catalog.get(name).unwrap();
            for (most, totals) in [0, 1, 2, 3, 5, 8, 25, 100].into_iter().zip(all.iter().cycle()) {
                let asked = std::cell::Cell::new(0);
                let wanted = || asked.replace(asked.get() + 1) < most;
                let output = Output { bytes, totals };
                let planned = plan(&Input { wanted: Some(&wanted), ..Input::new(output, "/P") }, &policy);
                let is_cancelled = matches!(planned, Err(PlanError::Cancelled));
                assert_eq!(is_cancelled, asked.get() > most, "{name} after {most} questions");
            }
        }
    }
}

#[test]
fn an_unwanted_plan_stops_reading() {
    let line = vec![b'x'; 64 << 20];
    let totals = Totals { line_feeds: Some(0), ..Totals::unknown() };
    for name in ["opencode/read", "pi/ls", "pi/find"] {
        let input = Input::new(Output { bytes: &line, totals: &totals }, "/P");
        let (_, all) = plan_touching(&input, &policy(name, &[]));
        let asked = std::cell::Cell::new(0);
        let wanted = || asked.replace(asked.get() + 1) < 3;
        let (_, some) = plan_touching(&Input { wanted: Some(&wanted), ..input }, &policy(name, &[]));
        assert!(all == line.len() as u64 && some <= 8 << 20, "{name} reads {some} of {all}");
    }
}
