//! One output on the screen: Preview and Spill, how they move, search, windows, limits, and what is drawn of them.

pub mod advice;
pub(crate) mod describe;
pub(crate) mod dividers;
pub mod doc;
pub mod drawer;
pub(crate) mod jump;
pub(crate) mod limits;
pub mod making;
pub mod output;
pub mod panes;
pub mod planning;
pub(crate) mod read_tool;
pub mod reader;
pub mod scroll;
pub mod search;
pub(crate) mod sideways;
pub mod subject;
pub(crate) mod turn;
pub mod view;
pub(crate) mod window;

use crate::capture::set_true;
use crate::preview::Policy;
use crate::source::{Change, PathStatus};
use crate::text::index::BlockCounts;
use crate::text::units::Measure;

use super::event::{Changed, Effect, Effects, Message, OutputEvent};
use super::keys::Action;
use super::widget::canvas::Canvas;
use super::widget::layout::Side;
use drawer::Drawer;
use output::OpenOutput;
use panes::Panes;
use planning::AfterPlan;
use search::Find;
use subject::{Ending, Opened};
use window::ThenRead;

/// The screen of one output.
pub struct Pager {
    /// The terminal.
    pub canvas: Canvas,
    /// The output that is looked at.
    pub output: OpenOutput,
    /// Where the panes stand.
    pub panes: Panes,
    /// The search.
    pub find: Find,
    /// The limits drawer.
    pub drawer: Drawer,
    /// What there is to tell until the next key.
    pub message: Option<Message>,
    /// The number of the plan that was asked for last,
    plans: u64,
    /// and what to do once it is there.
    then: AfterPlan,
    /// Whether more of the output may come.
    pub streaming: bool,
    /// Whether the command runs whose output is shown.
    pub running: bool,
    /// How many outputs were named.
    pub files: usize,
    /// Which of them is looked at, 0-based.
    pub file: usize,
    /// What has become of the file's name.
    pub path_status: PathStatus,
}

impl Pager {
    /// Looks at an output; what was sought in the one `before` is sought here, too.
    pub fn new(canvas: Canvas, opened: Opened, before: Option<Pager>, effects: &mut Effects) -> Self {
        let Opened { subject, view, streaming, running, file, files } = opened;
        let warning = subject.warnings.first();
        let message = warning.map(|text| Message::error(text.as_str()));
        let (mut find, plans) = before.map_or_else(Default::default, |before| (before.find, before.plans));
        find.forget_place();
        let mut pager = Self {
            canvas,
            output: OpenOutput::new(subject, view),
            panes: Panes::default(),
            find,
            drawer: Drawer::default(),
            message,
            plans,
            then: AfterPlan::Stay,
            streaming,
            running,
            files,
            file,
            path_status: PathStatus::Current,
        };
        pager.plan(AfterPlan::Stay, effects);
        pager.count_all(effects);
        pager
    }

    /// Takes in an event of the output.
    pub(crate) fn update(&mut self, event: OutputEvent, effects: &mut Effects) {
        match event {
            OutputEvent::Counted { generation, number, counts, measure, bytes } => {
                self.counted((generation, number), &counts, &measure, bytes, effects);
            }
            OutputEvent::Found(found) => self.found(found),
            OutputEvent::Changed(changed) => self.changed(changed, effects),
            OutputEvent::SavedAs(path) => self.saved_as(path, effects),
            OutputEvent::Finished => self.running = false,
            OutputEvent::Ended(ending) => self.ended(*ending, effects),
            OutputEvent::Planned(planned) => self.planned(*planned, effects),
            OutputEvent::Advised(number, change) => self.advised(number, change),
            OutputEvent::ReadTool(choice, then) => self.read_tool(choice, then, effects),
        }
    }

