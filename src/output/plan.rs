//! The task of making a preview, and its result. A worker runs it, or the thread of the screens if the output is small.

use std::ops::Range;
use std::sync::Arc;

use crate::compare::{Comparison, kept_ranges};
use crate::config::EffectivePolicy;
use crate::document::reader::{Files, Reader};
use crate::document::scroll::Dividers;
use crate::document::{Class, Doc};
use crate::preview::{
    self, Input, InputContext, LineIndex, PlanError, Policy, Preview, Stream, Totals, Unit,
};
use crate::source::MapView;
use crate::text::ansi;
use crate::text::filter::KeptRanges;
use crate::text::index::BlockIndex;
use crate::text::units::{Measure, TotalsMask, measure_all};

use super::recorded::Differences;

/// Outputs up to this many bytes are planned on the thread of the screens.
pub const AT_ONCE: usize = 1 << 20;

/// Longer previews are not searched for escape sequences, in bytes.
const MAX_SEARCHED: u64 = 4 << 20;

/// From this percentage of the limit on, the status line tells how much of it the escape sequences took.
const MIN_PERCENT: u64 = 5;

/// Everything needed to make a preview, in a form that a worker can take.
#[derive(Debug, Clone)]
pub struct PlanTask {
    pub policy: Policy,
    pub(crate) view: MapView,
    pub(crate) context: InputContext<MapView>,
    pub(crate) totals: Totals,
    pub(crate) index: BlockIndex,
    /// The text that the agent recorded, if that is to be shown instead of what the policy makes.
    pub(crate) recorded: Option<Arc<str>>,
    /// The recorded text, if it is to be compared with what the policy makes.
    pub(crate) compared: Option<Arc<str>>,
    /// What of the recorded text is the agent's own, as [`super::recorded::RecordedCall::notices`].
    pub(crate) notices: Arc<[Range<usize>]>,
    /// The policy, or the recorded text, of the preview that a what-if is compared with, if that is not made yet.
    pub(crate) first: Option<(Policy, Option<Arc<str>>)>,
}

#[derive(Debug)]
pub struct PlanDone {
    /// Distinct bytes of the output that were read to make it.
    pub touched: u64,
    /// The length of the output in bytes when it was made.
    pub(crate) bytes: usize,
    pub(crate) policy: Policy,
    pub(crate) made: MadePreview,
    pub(crate) first: Option<Preview>,
}

#[derive(Debug)]
pub struct MadePreview {
    /// `Err` says why there is none; empty at first.
    pub preview: Result<Preview, String>,
    pub seen: Doc,
    pub kept: Vec<Range<usize>>,
    pub(crate) rules: Dividers,
    /// How much of the size limit the escape sequences took, in percent, if it is worth a word.
    pub(crate) escapes: Option<u64>,
    pub(crate) differences: Option<Differences>,
}

impl Default for MadePreview {
    fn default() -> Self {
        let (preview, seen, rules) = (Err(String::new()), Doc::default(), Dividers::default());
        Self { preview, seen, kept: Vec::new(), rules, escapes: None, differences: None }
    }
}

impl PlanTask {
    /// Makes the preview. Returns `None` if it is no longer wanted.
    pub fn run(&self, wanted: &dyn Fn() -> bool) -> Option<PlanDone> {
        let seek = self.seek();
        let input = self.input(&seek, wanted);
        let make = |policy, recorded: &Option<Arc<str>>| {
            let (planned, touched) = match recorded {
                Some(text) => (preview::recorded(text, &input), 0),
                None => preview::plan_touching(&input, policy),
            };
            let sized = planned.map(|preview| {
                let text_bytes = preview.kept.bytes.map(|_| preview.byte_len(&input));
                Preview { text_bytes, ..preview }
            });
            (sized, touched)
        };
        let (planned, touched) = make(&self.policy, &self.recorded);
        if matches!(planned, Err(PlanError::Cancelled)) || !wanted() {
            return None;
        }
        let first = self.first.as_ref().map(|(policy, recorded)| make(policy, recorded));
        let seen = planned.as_ref().map(|preview| Doc::preview(preview, &input)).unwrap_or_default();
        let seen = if self.notices.is_empty() { seen } else { seen.with_notices(&self.notices) };
        let kept = |preview: &Preview| kept_ranges(&preview.parts, &self.view, Stream::Stdout);
        let kept = planned.as_ref().map(kept).unwrap_or_default();
        let differences = self.compared.as_ref().and_then(|text| {
            let other = self.recorded.as_ref().and_then(|_| preview::plan(&input, &self.policy).ok());
            let made = if self.recorded.is_some() { other.as_ref()? } else { planned.as_ref().ok()? };
            Differences::find(text, made, &input, self.recorded.is_some())
        });
        wanted().then(|| PlanDone {
            touched: first.as_ref().map_or(touched, |(_, first)| touched.max(*first)),
            first: first.and_then(|(first, _)| first.ok()),
            bytes: self.view.len(),
            policy: self.policy.clone(),
            made: MadePreview {
                preview: planned.map_err(|error| error.to_string()),
                rules: Dividers::new(&self.view, &kept),
                escapes: self.share_of_escapes(&seen),
                seen,
                kept,
                differences,
            },
        })
    }

