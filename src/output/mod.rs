//! One output that is open: what it is, its bytes, what has been counted of it, and what the model got or would get of it.

pub(crate) mod describe;
pub(crate) mod lines;
pub mod plan;
pub mod recorded;

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::base::provenance::{Certainty, Extent, Warning};
use crate::capture::{Mishap, NOT_SAVED, RunRecord};
use crate::config::EffectivePolicy;
use crate::document::Doc;
use crate::document::filter::LineFilter;
use crate::document::reader::{Cost, Files, Reader};
use crate::document::scans::{CountedChunks, UncountedBlocks};
use crate::document::scroll::{Scroll, Viewport};
use crate::preview::{InputContext, Policy, Preview, Totals};
use crate::source::{MapView, Source};
use crate::text::filter::KeptRanges;
use crate::text::index::{BlockCounts, BlockIndex};
use crate::text::units::{Measure, TotalsMask, measure_all};
use crate::text::utf16::ByteOrder;

use plan::{MadePreview, PlanDone, PlanTask};
use recorded::{CallSearch, PreviewFrom, RecordedCall};

/// Files up to this many bytes are counted at once when only their preview is shown beside the list.
const COUNTED_AT_ONCE: usize = 4 << 20;

/// One of the two texts of an output. Also names the pane that shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Side {
    #[default]
    Preview,
    Spill,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Side::Preview => Side::Spill,
            Side::Spill => Side::Preview,
        }
    }
}

/// How the preview shown relates to the one requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PlanState {
    Made,
    Awaited {
        /// Whether the user is waiting for it; otherwise it is made because more lines have been counted.
        asked: bool,
        /// Whether its input has changed in the meantime, so that it has to be made again.
        again: bool,
    },
    /// There is no preview: none was requested yet, or the user gave up waiting.
    #[default]
    Missing,
}

pub struct OpenOutput {
    pub subject: Subject,
    pub view: MapView,
    /// Why the stream that it comes from ended early.
    pub fault: Option<String>,
    /// How its file is compressed, and the length of that in bytes; `None` if it is not.
    pub packed: Option<(&'static str, u64)>,
    pub index: BlockIndex,
    tally: CountedChunks,
    pub first: EffectivePolicy,
    /// The preview under `first`, if it has been made.
    pub first_preview: Option<Preview>,
    pub made: MadePreview,
    state: PlanState,
    made_by: Option<(PreviewFrom, EffectivePolicy)>,
    /// Maximum number of distinct bytes of the output that any plan on the thread of the screens has read.
    pub touched: u64,
    pub file: Doc,
    pub filter: Option<LineFilter>,
    pub recorded: Option<RecordedCall>,
    /// Whether the preview is the recorded text, if there is one.
    pub(crate) preview_from: PreviewFrom,
    /// Whether what was recorded and what the policy makes are to be compared.
    pub(crate) is_compared: bool,
    /// The call that it is of, if it was not opened from its records.
    pub(crate) call_search: CallSearch,
}

impl OpenOutput {
    pub fn new(subject: Subject, view: MapView) -> Self {
        Self {
            index: BlockIndex::new(view.len() as u64),
            file: Doc::file(view.len()),
            view,
            fault: None,
            packed: None,
            tally: CountedChunks::default(),
            first: subject.policy.clone(),
            subject,
            first_preview: None,
            made: MadePreview::default(),
            state: PlanState::default(),
            made_by: None,
            touched: 0,
            filter: None,
            recorded: None,
            preview_from: PreviewFrom::default(),
            is_compared: false,
            call_search: CallSearch::default(),
        }
    }

    pub fn policy(&self) -> &Policy {
        &self.subject.policy.policy
    }

    /// Creates an output, counted at once if it is small enough for that to be fast.
    pub fn counted_now(subject: Subject, view: MapView) -> Self {
        let mut output = Self::new(subject, view);
        if output.view.len() <= COUNTED_AT_ONCE {
            output.start_counting();
            let counts = BlockIndex::count(&output.view, output.index.block(), 0..output.index.blocks());
            let measure = measure_all(&output.view, TotalsMask::ALL);
            output.add_counts(&counts, (0..output.view.len() as u64, measure));
        }
        output
    }

    /// Creates the task that makes the preview again. `asked` is whether the user is waiting for it.
    pub fn replan(&mut self, asked: bool) -> PlanTask {
        self.state = PlanState::Awaited { asked, again: false };
        self.task()
    }

    pub fn task(&self) -> PlanTask {
        let is_compared = self.is_compared && self.limits_are_first();
        let needs_first = self.first_preview.is_none() && !self.limits_are_first();
        let recorded = || self.recorded.as_ref().map(|recorded| Arc::clone(&recorded.text));
        PlanTask {
            policy: self.policy().clone(),
            view: self.view.clone(),
            context: self.subject.context.clone(),
            totals: self.totals(),
            index: self.index.clone(),
            recorded: self.shown_record().map(|recorded| Arc::clone(&recorded.text)),
            compared: self.recorded.as_ref().filter(|_| is_compared).map(|recorded| recorded.text.clone()),
            notices: self.shown_record().map(|recorded| Arc::clone(&recorded.notices)).unwrap_or_default(),
            first: needs_first.then(|| (self.first.policy.clone(), recorded())),
        }
    }

