//! The screen of one output: its state, how it is left and come back to, and its events.

pub(crate) mod copying;
pub mod count;
pub mod drawer;
pub mod filter;
pub(crate) mod hold;
pub(crate) mod jump;
pub mod panes;
pub mod picker;
pub mod planning;
pub(crate) mod read_tool;
mod screen;
pub mod search;
pub mod text_box;
pub mod view;

use std::cmp::Ordering;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use crate::capture::set_mishaps;
use crate::compare::Comparison;
use crate::config::{EffectivePolicy, LimitsFrom};
use crate::corpus::tune::LimitChange;
use crate::document::reader::ReadWindow;
use crate::document::scans;
use crate::output::plan::PlanDone;
use crate::output::recorded::{CallFacts, CallSearch, PreviewFrom, ReadyCall};
use crate::output::{Ending, OpenOutput, Subject};
use crate::session::verdict::Verdict;
use crate::source::{Change, MapView, PathStatus};
use crate::text::filter::index::BlockLines;
use crate::text::index::BlockCounts;
use crate::text::label::SafeText;
use crate::text::search::Severity;
use crate::text::units::Measure;

use super::event::{COUNTING, FRAME, Message, ScreenEvent};
use super::job::{Pace, Slot};
use super::keys::{Action, KeyContext};
use super::screen::Effects;
use super::target::{PagerInput, StartAt};
use super::widget::canvas::Canvas;
use super::widget::layout::Side;
use copying::LineSelection;
use count::ErrorSearch;
use drawer::Drawer;
use filter::{AT_ONCE, FilterHistory};
use hold::ScrollAnchor;
use panes::Panes;
use planning::{AfterPlan, ViewPoint};
use search::Find;

fn enter_in(history: &mut Vec<String>, text: &str) {
    history.retain(|old| old != text);
    history.push(text.to_owned());
}

pub struct Pager {
    pub canvas: Canvas,
    pub output: OpenOutput,
    pub(crate) claim_shown: bool,
    pub panes: Panes,
    pub find: Find,
    pub errors: ErrorSearch,
    pub filter: FilterHistory,
    pub drawer: Drawer,
    pub message: Option<Message>,
    pub(crate) selection: Option<LineSelection>,
    then: AfterPlan,
    pub streaming: bool,
    pub running: bool,
    /// How many outputs were named on the command line.
    pub files: usize,
    pub file: usize,
    /// Whether it is one of those, not opened from a list.
    pub(crate) is_named: bool,
    pub path_status: PathStatus,
    /// What was on the screen before the last change of limits or of how text is shown.
    held: Option<ScrollAnchor>,
    /// Where the user was before the window was shown as the agent's read tool returns it.
    before_read: Option<ViewPoint>,
    /// The read tool under limits that were changed, and where the user was before it was shown.
    read_changed: Option<ViewPoint>,
    /// The window that the read tool showed last, and how many lines it gave of it.
    last_read: Option<(ReadWindow, u64)>,
    /// Where to open the output; a key that acts on it cancels this.
    start: Option<StartAt>,
}

#[derive(Default)]
pub(crate) struct SearchHistory {
    find: Find,
    filters: Vec<String>,
}

impl Pager {
    pub(crate) fn new(
        canvas: Canvas,
        opened: PagerInput,
        past: SearchHistory,
        effects: &mut Effects,
    ) -> Self {
        let PagerInput { subject, view, recorded, streaming, running, file, files, is_named, start } = opened;
        let SearchHistory { mut find, filters } = past;
        find.typing = None;
        find.forget_place();
        let mut pager = Self {
            canvas,
            output: OpenOutput::new(subject, view),
            claim_shown: false,
            panes: Panes { raw: [true, false], ..Panes::default() },
            find,
            errors: ErrorSearch::default(),
            filter: FilterHistory::default(),
            drawer: Drawer::default(),
            message: None,
            selection: None,
            then: AfterPlan::Stay,
            streaming,
            running,
            files,
            file,
            is_named,
            path_status: PathStatus::Current,
            held: None,
            before_read: None,
            read_changed: None,
            last_read: None,
            start: start.place,
        };
        pager.output.recorded = recorded.map(|recorded| *recorded);
        pager.filter.history = filters;
        pager.plan(AfterPlan::Stay, effects);
        pager.count_all(effects);
        pager.count(Counting::Matches, effects);
        pager.open_under(start.under, effects);
        pager.find_record(effects);
        pager
    }