    /// Does what a key asks for.
    pub(crate) fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        match action {
            Action::NextMatch => self.next_match(false, effects),
            Action::PreviousMatch => self.next_match(true, effects),
            Action::Copy => self.copy_path(effects),
            Action::Editor => effects.push(Effect::Edit(self.line_of_top().map_or(1, |line| line + 1))),
            Action::Reopen => effects.push(Effect::Reopen),
            Action::MoreLines => self.turn_lines(true, count, effects),
            Action::FewerLines => self.turn_lines(false, count, effects),
            Action::MoreBytes => self.turn_size(true, count, effects),
            Action::FewerBytes => self.turn_size(false, count, effects),
            Action::Direction => self.turn_direction(effects),
            Action::ReadForm => self.ask_read_tool(ThenRead::Show, effects),
            Action::CopyCall => self.ask_read_tool(ThenRead::CopyCall, effects),
            Action::Limits => self.open_drawer(effects),
            Action::Policy => effects.push(Effect::Policies),
            Action::Candidate => self.next_candidate(effects),
            _ => self.move_by(action, count),
        }
    }

    /// The terminal has another size, or looks.
    pub(crate) fn repaint(&mut self, canvas: Canvas) {
        self.canvas = canvas;
        self.settle();
    }

    /// Whether more of the output may come by itself.
    pub fn is_coming(&self) -> bool {
        self.running || self.streaming
    }

    fn copy_path(&mut self, effects: &mut Effects) {
        let output = &self.output;
        let text = crate::text::label::shell::word(output.subject.context.saved_as.as_bytes());
        self.message = Some(Message::note(format!("copied: {text}")));
        effects.push(Effect::Copy(text))
    }

    /// Esc goes back from a plan or a search to the text; false if there is none.
    pub(crate) fn back(&mut self, effects: &mut Effects) -> bool {
        if self.give_up_planning(effects) {
            return true;
        }
        if self.find.is_running() {
            self.find.stop();
            self.message = Some(Message::note("search stopped"));
            effects.push(Effect::StopSearch);
            return true;
        }
        if self.find.pattern.is_some() {
            self.find.clear();
            return true;
        }
        false
    }

    pub(crate) fn counted(
        &mut self,
        of: (u64, u64),
        counts: &BlockCounts,
        measure: &Measure,
        bytes: u64,
        effects: &mut Effects,
    ) {
        let output = &mut self.output;
        if (output.view.generation(), output.count_number()) != of {
            return;
        }
        if output.counted(counts, measure, bytes) {
            self.plan_again(effects);
        }
    }

    /// Counts what is not counted yet: all blocks, or those that have come since.
    pub(crate) fn count_all(&mut self, effects: &mut Effects) {
        let output = &mut self.output;
        let want = output.wanted();
        let from = output.start_counting(want);
        effects.push(Effect::Count { number: output.count_number(), want, from })
    }

    pub(crate) fn changed(&mut self, changed: Changed, effects: &mut Effects) {
        let output = &mut self.output;
        self.streaming = changed.streaming;
        if self.path_status != PathStatus::Gone && changed.path == PathStatus::Gone {
            self.message = Some(Message::error("the file was deleted; what you see is still held"));
        }
        self.path_status = changed.path;
        if changed.content == Change::Same {
            return;
        }
        let lost = output.changed(changed.view);
        self.message = match changed.content {
            Change::Truncated => {
                Some(Message::error("the file was cut short while you looked; shown as it is now"))
            }
            Change::Replaced => {
                Some(Message::error("the file was rewritten while you looked; shown as it is now"))
            }
            _ => self.message.take(),
        };
        if lost {
            self.plan(AfterPlan::Stay, effects)
        } else {
            self.plan_again(effects)
        }
        self.settle();
        self.follow();
        self.count_all(effects);
    }

    /// The side on which keys act.
    pub fn focus(&self) -> Side {
        self.panes.focus
    }

    /// The next policy that may have made this output, as its store tells.
    pub(crate) fn next_candidate(&mut self, effects: &mut Effects) {
        let output = &self.output;
        let at =
            output.subject.candidates.iter().position(|policy| policy.name() == output.subject.policy.name());
        let next = at.map_or(0, |at| at + 1);
        match output.subject.candidates.get(next).or(output.subject.candidates.first()).cloned() {
            Some(policy) if output.subject.candidates.len() > 1 => {
                self.use_policy(policy, "policy".to_owned(), effects)
            }
            _ => {
                self.message = Some(Message::note("no other policy is known to have made this; p lists all"));
            }
        }
    }

    pub(crate) fn use_policy(&mut self, policy: Policy, limits_from: String, effects: &mut Effects) {
        self.use_policy_then(policy, limits_from, AfterPlan::ShowCut, effects)
    }

    /// Cuts by another policy, and then shows what there is to see.
    pub(crate) fn use_policy_then(
        &mut self,
        policy: Policy,
        limits_from: String,
        then: AfterPlan,
        effects: &mut Effects,
    ) {
        let output = &mut self.output;
        output.subject.limits_from = limits_from;
        output.subject.policy = policy;
        self.plan(then, effects);
        self.count_all(effects);
    }

    /// Notices print another path from now on.
    pub(crate) fn saved_as(&mut self, path: String, effects: &mut Effects) {
        if self.output.subject.context.saved_as != path {
            self.output.subject.context.saved_as = path;
            self.plan_again(effects);
        }
    }

    /// How the output ended is told to its policy: some agents say so to the model, or cut by another then.
    pub(crate) fn ended(&mut self, ending: Ending, effects: &mut Effects) {
        let Ending { exit_code, failed, told } = ending;
        let output = &mut self.output;
        output.subject.context.exit_code = exit_code.or(output.subject.context.exit_code);
        if let Some(failed) = failed {
            // What a person chose meanwhile stays.
            if output.subject.policy.name() == output.first_policy.name() && output.limits_are_first() {
                output.subject.policy = failed.clone();
            }
            output.first_policy = failed;
        }
        set_true(&mut output.subject.policy, &told);
        set_true(&mut output.first_policy, &told);
        self.plan_again(effects);
    }
}
