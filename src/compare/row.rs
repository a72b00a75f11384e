//! The row of one policy: what it does to an output, and how many matches of a pattern lie in what it keeps.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Serialize;

use crate::base::human::{limit_in, lines};
use crate::preview::{self, Input, LimitHit, Output, Part, Policy, Preview, Stream, Totals, TotalsMask};
use crate::text::search::{self, Pattern};
use crate::text::supply::Supply;
use crate::text::utf16::without_half;

use super::{join, kept_ranges};

/// What one policy does to an output, as in `overspill compare --json`. Lines are counted in the policy's own terms,
/// bytes are UTF-8 bytes of the decoded text; `matches` only with a pattern.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Comparison {
    pub(crate) policy: String,
    pub(crate) confidence: Option<&'static str>,
    pub(crate) status: String,
    pub(crate) truncated: bool,
    pub(crate) truncated_by: Option<&'static str>,
    /// The limit that cut, as [`describe_excess`] says it.
    #[serde(skip)]
    pub(crate) over: Option<String>,
    pub(crate) keeps: Option<KeptPart>,
    pub(crate) total_lines: Option<u64>,
    pub(crate) kept_lines: Option<u64>,
    pub(crate) removed_lines: Option<u64>,
    pub(crate) total_bytes: Option<u64>,
    pub(crate) kept_bytes: Option<u64>,
    pub(crate) removed_bytes: Option<u64>,
    pub(crate) tokens_estimate: Option<u64>,
    pub(crate) preview_bytes: Option<u64>,
    pub(crate) matches: Option<u64>,
    pub(crate) kept_matches: Option<u64>,
    pub(crate) limits_from: Option<String>,
    /// The lines kept, and all, as [`lines_as_numbered`] counts them.
    #[serde(skip)]
    pub(crate) numbered: [Option<u64>; 2],
    /// The number of errors and warnings that the model gets, once they are counted.
    #[serde(skip)]
    pub(crate) errors_kept: Option<u64>,
    /// The stretches of the output that the model gets, in order.
    #[serde(skip)]
    pub(crate) kept: Vec<Range<usize>>,
    #[serde(skip)]
    pub(crate) missing: TotalsMask,
}

/// Returns which part of a long output a policy keeps, by trying it; `None` if it cuts none.
pub(crate) fn end_kept(policy: &Policy) -> Option<KeptPart> {
    static PROBE: LazyLock<(String, Totals)> = LazyLock::new(|| {
        let long = "one line of a long output, as many as no limit allows for\n".repeat(PROBE_LINES);
        let totals = Totals::count(long.as_bytes());
        (long, totals)
    });
    let (long, totals) = &*PROBE;
    let input = Input::new(Output { bytes: long.as_bytes(), totals }, "/tmp/output");
    Comparison::new(policy, "policy", &input).keeps.filter(|keeps| *keeps != KeptPart::All)
}

/// How far back the start of a line is looked for, in bytes.
const LOOK_BACK: usize = 64 << 10;
/// The number of lines of the output on which policies are tried: 2 MB, more than any limit of an agent.
const PROBE_LINES: usize = 35_000;

words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub(crate) enum KeptPart {
        All => "all",
        Head => "head",
        Tail => "tail",
        #[serde(rename = "head+tail")]
        Both => "head+tail",
        /// Neither its start nor its end.
        Inside => "inside",
        Nothing => "nothing",
    }
}

impl KeptPart {
    /// Reads it off the ranges of the output that the parts stand for. A line feed that ends the output may be missing.
    fn new(preview: &Preview, bytes: &[u8]) -> Self {
        if !preview.truncated {
            return KeptPart::All;
        }
        let ranges =
            preview.parts.iter().filter_map(Part::range).filter(|(stream, _)| *stream == Stream::Stdout);
        let (mut start, mut end) = (usize::MAX, None);
        for (_, range) in ranges.filter(|(_, range)| !range.is_empty()) {
            (start, end) = (start.min(range.start), end.max(Some(range.end)));
        }
        let Some(end) = end else { return KeptPart::Nothing };
        let rest = bytes.get(end..).unwrap_or_default();
        match (start == 0, matches!(rest, b"" | b"\n" | b"\r\n")) {
            (true, true) => KeptPart::Both,
            (true, false) => KeptPart::Head,
            (false, true) => KeptPart::Tail,
            (false, false) => KeptPart::Inside,
        }
    }
}