    /// Says what is wrong with the policy, and shows the output under another if it is to be opened so.
    fn open_under(&mut self, policy: Option<Box<EffectivePolicy>>, effects: &mut Effects) {
        let warning = self.output.first.warnings.first();
        self.message = warning.map(|text| Message::error(text.as_str()));
        if let Some(policy) = policy {
            let then = if self.output.view.is_empty() { AfterPlan::Stay } else { AfterPlan::Hold };
            self.use_policy(*policy, then, effects);
        }
    }

    /// Returns the file of an output from a list, and the limits that the user keeps for it in place of its own.
    pub(crate) fn what_if_to_keep(&self) -> Option<(String, Option<Box<EffectivePolicy>>)> {
        let Subject { file, policy, .. } = &self.output.subject;
        let is_own = self.output.limits_are_first() || matches!(policy.limits_from, LimitsFrom::Setting);
        let kept = (!is_own && !self.drawer.is_open()).then(|| Box::new(policy.clone()));
        file.clone().filter(|_| !self.is_named).map(|file| (file, kept))
    }

    /// Stops all work, because another output is shown: what it reports would not be for that one.
    pub(crate) fn pause(&mut self, effects: &mut Effects) -> SearchHistory {
        effects.stop(Slot::OF_OUTPUT);
        self.find.seeking = None;
        self.search_history()
    }

    pub(crate) fn search_history(&self) -> SearchHistory {
        SearchHistory { find: self.find.clone(), filters: self.filter.history.clone() }
    }

    /// Opens an output again that was named on the command line, where the user left it.
    pub(crate) fn reopen(&mut self, opened: PagerInput, left: SearchHistory, effects: &mut Effects) {
        let PagerInput { view, streaming, running, files, start, .. } = opened;
        (self.running, self.files, self.drawer, self.selection) = (running, files, Drawer::default(), None);
        let now = &self.output.view;
        let content = match view.len().cmp(&now.len()) {
            _ if view.generation() != now.generation() => Change::Replaced,
            Ordering::Less => Change::Truncated,
            Ordering::Equal => Change::Same,
            Ordering::Greater => Change::Grown,
        };
        self.on_change(ContentChange { view, content, path: PathStatus::Current, streaming }, effects);
        self.resume(left, effects);
        self.open_under(start.under, effects);
    }

    /// Continues where `pause` left off, once the other output is `left`: asks again for what was not finished.
    pub(crate) fn resume(&mut self, left: SearchHistory, effects: &mut Effects) {
        (self.find.history, self.filter.history) = (left.find.history, left.filters);
        if self.output.is_waiting() {
            let then = std::mem::take(&mut self.then);
            self.plan(then, effects);
        }
        if !self.output.is_counted() {
            self.count_all(effects);
        }
        self.count_on(effects);
        self.filter_again(effects);
        self.align_panes();
        if self.output.call_search == CallSearch::Running {
            self.find_record(effects);
        }
    }

    pub(crate) fn is_same_as(&self, opened: &PagerInput) -> bool {
        let (this, other) = (&self.output.subject, &opened.subject);
        self.is_named && opened.is_named && (self.file, &this.file) == (opened.file, &other.file)
    }

    pub fn is_coming(&self) -> bool {
        self.running || self.streaming
    }

    /// Starts counting what is not counted yet: all blocks, or only those that are new.
    pub(crate) fn count_all(&mut self, effects: &mut Effects) {
        let (from, view) = (self.output.start_counting(), self.output.view.clone());
        let uncounted = view.len().saturating_sub(from.lines.min(from.totals) * self.output.index.block());
        let pace = if uncounted <= AT_ONCE { Pace::AtOnce } else { Pace::Background };
        effects.run_at(pace, Slot::CountLines, move |context| {
            let report = |counts, (measured, measure)| {
                context.report(OutputEvent::Counted { counts, measure, measured })
            };
            scans::count(&view, from, || context.wait_turn(), report);
        });
    }

    pub(crate) fn on_change(&mut self, changed: ContentChange, effects: &mut Effects) {
        self.streaming = changed.streaming;
        if self.path_status != PathStatus::Gone && changed.path == PathStatus::Gone {
            self.fail("the file was deleted; you can still read it here");
        }
        self.path_status = changed.path;
        if changed.content == Change::Same {
            return;
        }
        let before = self.output.view.len();
        (self.output.fault, self.output.packed) = (None, None);
        let lost = self.output.replace_view(changed.view);
        match changed.content {
            Change::Truncated => self.fail("the file was cut short while you looked; shown as it is now"),
            Change::Replaced => self.fail("the file was rewritten while you looked; shown as it is now"),
            _ => {}
        }
        match lost {
            true => self.plan(AfterPlan::Stay, effects),
            false => self.plan_again(effects),
        }
        self.filter_again(effects);
        let is_longer = self.output.view.len() > before;
        let is_at_end = self.panes.place.at_end == Some(Side::Spill);
        self.panes.following |= is_longer && is_at_end && matches!(changed.content, Change::Grown);
        self.align_panes();
        self.follow();
        self.count_all(effects);
        self.recount_all(!lost, effects);
        self.compare_on(effects);
    }

