//! The previews of two policies side by side: what one keeps and the other loses is set off.

use std::ops::Range;

use crossterm::event::KeyEvent;

use crate::text::cells::Show;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::fold::ProgressLines;
use super::jobs;
use super::making::{Making, Planned};
use super::output::OpenOutput;
use super::scroll::{Long, Scroll, Viewport};
use crate::tui::widget::cost::Cost;

/// Rows of the screen besides the text: a heading above, a rule and the status below.
pub(crate) const AROUND: u16 = 3;

/// What was recorded beside what the policy makes of the output.
pub struct Pair {
    /// The record, and the output under the policy.
    pub(crate) sides: [OpenOutput; 2],
    /// The index of the side that keys move.
    pub(crate) focus: usize,
    /// The position at the top of each side, in its document.
    pub(crate) tops: [u64; 2],
    /// The stretches that one side alone keeps, in the order of the file, each with the index of that side.
    pub(crate) differences: Vec<(Range<usize>, usize)>,
    /// The index of the difference that was gone to last.
    pub(crate) current: Option<usize>,
    number: u64,
}

impl Pair {
    /// Whether both previews are made.
    pub(crate) fn is_made(&self) -> bool {
        self.sides.iter().all(OpenOutput::has_preview)
    }

    /// Returns the stretches that a side alone keeps, in bytes.
    pub(crate) fn only(&self, side: usize) -> u64 {
        let own = self.differences.iter().filter(|(_, of)| *of == side);
        own.map(|(range, _)| range.len() as u64).sum()
    }

    fn take(&mut self, planned: [Planned; 2]) {
        for (side, planned) in self.sides.iter_mut().zip(planned) {
            side.take(planned);
        }
        let [a, b] = [0, 1].map(|side| self.sides[side].kept.as_slice());
        let only =
            |side: usize, ranges: Vec<Range<usize>>| ranges.into_iter().map(move |range| (range, side));
        let mut all: Vec<_> = only(0, without(a, b)).chain(only(1, without(b, a))).collect();
        let bytes = &self.sides[0].view;
        all.retain(|(range, _)| !is_line_end(bytes, range));
        all.sort_by_key(|(range, side)| (range.start, *side));
        self.differences = all;
        self.current = None;
    }

    /// Returns the areas of text on a screen of this size: columns and rows, without the gutter of one column.
    fn room((width, height): (u16, u16)) -> (u16, u16) {
        ((width.saturating_sub(1) / 2).saturating_sub(1).max(1), height.saturating_sub(AROUND).max(1))
    }

    fn scrolled(
        &self,
        side: usize,
        (size, show): ((u16, u16), Show),
        work: impl FnOnce(Scroll) -> u64,
    ) -> u64 {
        let (width, height) = Self::room(size);
        let progress = ProgressLines::Unfolded;
        let frame = Viewport { width, height, long: Long::Wrapped, show, progress };
        self.sides[side].scrolling(Side::Preview, frame, &Cost::default(), work)
    }
}

/// Whether a range is no more than the end of a line, which a policy that rewrites each line does not keep as such.
fn is_line_end(bytes: &[u8], range: &Range<usize>) -> bool {
    matches!(bytes.get(range.clone()), Some(b"\n" | b"\r\n"))
}

/// Returns what the first ranges hold and the others do not. Both are in order and disjoint.
fn without(ranges: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut rest = Vec::new();
    for range in ranges {
        let mut start = range.start;
        let from = others.partition_point(|other| other.end <= range.start);
        for other in others.iter().skip(from).take_while(|other| other.start < range.end) {
            if other.start > start {
                rest.push(start..other.start);
            }
            start = start.max(other.end);
        }
        if start < range.end {
            rest.push(start..range.end);
        }
    }
    rest
}

impl Pager {
    /// Shows what was recorded beside what the policy makes of the output, with what differs set off.
    pub(crate) fn show_reconstruction(&mut self, effects: &mut Effects) {
        if let Some(why) = self.nothing_to_reconstruct() {
            self.message = Some(Message::note(why));
            return;
        }
        self.show_pair(effects);
    }

    fn show_pair(&mut self, effects: &mut Effects) {
        let sides = [self.output.as_recorded(), self.output.under(&self.output.subject.policy)];
        let number = self.next_plan();
        let tasks = sides.each_ref().map(|side| side.task(number));
        let is_small = tasks.iter().all(Making::is_small);
        let mut pair = Pair { sides, focus: 0, tops: [0, 0], differences: Vec::new(), current: None, number };
        if is_small {
            if let Some(planned) = jobs::plan_both(&tasks, &|| true) {
                pair.take(planned);
            }
        } else {
            jobs::plan_pair(number, tasks, effects);
        }
        self.pair = Some(pair);
    }

