//! Holds the place: the text under examination stays on its row of the screen while what surrounds it changes.

use std::ops::Range;

use crate::base::human::thousands;
use crate::document::Class;
use crate::document::scroll::{CurrentLine, ScreenRow};
use crate::preview::Policy;
use crate::text::filter::Share;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::panes::{Place, TargetLine};

/// The text under examination in a pane: the current line, or below it the first that is not the agent's own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AnchorPoint {
    offset: usize,
    /// The row of the pane that shows it, 0-based, with rules counted.
    row: usize,
    /// The length of the match in bytes; `None` if this is not a match.
    found: Option<u64>,
}

/// All but the output and the preview that moves the text on the screen, or the current line.
type ViewState = (Place, (u16, u16), [Option<Range<u64>>; 2], Option<TargetLine>);

pub(crate) struct ScrollAnchor {
    points: [Option<AnchorPoint>; 2],
    /// Where the last change left the screen: while it is there, the text is held, so that changes do not drift.
    left: ViewState,
    /// How much of the line under examination the model got; `None` if there was no preview.
    was: Option<Share>,
    pub(super) policy: Option<Policy>,
}

impl Pager {
    pub(crate) fn save_anchor(&mut self) {
        let points = self.examined();
        let point = points[self.focused_pane(&points) as usize].as_ref();
        let was =
            point.filter(|_| self.output.has_preview()).map(|point| self.output.share_of_line(point.offset));
        let policy = self.output.made_by().cloned();
        self.held = Some(ScrollAnchor { points, left: self.view_state(), was, policy });
    }

    /// Returns the text under examination in each pane: what is held, if the screen is as the last change left it.
    fn examined(&self) -> [Option<AnchorPoint>; 2] {
        let unmoved = self.held.as_ref().filter(|held| held.left == self.view_state());
        let now = || [Side::Preview, Side::Spill].map(|side| self.anchor_in(side));
        unmoved.map_or_else(now, |held| held.points.clone())
    }

    /// Returns the offset in the output of the line under examination; of the cut, if there is only a notice.
    pub(super) fn examined_offset(&self) -> usize {
        let points = self.examined();
        let point = points[self.focused_pane(&points) as usize].as_ref();
        point.map_or_else(|| self.current_offset(), |point| point.offset)
    }

    /// Scrolls both panes so that the text under examination is where it was. Lost text is where its notice now is.
    pub(crate) fn restore_anchor(&mut self) {
        let (Some(held), target) = (self.held.take(), self.panes.target) else { return self.align_panes() };
        let tops = [Side::Preview, Side::Spill].map(|side| {
            let scroll = self.scroll(side);
            match &held.points[side as usize] {
                Some(point) => {
                    let at = self.output.position(side, point.offset);
                    // A smaller screen has fewer rows.
                    scroll.top_with(at, point.row.min(scroll.frame.height.saturating_sub(1).into()))
                }
                None => scroll.top_at(self.panes.top(side), 0),
            }
        });
        match self.anchor_pane(&held.points) {
            Side::Preview => {
                self.panes.set_tops(tops);
                self.reanchor();
            }
            Side::Spill => self.scroll_to(Side::Spill, tops[Side::Spill as usize]),
        }
        (self.panes.target, self.held) = (target, Some(held));
        self.mark_unmoved();
    }

    /// Counts the screen as unmoved since the last change, after that change has scrolled it.
    pub(crate) fn mark_unmoved(&mut self) {
        let here = self.view_state();
        self.held.iter_mut().for_each(|held| held.left = here.clone());
    }

    /// Makes the match under examination the current one again in a new preview that still holds it.
    pub(crate) fn find_again(&mut self) {
        let held = self.held.as_ref().and_then(|held| held.points[Side::Preview as usize].as_ref());
        if let Some(AnchorPoint { offset, found: Some(bytes), .. }) = held {
            self.find.current[Side::Preview as usize] = self.output.seen_match(*offset, *bytes);
        }
    }

    pub(super) fn describe_held(&self, held: &ScrollAnchor) -> String {
        let offset = self.examined_offset();
        describe_fate(self.output.line_number(offset), held.was, self.output.share_of_line(offset))
    }

    /// Returns the pane with a match on the screen, first that with the focus; otherwise that with the focus.
    fn focused_pane(&self, points: &[Option<AnchorPoint>; 2]) -> Side {
        let has_match =
            |side: Side| points[side as usize].as_ref().is_some_and(|point| point.found.is_some());
        let (own, other) = (self.focus(), self.focus().other());
        if self.shows_both() && !has_match(own) && has_match(other) { other } else { own }
    }

    /// Returns the pane that leads after a change: Preview with the focus while the model gets its text, or its match.
    fn anchor_pane(&self, points: &[Option<AnchorPoint>; 2]) -> Side {
        let is_kept = |point: &AnchorPoint| self.output.is_kept(point.offset);
        let own_is_lost = !points[Side::Preview as usize].as_ref().is_some_and(is_kept);
        match self.focused_pane(points) {
            Side::Spill if own_is_lost => Side::Spill,
            _ => self.focus(),
        }
    }

    fn view_state(&self) -> ViewState {
        (self.panes.place.clone(), self.canvas.size, self.find.current.clone(), self.panes.target)
    }

    fn anchor_in(&self, side: Side) -> Option<AnchorPoint> {
        let scroll = self.scroll(side);
        let rows = scroll.screen(self.panes.top(side));
        let line = CurrentLine::find(&rows, self.chosen(side))?;
        let (at, row) = if line.is_chosen {
            (line.at, line.row)
        } else {
            let is_text = |row: &ScreenRow| scroll.reader.doc.class_at(row.first()) != Class::Notice;
            let n = rows.iter().position(is_text)?;
            // A row scrolled sideways may not draw the start of its line.
            let drawn = rows[n].cells.first().map(|cell| rows[n].base + u64::from(cell.start));
            (drawn.unwrap_or(rows[n].first()), n)
        };
        let target = self.panes.target.filter(|line| (line.side, line.at) == (side, at));
        let offset = target.map_or_else(|| scroll.reader.doc.to_file(at), |line| line.offset);
        let found = self.find.current(side).filter(|found| found.start == at);
        let found = found.map(|found| found.end.saturating_sub(at)).filter(|bytes| {
            side == Side::Spill || self.output.seen_match(offset, *bytes) == Some(at..at + bytes)
        });
        Some(AnchorPoint { offset, row: scroll.row_on_screen(&rows, row), found })
    }
}

fn describe_fate(number: Option<u64>, was: Option<Share>, is: Share) -> String {
    let line = number.map_or("this line".to_owned(), |number| format!("line {}", thousands(number)));
    let since = match was {
        None => "",
        Some(was) if was == is => "still ",
        Some(_) => "now ",
    };
    let what = match is {
        Share::Whole => "kept",
        Share::Some => "kept in part",
        Share::None => "lost",
    };
    format!("{line} is {since}{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_now_only_of_a_line_that_changed() {
        let describe = |was, is| describe_fate(Some(6330), was, is);
        assert_eq!(describe(Some(Share::None), Share::Whole), "line 6,330 is now kept");
        assert_eq!(describe(Some(Share::None), Share::None), "line 6,330 is still lost");
        assert_eq!(describe(Some(Share::Whole), Share::Some), "line 6,330 is now kept in part");
        assert_eq!(describe(None, Share::Whole), "line 6,330 is kept");
    }
}