impl Comparison {
    /// Plans the preview of an output under a policy. `limits_from` says where its limits come from.
    pub(crate) fn new(policy: &Policy, limits_from: &str, input: &Input) -> Self {
        match preview::plan(input, policy) {
            Err(error) => Self::failed(policy.name(), &error),
            Ok(preview) => Self::from_preview(policy, limits_from, &preview, input),
        }
    }

    pub(crate) fn failed(name: &str, error: &dyn std::error::Error) -> Self {
        let (policy, status) = (name.to_owned(), format!("failed: {error}"));
        Self { policy, status, ..Self::default() }
    }

    fn from_preview(policy: &Policy, limits_from: &str, preview: &Preview, input: &Input) -> Self {
        let bytes = preview.byte_len(input);
        let lines = input.output.totals.line_feeds.map(|feeds| lines_from(feeds, input.output.bytes));
        Self {
            policy: policy.name().to_owned(),
            confidence: Some(policy.confidence().as_str()),
            limits_from: Some(limits_from.to_owned()),
            status: preview.status.describe(),
            truncated: preview.truncated,
            truncated_by: preview.truncated_by.map(|limit| limit.as_str()),
            over: preview.truncated_by.and_then(|limit| describe_excess((limit, policy.limit(limit)))),
            keeps: Some(KeptPart::new(preview, input.output.bytes)),
            total_lines: preview.total.lines,
            kept_lines: preview.kept.lines,
            removed_lines: preview.removed().lines,
            total_bytes: preview.total.bytes,
            kept_bytes: preview.kept.bytes,
            removed_bytes: preview.removed().bytes,
            tokens_estimate: Some(bytes.div_ceil(4)),
            preview_bytes: Some(bytes),
            numbered: lines_as_numbered(preview, input.output.bytes, lines),
            kept: kept_ranges(&preview.parts, input.output.bytes, Stream::Stdout),
            missing: preview.missing | preview.counts_missing,
            ..Self::default()
        }
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.status == "ok"
    }

    /// Describes what cut the output: `over 50 KB`; or why there is no preview.
    pub(crate) fn cut_by(&self) -> &str {
        match self.over.as_deref().or(self.truncated_by) {
            _ if !self.is_ok() => &self.status,
            Some(limit) => limit,
            None if self.truncated => "cut",
            None => "not cut",
        }
    }

    /// Most matches first, then most bytes kept, then the shortest preview; a policy without a preview last.
    pub(crate) fn cmp_by_kept(&self, other: &Self) -> Ordering {
        let key = |row: &Self| {
            let most = |figure: Option<u64>| (figure.is_none(), Reverse(figure));
            let least = (row.preview_bytes.is_none(), row.preview_bytes);
            (!row.is_ok(), most(row.kept_matches), most(row.kept_bytes), least)
        };
        key(self).cmp(&key(other)).then_with(|| self.policy.cmp(&other.policy))
    }
}

/// Says that a limit cut an output: `over 50 KB`; `None` if it is not known how much it allows.
pub(crate) fn describe_excess((hit, most): (LimitHit, Option<u64>)) -> Option<String> {
    match hit {
        LimitHit::Size(unit) => Some(format!("over {}", limit_in(most?, unit.describe()))),
        LimitHit::Lines | LimitHit::Matches => Some(format!("over {}", lines(most?))),
    }
}

/// Returns how many lines an output with this many line feeds has, as `less` counts them.
pub(crate) fn lines_from(feeds: u64, bytes: &[u8]) -> u64 {
    feeds + u64::from(without_half(bytes).last().is_some_and(|last| *last != b'\n'))
}

/// Returns how many lines were kept, and of how many, as those on the screen are numbered: an empty one after the last
/// line feed, which most agents count, is none. `lines` are the output's as `less` counts them.
pub(crate) fn lines_as_numbered(preview: &Preview, bytes: &[u8], lines: Option<u64>) -> [Option<u64>; 2] {
    let ends_line = without_half(bytes).last().is_none_or(|last| *last == b'\n');
    let last = preview.parts.iter().rev().find_map(Part::range);
    let keeps_end = bytes.is_empty() || last.is_some_and(|(_, range)| range.end == bytes.len());
    let Some(lines) = lines else {
        // Whether the policy counts an empty line at the end is not known yet.
        return [preview.kept.lines.filter(|_| !keeps_end), None];
    };
    let counts_empty = ends_line && preview.total.lines == Some(lines + 1);
    let less = |count: Option<u64>, by: bool| count.map(|count| count.saturating_sub(u64::from(by)));
    [less(preview.kept.lines, counts_empty && keeps_end), less(preview.total.lines, counts_empty)]
}

