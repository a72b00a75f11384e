//! The screen of one output: its panes, their movement, search, windows and limits, and how they are drawn.

pub mod comparing;
pub(crate) mod copying;
pub(crate) mod describe;
pub mod drawer;
pub mod event;
pub(crate) mod facts;
pub mod filter;
pub(crate) mod hold;
pub(crate) mod jump;
pub(crate) mod limits;
pub(crate) mod line_display;
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

use crate::capture::set_true;
use crate::config::EffectivePolicy;
use crate::document::scans;
use crate::output::OpenOutput;
use crate::output::recorded::PreviewFrom;
use crate::output::subject::Ending;
use crate::source::{Change, PathStatus};
use crate::text::index::BlockCounts;
use crate::text::label::SafeText;
use crate::text::units::Measure;

use super::event::Message;
use super::job::Slot;
use super::keys::{Action, KeyContext};
use super::screen::{Effect, Effects};
use super::target::{Opened, OpenedFrom};
use super::widget::canvas::Canvas;
use super::widget::layout::Side;
use copying::LineSelection;
use drawer::Drawer;
use event::{ContentChange, OutputEvent, ThenRead};
use filter::{LeaveFilter, LineFilter};
use hold::ScrollAnchor;
use jump::{Starting, Waiting};
use panes::Panes;
use planning::{AfterPlan, ViewPoint};
use search::Find;
use search::count::ErrorSearch;

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
    pub filter: LineFilter,
    pub drawer: Drawer,
    pub message: Option<Message>,
    waiting: Option<Waiting>,
    pub(crate) selection: Option<LineSelection>,
    /// What to do once the preview is made.
    then: AfterPlan,
    pub streaming: bool,
    pub running: bool,
    /// How many outputs were named on the command line.
    pub files: usize,
    /// The index of this one among them, 0-based.
    pub file: usize,
    pub(crate) origin: OpenedFrom,
    pub path_status: PathStatus,
    /// What was on the screen before the last change of limits or of how text is shown.
    held: Option<ScrollAnchor>,
    /// Where the user was before the window was shown as the agent's read tool returns it.
    before_read: Option<ViewPoint>,
    /// Where it is to be opened; a key that acts on the output cancels it.
    start: Option<Starting>,
}

/// What the screen of an output hands on to that of the next one.
#[derive(Default)]
pub(crate) struct Handover {
    find: Find,
    /// What was typed to filter before.
    filters: Vec<String>,
}

impl Pager {
    /// Opens an output. The search pattern of the screen before is kept.
    pub(crate) fn new(canvas: Canvas, opened: Opened, before: Handover, effects: &mut Effects) -> Self {
        let Opened { subject, view, recorded, streaming, running, file, files, origin, start } = opened;
        let Handover { mut find, filters } = before;
        find.typing = None;
        find.forget_place();
        let mut pager = Self {
            canvas,
            output: OpenOutput::new(subject, view),
            claim_shown: false,
            panes: Panes::default(),
            find,
            errors: ErrorSearch::default(),
            filter: LineFilter::default(),
            drawer: Drawer::default(),
            message: None,
            waiting: None,
            selection: None,
            then: AfterPlan::Stay,
            streaming,
            running,
            files,
            file,
            origin,
            path_status: PathStatus::Current,
            held: None,
            before_read: None,
            start: start.place.map(Starting::At),
        };
        pager.output.recorded = recorded.map(|recorded| *recorded);
        pager.filter.history = filters;
        pager.plan(AfterPlan::Stay, effects);
        pager.count_all(effects);
        pager.count_matches(effects);
        pager.open_under(start.under, effects);
        pager
    }

    /// Says what is wrong with the policy, and shows the output under another if it is to be opened so.
    fn open_under(&mut self, policy: Option<Box<EffectivePolicy>>, effects: &mut Effects) {
        let warning = self.output.first.warnings.first();
        self.message = warning.map(|text| Message::error(text.as_str()));
        if let Some(policy) = policy {
            self.use_policy(*policy, AfterPlan::Hold, effects);
        }
    }

    /// Whether it was named on the command line.
    pub(crate) fn is_named(&self) -> bool {
        self.origin == OpenedFrom::CommandLine
    }

    pub(crate) fn is_same_as(&self, opened: &Opened) -> bool {
        let (this, other) = (&self.output.subject, &opened.subject);
        self.is_named() && (self.origin, self.file, &this.file) == (opened.origin, opened.file, &other.file)
    }