    pub(crate) fn note(&mut self, words: impl Into<SafeText>) {
        self.message = Some(Message::note(words));
    }

    pub(crate) fn fail(&mut self, words: impl Into<SafeText>) {
        self.message = Some(Message::error(words));
    }

    pub(crate) fn key_of(&self, action: Action) -> &'static str {
        self.canvas.keys.label(KeyContext::Pager, action)
    }

    pub fn focus(&self) -> Side {
        self.panes.place.focus
    }

    pub(crate) fn use_policy(&mut self, policy: EffectivePolicy, then: AfterPlan, effects: &mut Effects) {
        self.plan_by(policy, PreviewFrom::Policy, then, effects);
    }

    /// Notes how the output ended, also in the policy: some agents report that to the model, or cut with another policy then.
    pub(crate) fn on_ending(&mut self, ending: Ending, effects: &mut Effects) {
        let Ending { certainty, exit_code, failed, mishaps, run } = ending;
        self.running = false;
        let output = &mut self.output;
        output.first.certainty = certainty;
        output.subject.run = run;
        output.subject.context.exit_code = exit_code.or(output.subject.context.exit_code);
        if let Some(failed) = failed {
            // If the user has changed the policy or limits meanwhile, they stay.
            if output.policy().name() == output.first.policy.name() && output.limits_are_first() {
                output.subject.policy.policy = failed.clone();
            }
            output.first.policy = failed;
        }
        for policy in [&mut output.subject.policy.policy, &mut output.first.policy] {
            set_mishaps(policy, &mishaps);
        }
        self.plan_again(effects);
    }
}

pub enum OutputEvent {
    Counted {
        counts: BlockCounts,
        measure: Measure,
        /// The bytes whose totals those are; none if only line feeds were counted.
        measured: Range<u64>,
    },
    SeveritiesCompiled,
    /// The match that a search came to, and whether it went on from the other end; `None` if there is none.
    Sought(Option<(Range<usize>, bool)>),
    /// A chunk has been searched: the offset where it ends, and the number of matches that start in it.
    MatchesCounted(Counting, usize, u64),
    /// The filter has counted consecutive blocks of lines, from the one of this number on.
    Filtered(usize, Vec<BlockLines>),
    Changed(ContentChange),
    /// The stream that the output comes from ended early, for this reason.
    CutShort(String),
    /// How its file is compressed, and the length of that in bytes.
    Packed(&'static str, u64),
    /// The notices of this output print another path from now on.
    SavedAs(String),
    Ended(Box<Ending>),
    Planned(Box<PlanDone>),
    Compared(ComparedReply),
    /// The answer to what keeps a line: the change of limits that does.
    Advised(Result<LimitChange, &'static str>),
    /// The call of this index has been compared with what the policies make.
    Checked(usize, Box<Verdict>),
    Facts(usize, Box<CallFacts>),
    /// A call is ready to be shown, in place of what is known of it so far.
    Ready(Box<ReadyCall>),
    /// What was recorded of the output of this path, or else what is known of its call.
    Record(PathBuf, Result<Box<ReadyCall>, CallSearch>),
    Kept(Vec<PathBuf>),
    Policies(Vec<EffectivePolicy>),
    ReadTool(EffectivePolicy, ThenRead),
}

impl ScreenEvent for OutputEvent {
    fn patience(&self) -> Duration {
        match self {
            OutputEvent::Compared(_) => FRAME,
            OutputEvent::Counted { .. } | OutputEvent::MatchesCounted(..) => COUNTING,
            _ => Duration::ZERO,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counting {
    #[default]
    Matches,
    Severity(Severity),
}

#[derive(Debug)]
pub enum ComparedReply {
    /// What the policy of the row of this number makes of the output.
    Row(usize, Box<Comparison>),
    /// For each row, by its number, how many matches its policy keeps.
    Matches(Counting, Vec<(usize, u64)>),
    Ended,
}

#[derive(Debug, Clone)]
pub struct ContentChange {
    pub view: MapView,
    pub content: Change,
    pub path: PathStatus,
    pub streaming: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThenRead {
    Show,
    CopyCall,
}