    /// Takes over a finished preview. Returns whether it has to be made again.
    pub fn accept(&mut self, planned: PlanDone) -> bool {
        let again = matches!(self.state, PlanState::Awaited { again: true, .. });
        self.state = PlanState::Made;
        self.touched = self.touched.max(planned.touched);
        self.made = planned.made;
        let made_by = EffectivePolicy { policy: planned.policy, ..self.subject.policy.clone() };
        self.made_by = Some((self.preview_from, made_by));
        self.first_preview = match self.limits_are_first() {
            true => self.made.preview.as_ref().ok().cloned(),
            false => planned.first.or(self.first_preview.take()),
        };
        again || planned.bytes < self.view.len()
    }

    pub fn is_awaited(&self) -> bool {
        matches!(self.state, PlanState::Awaited { asked: true, .. })
    }

    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, PlanState::Awaited { .. })
    }

    /// Whether there is a preview, even an outdated one.
    pub fn has_preview(&self) -> bool {
        self.made_by.is_some()
    }

    /// Lets a preview in the making be made again afterwards, because its input has changed. Returns false if the one
    /// shown has to be made again now; true also if there is none.
    pub(crate) fn wait_to_replan(&mut self) -> bool {
        if let PlanState::Awaited { again, .. } = &mut self.state {
            *again = true;
        }
        self.state != PlanState::Made
    }

    /// Stops waiting for a preview. Returns whether an earlier one remains; its policy and limits are then restored.
    pub(crate) fn give_up(&mut self) -> bool {
        let Some(made_by) = self.made_by.clone() else {
            self.state = PlanState::Missing;
            return false;
        };
        (self.preview_from, self.subject.policy) = made_by;
        self.state = PlanState::Made;
        true
    }

    pub(crate) fn made_by(&self) -> Option<&Policy> {
        self.made_by.as_ref().map(|(_, made_by)| &made_by.policy)
    }

    /// Returns what made the preview that is shown; before there is one, what is to make it.
    pub(crate) fn shown_from(&self) -> (PreviewFrom, &Policy) {
        let requested = (self.preview_from, self.policy());
        self.made_by.as_ref().map_or(requested, |(from, made_by)| (*from, &made_by.policy))
    }

    pub fn limits_are_first(&self) -> bool {
        self.policy().is_same(&self.first.policy)
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.made.preview.as_ref().is_ok_and(|preview| preview.truncated)
    }

    pub fn warnings(&self) -> Vec<&Warning> {
        if self.first.is_own {
            return Vec::new();
        }
        let (bytes, cut) = (self.view.len() as u64, self.is_cut());
        let extent = Extent { bytes, last: self.view.last().copied(), cut };
        Warning::applying(self.policy().warnings(), &self.first.store_warnings, extent)
    }

    pub fn utf16(&self) -> Option<ByteOrder> {
        ByteOrder::detect(&self.view)
    }

    pub fn files(&self) -> Files<'_> {
        let err = self.subject.context.stderr.as_ref().map_or(&[][..], |(view, _)| &view[..]);
        Files { out: &self.view, err, index: Some(&self.index) }
    }

    /// Starts a new count, of all totals: which of them are needed shows only once a preview has been made, and one
    /// pass counts them together. Nothing is counted twice.
    pub fn start_counting(&mut self) -> UncountedBlocks {
        let block = self.index.block() as u64;
        let from = self.tally.begin(block, self.view.len() as u64);
        let lines = self.index.uncounted().unwrap_or(self.index.blocks());
        UncountedBlocks { lines, totals: from.div_ceil(block) as usize }
    }

    /// Adds the counts of a chunk. Returns true if the preview should be made again because the counts it needs may now
    /// be complete.
    pub fn add_counts(&mut self, counts: &BlockCounts, (measured, measure): (Range<u64>, Measure)) -> bool {
        let had_lines = self.index.is_complete();
        self.index.insert(counts);
        self.tally.add(measured, measure);
        self.index.is_complete() && !had_lines || self.is_counted()
    }

    pub fn is_counted(&self) -> bool {
        self.index.is_complete() && self.tally.is_whole(self.view.len() as u64)
    }

    /// Returns how much of the line feeds has been counted, in percent of the bytes.
    pub fn counted_percent(&self) -> u64 {
        self.index.counted_bytes() * 100 / self.view.len().max(1) as u64
    }

    pub(crate) fn totals(&self) -> Totals {
        let measured = self.tally.totals(self.view.len() as u64);
        Totals { line_feeds: self.index.line_feeds(), ..measured }
    }

    /// Replaces the bytes with the current content of the file. Unless the file only grew, all counts and the preview
    /// are dropped; returns whether they were.
    pub fn replace_view(&mut self, view: MapView) -> bool {
        let grew = view.generation() == self.view.generation() && view.len() >= self.view.len();
        if grew {
            self.index.grow(view.len() as u64);
            self.tally.grow(self.view.len() as u64);
            self.filter.iter_mut().for_each(|filter| filter.grow(view.len()));
        } else {
            self.index = BlockIndex::new(view.len() as u64);
            self.tally = CountedChunks::default();
            self.filter.iter_mut().for_each(|filter| filter.reset(view.len()));
            (self.made, self.state) = (MadePreview::default(), PlanState::Missing);
            self.made_by = None;
            // This was not kept.
            self.subject.is_kept = false;
        }
        (self.file, self.first_preview) = (Doc::file(view.len()), None);
        self.view = view;
        !grew
    }

    pub fn doc(&self, side: Side) -> &Doc {
        match side {
            Side::Preview => &self.made.seen,
            Side::Spill => &self.file,
        }
    }

    pub fn scroll<'a>(&'a self, side: Side, frame: Viewport, cost: Option<&'a Cost>) -> Scroll<'a> {
        let rules = Some(&self.made.rules).filter(|_| side == Side::Spill);
        Scroll { reader: self.reader(side, cost), frame, rules, filter: self.filter_of(side) }
    }

    pub(crate) fn reader<'a>(&'a self, side: Side, cost: Option<&'a Cost>) -> Reader<'a> {
        Reader { doc: self.doc(side), files: self.files(), cost }
    }

    pub(crate) fn text_to_search(&self, side: Side) -> io::Result<MapView> {
        match side {
            Side::Spill => Ok(self.view.clone()),
            Side::Preview => MapView::from_bytes(&self.reader(side, None).copy(0..self.made.seen.len())),
        }
    }

    pub fn filter_of(&self, side: Side) -> Option<&LineFilter> {
        self.filter.as_ref().filter(|_| side == Side::Spill)
    }

    /// Returns the position in a side's document that shows an offset of the output, or the notice that stands for it.
    pub(crate) fn position(&self, side: Side, offset: usize) -> u64 {
        match side {
            Side::Preview => self.made.seen.from_file(offset),
            Side::Spill => offset as u64,
        }
    }

    /// Returns where Preview shows a match of this many bytes at `offset` of the output; `None` if not all of it is
    /// shown in one piece.
    pub(crate) fn seen_match(&self, offset: usize, bytes: u64) -> Option<Range<u64>> {
        let last = offset.saturating_add(bytes.saturating_sub(1) as usize);
        let (start, end) = (self.made.seen.from_file(offset), self.made.seen.from_file(last) + bytes.min(1));
        (self.is_kept(offset) && self.is_kept(last) && end.checked_sub(start) == Some(bytes))
            .then_some(start..end)
    }

    pub fn is_kept(&self, offset: usize) -> bool {
        KeptRanges(&self.made.kept).covers(&(offset..offset + 1))
    }

    pub fn gaps(&self) -> Vec<Range<usize>> {
        KeptRanges(&self.made.kept).gaps(self.view.len())
    }
}