    /// Stops all work, because another output is shown: what it reports would not be for that one.
    pub(crate) fn park(&mut self, effects: &mut Effects) -> Handover {
        self.abandon(effects);
        self.find.stop();
        self.hand_over()
    }

    pub(crate) fn hand_over(&self) -> Handover {
        Handover { find: self.find.clone(), filters: self.filter.history.clone() }
    }

    pub(crate) fn abandon(&self, effects: &mut Effects) {
        effects.stop(Slot::OF_OUTPUT);
    }

    /// Opens an output again that was named on the command line, where the user left it.
    pub(crate) fn come_back(&mut self, opened: Opened, left: Handover, effects: &mut Effects) {
        let Opened { view, streaming, running, files, start, .. } = opened;
        (self.running, self.files, self.drawer, self.selection) = (running, files, Drawer::default(), None);
        let now = &self.output.view;
        let content = match view.len().cmp(&now.len()) {
            _ if view.generation() != now.generation() => Change::Replaced,
            Ordering::Less => Change::Truncated,
            Ordering::Equal => Change::Same,
            Ordering::Greater => Change::Grown { from: now.len() as u64 },
        };
        self.changed(ContentChange { view, content, path: PathStatus::Current, streaming }, effects);
        self.resume(left, effects);
        self.open_under(start.under, effects);
    }

    /// Continues where `park` left off, once the other output is `left`: asks again for what was not finished.
    pub(crate) fn resume(&mut self, left: Handover, effects: &mut Effects) {
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
    }

    pub(crate) fn handle(&mut self, event: OutputEvent, effects: &mut Effects) {
        match event {
            OutputEvent::Counted { counts, measure, measured } => {
                self.counted(&counts, (measured, measure), effects);
            }
            OutputEvent::Found(reply) => self.found(reply, effects),
            OutputEvent::Filtered(first, lines) => self.filtered(first, &lines),
            OutputEvent::Changed(changed) => self.changed(changed, effects),
            OutputEvent::SavedAs(path) => self.saved_as(path, effects),
            OutputEvent::CutShort(fault) => {
                self.fail(format!("{fault}; what came before is shown"));
                self.output.fault = Some(fault);
            }
            OutputEvent::Finished => self.running = false,
            OutputEvent::Ended(ending) => self.ended(*ending, effects),
            OutputEvent::Planned(planned) => self.planned(*planned, effects),
            OutputEvent::Compared(reply) => self.compared(reply, effects),
            OutputEvent::Advised(change) => self.advised(change),
            OutputEvent::ReadTool(choice, then) => self.read_tool(choice, then, effects),
            OutputEvent::Policies(choices) => self.open_picker(choices, effects),
            OutputEvent::Ready(ready) => {
                let shown = self.output.recorded.as_ref().map(|recorded| recorded.index);
                if shown == Some(ready.recorded.index) {
                    effects.push(Effect::OpenCall(ready));
                }
            }
            // Lines are marked as soon as they are drawn again.
            OutputEvent::SeveritiesCompiled => {}
            OutputEvent::Checked(index, verdict) => self.take_verdict(index, *verdict),
            OutputEvent::Facts(index, facts) => self.take_facts(index, *facts),
            OutputEvent::Cited(path, call) => self.take_cited(&path, call),
            OutputEvent::Kept(paths) => self.kept(&paths),
        }
        self.start_now(effects);
        self.refresh_picker();
        self.advise_again(effects);
    }

    fn carry_out(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        self.start = None;
        match action {
            Action::NextMatch
            | Action::PreviousMatch
            | Action::NextMissed
            | Action::PreviousMissed
            | Action::NextError
            | Action::PreviousError => self.seek_by(action, count, effects),
            Action::Select => self.turn_selection(),
            Action::Editor => effects.push(Effect::Edit { path: None, line: self.line_to_edit() }),
            Action::Keep => self.keep(effects),
            Action::Refresh => effects.push(Effect::Reopen),
            Action::ReadForm => self.ask_read_tool(ThenRead::Show, effects),
            Action::Limits if self.drawer.is_open() => {}
            Action::Limits => self.open_drawer(effects),
            Action::Evidence => self.turn_evidence(effects),
            Action::Down | Action::Up if self.selection.is_some() => self.extend_selection(action, count),
            _ => {
                self.move_by(action, count);
                self.extend_selection(action, count);
            }
        }
    }

    /// Whether more of the output may arrive by itself.
    pub fn is_coming(&self) -> bool {
        self.running || self.streaming
    }