    pub(crate) fn would_keep(&self, policy: &Policy, offset: usize, wanted: &dyn Fn() -> bool) -> bool {
        let seek = self.seek();
        let input = self.input(&seek, wanted);
        wanted()
            && preview::plan(&input, policy).is_ok_and(|preview| {
                KeptRanges(&kept_ranges(&preview.parts, &self.view, Stream::Stdout))
                    .covers(&(offset..offset + 1))
            })
    }

    /// Compares a policy by its preview; its lines are counted as they are numbered on the screen.
    pub(crate) fn compare(&self, choice: &EffectivePolicy, wanted: &dyn Fn() -> bool) -> Comparison {
        let seek = self.seek();
        Comparison::new(&choice.policy, &choice.limits_from.to_string(), &self.input(&seek, wanted))
    }

    fn seek(&self) -> (&BlockIndex, &MapView) {
        (&self.index, &self.view)
    }

    fn input<'a>(&'a self, seek: &'a dyn LineIndex, wanted: &'a dyn Fn() -> bool) -> Input<'a> {
        let output = preview::Output { bytes: &self.view, totals: &self.totals };
        Input { lines: Some(seek), wanted: Some(wanted), ..self.context.input(output) }
    }

    fn err(&self) -> &[u8] {
        self.context.stderr.as_ref().map_or(&[], |(view, _)| view)
    }

    pub(crate) fn is_small(&self) -> bool {
        self.view.len() + self.err().len() <= AT_ONCE
    }

    /// Returns the share of the size limit that escape sequences take, in percent; `None` up to 5, without a limit, in
    /// cells or tokens, or in a preview that is too long.
    fn share_of_escapes(&self, seen: &Doc) -> Option<u64> {
        let limit = self.policy.max_size()?;
        let (want, of): (TotalsMask, fn(&Measure) -> u64) = match self.policy.unit() {
            Unit::Bytes => (TotalsMask::DECODED_BYTES, |measure| measure.decoded_bytes),
            Unit::Utf16 => (TotalsMask::UNITS, |measure| measure.units),
            Unit::Chars => (TotalsMask::POINTS, |measure| measure.points),
            Unit::Cells | Unit::Tokens => return None,
        };
        if seen.len() > MAX_SEARCHED {
            return None;
        }
        let files = Files { out: &self.view, err: self.err(), index: None };
        let reader = Reader { doc: seen, files, cost: None };
        let output = seen.classes(0..seen.len()).filter(|(_, class)| *class != Class::Notice);
        let size = |(bytes, _): (&[u8], _)| of(&measure_all(bytes, want));
        let taken: u64 =
            output.map(|(range, _)| ansi::sequences(&reader.copy(range)).map(size).sum::<u64>()).sum();
        let percent = (u128::from(taken) * 100 / u128::from(limit.max(1))) as u64;
        (percent > MIN_PERCENT).then_some(percent)
    }
}

impl LineIndex for (&BlockIndex, &MapView) {
    fn line_start(&self, line: u64) -> Option<usize> {
        self.0.offset_of(self.1, line).map(|offset| offset as usize)
    }
}
