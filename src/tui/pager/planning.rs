//! Making previews: at once of a small output, by a worker of a large one, which can be given up.

use std::ops::Range;

use crate::preview::{self, Input, LineSeek, Policy, Preview, Totals};
use crate::source::MapView;
use crate::text::index::BlockIndex;
use crate::tui::event::{Effect, Effects, Message};
use crate::tui::widget::layout::Side;

use super::Pager;
use super::doc::Doc;
use super::drawer::LimitChange;
use super::output::{Dividers, holds};
use super::window::ReadWindow;

/// Outputs up to this many bytes are planned on the screen's thread.
pub const AT_ONCE: usize = 1 << 20;

/// All that a preview is made from, for a worker to take away.
#[derive(Debug, Clone)]
pub struct Making {
    /// Its number; what comes of an older one is dropped.
    pub number: u64,
    /// Whether a person waits for it.
    pub asked: bool,
    /// The policy with its limits.
    pub policy: Policy,
    pub(crate) view: MapView,
    pub(crate) stderr: Option<(MapView, Totals)>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) saved_as: String,
    pub(crate) saved_as_stderr: String,
    pub(crate) totals: Totals,
    pub(crate) index: BlockIndex,
}

/// A preview that has been made, and what the panes show of it.
#[derive(Debug)]
pub struct Planned {
    /// The task's number.
    pub number: u64,
    /// Different bytes of the output that were read for it.
    pub touched: u64,
    pub(crate) bytes: usize,
    pub(crate) policy: Policy,
    pub(crate) preview: Result<Preview, String>,
    pub(crate) seen: Doc,
    pub(crate) kept: Vec<Range<usize>>,
    pub(crate) rules: Dividers,
}

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

/// What the screens do once a preview has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterPlan {
    /// The panes stay where they are.
    #[default]
    Stay,
    /// Both panes show where it is cut.
    ShowCut,
    /// Preview shows a window of lines as the agent's read tool gives it.
    ShowWindow(ReadWindow),
    /// Spill goes back to a window of lines.
    GoBack(ReadWindow),
}

impl Making {
    /// Makes the preview; none if it is no longer wanted.
    pub fn run(&self, wanted: &dyn Fn() -> bool) -> Option<Planned> {
        let seek = Seek { index: &self.index, bytes: &self.view };
        let input = self.input(&seek, wanted);
        let (planned, touched) = preview::plan_touching(&input, &self.policy);
        let seen = planned.as_ref().map(|preview| Doc::preview(preview, &input)).unwrap_or_default();
        let kept = seen.shown();
        let rules = Dividers::of(&self.view, &kept, &gaps(&kept, self.view.len()));
        wanted().then(|| Planned {
            number: self.number,
            touched,
            bytes: self.view.len(),
            policy: self.policy.clone(),
            preview: planned.map_err(|error| error.to_string()),
            seen,
            kept,
            rules,
        })
    }

    /// Whether the model would get the byte at `offset` under another policy.
    pub(crate) fn would_keep(&self, policy: &Policy, offset: usize, wanted: &dyn Fn() -> bool) -> bool {
        let seek = Seek { index: &self.index, bytes: &self.view };
        let input = self.input(&seek, wanted);
        wanted()
            && preview::plan(&input, policy)
                .is_ok_and(|preview| holds(&Doc::preview(&preview, &input).shown(), offset))
    }

    /// Bytes of the output.
    pub(crate) fn bytes(&self) -> usize {
        self.view.len()
    }

    fn input<'a>(&'a self, seek: &'a Seek<'a>, wanted: &'a dyn Fn() -> bool) -> Input<'a> {
        let stderr = self.stderr.as_ref().map(|(view, totals)| preview::Output { bytes: view, totals });
        let output = preview::Output { bytes: &self.view, totals: &self.totals };
        Input {
            stderr,
            exit_code: self.exit_code,
            saved_as_stderr: &self.saved_as_stderr,
            lines: Some(seek),
            wanted: Some(wanted),
            ..Input::new(output, &self.saved_as)
        }
    }

    /// Whether it is made on the screen's thread.
    pub(crate) fn is_small(&self) -> bool {
        self.view.len() + self.stderr.as_ref().map_or(0, |(view, _)| view.len()) <= AT_ONCE
    }
}

/// The stretches of a file that lie between ranges.
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

/// Finds lines by the block index.
struct Seek<'a> {
    index: &'a BlockIndex,
    bytes: &'a [u8],
}

impl LineSeek for Seek<'_> {
    fn line_start(&self, line: u64) -> Option<usize> {
        self.index.offset_of(self.bytes, line).map(|offset| offset as usize)
    }
}

impl Pager {
    /// A number that no task has had.
    pub(crate) fn next_plan(&mut self) -> u64 {
        self.plans += 1;
        self.plans
    }

    /// Makes the preview that a person waits for; an earlier one is no longer wanted.
    pub(crate) fn plan(&mut self, then: AfterPlan, effects: &mut Effects) {
        let number = self.next_plan();
        let output = &mut self.output;
        self.then = then;
        match output.replan(number, true) {
            Some(task) => effects.push(Effect::Plan(Box::new(task))),
            None => self.show_planned(effects),
        }
    }

    /// Makes the preview anew because more is known; one that is being made is let finish first.
    pub(crate) fn plan_again(&mut self, effects: &mut Effects) {
        let number = self.next_plan();
        let output = &mut self.output;
        if output.wait_to_replan() {
            return;
        }
        self.then = AfterPlan::Stay;
        match output.replan(number, false) {
            Some(task) => effects.push(Effect::Plan(Box::new(task))),
            None => self.show_planned(effects),
        }
    }

    /// A preview has been made.
    pub(crate) fn planned(&mut self, planned: Planned, effects: &mut Effects) {
        let output = &mut self.output;
        if !output.awaits(planned.number) {
            return;
        }
        let again = output.take(planned);
        self.show_planned(effects);
        if again {
            self.plan_again(effects);
        }
    }

    /// Nobody waits for the preview any longer: what was shown before stands. False if nobody did.
    pub(crate) fn give_up_planning(&mut self, effects: &mut Effects) -> bool {
        let output = &mut self.output;
        if !output.is_awaited() {
            return false;
        }
        let name = output.policy.name().to_owned();
        let words = if output.give_up() {
            format!("gave up planning {name}; this is the preview from before")
        } else {
            format!("gave up planning {name}; p picks another policy")
        };
        self.message = Some(Message::note(words));
        effects.push(Effect::StopPlan);
        self.count_all(effects);
        true
    }

    /// Puts the panes where the person wants to see the preview that has been made.
    fn show_planned(&mut self, effects: &mut Effects) {
        let then = std::mem::take(&mut self.then);
        if then == AfterPlan::Stay {
            self.settle();
            return;
        }
        self.find.forget_preview();
        self.count_kept();
        self.message = Some(Message::note(self.limits_in_words()));
        self.show_cut();
        match then {
            AfterPlan::ShowWindow(window) => {
                self.place(Side::Preview, 0);
                self.panes.window = window;
                self.message = Some(Message::note("the window as the agent reads it; O goes back"));
            }
            AfterPlan::GoBack(window) => self.bring_back(window),
            AfterPlan::Stay | AfterPlan::ShowCut => {}
        }
        if self.drawer.open {
            self.advise(effects);
        }
    }

    /// Takes in what it takes to keep a line.
    pub(crate) fn advised(&mut self, number: u64, change: Option<LimitChange>) {
        if let Some(advice) = self.drawer.advice.as_mut().filter(|advice| advice.asked == Some(number)) {
            advice.asked = None;
            advice.change = change;
        }
    }
}
