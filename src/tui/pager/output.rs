//! The output being viewed: its bytes, what has been counted, and what the model would get.

use std::ops::Range;
use std::sync::Arc;

use crate::config::EffectivePolicy;
use crate::known::{Extent, Warning};
use crate::preview::{Policy, Preview, Totals};
use crate::source::MapView;
use crate::text::index::{BLOCK, BlockCounts, BlockIndex};
use crate::text::units::{Measure, Want};
use crate::text::utf16::ByteOrder;
use crate::tui::widget::layout::{self, Side};

use super::counted::{CountedChunks, Uncounted};
use super::differences::Differences;
use super::doc::Doc;
use super::filter::sift::Sift;
use super::making::{Making, Planned, gaps, holds};
use super::reader::{Files, Reader};
use super::scroll::{Scroll, Viewport};
use crate::tui::recorded::{Cited, PreviewFrom, RecordedCall};
use crate::tui::target::Subject;
use crate::tui::widget::cost::Cost;

pub use super::dividers::{Dividers, Fate, RowRule};

/// Files up to this many bytes are counted at once when only their preview is shown beside the list.
const AT_ONCE: usize = 4 << 20;

/// How the preview shown relates to the one requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Standing {
    /// The preview shown is the one requested.
    Made,
    /// A worker is making another preview.
    Awaited {
        /// The number of its task.
        number: u64,
        /// Whether the user is waiting for it; otherwise it is made because more lines have been counted.
        asked: bool,
        /// Whether its input has changed in the meantime, so that it has to be made again.
        again: bool,
    },
    /// There is no preview: none was requested yet, or the user gave up waiting.
    #[default]
    Missing,
}

/// An output: the mapped file, and the preview that a policy makes of it.
pub struct OpenOutput {
    /// What the output is, and the policy with its current limits.
    pub subject: Subject,
    /// The bytes of the file.
    pub view: MapView,
    /// Line feeds by block.
    pub index: BlockIndex,
    tally: CountedChunks,
    /// The policy with its limits at the start.
    pub first: EffectivePolicy,
    /// The preview under `first`, if it has been made.
    pub first_preview: Option<Preview>,
    /// What the model gets, or the agent's error message.
    pub preview: Result<Preview, String>,
    standing: Standing,
    /// What made the preview. `None` while there is no preview.
    made_by: Option<(PreviewFrom, EffectivePolicy)>,
    /// The most distinct bytes of the output that any plan on the thread of the screens has read.
    pub touched: u64,
    /// The preview as a document.
    pub seen: Doc,
    /// The file as a document.
    pub file: Doc,
    /// The ranges of the file that the model got, in order.
    pub kept: Vec<Range<usize>>,
    /// The filter of Spill, if there is one.
    pub sift: Option<Sift>,
    /// The result that the agent recorded, if it is known.
    pub recorded: Option<RecordedCall>,
    /// Whether the preview is the recorded text, if there is one.
    pub(crate) preview_from: PreviewFrom,
    rules: Dividers,
    /// How much of the size limit the escape sequences took, in percent, if it is worth a word.
    pub(crate) escapes: Option<u64>,
    /// Whether what was recorded and what the policy makes are to be compared.
    pub(crate) is_compared: bool,
    /// The call that it is of, if it was not opened from its records.
    pub(crate) cited: Cited,
    /// What differs from the other of the two texts, if they were compared.
    pub(crate) differences: Option<Differences>,
}

impl OpenOutput {
    /// Creates an output with nothing counted and no preview.
    pub fn new(subject: Subject, view: MapView) -> Self {
        Self {
            index: BlockIndex::new(view.len() as u64),
            file: Doc::file(view.len()),
            view,
            tally: CountedChunks::default(),
            first: subject.policy.clone(),
            subject,
            first_preview: None,
            preview: Err(String::new()),
            standing: Standing::default(),
            made_by: None,
            touched: 0,
            seen: Doc::default(),
            kept: Vec::new(),
            sift: None,
            recorded: None,
            preview_from: PreviewFrom::default(),
            rules: Dividers::default(),
            escapes: None,
            is_compared: false,
            cited: Cited::default(),
            differences: None,
        }
    }

