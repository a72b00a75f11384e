//! What a visit says is what plans say; what is counted stays small.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::sums::{MatchSums, SettingSums};
use super::visit::{SettingEffect, last_line};
use super::*;
use crate::compare::kept_ranges;
use crate::preview::{Catalog, Input, Output, Stream, Totals, plan};
use crate::text::filter::KeptRanges;
use crate::text::search::{Pattern, Severity, SeverityPatterns};
use crate::text::supply::OwnBytes;

/// Returns figures of settings with these tokens and kept matches.
pub(crate) fn figures_of(all: &[(u64, u64)]) -> Vec<SettingFigures> {
    let of = |&(tokens, kept_matches): &(u64, u64)| SettingFigures {
        tokens,
        kept_matches,
        ..SettingFigures::default()
    };
    all.iter().map(of).collect()
}

fn pattern() -> &'static Pattern {
    Severity::Error.built_in().unwrap()
}

/// Checks all figures of a visit against plans and a search of each preview.
fn check(name: &str, text: &str, find: Option<&Pattern>) {
    let bytes = text.as_bytes();
    let policy = Catalog::builtin().get(name).unwrap();
    let small = TuneSetting { max_lines: Some(4), max_size: Some(40), direction: None };
    let small = TuneSetting {
        max_lines: policy.max_lines().and(small.max_lines),
        max_size: policy.max_size().and(small.max_size),
        direction: None,
    };
    let grid = TuneGrid::around(&small.on(&policy).unwrap_or(policy)).unwrap();
    let severities = SeverityPatterns::default();
    let visited = Tuner::new(&grid.policies, Some(grid.current), find, &severities)
        .visit(bytes, &mut OwnBytes::from(text), "/tmp/out")
        .unwrap();
    let totals = Totals::count(bytes);
    let input = Input::new(Output { bytes, totals: &totals }, "/tmp/out");
    let matches: Vec<_> = find.unwrap_or(pattern()).in_lines(text).collect();
    assert_eq!(visited.matches, matches.len() as u64);
    let present = plan(&input, &grid.policies[grid.current])
        .map(|preview| kept_ranges(&preview.parts, input.output.bytes, Stream::Stdout));
    for ((policy, found), otherwise) in grid.policies.iter().zip(&visited.settings).zip(&visited.otherwise) {
        let Ok(preview) = plan(&input, policy) else { continue };
        let kept = kept_ranges(&preview.parts, input.output.bytes, Stream::Stdout);
        if let Ok(present) = &present {
            assert_eq!(*otherwise, kept != *present, "{name}: {:?}", TuneSetting::new(policy));
        }
        let holds = |range: &std::ops::Range<usize>| KeptRanges(&kept).covers(range);
        let expected = SettingEffect {
            preview_bytes: preview.byte_len(&input),
            kept_matches: matches.iter().filter(|found| holds(found)).count() as u64,
            is_cut: preview.truncated,
            lost_last_line: !bytes.is_empty() && !holds(&last_line(bytes)),
            lost_first_error: pattern().in_lines(text).next().is_some_and(|error| !holds(&error)),
            lost_all: !bytes.is_empty() && kept.is_empty(),
        };
        assert_eq!(*found, expected, "{name}: {:?}", TuneSetting::new(policy));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(18), ..ProptestConfig::with_cases(6) })]

    #[test]
    fn a_visit_agrees_with_plans(
        lines in prop::collection::vec("(error: |warning: |fine )?[a-zé]{0,8}\r?", 0..40),
        feed in any::<bool>(),
    ) {
        let text = lines.join("\n") + if feed { "\n" } else { "" };
        let find = Pattern::new("[a-e]+").unwrap();
        for name in ["opencode/output", "pi/bash", "opencode/shell", "claude-code/bash", "codex/exec", "gemini-cli/output"] {
            check(name, &text, None);
            check(name, &text, Some(&find));
        }
    }
}

