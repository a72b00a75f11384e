//! A property of filters: the lines found from any position are those that a plain loop over the lines finds.

use proptest::prelude::*;

use crate::document::Doc;
use crate::document::reader::{Files, Reader};
use crate::text::filter::index::FilterIndex;
use crate::text::filter::tests::{conditions, file, got};
use crate::text::filter::{Condition, LineScope};
use crate::text::supply::OwnBytes;

use super::LineFilter;

/// Returns the ranges of the lines of a file, and whether each is shown.
fn naive(bytes: &[u8], conditions: &[Condition], lost: &[bool], around: usize) -> Vec<(u64, u64, bool)> {
    let mut at = 0;
    let mut lines = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let is_met = conditions.iter().all(|condition| {
            let regex = regex::bytes::Regex::new(condition.pattern().text()).unwrap();
            regex.is_match(text) == matches!(condition, Condition::With(_))
        });
        lines.push((at as u64, (at + line.len()) as u64, is_met && lost.get(lines.len()) != Some(&false)));
        at += line.len();
    }
    let is_shown = |n: usize| {
        let near = n.saturating_sub(around)..(n + around + 1).min(lines.len());
        lines[near].iter().any(|line| line.2)
    };
    (0..lines.len()).map(|n| (lines[n].0, lines[n].1, is_shown(n))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn the_lines_shown_are_found_from_everywhere(
        bytes in file(), more in file(), conditions in conditions(), block in 1usize..60, around in 0u64..4,
        ends in any::<[prop::sample::Index; 6]>(), only_lost in any::<bool>(),
    ) {
        let kept = got(bytes.len(), &ends);
        let scope = if only_lost { LineScope::Lost } else { LineScope::All };
        let filter = LineFilter::new(conditions.clone(), &kept, bytes.len());
        let filter = LineFilter { index: FilterIndex::with_block(bytes.len(), block), ..filter };
        let mut filter = filter.showing(scope, around);
        prop_assert!(filter.count_now(&mut OwnBytes::from(&bytes)));
        let whole = [bytes, more].concat();
        filter.grow(whole.len());
        prop_assert!(filter.count_now(&mut OwnBytes::from(&whole)));

        let has = |at: usize| kept.iter().any(|part| part.contains(&at));
        let is_lost = |line: &[u8], at: usize| {
            let text = line.strip_suffix(b"\n").filter(|text| !text.is_empty()).unwrap_or(line);
            !(at..at + text.len()).all(has)
        };
        let mut at = 0;
        let lost: Vec<bool> = whole.split_inclusive(|byte| *byte == b'\n').map(|line| {
            at += line.len();
            !only_lost || is_lost(line, at - line.len())
        }).collect();
        let lines = naive(&whole, &conditions, &lost, around as usize);

        let doc = Doc::file(whole.len());
        let files = Files { out: &whole, err: &[], index: None };
        let reader = Reader { doc: &doc, files, cost: None };
        let len = whole.len() as u64;
        for at in (0..=len).step_by(1 + whole.len() / 500) {
            let here = lines.iter().position(|line| line.1 > at).unwrap_or(lines.len());
            let next = lines[here..].iter().find(|line| line.2).map_or(len, |line| line.0.max(at));
            prop_assert_eq!(filter.onward(&reader, at), next, "onward from {}", at);
            let before = lines.iter().rposition(|line| line.0 < at).map_or(0, |last| last + 1);
            let last = lines[..before].iter().rev().find(|line| line.2).map_or(0, |line| line.1.min(at));
            prop_assert_eq!(filter.backward(&reader, at), last, "backward from {}", at);
        }
    }
}