    /// Returns the policy with its current limits.
    pub fn policy(&self) -> &Policy {
        &self.subject.policy.policy
    }

    /// Adds the result that the agent recorded; Preview shows it first.
    pub(crate) fn with_record(self, recorded: Option<RecordedCall>) -> Self {
        Self { recorded, ..self }
    }

    /// Creates an output, counted at once if it is small enough for that to be fast.
    pub fn counted_now(subject: Subject, view: MapView) -> Self {
        let mut output = Self::new(subject, view);
        if output.view.len() <= AT_ONCE {
            output.start_counting();
            let counts = BlockIndex::count(&output.view, output.index.block(), 0..output.index.blocks());
            let measure = crate::text::units::measure_all(&output.view, Want::ALL);
            output.counted(&counts, (0..output.view.len() as u64, measure));
        }
        output
    }

    /// Creates the task that makes the preview again. `asked` is whether the user is waiting for it.
    pub fn replan(&mut self, number: u64, asked: bool) -> Making {
        self.standing = Standing::Awaited { number, asked, again: false };
        self.task(number)
    }

    /// Creates a task from the current policy, bytes and counts.
    pub fn task(&self, number: u64) -> Making {
        let is_compared = self.is_compared && self.limits_are_first();
        Making {
            number,
            policy: self.policy().clone(),
            view: self.view.clone(),
            context: self.subject.context.clone(),
            totals: self.totals(),
            index: self.index.clone(),
            recorded: self.shown_record().map(|recorded| Arc::clone(&recorded.text)),
            compared: self.recorded.as_ref().filter(|_| is_compared).map(|recorded| recorded.text.clone()),
            notices: self.shown_record().map(|recorded| Arc::clone(&recorded.notices)).unwrap_or_default(),
        }
    }

    /// Takes over a finished preview. Returns whether it has to be made again.
    pub fn take(&mut self, planned: Planned) -> bool {
        let again = matches!(self.standing, Standing::Awaited { again: true, .. });
        self.standing = Standing::Made;
        self.touched = self.touched.max(planned.touched);
        self.seen = planned.seen;
        self.kept = planned.kept;
        self.rules = planned.rules;
        self.escapes = planned.escapes;
        self.differences = planned.differences;
        self.preview = planned.preview;
        let made_by = EffectivePolicy { policy: planned.policy, ..self.subject.policy.clone() };
        self.made_by = Some((self.preview_from, made_by));
        if self.limits_are_first() {
            self.first_preview = self.preview.as_ref().ok().cloned();
        }
        again || planned.bytes < self.view.len()
    }

    /// Whether the preview of this number is the one being awaited.
    pub fn awaits(&self, number: u64) -> bool {
        matches!(self.standing, Standing::Awaited { number: awaited, .. } if awaited == number)
    }

    /// Whether the user is waiting for a preview.
    pub fn is_awaited(&self) -> bool {
        matches!(self.standing, Standing::Awaited { asked: true, .. })
    }