pub struct Target {
    pub subject: Subject,
    pub source: Source,
    /// The policy that flags ask for in place of the one by which an agent or a run cut it.
    pub under: Option<Box<EffectivePolicy>>,
}

/// An output, and the policy that currently cuts it.
#[derive(Debug, Clone)]
pub struct Subject {
    pub name: String,
    /// The absolute path of its file; `None` if it has no file, or the file may be replaced.
    pub file: Option<String>,
    /// The id of the output in its store, or of its call in its session; empty if it has none.
    pub id: String,
    pub is_kept: bool,
    /// The command that printed it, as it was written; empty if none is known.
    pub command: String,
    /// The run that printed it, to be recorded with it if it is kept; none if it was.
    pub run: Option<Box<RunRecord>>,
    pub context: InputContext<MapView>,
    pub policy: EffectivePolicy,
    /// The policies that may have made the output, if its store tells; most likely first.
    pub candidates: Vec<EffectivePolicy>,
}

impl Subject {
    /// Describes an output without a file of its own, whose notices print this path.
    pub fn new(name: String, saved_as: String, policy: EffectivePolicy) -> Self {
        let saved_as_stderr = NOT_SAVED.to_owned();
        let context = InputContext { saved_as, saved_as_stderr, stderr: None, exit_code: None };
        Self {
            name,
            file: None,
            id: String::new(),
            is_kept: false,
            command: String::new(),
            run: None,
            context,
            policy,
            candidates: Vec::new(),
        }
    }

    /// Returns the path of its file, or else the one that notices print.
    pub(crate) fn path(&self) -> &str {
        self.file.as_ref().unwrap_or(&self.context.saved_as)
    }
}

/// How an output ended that was viewed while it was being made.
#[derive(Debug, Clone)]
pub struct Ending {
    /// How certain it is that a model gets what the policy makes of the output.
    pub certainty: Certainty,
    pub exit_code: Option<i32>,
    /// The policy for the output of failed commands, if that is a different one.
    pub failed: Option<Policy>,
    pub mishaps: Vec<Mishap>,
    pub run: Option<Box<RunRecord>>,
}