/// Counts the matches of a pattern of which each of these rows keeps all, in order. `kept` are the stretches of the output
/// that a row keeps, in order. Returns `None` as soon as `is_wanted`, which is called from time to time, returns false.
pub(crate) fn kept_matches(
    bytes: &[u8],
    supply: &mut impl Supply,
    pattern: &Pattern,
    kept: &[Vec<Range<usize>>],
    is_wanted: impl Fn() -> bool,
) -> Option<Vec<u64>> {
    let mut matches = StretchCounts::new(kept.iter().flatten());
    for lines in lines_of(bytes, kept) {
        let mut start = lines.start;
        while start < lines.end {
            if !is_wanted() {
                return None;
            }
            let stop = (start + search::CHUNK).min(lines.end);
            let found = search::read_starting_in(supply, pattern, start..stop);
            start = stop;
            for found in found {
                start = start.max(found.end);
                matches.add(&found);
            }
        }
    }
    matches.end();
    Some(kept.iter().map(|kept| matches.within(kept)).collect())
}

/// Returns the lines that any row keeps a part of: only these have to be searched.
fn lines_of(bytes: &[u8], kept: &[Vec<Range<usize>>]) -> Vec<Range<usize>> {
    let from_line_start = |stretch: &Range<usize>| {
        let near = stretch.start.saturating_sub(LOOK_BACK);
        let before = bytes.get(near..stretch.start).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map(|at| near + at + 1);
        start.or((near == 0).then_some(0)).unwrap_or(stretch.start)..stretch.end
    };
    join(kept.iter().flatten().map(from_line_start).collect(), &|gap| gap.is_empty())
}

/// Matches seen so far; the memory is that of the stretches, however many matches there are.
#[derive(Debug)]
pub(crate) struct StretchCounts {
    starts: Edges,
    ends: Edges,
    all: u64,
}

/// Positions in order, each with the number of matches before it.
#[derive(Debug)]
struct Edges {
    edges: Vec<(usize, u64)>,
    /// The first edge that is not passed yet.
    next: usize,
}

impl StretchCounts {
    /// Starts counting for these stretches, in any order.
    pub(crate) fn new<'a>(stretches: impl Iterator<Item = &'a Range<usize>> + Clone) -> Self {
        let starts = Edges::new(stretches.clone().map(|stretch| stretch.start));
        let ends = Edges::new(stretches.map(|stretch| stretch.end));
        Self { starts, ends, all: 0 }
    }

    /// Counts a match; matches come in order, disjoint.
    pub(crate) fn add(&mut self, found: &Range<usize>) {
        self.starts.pass(self.all, |edge| edge <= found.start);
        self.ends.pass(self.all, |edge| edge < found.end);
        self.all += 1;
    }

    /// Ends the counting; returns the number of matches.
    pub(crate) fn end(&mut self) -> u64 {
        self.starts.pass(self.all, |_| true);
        self.ends.pass(self.all, |_| true);
        self.all
    }

    /// Returns how many matches stretches hold entirely, of which no two overlap.
    pub(crate) fn within(&self, stretches: &[Range<usize>]) -> u64 {
        let within = |stretch: &Range<usize>| {
            self.ends.before(stretch.end).saturating_sub(self.starts.before(stretch.start))
        };
        stretches.iter().map(within).sum()
    }
}

impl Edges {
    fn new(edges: impl Iterator<Item = usize>) -> Self {
        let mut edges: Vec<usize> = edges.collect();
        edges.sort_unstable();
        edges.dedup();
        Self { edges: edges.into_iter().map(|edge| (edge, 0)).collect(), next: 0 }
    }

    fn pass(&mut self, count: u64, is_passed: impl Fn(usize) -> bool) {
        while let Some((edge, before)) = self.edges.get_mut(self.next) {
            if !is_passed(*edge) {
                return;
            }
            *before = count;
            self.next += 1;
        }
    }