    /// Whether a worker is making a preview.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.standing, Standing::Awaited { .. })
    }

    /// Whether there is a preview, even an outdated one.
    pub fn has_preview(&self) -> bool {
        self.made_by.is_some()
    }

    /// Called when the input of the preview has changed. If a preview is being made, it will be made again afterwards.
    /// Returns false if the preview shown has to be made again now. If there is no preview, none is waited for, and the
    /// result is true.
    pub(crate) fn wait_to_replan(&mut self) -> bool {
        match &mut self.standing {
            Standing::Awaited { again, .. } => {
                *again = true;
                true
            }
            Standing::Missing => true,
            Standing::Made => false,
        }
    }

    /// Stops waiting for a preview. Returns whether an earlier one remains; its policy and limits are then restored.
    pub(crate) fn give_up(&mut self) -> bool {
        let Some(made_by) = self.made_by.clone() else {
            self.standing = Standing::Missing;
            return false;
        };
        (self.preview_from, self.subject.policy) = made_by;
        self.standing = Standing::Made;
        true
    }

    /// Returns the policy that made the preview, with its limits.
    pub(crate) fn made_by(&self) -> Option<&Policy> {
        self.made_by.as_ref().map(|(_, made_by)| &made_by.policy)
    }

    /// Returns what made the preview that is shown; before there is one, what is to make it.
    pub(super) fn shown_from(&self) -> (PreviewFrom, &Policy) {
        let requested = (self.preview_from, self.policy());
        self.made_by.as_ref().map_or(requested, |(from, made_by)| (*from, &made_by.policy))
    }

    /// Drops the preview, because its bytes no longer exist.
    fn drop_preview(&mut self) {
        self.preview = Err(String::new());
        self.standing = Standing::Missing;
        (self.made_by, self.first_preview) = (None, None);
        (self.seen, self.kept, self.rules) = (Doc::default(), Vec::new(), Dividers::default());
        (self.escapes, self.differences) = (None, None);
    }

    /// Whether the policy and limits are those of the start.
    pub fn limits_are_first(&self) -> bool {
        self.policy().is_same(&self.first.policy)
    }

    /// Returns the warnings of the policy and of the store that apply to this output.
    pub fn warnings(&self) -> Vec<&Warning> {
        let cut = self.preview.as_ref().is_ok_and(|preview| preview.truncated);
        let extent = Extent { bytes: self.view.len() as u64, last: self.view.last().copied(), cut };
        Warning::of(self.policy().warnings(), &self.first.store_warnings, extent)
    }

    /// Returns the places where Spill draws rules.
    pub fn rules(&self) -> &Dividers {
        &self.rules
    }

    /// Returns the byte order if the output is text in UTF-16.
    pub fn utf16(&self) -> Option<ByteOrder> {
        ByteOrder::of(&self.view)
    }

    /// Returns the outputs as panes read them.
    pub fn files(&self) -> Files<'_> {
        let err = self.subject.context.stderr.as_ref().map_or(&[][..], |(view, _)| &view[..]);
        Files { out: &self.view, err, index: Some(&self.index) }
    }

    /// Starts a new count, of all totals: which of them notices, facts and the drawer need shows only once a preview has
    /// been made, and one pass over the text counts them together. Nothing is counted twice.
    pub fn start_counting(&mut self) -> Uncounted {
        let block = self.index.block() as u64;
        let from = self.tally.begin(block, self.view.len() as u64);
        let lines = self.index.uncounted().unwrap_or(self.index.blocks());
        Uncounted { lines, totals: from.div_ceil(block) as usize }
    }

    /// Returns which totals are known.
    pub(crate) fn known(&self) -> Want {
        self.totals().known()
    }

    /// Returns the number of the latest count.
    pub fn count_number(&self) -> u64 {
        self.tally.number()
    }

    /// Adds the counts of a chunk. Returns true if the preview should be made again because the counts it needs may now
    /// be complete.
    pub fn counted(&mut self, counts: &BlockCounts, (measured, measure): (Range<u64>, Measure)) -> bool {
        let had_lines = self.index.is_complete();
        self.index.insert(counts);
        self.tally.add(measured, measure);
        self.index.is_complete() && !had_lines || self.is_counted()
    }

    /// Whether everything has been counted.
    pub fn is_counted(&self) -> bool {
        self.index.is_complete() && self.tally.is_whole(self.view.len() as u64)
    }

    /// Returns how much of the line feeds has been counted, in percent of the bytes.
    pub fn counted_percent(&self) -> u64 {
        self.index.counted_bytes() * 100 / self.view.len().max(1) as u64
    }

    fn totals(&self) -> Totals {
        let measured = self.tally.totals(self.view.len() as u64);
        Totals { line_feeds: self.index.line_feeds(), ..measured }
    }

    /// Returns the number of lines as `less` and `wc -l` count them, once it is known.
    pub fn lines(&self) -> Option<u64> {
        self.index.lines(&self.view)
    }

    /// Estimates the number of lines from the first block. The estimate never changes, so that the layout beside the
    /// line numbers stays the same while lines are counted.
    pub fn about_lines(&self) -> u64 {
        let head = &self.view[..self.view.len().min(BLOCK)];
        let lines = bytecount::count(head, b'\n') as f64;
        (lines / head.len().max(1) as f64 * self.view.len() as f64) as u64
    }

    /// Estimates the line of a byte, 0-based, from what has been counted so far.
    pub fn about_line_at(&self, offset: u64) -> u64 {
        match self.index.counted_bytes() {
            0 => (self.about_lines() as f64 / self.view.len().max(1) as f64 * offset as f64) as u64,
            _ => self.index.about_line_at(offset),
        }
    }

    /// Replaces the bytes with the current content of the file. Unless the file only grew, all counts and the preview
    /// are dropped; returns whether they were.
    pub fn changed(&mut self, view: MapView) -> bool {
        let mut lost = false;
        if view.generation() == self.view.generation() && view.len() >= self.view.len() {
            self.index.grow(view.len() as u64);
            self.tally.grow(self.view.len() as u64);
            if let Some(sift) = &mut self.sift {
                sift.grow(view.len());
            }
        } else {
            self.index = BlockIndex::new(view.len() as u64);
            self.tally.clear();
            if let Some(sift) = &mut self.sift {
                sift.reset(view.len());
            }
            self.drop_preview();
            lost = true;
        }
        self.file = Doc::file(view.len());
        self.view = view;
        lost
    }

    /// Returns the document of a side.
    pub fn doc(&self, side: Side) -> &Doc {
        match side {
            Side::Preview => &self.seen,
            Side::Spill => &self.file,
        }
    }

    /// Returns the columns of the gutter of a side.
    pub fn gutter(&self, side: Side) -> u16 {
        match side {
            Side::Preview => 1,
            Side::Spill => match self.lines() {
                Some(lines) => layout::gutter(lines),
                // Before a number that is not exact stands `~`.
                None => layout::gutter(self.about_lines().saturating_mul(10)),
            },
        }
    }

    /// Calls `work` with a scroller over a side's document in a frame.
    pub fn scrolling<T>(
        &self,
        side: Side,
        frame: Viewport,
        cost: &Cost,
        work: impl FnOnce(Scroll) -> T,
    ) -> T {
        let reader = Reader { doc: self.doc(side), files: self.files(), cost };
        let weight = move |start: u64, next: u64| {
            1 + usize::from(self.rule_above(side, &reader, start..next).is_some())
        };
        work(Scroll { reader, frame, weight: &weight, sift: self.sift_of(side) })
    }

    /// Returns the filter of a side.
    pub fn sift_of(&self, side: Side) -> Option<&Sift> {
        self.sift.as_ref().filter(|_| side == Side::Spill)
    }

    /// Returns the rule that a side draws above the row with these bytes, if it draws one. Under a filter, what happens
    /// in the lines left out counts too.
    pub(crate) fn rule_above(&self, side: Side, reader: &Reader, row: Range<u64>) -> Option<RowRule> {
        let rules = self.rules();
        match (side, &self.sift) {
            (Side::Preview, _) => None,
            (Side::Spill, None) => rules.above(row.start, row.end).map(RowRule::Fate),
            (Side::Spill, Some(sift)) => {
                let from = sift.backward(reader, row.start);
                let gap = from > 0 && from < row.start && sift.around() > 0;
                rules.turned(from..row.end).map(RowRule::Fate).or(gap.then_some(RowRule::Gap))
            }
        }
    }

    /// Returns the position in a side's document that shows an offset of the output, or the notice that stands for it.
    pub(crate) fn position(&self, side: Side, offset: usize) -> u64 {
        match side {
            Side::Preview => self.seen.from_file(offset),
            Side::Spill => offset as u64,
        }
    }

    /// Returns where Preview shows a match of this many bytes at `offset` of the output; `None` if not all of it is
    /// shown in one piece.
    pub(crate) fn seen_match(&self, offset: usize, bytes: u64) -> Option<Range<u64>> {
        let last = offset.saturating_add(bytes.saturating_sub(1) as usize);
        let (start, end) = (self.seen.from_file(offset), self.seen.from_file(last) + bytes.min(1));
        (self.is_kept(offset) && self.is_kept(last) && end.checked_sub(start) == Some(bytes))
            .then_some(start..end)
    }

    /// Whether the model got the byte at `offset`.
    pub fn is_kept(&self, offset: usize) -> bool {
        holds(&self.kept, offset)
    }

    /// Returns the ranges of the file that the model did not get.
    pub fn gaps(&self) -> Vec<Range<usize>> {
        gaps(&self.kept, self.view.len())
    }
}