    /// Handles the previews made by a worker.
    pub(crate) fn pair_planned(&mut self, number: u64, planned: [Planned; 2]) {
        if let Some(pair) = self.pair.as_mut().filter(|pair| pair.number == number) {
            pair.take(planned);
        }
    }

    /// Makes both previews again, because more is known of the file or it has changed.
    pub(crate) fn pair_again(&mut self, effects: &mut Effects) {
        let Some(Pair { focus, tops, .. }) = self.pair.take() else { return };
        self.show_pair(effects);
        if let Some(pair) = &mut self.pair {
            (pair.focus, pair.tops) = (focus, tops);
        }
    }

    /// Returns how the pair shows text: as the model got it.
    pub(crate) fn pair_show(&self) -> Show {
        Show { ascii: !self.canvas.unicode, ..Show::MODEL }
    }

    /// Handles a key while two previews are shown.
    pub(crate) fn pair_key(&mut self, key: KeyEvent) {
        let how = (self.canvas.size, self.pair_show());
        let Some(pair) = &mut self.pair else { return };
        let rows = usize::from(Pair::room(how.0).1);
        let (page, half) = (rows.saturating_sub(1).max(1), (rows / 2).max(1));
        let (side, top) = (pair.focus, pair.tops[pair.focus]);
        let to = match self.canvas.keys.action(KeyContext::Pair, key) {
            Some(Action::Back | Action::Quit | Action::Interrupt) => {
                self.pair = None;
                return;
            }
            Some(Action::Other) => return pair.focus = 1 - side,
            Some(Action::NextCut) => return pair.go_difference(true, how),
            Some(Action::PreviousCut) => return pair.go_difference(false, how),
            Some(Action::Down) => pair.scrolled(side, how, |s| s.down(top, 1)),
            Some(Action::Up) => pair.scrolled(side, how, |s| s.up(top, 1)),
            Some(Action::HalfDown) => pair.scrolled(side, how, |s| s.down(top, half)),
            Some(Action::HalfUp) => pair.scrolled(side, how, |s| s.up(top, half)),
            Some(Action::PageDown) => pair.scrolled(side, how, |s| s.down(top, page)),
            Some(Action::PageUp) => pair.scrolled(side, how, |s| s.up(top, page)),
            Some(Action::Start) => 0,
            Some(Action::End) => pair.scrolled(side, how, |s| s.last_top()),
            _ => return,
        };
        pair.place(to, how);
    }
}

impl Pair {
    /// Scrolls the side with the focus to a row, and the other to the same place of the file, even where little follows.
    fn place(&mut self, top: u64, how: ((u16, u16), Show)) {
        let (side, other) = (self.focus, 1 - self.focus);
        let offset = self.sides[side].seen.to_file(top);
        let target = self.sides[other].seen.from_file(offset);
        let row = self.scrolled(other, how, |s| s.row_at(target));
        (self.tops[side], self.tops[other]) = (top, row);
        self.current = None;
    }

    /// Goes to the next or previous stretch that one side alone keeps.
    fn go_difference(&mut self, next: bool, how: ((u16, u16), Show)) {
        let here = self.sides[self.focus].seen.to_file(self.tops[self.focus]);
        let all = &self.differences;
        let to = match (self.current, next) {
            (Some(at), true) => Some(at + 1),
            (Some(at), false) => at.checked_sub(1),
            (None, true) => Some(all.partition_point(|(range, _)| range.start < here)),
            (None, false) => all.partition_point(|(range, _)| range.start < here).checked_sub(1),
        };
        let Some((at, (range, _))) = to.and_then(|to| Some((to, all.get(to)?.clone()))) else { return };
        for side in 0..2 {
            let target = self.sides[side].seen.from_file(range.start);
            self.tops[side] = self.scrolled(side, how, |s| s.up(s.row_at(target), 2));
        }
        self.current = Some(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_alone_holds_is_the_rest_without_the_other() {
        let one = |range: std::ops::Range<usize>| vec![range];
        assert_eq!(without(&[0..10, 20..30], &one(5..22)), [0..5, 22..30]);
        assert_eq!(without(&one(0..10), &[2..3, 4..5]), [0..2, 3..4, 5..10]);
        assert!(without(&one(0..10), &one(0..10)).is_empty());
        assert!(without(&[], &one(0..10)).is_empty());
    }
}
