//! The filter of Spill: only lines that match are shown, as with `&` in `less`.

pub mod job;
pub mod sift;
pub(crate) mod words;

#[cfg(test)]
mod tests;

use crate::source::ViewSupply;
use crate::text::filter::scan::LineScan;
use crate::text::filter::{Condition, Shows};
use crate::text::search::PatternError;
use crate::text::supply::Supply;
use crate::tui::event::Message;
use crate::tui::job::Slot;
use crate::tui::keys::Action;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::jobs;
use super::panes::Place;
use crate::tui::widget::cost::Cost;
use job::{SiftJob, Sifted};
use sift::Sift;

/// Up to this many bytes are filtered on the thread of the screens, so that nothing flickers.
const AT_ONCE: usize = 1 << 20;

/// The most lines shown around each match.
const MOST_AROUND: u64 = 100;

/// What was typed to filter.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// A pattern, perhaps after `!`; empty for none.
    pub text: &'a str,
    /// Which of the lines that meet the conditions are to be shown.
    pub shows: Shows,
    /// How many lines around each, if a number was typed.
    pub around: Option<u64>,
}

/// The places and history of the filter; the lines it shows are in the output's [`Sift`].
#[derive(Debug, Clone, Default)]
pub struct LineFilter {
    /// The conditions typed before, newest last.
    pub history: Vec<String>,
    /// Where the panes were before the first condition.
    origin: Option<Place>,
    /// The offset that the filter has to show, and the row where Spill was put for that.
    aim: (u64, u64),
    number: u64,
}

/// What giving up a filter does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaveFilter {
    /// Goes back to where one was before.
    GoBack,
    /// Stays with the line at the top, if one has moved.
    StayIfMoved,
}

/// A filter of an output that is not on the screen.
pub(crate) struct KeptFilter {
    conditions: Vec<Condition>,
    shows: Shows,
    around: u64,
    origin: Option<Place>,
    aim: (u64, u64),
}

impl LineFilter {
    /// Returns what makes the same filter again.
    pub(crate) fn keep(&self, sift: &Sift) -> KeptFilter {
        KeptFilter {
            conditions: sift.conditions().to_vec(),
            shows: sift.shows(),
            around: sift.around(),
            origin: self.origin.clone(),
            aim: self.aim,
        }
    }

    /// Prepares for another output: keeps the history.
    pub(crate) fn forget_place(self) -> Self {
        Self { history: self.history, number: self.number + 1, ..Self::default() }
    }

    /// Continues the history and the numbers of a later filter, whose answers are dropped.
    pub(crate) fn follow_on(&mut self, later: &LineFilter) {
        self.history.clone_from(&later.history);
        self.number = self.number.max(later.number) + 1;
    }
}

impl Pager {
    /// Adds what was typed to the filter. An empty line removes the filter.
    pub(crate) fn filter(&mut self, asked: Asked, effects: &mut Effects) -> Result<(), String> {
        let empty = asked.text.is_empty();
        let Some(sift) = self.output.sift.clone() else {
            if empty && asked.shows == Shows::All {
                return Err("type a pattern; ! before it hides what matches".into());
            }
            return self.narrow(Vec::new(), asked, effects);
        };
        if empty && asked.shows == Shows::All && asked.around.is_none() {
            self.leave_filter(LeaveFilter::StayIfMoved, effects);
            return Ok(());
        }
        self.narrow(sift.conditions().to_vec(), asked, effects)
    }

    /// Filters by the conditions so far and the one typed.
    fn narrow(
        &mut self,
        mut conditions: Vec<Condition>,
        asked: Asked,
        effects: &mut Effects,
    ) -> Result<(), String> {
        let before = self.output.sift.take();
        let is_new = !asked.text.is_empty();
        if is_new {
            let text = asked.text.to_owned();
            match Condition::new(asked.text, self.output.utf16()) {
                Ok(condition) => conditions.push(condition),
                Err(error) => {
                    self.output.sift = before;
                    return Err(fault(asked.text, &error));
                }
            }
            self.filter.history.retain(|old| *old != text);
            self.filter.history.push(text);
        }
        let (shows, around) = before.as_ref().map_or((Shows::All, 0), |sift| (sift.shows(), sift.around()));
        let shows = if asked.shows == Shows::Lost { Shows::Lost } else { shows };
        let around = asked.around.unwrap_or(around).min(MOST_AROUND);
        let top = self.panes.top(Side::Spill);
        let aim = if before.is_some() && self.filter.aim.1 == top { self.filter.aim.0 } else { top };
        if before.is_none() {
            self.filter.origin = Some(self.panes.here());
            self.panes.remember();
        }
        let output = &mut self.output;
        let kept = before.filter(|_| !is_new);
        let sift = kept.unwrap_or_else(|| Sift::new(conditions, &output.kept, output.view.len()));
        output.sift = Some(sift.showing(shows, around));
        self.panes.focus = Side::Spill;
        self.count_filtered(effects);
        self.land(aim);
        Ok(())
    }