#[test]
fn a_grid_has_the_limits_that_the_policy_has() {
    let catalog = Catalog::builtin();
    for name in catalog.names() {
        let policy = catalog.get(name).unwrap();
        let Some(grid) = TuneGrid::around(&policy) else {
            assert_eq!((policy.max_lines(), policy.max_size()), (None, None), "{name}");
            continue;
        };
        assert!(grid.settings.len() <= 60, "{name}: {}", grid.settings.len());
        assert_eq!(grid.settings[grid.current], TuneSetting::new(&policy), "{name}");
        for (setting, policy) in grid.settings.iter().zip(&grid.policies) {
            assert_eq!(*setting, TuneSetting::new(policy), "{name}");
        }
    }
    let grid = TuneGrid::around(&catalog.get("opencode/output").unwrap()).unwrap();
    assert_eq!(grid.settings.len(), 60);
    assert_eq!(grid.settings[0].describe(grid.policies[0].unit()), "head, 500 lines, 6,400 B");
}

#[test]
fn sums_are_of_all_outputs() {
    let mut sums = SettingSums::default();
    for tokens in 1..=100 {
        let under = SettingEffect {
            preview_bytes: 4 * tokens,
            kept_matches: 2,
            is_cut: true,
            ..SettingEffect::default()
        };
        sums.add(&under, Severity::Error);
    }
    let figures = sums.figures(Severity::Error);
    assert_eq!((figures.tokens_median, figures.tokens_p95, figures.tokens_max), (50, 95, 100));
    assert_eq!((figures.tokens, figures.cut, figures.kept_matches), (5050, 100, 200));
    assert_eq!(SettingSums::default().figures(Severity::Error), SettingFigures::default());
}

#[test]
fn few_plans_are_made_for_many_outputs() {
    let policy = Catalog::builtin().get("opencode/output").unwrap();
    let grid = TuneGrid::around(&policy).unwrap();
    let severities = SeverityPatterns::default();
    let mut tuner = Tuner::new(&grid.policies, Some(grid.current), None, &severities);
    let mut sums = TuneSums::new(grid.settings.len());
    let output = "a line of an output that is long enough\nerror: no\n".repeat(4_000);
    for number in 0..30 {
        let text = &output[..output.len() - 50 * number];
        let saved_as = format!("/tmp/output-{number}");
        sums.add(&tuner.visit(text.as_bytes(), &mut OwnBytes::from(text), &saved_as).unwrap());
    }
    assert_eq!(sums.matches().all, (0..30).map(|number| 4_000 - number).sum::<u64>());
    let plans: u64 = tuner.sweeps.iter().map(|sweep| sweep.plans).sum();
    assert!(plans <= 4 * 60, "{plans}");
    let frontier = frontier(&sums.figures(), grid.current);
    assert!(frontier.len() > 3);
}

#[test]
fn warnings_count_only_where_no_output_has_an_error() {
    let policy = Catalog::builtin().get("opencode/output").unwrap();
    let policies = [policy];
    let severities = SeverityPatterns::default();
    let mut tuner = Tuner::new(&policies, None, None, &severities);
    let mut sums = TuneSums::new(1);
    let mut visit = |text: &str| tuner.visit(text.as_bytes(), &mut OwnBytes::from(text), "/tmp/o").unwrap();
    let warned = visit("warning: a\nwarning: b\n");
    assert_eq!((warned.severity, warned.matches), (Severity::Warning, 2));
    sums.add(&warned);
    assert_eq!((sums.severity(), sums.matches()), (Severity::Warning, MatchSums { all: 2, outputs: 1 }));
    assert_eq!(sums.figures()[0].kept_matches, 2);
    sums.add(&visit("warning: a\nerror: b\n"));
    assert_eq!((sums.severity(), sums.matches()), (Severity::Error, MatchSums { all: 1, outputs: 1 }));
    assert_eq!(sums.figures()[0].kept_matches, 1);
}
