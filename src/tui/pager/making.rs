//! The task of making a preview, and its result. A worker runs it, or the thread of the screens if the output is small.

use std::ops::Range;
use std::sync::Arc;

use crate::compare::Comparison;
use crate::config::EffectivePolicy;
use crate::preview::{self, Input, InputContext, LineSeek, PlanError, Policy, Preview, Totals};
use crate::source::MapView;
use crate::text::index::BlockIndex;

use super::differences::Differences;
use super::dividers::Dividers;
use super::doc::Doc;
use super::escapes;
use super::reader::Files;

/// Outputs up to this many bytes are planned on the thread of the screens.
pub const AT_ONCE: usize = 1 << 20;

/// Everything needed to make a preview, in a form that a worker can take.
#[derive(Debug, Clone)]
pub struct Making {
    /// The number of the task; results of older tasks are dropped.
    pub number: u64,
    /// The policy with its limits.
    pub policy: Policy,
    pub(crate) view: MapView,
    pub(crate) context: InputContext<MapView>,
    pub(crate) totals: Totals,
    pub(crate) index: BlockIndex,
    /// The text that the agent recorded, if that is to be shown instead of what the policy makes.
    pub(crate) recorded: Option<Arc<str>>,
    /// The recorded text, if it is to be compared with what the policy makes.
    pub(crate) compared: Option<Arc<str>>,
    /// What of the recorded text is the agent's own, as [`crate::tui::recorded::RecordedCall::notices`].
    pub(crate) notices: Arc<[Range<usize>]>,
}

/// A finished preview, and what the panes show of it.
#[derive(Debug)]
pub struct Planned {
    /// The number of the task.
    pub number: u64,
    /// Distinct bytes of the output that were read to make it.
    pub touched: u64,
    pub(crate) bytes: usize,
    pub(crate) policy: Policy,
    pub(crate) preview: Result<Preview, String>,
    pub(crate) seen: Doc,
    pub(crate) kept: Vec<Range<usize>>,
    pub(crate) rules: Dividers,
    /// How much of the size limit the escape sequences took, in percent, if it is worth a word.
    pub(crate) escapes: Option<u64>,
    /// What differs from the other of the two texts, if they were compared.
    pub(crate) differences: Option<Differences>,
}

impl Making {
    /// Makes the preview. Returns `None` if it is no longer wanted.
    pub fn run(&self, wanted: &dyn Fn() -> bool) -> Option<Planned> {
        let seek = Seek { index: &self.index, bytes: &self.view };
        let input = self.input(&seek, wanted);
        let (planned, touched) = match &self.recorded {
            Some(text) => (preview::recorded(text, &input), 0),
            None => preview::plan_touching(&input, &self.policy),
        };
        if let Err(PlanError::Cancelled) = planned {
            return None;
        }
        let seen = planned.as_ref().map(|preview| Doc::preview(preview, &input)).unwrap_or_default();
        let seen = if self.notices.is_empty() { seen } else { seen.with_notices(&self.notices) };
        let kept = seen.shown();
        let rules = Dividers::of(&self.view, &kept, &gaps(&kept, self.view.len()));
        let differences = self.compared.as_ref().and_then(|text| {
            let other = self.recorded.as_ref().and_then(|_| preview::plan(&input, &self.policy).ok());
            let made = if self.recorded.is_some() { other.as_ref()? } else { planned.as_ref().ok()? };
            Differences::find(text, made, &input, self.recorded.is_some())
        });
        let err = self.context.stderr.as_ref().map_or(&[][..], |(view, _)| &view[..]);
        let escapes = escapes::share(&seen, Files { out: &self.view, err, index: None }, &self.policy);
        wanted().then(|| Planned {
            number: self.number,
            touched,
            bytes: self.view.len(),
            policy: self.policy.clone(),
            preview: planned.map_err(|error| error.to_string()),
            seen,
            kept,
            rules,
            escapes,
            differences,
        })
    }

    /// Whether the model would get the byte at `offset` under `policy`.
    pub(crate) fn would_keep(&self, policy: &Policy, offset: usize, wanted: &dyn Fn() -> bool) -> bool {
        let seek = Seek { index: &self.index, bytes: &self.view };
        let input = self.input(&seek, wanted);
        wanted()
            && preview::plan(&input, policy)
                .is_ok_and(|preview| holds(&Doc::preview(&preview, &input).shown(), offset))
    }

    /// Plans the output under another policy, and returns its row of the comparison.
    pub(crate) fn compare(&self, choice: &EffectivePolicy, wanted: &dyn Fn() -> bool) -> Comparison {
        let seek = Seek { index: &self.index, bytes: &self.view };
        Comparison::of(&choice.policy, &choice.limits_from.to_string(), &self.input(&seek, wanted))
    }

    /// Returns the bytes of the output.
    pub(crate) fn view(&self) -> &MapView {
        &self.view
    }

    /// Returns the length of the output in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.view.len()
    }

    fn input<'a>(&'a self, seek: &'a Seek<'a>, wanted: &'a dyn Fn() -> bool) -> Input<'a> {
        let output = preview::Output { bytes: &self.view, totals: &self.totals };
        Input { lines: Some(seek), wanted: Some(wanted), ..self.context.input(output) }
    }

    /// Whether the output is small enough to be planned on the thread of the screens.
    pub(crate) fn is_small(&self) -> bool {
        self.view.len() + self.context.stderr.as_ref().map_or(0, |(view, _)| view.len()) <= AT_ONCE
    }
}

/// Returns the gaps between the ranges `kept` in a file of `len` bytes.
pub(crate) fn gaps(kept: &[Range<usize>], len: usize) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut at = 0;
    for range in kept {
        if range.start > at {
            gaps.push(at..range.start);
        }
        at = at.max(range.end);
    }
    if at < len {
        gaps.push(at..len);
    }
    gaps
}

/// Finds lines with the block index.
struct Seek<'a> {
    index: &'a BlockIndex,
    bytes: &'a [u8],
}

impl LineSeek for Seek<'_> {
    fn line_start(&self, line: u64) -> Option<usize> {
        self.index.offset_of(self.bytes, line).map(|offset| offset as usize)
    }
}

/// Whether one of `ranges`, which must be sorted and disjoint, contains `offset`.
pub(crate) fn holds(ranges: &[Range<usize>], offset: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= offset);
    ranges.get(next).is_some_and(|range| range.start <= offset)
}
