//! What each policy makes of the output on the screen: the rows of the policy picker, which a worker fills in.

use std::cmp::{Ordering, Reverse};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::human::{lines, size, thousands, tokens};
use crate::compare::{Comparison, kept_matches};
use crate::config::EffectivePolicy;
use crate::output::describe::describe_size;
use crate::output::plan::PlanTask;
use crate::preview::TotalsMask;
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{LARGEST, ListColumn, ListSpec, NAMES, RowCell, RowLook, Tone, key_of};
use crate::source::{self, ViewSupply};
use crate::text::search::Pattern;
use crate::tui::job::JobContext;

use super::event::{ComparedReply, Counting, OutputEvent};

/// Why a policy is listed where it is: the smallest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PolicyRank {
    InUse,
    /// It may have made this output, according to the output's store.
    Candidate,
    Current,
    /// It is an earlier form of a policy.
    Earlier,
}

/// How many matches, or errors, the output has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MatchTotal {
    pub all: u64,
    pub is_whole: bool,
}

/// The state of the output that figures are of: the generation and length of the file, and the totals that were known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CountedFile {
    pub file: (u64, usize),
    pub known: TotalsMask,
}

#[derive(Debug, Clone)]
pub struct PolicyRow {
    pub choice: Arc<EffectivePolicy>,
    rank: PolicyRank,
    /// `None` until it is made.
    made: Option<Comparison>,
    of: CountedFile,
    /// `None` without a search.
    matches: Option<MatchTotal>,
    errors: MatchTotal,
}

impl PolicyRow {
    pub(super) fn new(choice: EffectivePolicy, rank: PolicyRank) -> Self {
        let (of, errors) = (CountedFile::default(), MatchTotal::default());
        Self { choice: Arc::new(choice), rank, made: None, of, matches: None, errors }
    }

    /// Whether its figures are missing, or lack totals which are known by now.
    pub(super) fn is_due(&self, now: CountedFile) -> bool {
        let made = self.made.as_ref().filter(|_| self.of.file == now.file);
        made.is_none_or(|made| made.missing.meets(now.known.without(self.of.known)))
    }

    pub(super) fn set_made(&mut self, mut made: Comparison, of: CountedFile) {
        if let Some(old) = &self.made {
            (made.finds_kept, made.errors_kept) = (old.finds_kept, old.errors_kept);
        }
        (self.made, self.of) = (Some(made), of);
    }

    pub(super) fn set_kept(&mut self, what: Counting, kept: u64) {
        let Some(made) = &mut self.made else { return };
        let kept = Some(kept).filter(|_| made.preview_bytes.is_some());
        match what {
            Counting::Matches => made.finds_kept = kept,
            Counting::Severity(_) => made.errors_kept = kept,
        }
    }

    pub(super) fn set_totals(&mut self, (matches, errors): (Option<MatchTotal>, MatchTotal)) {
        (self.matches, self.errors) = (matches, errors);
    }
}

pub(super) static SPEC: ListSpec<PolicyRow> =
    ListSpec {
        noun: "policy",
        columns: &[
            ListColumn::new("policy", Left, 24, |row: &PolicyRow, _| {
                let tone = if row.rank == PolicyRank::Earlier { Tone::Dim } else { Tone::Plain };
                RowCell::new(row.choice.policy.name(), tone)
            })
            .sorts('n', NAMES, |a, b| {
                (a.rank, a.choice.policy.name()).cmp(&(b.rank, b.choice.policy.name()))
            }),
            ListColumn::new("matches", Right, 15, |row: &PolicyRow, _| {
                row.matches.map_or_else(RowCell::default, |all| kept_of(row, all, |made| made.finds_kept))
            })
            .sorts('m', LARGEST, |a, b| by(a, b, |made| made.finds_kept.map(Reverse))),
            ListColumn::new("errors", Right, 15, |row: &PolicyRow, _| match row.errors.all {
                0 => RowCell::default(),
                _ => kept_of(row, row.errors, |made| made.errors_kept),
            })
            .yields(4)
            .sorts('e', LARGEST, |a, b| by(a, b, |made| made.errors_kept.map(Reverse))),
            ListColumn::new("lines", Right, 11, |row, _| figure(row, |made| made.kept_lines, thousands))
                .sorts('l', LARGEST, |a, b| by(a, b, |made| made.kept_lines.map(Reverse))),
            ListColumn::new("bytes", Right, 9, |row, _| figure(row, |made| made.kept_bytes, size))
                .yields(2)
                .sorts('b', LARGEST, |a, b| by(a, b, |made| made.kept_bytes.map(Reverse))),
            ListColumn::new("tokens", Right, 7, |row, _| figure(row, |made| made.preview_bytes, tokens))
                .sorts('t', ["fewest first", "most first"], |a, b| by(a, b, |made| made.preview_bytes)),
            ListColumn::new("keeps", Left, 9, |row: &PolicyRow, _| {
                RowCell::plain(
                    row.made.as_ref().and_then(|made| made.keeps).map_or("", |keeps| keeps.as_str()),
                )
            })
            .yields(3),
            ListColumn::new("cut by", Left, 0, cut_by),
        ],
        groups: &[],
        words: &[("earlier", |row, _| row.rank == PolicyRank::Earlier)],
        known: |row| row.choice.policy.summary().to_owned(),
        key: |row| key_of(row.choice.policy.name()),
        sum: |_| String::new(),
        mark: |row| match row.rank {
            PolicyRank::InUse => RowCell::new("*", Tone::Accent),
            _ => RowCell::plain(" "),
        },
    };

