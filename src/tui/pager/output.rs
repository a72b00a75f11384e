//! One output under the glass: its bytes, what is counted of it, and what the model would get.

use std::ops::Range;

use crate::known::{Extent, Warning};
use crate::preview::{Policy, Preview, Totals};
use crate::source::MapView;
use crate::text::index::{BLOCK, BlockCounts, BlockIndex};
use crate::text::units::{Measure, Want};
use crate::tui::widget::layout::{self, Side};

use super::doc::Doc;
use super::making::{Making, Planned, gaps, holds};
use super::reader::{Cost, Files, Reader};
use super::scroll::{Scroll, Viewport};
use super::subject::Subject;

pub use super::dividers::{Dividers, Fate};

/// Files up to this many bytes are counted at once, where only a glance is taken.
const AT_ONCE: usize = 4 << 20;

/// How the preview that is shown stands to what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Standing {
    /// It is what was asked for.
    Made,
    /// A worker makes another.
    Awaited {
        /// The number of its task.
        number: u64,
        /// Whether a person waits for it, rather than for more lines to be counted.
        asked: bool,
        /// Whether what it is made from has changed meanwhile, so that it is to be made again.
        again: bool,
    },
    /// There is none: nobody has asked for it yet, or the person has given up.
    #[default]
    Missing,
}

/// What is known of the totals, counted chunk by chunk in any order.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// Which count this is; what an older one still sends is of a shorter file.
    number: u64,
    want: Want,
    measure: Measure,
    bytes: u64,
}

/// One output: the file as it is mapped, and the preview that a policy makes of it.
pub struct OpenOutput {
    /// What it is, and the policy with its limits as they stand.
    pub subject: Subject,
    /// The bytes of the file.
    pub view: MapView,
    /// Newlines by block.
    pub index: BlockIndex,
    tally: Tally,
    /// The policy as it was at the start.
    pub first_policy: Policy,
    /// What the model got with that.
    pub first_preview: Option<Preview>,
    /// What the model gets, or the agent's own words of refusal.
    pub preview: Result<Preview, String>,
    standing: Standing,
    /// The policy that made the preview, and where its limits came from, once there is one.
    made_by: Option<(Policy, String)>,
    /// The most different bytes that a plan on the screen's thread has read.
    pub touched: u64,
    /// The preview as a document.
    pub seen: Doc,
    /// The file as a document.
    pub file: Doc,
    /// Ranges of the file that the model got, in order.
    pub kept: Vec<Range<usize>>,
    rules: Dividers,
}

impl OpenOutput {
    /// Looks at `view`; nothing is counted yet, and no preview made.
    pub fn new(subject: Subject, view: MapView) -> Self {
        Self {
            index: BlockIndex::new(view.len() as u64),
            file: Doc::file(view.len()),
            view,
            tally: Tally::default(),
            first_policy: subject.policy.clone(),
            subject,
            first_preview: None,
            preview: Err(String::new()),
            standing: Standing::default(),
            made_by: None,
            touched: 0,
            seen: Doc::default(),
            kept: Vec::new(),
            rules: Dividers::default(),
        }
    }

    /// The same with all counted at once, if that takes no time to speak of.
    pub fn counted_now(subject: Subject, view: MapView) -> Self {
        let mut output = Self::new(subject, view);
        if output.view.len() <= AT_ONCE {
            let want = output.wanted();
            output.start_counting(want);
            let counts = BlockIndex::count(&output.view, output.index.block(), 0..output.index.blocks());
            let measure = crate::text::units::measure(&output.view, 0..output.view.len(), want);
            output.counted(&counts, &measure, output.view.len() as u64);
        }
        output
    }

    /// Makes the preview anew: at once, or else the task of a worker. `asked` says whether a person waits for it.
    pub fn replan(&mut self, number: u64, asked: bool) -> Option<Making> {
        let task = Making { asked, ..self.task(number) };
        self.standing = Standing::Awaited { number, asked, again: false };
        if !task.is_small() {
            return Some(task);
        }
        if let Some(planned) = task.run(&|| true) {
            self.touched = self.touched.max(planned.touched);
            self.take(planned);
        }
        None
    }