    fn before(&self, edge: usize) -> u64 {
        let found = self.edges.binary_search_by_key(&edge, |(edge, _)| *edge);
        found.ok().and_then(|at| self.edges.get(at)).map_or(0, |(_, before)| *before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keeps(policy: &str, bytes: &[u8]) -> Option<KeptPart> {
        let policy = Policy::builtin(policy).unwrap();
        let totals = Totals::count(bytes);
        let input = Input::new(Output { bytes, totals: &totals }, "/tmp/out");
        Comparison::new(&policy, "policy", &input).keeps
    }

    #[test]
    fn the_kept_part_follows_from_the_ranges() {
        let long = "line\n".repeat(100_000);
        assert_eq!(keeps("opencode/output", b"short\n"), Some(KeptPart::All));
        assert_eq!(keeps("opencode/output", long.as_bytes()), Some(KeptPart::Head));
        assert_eq!(keeps("pi/bash", long.as_bytes()), Some(KeptPart::Tail));
        assert_eq!(keeps("codex/exec", long.as_bytes()), Some(KeptPart::Both));
        assert_eq!(keeps("opencode/output", &[b'x'; 100_000]), Some(KeptPart::Nothing));
    }

    #[test]
    fn the_end_that_a_policy_keeps_is_found_by_trial() {
        let of = |name: &str| end_kept(&Policy::builtin(name).unwrap());
        assert_eq!(of("opencode/output"), Some(KeptPart::Head));
        assert_eq!(of("pi/bash"), Some(KeptPart::Tail));
        assert_eq!(of("codex/exec"), Some(KeptPart::Both));
        assert_eq!(of("copilot-chat/result"), Some(KeptPart::Nothing));
        assert_eq!(of("pi/grep"), Some(KeptPart::Head));
    }

    #[test]
    fn cut_by_names_the_limit_and_its_value() {
        let long = "src/lib.rs:1:1: a match\n".repeat(3000);
        let totals = Totals::count(long.as_bytes());
        let input = Input::new(Output { bytes: long.as_bytes(), totals: &totals }, "/tmp/out");
        let of = |name: &str| Comparison::new(&Policy::builtin(name).unwrap(), "policy", &input);
        for (policy, cut_by) in [
            ("pi/grep", "over 100 lines"),
            ("pi/ls", "over 500 lines"),
            ("pi/find", "over 1,000 lines"),
            ("go-opencode/read", "over 2,000 lines"),
        ] {
            assert_eq!(of(policy).cut_by(), cut_by, "{policy}");
        }
    }

    #[test]
    fn a_comparison_without_totals_lists_the_missing_ones() {
        let policy = Policy::builtin("opencode/output").unwrap();
        let long = "line\n".repeat(100_000);
        let unknown = Comparison::new(&policy, "policy", &Input::from_bytes(long.as_bytes(), "/tmp/out"));
        assert!(!unknown.missing.is_empty());
        let totals = Totals::count(long.as_bytes());
        let input = Input::new(Output { bytes: long.as_bytes(), totals: &totals }, "/tmp/out");
        let known = Comparison::new(&policy, "policy", &input);
        assert_eq!((known.missing, known.total_lines), (TotalsMask::NOTHING, Some(100_001)));
    }

    #[test]
    fn searches_kept_stretches_from_their_line_starts() {
        let bytes = b"one\ntwo\nthree\n";
        let rows = [vec![1..2, 9..11], std::iter::once(5..8).collect()];
        assert_eq!(lines_of(bytes, &rows), [0..2, 4..11]);
    }

    fn row(policy: &str, (matches, bytes, size): (u64, u64, u64)) -> Comparison {
        Comparison {
            status: "ok".to_owned(),
            kept_matches: Some(matches),
            kept_bytes: Some(bytes),
            preview_bytes: Some(size),
            ..Comparison::failed(policy, &std::fmt::Error)
        }
    }

    #[test]
    fn the_most_matches_come_first_and_failures_last() {
        let failed = Comparison::failed("0", &std::fmt::Error);
        let mut rows =
            [failed, row("a", (1, 9, 9)), row("b", (2, 5, 9)), row("c", (2, 6, 9)), row("d", (2, 6, 8))];
        rows.sort_by(Comparison::cmp_by_kept);
        assert_eq!(rows.each_ref().map(|row| row.policy.as_str()), ["d", "c", "b", "a", "0"]);
    }

    proptest! {
        #[test]
        fn stretch_counts_agree_with_a_naive_count(
            gaps in prop::collection::vec((0usize..5, 1usize..5), 0..30),
            stretches in prop::collection::vec((0usize..150, 0usize..80), 0..12),
        ) {
            let mut at = 0;
            let matches: Vec<Range<usize>> = gaps.iter().map(|(gap, len)| {
                let start = at + gap;
                at = start + len;
                start..at
            }).collect();
            let stretches: Vec<Range<usize>> = stretches.iter().map(|(start, len)| *start..start + len).collect();
            let mut counts = StretchCounts::new(stretches.iter());
            matches.iter().for_each(|found| counts.add(found));
            prop_assert_eq!(counts.end(), matches.len() as u64);
            for stretch in &stretches {
                let inside = |found: &&Range<usize>| stretch.start <= found.start && found.end <= stretch.end;
                prop_assert_eq!(counts.within(std::slice::from_ref(stretch)), matches.iter().filter(inside).count() as u64);
            }
        }
    }
}