/// Compares two rows by a figure, the smallest first; what has none comes last, what made no preview at the very end.
fn by<T: Ord>(a: &PolicyRow, b: &PolicyRow, of: fn(&Comparison) -> Option<T>) -> Ordering {
    let key = |row: &PolicyRow| {
        let made = row.made.as_ref();
        let figure = made.and_then(of);
        (made.is_none_or(|made| !made.is_ok()), figure.is_none(), figure)
    };
    key(a).cmp(&key(b))
}

/// Formats a figure: `…` while it is being made or counted, `–` if there is none.
fn figure(row: &PolicyRow, of: fn(&Comparison) -> Option<u64>, words: fn(u64) -> String) -> RowCell {
    let Some(made) = &row.made else { return RowCell::dim("…") };
    match of(made) {
        Some(number) => RowCell::plain(words(number)),
        None if made.missing.is_empty() => RowCell::dim("–"),
        None => RowCell::dim("…"),
    }
}

/// Formats the matches that the model gets, of all: `2/14`, with `+` while they are being counted.
fn kept_of(row: &PolicyRow, total: MatchTotal, of: fn(&Comparison) -> Option<u64>) -> RowCell {
    let more = if total.is_whole { "" } else { "+" };
    match row.made.as_ref().map(|made| (of(made), made.is_ok())) {
        Some((Some(kept), _)) => {
            let tone = if kept < total.all { Tone::Warning } else { Tone::Plain };
            RowCell::new(format!("{}/{}{more}", thousands(kept), thousands(total.all)), tone)
        }
        Some((None, false)) => RowCell::dim("–"),
        _ => RowCell::dim("…"),
    }
}

/// Says which limit cut the output: `over 50 KB`; or why there is no preview.
fn cut_by(row: &PolicyRow, _: &RowLook) -> RowCell {
    let Some(made) = &row.made else { return RowCell::default() };
    let policy = &row.choice.policy;
    let limit = match made.truncated_by {
        Some("lines") => policy.max_lines().map(lines),
        Some("matches") | None => None,
        Some(_) => policy.max_size().map(|most| describe_size(policy, most)),
    };
    match limit {
        _ if !made.is_ok() => RowCell::new(made.cut_by(), Tone::Warning),
        Some(limit) => RowCell::plain(format!("over {limit}")),
        None => RowCell::plain(made.cut_by()),
    }
}

/// A task for a worker: plan the preview of an output under these policies, by the numbers of their rows.
pub(super) struct CompareJob {
    pub choices: Vec<(usize, Arc<EffectivePolicy>)>,
    /// The patterns whose matches are counted: of the search, and of errors.
    pub patterns: [(Counting, Option<Pattern>); 2],
    pub task: PlanTask,
}

impl CompareJob {
    /// Reports the rows as they are made, then the matches that they keep, then the end.
    pub(super) fn run(&self, context: &JobContext) {
        let report = |reply| context.report(OutputEvent::Compared(reply));
        let kept = Mutex::new(Vec::new());
        let make = |(): &mut (), at: usize| {
            let (row, choice) = &self.choices[at];
            if !context.go_on() {
                return ControlFlow::Break(());
            }
            let mut made = self.task.compare(choice, &|| context.is_wanted());
            if !context.is_wanted() {
                return ControlFlow::Break(());
            }
            let stretches = std::mem::take(&mut made.kept);
            kept.lock().unwrap_or_else(PoisonError::into_inner).push((*row, stretches));
            report(ComparedReply::Row(*row, Box::new(made)))
        };
        // A policy that reads the whole output must not hold up the others, so there are several threads.
        source::share_out(self.choices.len(), || (), make);
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (rows, kept): (Vec<usize>, Vec<Vec<Range<usize>>>) = kept.into_iter().unzip();
        for (what, pattern) in &self.patterns {
            let mut supply = ViewSupply::from(&self.task.view);
            let count =
                |pattern| kept_matches(&self.task.view, &mut supply, pattern, &kept, || context.go_on());
            if let Some(matches) = pattern.as_ref().and_then(count) {
                let _ = report(ComparedReply::Matches(*what, rows.iter().copied().zip(matches).collect()));
            }
        }
        if context.go_on() {
            let _ = report(ComparedReply::Ended);
        }
    }
}