    /// What a plan is made from, as things stand.
    pub fn task(&self, number: u64) -> Making {
        Making {
            number,
            asked: false,
            policy: self.subject.policy.clone(),
            view: self.view.clone(),
            context: self.subject.context.clone(),
            totals: self.totals(),
            index: self.index.clone(),
        }
    }

    /// Takes in a preview that was waited for; whether it is to be made again.
    pub fn take(&mut self, planned: Planned) -> bool {
        let again = matches!(self.standing, Standing::Awaited { again: true, .. });
        self.standing = Standing::Made;
        self.seen = planned.seen;
        self.kept = planned.kept;
        self.rules = planned.rules;
        self.preview = planned.preview;
        self.made_by = Some((planned.policy, self.subject.limits_from.clone()));
        if self.limits_are_first() {
            self.first_preview = self.preview.as_ref().ok().cloned();
        }
        again || planned.bytes < self.view.len()
    }

    /// Whether this is the preview that is waited for.
    pub fn awaits(&self, number: u64) -> bool {
        matches!(self.standing, Standing::Awaited { number: awaited, .. } if awaited == number)
    }

    /// Whether a person waits for a preview.
    pub fn is_awaited(&self) -> bool {
        matches!(self.standing, Standing::Awaited { asked: true, .. })
    }

    /// Whether there is a preview at all, if only an earlier one.
    pub fn has_preview(&self) -> bool {
        self.made_by.is_some()
    }

    /// Has a preview that is being made be made again afterwards, of what is known then; false if the one that is
    /// shown is to be made again now. Where there is none, nobody waits for one.
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

    /// Waits for no preview any longer; whether there is one from before, by whose policy one then goes.
    pub(crate) fn give_up(&mut self) -> bool {
        let Some((policy, limits_from)) = self.made_by.clone() else {
            self.standing = Standing::Missing;
            return false;
        };
        (self.subject.policy, self.subject.limits_from, self.standing) =
            (policy, limits_from, Standing::Made);
        true
    }

    /// The preview is of bytes that are no longer there.
    fn drop_preview(&mut self) {
        self.preview = Err(String::new());
        self.standing = Standing::Missing;
        (self.made_by, self.first_preview) = (None, None);
        (self.seen, self.kept, self.rules) = (Doc::default(), Vec::new(), Dividers::default());
    }

    /// Whether policy and limits are those of the start.
    pub fn limits_are_first(&self) -> bool {
        let (now, first) = (&self.subject.policy, &self.first_policy);
        now.name() == first.name()
            && now.params().iter().all(|param| now.get(&param.name) == first.get(&param.name))
    }

    /// What to warn of, by the policy and by the store.
    pub fn warnings(&self) -> Vec<&Warning> {
        let cut = self.preview.as_ref().is_ok_and(|preview| preview.truncated);
        let extent = Extent { bytes: self.view.len() as u64, last: self.view.last().copied(), cut };
        Warning::of(self.subject.policy.warnings(), &self.subject.store_warnings, extent)
    }

    /// Where Spill draws rules.
    pub fn rules(&self) -> &Dividers {
        &self.rules
    }

