//! Holds the place: the text under examination stays on its row of the screen while what surrounds it changes.

use std::ops::Range;

use crate::preview::Policy;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::doc::Class;
use super::panes::Place;
use super::scroll::{CurrentLine, ScreenRow};
use super::share::{Share, share};
use crate::tui::widget::cost::Cost;

/// The text under examination in a pane: that of the current line, or below it the first that is not the agent's own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Examined {
    /// Its offset in the output, in bytes.
    offset: usize,
    /// The row of the pane that shows it, 0-based, with rules counted.
    row: usize,
    /// The length of the match in bytes; `None` if this is not a match.
    found: Option<u64>,
}

/// All that moves the text on the screen, but for the output and the preview themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Whereabouts {
    place: Place,
    size: (u16, u16),
    current: [Option<Range<u64>>; 2],
}

/// What was on the screen before a change.
pub(crate) struct HeldScreen {
    examined: [Option<Examined>; 2],
    /// Where the last change left the screen. As long as it is there, the text is held where it was before that change,
    /// so that several changes in a row do not drift.
    left: Whereabouts,
    /// How much of the line under examination the model got; `None` if there was no preview.
    was: Option<Share>,
    /// The policy that made the preview before the change.
    policy: Option<Policy>,
}

/// The line under examination after a change.
pub(crate) struct LineFate {
    /// Its number, 1-based, if it is counted.
    pub(crate) number: Option<u64>,
    /// How much of it the model got before the change; `None` if there was no preview.
    pub(crate) was: Option<Share>,
    /// How much of it the model gets now.
    pub(crate) is: Share,
}

impl Pager {
    /// Remembers where the text under examination is, before something changes the screen.
    pub(crate) fn hold(&mut self) {
        let here = self.whereabouts();
        let unmoved = self.held.take().filter(|held| held.left == here).map(|held| held.examined);
        let examined =
            unmoved.unwrap_or_else(|| [Side::Preview, Side::Spill].map(|side| self.examined_in(side)));
        let seen = examined[self.eyed(&examined) as usize].as_ref().filter(|_| self.output.has_preview());
        let was = seen.map(|seen| self.share_of_line(seen.offset));
        let policy = self.output.made_by().cloned();
        self.held = Some(HeldScreen { examined, left: here, was, policy });
    }

    /// Scrolls both panes so that the text under examination is where it was. Lost text is where its notice now is.
    pub(crate) fn hold_still(&mut self) {
        let Some(held) = self.held.take() else { return self.settle() };
        let leader = self.leader(&held.examined);
        let top = |side: Side| match &held.examined[side as usize] {
            Some(seen) => {
                let at = self.output.position(side, seen.offset);
                // A smaller screen has fewer rows.
                self.scrolled(side, |s| s.top_with(at, seen.row.min(s.frame.height.saturating_sub(1).into())))
            }
            None => self.scrolled(side, |s| s.row_at(self.panes.top(side)).min(s.last_top())),
        };
        let tops = [Side::Preview, Side::Spill].map(top);
        match leader {
            Side::Preview => {
                self.panes.set_tops(tops);
                self.reanchor();
            }
            Side::Spill => self.place(Side::Spill, tops[Side::Spill as usize]),
        }
        self.held = Some(HeldScreen { left: self.whereabouts(), ..held });
    }

    /// Counts the screen as unmoved since the last change, after that change has scrolled it sideways.
    pub(crate) fn held_as_shown(&mut self) {
        if let Some(held) = self.held.take() {
            self.held = Some(HeldScreen { left: self.whereabouts(), ..held });
        }
    }

    /// Makes the match under examination the current one again in a new preview that still holds it.
    pub(crate) fn find_again(&mut self) {
        let Some(held) = &self.held else { return };
        let Some(Examined { offset, found: Some(bytes), .. }) = held.examined[Side::Preview as usize] else {
            return;
        };
        self.find.current[Side::Preview as usize] = self.output.seen_match(offset, bytes);
    }

    /// Returns what became of the line under examination, if there is one.
    pub(crate) fn line_fate(&self) -> Option<LineFate> {
        let held = self.held.as_ref()?;
        let offset = held.examined[self.eyed(&held.examined) as usize].as_ref()?.offset;
        let output = &self.output;
        let number = output.index.line_at(&output.view, offset as u64).map(|line| line + 1);
        Some(LineFate { number, was: held.was, is: self.share_of_line(offset) })
    }

    /// Returns the policy that made the preview before the last change, if there was one.
    pub(crate) fn policy_before(&self) -> Option<&Policy> {
        self.held.as_ref()?.policy.as_ref()
    }

    /// Returns the pane that shows what is under examination: the one with a match on the screen, first that with the
    /// focus; otherwise that with the focus.
    fn eyed(&self, examined: &[Option<Examined>; 2]) -> Side {
        let has_match =
            |side: Side| examined[side as usize].as_ref().is_some_and(|examined| examined.found.is_some());
        let (own, other) = (self.focus(), self.focus().other());
        if self.shows_both() && !has_match(own) && has_match(other) { other } else { own }
    }

    /// Returns the pane that leads the other after a change: Preview with the focus holds its own text as long as the
    /// model gets it, or goes with a match in Spill.
    fn leader(&self, examined: &[Option<Examined>; 2]) -> Side {
        let is_kept = |seen: &Examined| self.output.is_kept(seen.offset);
        let own_is_lost = !examined[Side::Preview as usize].as_ref().is_some_and(is_kept);
        match self.eyed(examined) {
            Side::Spill if own_is_lost => Side::Spill,
            _ => self.focus(),
        }
    }

    fn whereabouts(&self) -> Whereabouts {
        Whereabouts { place: self.panes.here(), size: self.canvas.size, current: self.find.current.clone() }
    }

    fn examined_in(&self, side: Side) -> Option<Examined> {
        let (top, chosen) = (self.panes.top(side), self.chosen(side));
        let (at, row) = self.scrolling(side, &Cost::default(), |s| {
            let rows = s.screen(top);
            let line = CurrentLine::of(&rows, chosen)?;
            if line.is_chosen {
                return Some((line.at, s.row_on_screen(&rows, line.row)));
            }
            let is_text = |row: &ScreenRow| s.reader.doc.class_at(row.first()) != Class::Notice;
            let n = rows.iter().position(is_text)?;
            // A row scrolled sideways may not draw the start of its line.
            let drawn =
                rows[n].cells.first().map_or(rows[n].first(), |cell| rows[n].base + u64::from(cell.start));
            Some((drawn, s.row_on_screen(&rows, n)))
        })?;
        let offset = self.output.doc(side).to_file(at);
        let found = self.find.current(side).filter(|found| found.start == at);
        let found = found.map(|found| found.end.saturating_sub(at)).filter(|bytes| {
            side == Side::Spill || self.output.seen_match(offset, *bytes) == Some(at..at + bytes)
        });
        Some(Examined { offset, row, found })
    }

    /// Returns how much the model got of the line at `offset` of the output.
    fn share_of_line(&self, offset: usize) -> Share {
        let at = offset as u64;
        let line =
            self.scrolling(Side::Spill, &Cost::default(), |s| s.reader.line_start(at)..s.reader.line_end(at));
        share(&self.output.kept, &(line.start as usize..line.end.max(line.start + 1) as usize))
    }
}