    /// Stops a plan, a search or following. Returns false if nothing runs.
    fn stop_work(&mut self, effects: &mut Effects) -> bool {
        self.give_up_planning(effects) || self.stop_search(effects) || self.stop_following()
    }

    fn stop_search(&mut self, effects: &mut Effects) -> bool {
        let is_running = self.find.is_running();
        if is_running {
            self.find.stop();
            self.note("search stopped");
            effects.stop([Slot::Search]);
            // A count that ends early would stay, and say nothing.
            if self.find.current == [None, None] {
                self.find.clear();
                effects.stop([Slot::CountMatches]);
            }
        }
        is_running
    }

    /// Handles Esc: abandons a plan, a search, the filter or following. Returns false if there is none.
    pub(crate) fn back(&mut self, effects: &mut Effects) -> bool {
        if self.give_up_planning(effects) || self.drop_selection() || self.stop_search(effects) {
            return true;
        }
        if self.find.pattern.is_some() || self.find.current != [None, None] {
            let side = self.focus();
            self.panes.target = self.find.current(side).map(|found| (side, found.start));
            self.find.clear();
            effects.stop([Slot::CountMatches]);
            return true;
        }
        self.leave_filter(LeaveFilter::GoBack, effects) || self.stop_following()
    }

    pub(crate) fn counted(
        &mut self,
        counts: &BlockCounts,
        measure: (Range<u64>, Measure),
        effects: &mut Effects,
    ) {
        if self.output.counted(counts, measure) {
            self.plan_again(effects);
            self.compare_on(effects);
        }
        self.count_errors(effects);
    }

    /// Starts counting what is not counted yet: all blocks, or only those that are new.
    pub(crate) fn count_all(&mut self, effects: &mut Effects) {
        let (from, view) = (self.output.start_counting(), self.output.view.clone());
        effects.run(Slot::CountLines, move |context| {
            let report = |counts, (measured, measure)| {
                context.report(OutputEvent::Counted { counts, measure, measured })
            };
            scans::count(&view, from, || context.go_on(), report);
        });
    }

    pub(crate) fn changed(&mut self, changed: ContentChange, effects: &mut Effects) {
        self.streaming = changed.streaming;
        if self.path_status != PathStatus::Gone && changed.path == PathStatus::Gone {
            self.fail("the file was deleted; you can still read it here");
        }
        self.path_status = changed.path;
        if changed.content == Change::Same {
            return;
        }
        let before = self.output.view.len();
        self.output.fault = None;
        let lost = self.output.changed(changed.view);
        match changed.content {
            Change::Truncated => self.fail("the file was cut short while you looked; shown as it is now"),
            Change::Replaced => self.fail("the file was rewritten while you looked; shown as it is now"),
            _ => {}
        }
        if lost {
            self.plan(AfterPlan::Stay, effects)
        } else {
            self.plan_again(effects)
        }
        self.filter_again(effects);
        let is_longer = self.output.view.len() > before;
        if is_longer && matches!(changed.content, Change::Grown { .. }) && self.panes.is_at_end() {
            self.panes.following = true;
        }
        self.align_panes();
        self.follow();
        self.count_all(effects);
        self.recount_all(before, !lost, effects);
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
        self.panes.focus
    }

    pub(crate) fn use_policy(&mut self, policy: EffectivePolicy, then: AfterPlan, effects: &mut Effects) {
        self.plan_by(policy, PreviewFrom::Policy, then, effects);
    }

    pub(crate) fn saved_as(&mut self, path: String, effects: &mut Effects) {
        if self.output.subject.context.saved_as != path {
            self.output.subject.context.saved_as = path;
            self.plan_again(effects);
        }
    }

    /// Tells the policy how the output ended: some agents report that to the model, or cut with another policy then.
    pub(crate) fn ended(&mut self, ending: Ending, effects: &mut Effects) {
        let Ending { certainty, exit_code, failed, parameters } = ending;
        let output = &mut self.output;
        output.first.certainty = certainty;
        output.subject.context.exit_code = exit_code.or(output.subject.context.exit_code);
        if let Some(failed) = failed {
            // If the user has changed the policy or limits meanwhile, they stay.
            if output.policy().name() == output.first.policy.name() && output.limits_are_first() {
                output.subject.policy.policy = failed.clone();
            }
            output.first.policy = failed;
        }
        for policy in [&mut output.subject.policy.policy, &mut output.first.policy] {
            set_true(policy, &parameters);
        }
        self.plan_again(effects);
    }
}