    /// The outputs as panes read them.
    pub fn files(&self) -> Files<'_> {
        let err = self.subject.context.stderr.as_ref().map_or(&[][..], |(view, _)| &view[..]);
        Files { out: &self.view, err, index: Some(&self.index) }
    }

    /// Which totals the policy needs beyond the line feeds, which are always counted.
    pub fn wanted(&self) -> Want {
        self.subject.policy.needs()
    }

    /// Starts counting what workers are about to send; the block from which they are to count. Line feeds
    /// that are counted already are not counted again, unless other totals are wanted as well.
    pub fn start_counting(&mut self, want: Want) -> usize {
        let only_line_feeds = Want::LINE_FEEDS.contains(want);
        let from = if only_line_feeds { self.index.uncounted().unwrap_or(self.index.blocks()) } else { 0 };
        let bytes = self.index.range(0..from).end as u64;
        self.tally = Tally { number: self.tally.number + 1, want, bytes, measure: Measure::default() };
        from
    }

    /// The number of the count that was started last.
    pub fn count_number(&self) -> u64 {
        self.tally.number
    }

    /// Takes in what a worker counted of a chunk. True if the preview waits for what is now whole.
    pub fn counted(&mut self, counts: &BlockCounts, measure: &Measure, bytes: u64) -> bool {
        let had_lines = self.index.is_complete();
        self.index.insert(counts);
        self.tally.measure += *measure;
        self.tally.bytes += bytes;
        self.index.is_complete() && !had_lines || self.is_counted()
    }

    /// Whether all is counted that the policy needs.
    pub fn is_counted(&self) -> bool {
        self.index.is_complete() && self.tally.bytes >= self.view.len() as u64
    }

    /// How far lines have been counted, per cent.
    pub fn counted_percent(&self) -> u64 {
        self.index.counted_bytes() * 100 / self.view.len().max(1) as u64
    }

    fn totals(&self) -> Totals {
        let whole = self.is_counted();
        let measured =
            if whole { Totals::of(&self.tally.measure, self.tally.want) } else { Totals::unknown() };
        Totals { line_feeds: self.index.line_feeds(), ..measured }
    }

    /// Lines of the file as `less` and `wc -l` number them, once known.
    pub fn lines(&self) -> Option<u64> {
        self.index.lines(&self.view)
    }

    /// About how many lines there are, by those of the first block: the same from the first frame on, so that what is
    /// laid out beside the numbers stays where it is while lines are counted.
    pub fn about_lines(&self) -> u64 {
        let head = &self.view[..self.view.len().min(BLOCK)];
        let lines = bytecount::count(head, b'\n') as f64;
        (lines / head.len().max(1) as f64 * self.view.len() as f64) as u64
    }

    /// About which line a byte lies in, 0-based, by what is counted so far.
    pub fn about_line_at(&self, offset: u64) -> u64 {
        match self.index.counted_bytes() {
            0 => (self.about_lines() as f64 / self.view.len().max(1) as f64 * offset as f64) as u64,
            _ => self.index.about_line_at(offset),
        }
    }

    /// The file has changed: `view` is what it is now. Everything known is dropped, and the preview, unless it only grew; whether so.
    pub fn changed(&mut self, view: MapView) -> bool {
        let mut lost = false;
        if view.generation() == self.view.generation() && view.len() >= self.view.len() {
            self.index.grow(view.len() as u64);
        } else {
            self.index = BlockIndex::new(view.len() as u64);
            self.drop_preview();
            lost = true;
        }
        self.tally = Tally { number: self.tally.number, ..Tally::default() };
        self.file = Doc::file(view.len());
        self.view = view;
        lost
    }

    /// The document of a side.
    pub fn doc(&self, side: Side) -> &Doc {
        match side {
            Side::Preview => &self.seen,
            Side::Spill => &self.file,
        }
    }

    /// Columns before the text of a side.
    pub fn gutter(&self, side: Side) -> u16 {
        match side {
            Side::Preview => 1,
            Side::Spill => layout::gutter(self.lines().unwrap_or_else(|| self.about_lines())),
        }
    }

    /// Runs `work` with a side's document as it scrolls in a pane.
    pub fn scrolling<T>(
        &self,
        side: Side,
        frame: Viewport,
        cost: &Cost,
        work: impl FnOnce(Scroll) -> T,
    ) -> T {
        let reader = Reader { doc: self.doc(side), files: self.files(), cost };
        let rules = self.rules();
        let weight =
            move |start: u64, next: u64| 1 + usize::from(side == Side::Spill && rules.between(start, next));
        work(Scroll { reader, frame, weight: &weight })
    }

    /// Whether the model got the byte at `offset`.
    pub fn is_kept(&self, offset: usize) -> bool {
        holds(&self.kept, offset)
    }

    /// The stretches of the file that the model did not get.
    pub fn gaps(&self) -> Vec<Range<usize>> {
        gaps(&self.kept, self.view.len())
    }
}