    /// Filters again as before; the lines have yet to be counted.
    pub(crate) fn take_up_filter(&mut self, kept: KeptFilter) {
        let KeptFilter { conditions, shows, around, origin, aim } = kept;
        let output = &mut self.output;
        let sift = Sift::new(conditions, &output.kept, output.view.len());
        output.sift = Some(sift.showing(shows, around));
        (self.filter.origin, self.filter.aim) = (origin, aim);
    }

    /// Removes the filter. Returns false if there is none.
    pub(crate) fn leave_filter(&mut self, leave: LeaveFilter, effects: &mut Effects) -> bool {
        if self.output.sift.is_none() {
            return false;
        }
        let top = self.panes.top(Side::Spill);
        let has_moved = self.filter.aim.1 != top;
        self.stop_filter(effects);
        self.output.sift = None;
        let origin = self.filter.origin.take();
        match origin {
            Some(origin) if leave == LeaveFilter::GoBack || !has_moved => {
                self.panes.remember();
                self.go_back(&origin);
            }
            _ => self.place(Side::Spill, self.scrolled(Side::Spill, |s| s.row_at(top).min(s.last_top()))),
        }
        self.message = Some(Message::note("all lines are shown"));
        true
    }

    fn stop_filter(&mut self, effects: &mut Effects) {
        self.filter.number += 1;
        if self.output.sift.as_ref().is_some_and(|sift| !sift.index().pending().is_empty()) {
            effects.stop([Slot::Filter]);
        }
    }

    /// Puts Spill where an offset is shown, or the next line that is shown.
    fn land(&mut self, offset: u64) {
        let top = self.scrolled(Side::Spill, |s| s.row_at(offset).min(s.last_top()));
        self.place(Side::Spill, top);
        self.filter.aim = (offset, top);
    }

    /// Tells the filter what the model got now, and counts what is not counted yet.
    pub(crate) fn filter_again(&mut self, effects: &mut Effects) {
        let output = &mut self.output;
        if let Some(sift) = &mut output.sift {
            sift.set_got(&output.kept);
            self.count_filtered(effects);
        }
    }

    /// Counts what is not counted yet: at once if that is little, otherwise the task is for a worker. Its blocks begin
    /// with what is on the screen.
    fn count_filtered(&mut self, effects: &mut Effects) {
        let top = self.panes.top(Side::Spill) as usize;
        let Some(sift) = &mut self.output.sift else { return };
        if sift.index().pending().is_empty() {
            return;
        }
        self.filter.number += 1;
        if sift.index().pending_bytes() <= AT_ONCE
            && count_now(sift, &mut ViewSupply::from(&self.output.view))
        {
            return effects.stop([Slot::Filter]);
        }
        let at = top / sift.index().block();
        let pending = sift.index().pending();
        let after = pending.iter().map(|blocks| blocks.start.max(at)..blocks.end.max(at));
        let before = pending.iter().map(|blocks| blocks.start.min(at)..blocks.end.min(at));
        let LineScan { block, .. } = sift.scan();
        let job = SiftJob {
            number: self.filter.number,
            view: self.output.view.clone(),
            blocks: after.chain(before).filter(|blocks| !blocks.is_empty()).collect(),
            conditions: sift.conditions().clone(),
            got: sift.got().clone(),
            block,
        };
        effects.run(Slot::Filter, move |context| jobs::count_shown(&job, context));
    }

    /// Says so if the filter leaves out the line at an offset of the file.
    pub(crate) fn tell_hidden(&mut self, side: Side, offset: usize) {
        let shows =
            |sift: &Sift| self.scrolling(side, &Cost::default(), |s| sift.is_shown(&s.reader, offset as u64));
        if self.output.sift_of(side).is_some_and(|sift| !shows(sift)) {
            let filter = self.key_of(Action::Matching);
            let words = format!("that line is filtered out; this is the next · {filter} Enter shows all");
            self.message = Some(Message::note(words));
        }
    }

    pub(crate) fn sifted(&mut self, sifted: &Sifted) {
        let Some(sift) = self.output.sift.as_mut().filter(|_| sifted.number == self.filter.number) else {
            return;
        };
        sift.insert(sifted.first, &sifted.lines);
        let (aim, landed) = self.filter.aim;
        if self.panes.top(Side::Spill) == landed && !self.panes.following {
            self.land(aim);
        } else {
            self.settle();
            self.follow();
        }
    }
}

/// Counts on this thread. Returns false if that would take long, because of a long line.
fn count_now(sift: &mut Sift, supply: &mut impl Supply) -> bool {
    let mut reads = 0;
    let mut go_on = || {
        reads += 1;
        reads <= 8
    };
    for blocks in sift.index().pending().to_vec() {
        let first = blocks.start;
        let Some(lines) = sift.scan().count(supply, blocks, &mut go_on) else { return false };
        sift.insert(first, &lines);
    }
    true
}

/// Describes what is wrong with a condition.
fn fault(text: &str, error: &PatternError) -> String {
    let before = usize::from(text.starts_with('!'));
    match error.at {
        Some(at) => format!("{text}: {}, at character {}", error.why, at + before + 1),
        None => format!("{text}: {}", error.why),
    }
}
